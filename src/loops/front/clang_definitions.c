/* clang_definitions.c - see clang_definitions.h. */
#include "loops/front/clang_definitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "loops/front/clang_load.h"

/* A declaration at file scope and its place in the text. */
struct declared {
    CXCursor cursor;
    unsigned start, end;
    int needed;
};

struct unit {
    struct rsc_clang clang;
    CXTranslationUnit tree;
    const char *text;
    size_t bytes;
    struct declared *item; /* in the order of the text */
    size_t count, room;
    struct rsc_clang_names *missing, *known;
    int failed;    /* out of memory */
    int conflicts; /* what is needed has a name that is taken */
};

static int has_name(const struct rsc_clang_names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (!strcmp(names->name[i], name)) return 1;
    return 0;
}

static void add_name(struct unit *unit, struct rsc_clang_names *names, const char *name) {
    if (!*name || has_name(names, name)) return;
    char *copy = strdup(name);
    if (!copy || RSC_GROW(names->name, names->room, names->count + 1)) unit->failed = 1;
    else names->name[names->count++] = copy;
}

/* Not freed: the process is short-lived. */
static const char *name_of(struct unit *unit, CXCursor cursor) {
    const char *name = unit->clang.getCString(unit->clang.getCursorSpelling(cursor));
    return name ? name : "";
}

static int in_system(struct unit *unit, CXCursor cursor) {
    return unit->clang.Location_isInSystemHeader(unit->clang.getCursorLocation(cursor));
}

static void extent(struct unit *unit, CXCursor cursor, unsigned *start, unsigned *end) {
    CXSourceRange range = unit->clang.getCursorExtent(cursor);
    unit->clang.getSpellingLocation(unit->clang.getRangeStart(range), NULL, NULL, NULL, start);
    unit->clang.getSpellingLocation(unit->clang.getRangeEnd(range), NULL, NULL, NULL, end);
}

static enum CXChildVisitResult declare(CXCursor cursor, CXCursor parent, CXClientData data) {
    struct unit *unit = data;
    struct declared one = {.cursor = cursor};
    (void)parent;
    extent(unit, cursor, &one.start, &one.end);
    if (one.end > unit->bytes || one.start >= one.end) return CXChildVisit_Continue;
    if (RSC_GROW(unit->item, unit->room, unit->count + 1)) {
        unit->failed = 1;
        return CXChildVisit_Break;
    }
    unit->item[unit->count++] = one;
    return CXChildVisit_Continue;
}

static int parse(struct unit *unit, const char *source, size_t bytes, struct rsc_error *error) {
    static const char *const arguments[] = {"-x", "cpp-output", "-std=gnu17", "-w", "-ferror-limit=0"};
    struct CXUnsavedFile file = {"source.i", source, bytes};
    int status = rsc_clang_load(&unit->clang, error);
    if (status) return status;
    unit->text = source;
    unit->bytes = bytes;
    if (unit->clang.parseTranslationUnit2(unit->clang.createIndex(0, 0), "source.i", arguments,
                                          sizeof arguments / sizeof *arguments, &file, 1, 0,
                                          &unit->tree) != CXError_Success)
        return rsc_fail(error, RSC_EFORMAT, "clang could not read the source");
    unit->clang.visitChildren(unit->clang.getTranslationUnitCursor(unit->tree), declare, unit);
    return unit->failed ? rsc_fail_memory(error, "source") : 0;
}

static enum CXChildVisitResult look_for_calls(CXCursor cursor, CXCursor parent, CXClientData data) {
    struct unit *unit = data;
    (void)parent;
    if (unit->clang.getCursorKind(cursor) != CXCursor_CallExpr) return CXChildVisit_Recurse;
    CXCursor callee = unit->clang.getCursorReferenced(cursor);
    if (!unit->clang.Cursor_isNull(callee) && unit->clang.getCursorKind(callee) == CXCursor_FunctionDecl &&
        !in_system(unit, callee) && unit->clang.Cursor_isNull(unit->clang.getCursorDefinition(callee)))
        add_name(unit, unit->missing, name_of(unit, callee));
    return CXChildVisit_Recurse;
}

int rsc_clang_missing(const char *source, size_t bytes, struct rsc_clang_names *missing, struct rsc_clang_names *known,
                      struct rsc_error *error) {
    struct unit unit = {.missing = missing, .known = known};
    int status = parse(&unit, source, bytes, error);
    for (size_t i = 0; !status && i < unit.count; i++) {
        add_name(&unit, known, name_of(&unit, unit.item[i].cursor));
        if (!in_system(&unit, unit.item[i].cursor))
            unit.clang.visitChildren(unit.item[i].cursor, look_for_calls, &unit);
    }
    free(unit.item);
    return status ? status : unit.failed ? rsc_fail_memory(error, "source") : 0;
}

static enum CXChildVisitResult look_for_needs(CXCursor cursor, CXCursor parent, CXClientData data);

/* Marks the declarations that hold this one, and what they need. */
static void need(struct unit *unit, CXCursor cursor) {
    unsigned start, end;
    extent(unit, cursor, &start, &end);
    for (size_t i = 0; i < unit->count; i++) {
        struct declared *one = &unit->item[i];
        if (one->needed || one->start > start || one->end < end) continue;
        const char *name = name_of(unit, one->cursor);
        int taken = *name && has_name(unit->known, name) && !has_name(unit->missing, name);
        if (taken) {
            if (unit->clang.Cursor_getStorageClass(one->cursor) == CX_SC_Static) unit->conflicts = 1;
            continue; /* the source has it */
        }
        one->needed = 1;
        unit->clang.visitChildren(one->cursor, look_for_needs, unit);
    }
}

static enum CXChildVisitResult look_for_needs(CXCursor cursor, CXCursor parent, CXClientData data) {
    struct unit *unit = data;
    (void)parent;
    CXCursor to = unit->clang.getCursorReferenced(cursor);
    if (unit->clang.Cursor_isNull(to)) return CXChildVisit_Recurse;
    CXCursor definition = unit->clang.getCursorDefinition(to);
    int here = !unit->clang.Cursor_isNull(definition);
    if (unit->clang.getCursorKind(to) == CXCursor_ParmDecl) return CXChildVisit_Recurse;
    need(unit, here ? definition : to);
    return CXChildVisit_Recurse;
}

static int by_start(const void *a, const void *b) {
    const struct declared *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

static int put(struct unit *unit, const struct declared *one, FILE *to) {
    CXString file;
    unsigned line;
    unit->clang.getPresumedLocation(unit->clang.getRangeStart(unit->clang.getCursorExtent(one->cursor)), &file, &line,
                                    NULL);
    const char *name = unit->clang.getCString(file);
    return fprintf(to, "\n# %u \"%s\"%s\n%.*s%s\n", line, name ? name : "", in_system(unit, one->cursor) ? " 3" : "",
                   (int)(one->end - one->start), unit->text + one->start,
                   unit->clang.getCursorKind(one->cursor) == CXCursor_FunctionDecl &&
                           unit->clang.isCursorDefinition(one->cursor)
                       ? ""
                       : ";") < 0;
}

int rsc_clang_definitions(const char *source, size_t bytes, const struct rsc_clang_names *missing,
                          const struct rsc_clang_names *known, char **text, struct rsc_error *error) {
    struct unit unit = {.missing = (struct rsc_clang_names *)missing, .known = (struct rsc_clang_names *)known};
    size_t room;
    unsigned end = 0, found = 0;
    *text = NULL;
    int status = parse(&unit, source, bytes, error);
    for (size_t i = 0; !status && i < unit.count; i++) {
        CXCursor cursor = unit.item[i].cursor;
        if (unit.clang.getCursorKind(cursor) != CXCursor_FunctionDecl || !unit.clang.isCursorDefinition(cursor) ||
            unit.clang.Cursor_getStorageClass(cursor) == CX_SC_Static || !has_name(missing, name_of(&unit, cursor)))
            continue;
        need(&unit, cursor);
        found++;
    }
    if (!status && found && !unit.conflicts) {
        FILE *to = open_memstream(text, &room);
        if (!to) status = rsc_fail_memory(error, "source");
        qsort(unit.item, unit.count, sizeof *unit.item, by_start);
        for (size_t i = 0; !status && i < unit.count; i++) {
            if (!unit.item[i].needed || unit.item[i].end <= end) continue;
            end = unit.item[i].end;
            if (put(&unit, &unit.item[i], to)) status = rsc_fail_memory(error, "source");
        }
        if (to && fclose(to)) status = rsc_fail_memory(error, "source");
    }
    free(unit.item);
    return status;
}
