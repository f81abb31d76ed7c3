/* clang_cursor.c - reads the syntax tree, and reports gaps. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loops/front/clang_front.h"

struct collect {
    struct front *front;
    struct kids kids;
    unsigned room;
};

static enum CXChildVisitResult collect_child(CXCursor cursor, CXCursor parent, CXClientData data) {
    struct collect *collect = data;
    (void)parent;
    if (collect->kids.count == collect->room) {
        unsigned room = collect->room ? 4 * collect->room : 4;
        CXCursor *larger = rsc_arena_alloc(&collect->front->arena, room * sizeof *larger);
        if (!larger) {
            collect->front->out_of_memory = 1;
            return CXChildVisit_Break;
        }
        if (collect->kids.count) memcpy(larger, collect->kids.item, collect->kids.count * sizeof *larger);
        collect->kids.item = larger;
        collect->room = room;
    }
    collect->kids.item[collect->kids.count++] = cursor;
    return CXChildVisit_Continue;
}

struct kids front_kids(struct front *front, CXCursor cursor) {
    struct collect collect = {.front = front};
    front->clang.visitChildren(cursor, collect_child, &collect);
    return collect.kids;
}

struct finding {
    struct front *front;
    front_look *look;
    void *context;
    int found;
};

static enum CXChildVisitResult look_on(CXCursor cursor, CXCursor parent, CXClientData data) {
    struct finding *finding = data;
    (void)parent;
    enum CXChildVisitResult next = finding->look(finding->front, cursor, finding->context);
    finding->found |= next == CXChildVisit_Break;
    return next;
}

int front_finds(struct front *front, CXCursor tree, front_look *look, void *context) {
    struct finding finding = {front, look, context, 0};
    if (look_on(tree, tree, &finding) == CXChildVisit_Recurse) front->clang.visitChildren(tree, look_on, &finding);
    return finding.found;
}

enum CXCursorKind front_kind(struct front *front, CXCursor cursor) { return front->clang.getCursorKind(cursor); }

CXCursor front_strip(struct front *front, CXCursor cursor) {
    for (;;) {
        enum CXCursorKind kind = front_kind(front, cursor);
        if (kind == CXCursor_GenericSelectionExpr) {
            CXCursor chosen = front_generic(front, cursor);
            if (front->clang.Cursor_isNull(chosen)) return cursor;
            cursor = chosen;
            continue;
        }
        if (kind == CXCursor_CallExpr && front->is_cxx && strcmp(front_name(front, cursor), "operator=")) {
            CXCursor copied = front_copied(front, cursor);
            if (front->clang.Cursor_isNull(copied)) return cursor;
            cursor = copied;
            continue;
        }
        if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr) return cursor;
        struct kids kids = front_kids(front, cursor);
        unsigned start, end, inner;
        if (kids.count != 1) return cursor;
        front_extent(front, cursor, &start, &end);
        front_extent(front, kids.item[0], &inner, &end);
        if (kind == CXCursor_UnexposedExpr && inner != start) return cursor; /* more than a conversion */
        cursor = kids.item[0];
    }
}

CXCursor front_designated(struct front *front, CXCursor item) {
    unsigned start, end;
    if (front_kind(front, item) != CXCursor_UnexposedExpr) return item;
    front_extent(front, item, &start, &end);
    struct kids kids = front_kids(front, item);
    return kids.count > 1 && start < front->bytes && strchr(".[", front->text[start]) ? kids.item[kids.count - 1]
                                                                                      : item;
}

static const char *take_string(struct front *front, CXString string) {
    const char *text = front->clang.getCString(string);
    char *copy = rsc_arena_strdup(&front->arena, text ? text : "");
    front->clang.disposeString(string);
    if (!copy) front->out_of_memory = 1;
    return copy ? copy : "";
}

const char *front_name(struct front *front, CXCursor cursor) {
    return take_string(front, front->clang.getCursorSpelling(cursor));
}

void front_extent(struct front *front, CXCursor cursor, unsigned *start, unsigned *end) {
    CXSourceRange range = front->clang.getCursorExtent(cursor);
    front->clang.getSpellingLocation(front->clang.getRangeStart(range), NULL, NULL, NULL, start);
    front->clang.getSpellingLocation(front->clang.getRangeEnd(range), NULL, NULL, NULL, end);
}

const char *front_source(struct front *front, CXCursor cursor) {
    char text[80];
    unsigned start, end;
    size_t used = 0;
    front_extent(front, cursor, &start, &end);
    for (unsigned i = start; i < end && i < front->bytes && used < sizeof text - 4; i++) {
        char c = front->text[i];
        if (c == '#' && (!i || front->text[i - 1] == '\n')) { /* a line marker in the middle of an expression */
            while (i + 1 < end && front->text[i + 1] != '\n') i++;
            continue;
        }
        if (isspace((unsigned char)c)) c = ' ';
        if (c == ' ' && (!used || text[used - 1] == ' ')) continue;
        text[used++] = (unsigned char)c < ' ' || c == 127 ? '?' : c;
    }
    if (used == sizeof text - 4) {
        while (used && ((unsigned char)text[used - 1] & 0xC0) == 0x80) used--; /* do not split a UTF-8 character */
        if (used && (unsigned char)text[used - 1] >= 0xC0) used--;
        memcpy(text + used, "...", 3);
        used += 3;
    }
    char *copy = rsc_arena_strndup(&front->arena, text, used);
    if (!copy) front->out_of_memory = 1;
    return copy ? copy : "";
}

/* The next character outside spaces and line markers; *at moves past it. 0 at the end. */
static char next_character(struct front *front, unsigned *at, unsigned end) {
    while (*at < end && *at < front->bytes) {
        char c = front->text[(*at)++];
        if (c == '#' && (*at == 1 || front->text[*at - 2] == '\n'))
            while (*at < end && front->text[*at] != '\n') (*at)++;
        else if (!isspace((unsigned char)c)) return c;
    }
    return 0;
}

int front_same_text(struct front *front, CXCursor a, CXCursor b) {
    unsigned at, end, other, other_end;
    front_extent(front, front_strip(front, a), &at, &end);
    front_extent(front, front_strip(front, b), &other, &other_end);
    for (;;) {
        char c = next_character(front, &at, end), d = next_character(front, &other, other_end);
        if (c != d) return 0;
        if (!c) return 1;
    }
}

void front_place(struct front *front, CXCursor cursor, const char **file, unsigned *line) {
    CXString name;
    front->clang.getPresumedLocation(front->clang.getRangeStart(front->clang.getCursorExtent(cursor)), &name, line,
                                     NULL);
    *file = take_string(front, name);
}

CXType front_type(struct front *front, CXCursor cursor) {
    CXType type = front->clang.getCanonicalType(front->clang.getCursorType(cursor));
    if (type.kind == CXType_LValueReference || type.kind == CXType_RValueReference)
        type = front->clang.getCanonicalType(front->clang.getPointeeType(type));
    return type;
}

int front_is_for(struct front *front, CXCursor statement) {
    enum CXCursorKind kind = front_kind(front, statement);
    return kind == CXCursor_ForStmt || kind == CXCursor_CXXForRangeStmt;
}

/* libclang numbers the types: bool and the unsigned ones, 128 bits, then the signed ones. */
int type_is_unsigned(CXType type) { return type.kind >= CXType_Bool && type.kind <= CXType_ULongLong; }

int type_is_integer(CXType type) {
    return type_is_unsigned(type) || (type.kind >= CXType_Char_S && type.kind <= CXType_LongLong) ||
           type.kind == CXType_Enum;
}

int type_is_array(CXType type) {
    return type.kind == CXType_ConstantArray || type.kind == CXType_VariableArray ||
           type.kind == CXType_IncompleteArray;
}

int type_is_floating(CXType type) {
    return type.kind == CXType_Float || type.kind == CXType_Double || type.kind == CXType_LongDouble ||
           type.kind == CXType_Float128 || type.kind == CXType_Half || type.kind == CXType_Float16;
}

int front_constant(struct front *front, CXCursor cursor, int64_t *value) {
    CXEvalResult result = front->clang.Cursor_Evaluate(cursor);
    if (!result) return 0;
    int good = front->clang.EvalResult_getKind(result) == CXEval_Int;
    if (good) {
        *value = front->clang.EvalResult_getAsLongLong(result);
        if (front->clang.EvalResult_isUnsignedInt(result) && *value < 0) good = 0;
        if (*value > RSC_LOOP_VALUE_MAX || *value < -RSC_LOOP_VALUE_MAX) good = 0;
    }
    front->clang.EvalResult_dispose(result);
    return good;
}

int front_no_memory(struct front *front) {
    front->out_of_memory = 1;
    return -1;
}

static void note(struct front *front, CXCursor cursor, int assumed, const char *format, va_list arguments) {
    char reason[256];
    const char *file;
    unsigned line;
    if (!front->at || front->gaps_muted) return;
    vsnprintf(reason, sizeof reason, format, arguments);
    front_place(front, cursor, &file, &line);
    struct rsc_loop_region *region = &front->program->region[front->region];
    const char *text = front_source(front, cursor);
    if (region->file && !strcmp(region->file, file)) file = NULL;
    for (uint32_t i = 0; i < region->gap_count; i++) /* every path of a statement reports the same gap */
        if (region->gap[i].line == line && !strcmp(region->gap[i].reason, reason) && !strcmp(region->gap[i].text, text))
            return;
    struct rsc_loop_gap gap = {.assumed = assumed, .file = file, .line = line, .text = text, .reason = reason};
    if (rsc_loop_add_gap(front->program, region, &gap)) front->out_of_memory = 1;
}

void front_gap(struct front *front, CXCursor cursor, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note(front, cursor, 0, format, arguments);
    va_end(arguments);
}

void front_assumption(struct front *front, CXCursor cursor, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note(front, cursor, 1, format, arguments);
    va_end(arguments);
}

CXCursor front_body(struct front *front, CXCursor function) {
    struct kids kids = front_kids(front, function);
    enum CXCursorKind kind = kids.count ? front_kind(front, kids.item[kids.count - 1]) : CXCursor_InvalidFile;
    if (kind == CXCursor_CompoundStmt || kind == CXCursor_CXXTryStmt) return kids.item[kids.count - 1];
    CXCursor none = {0};
    none.kind = CXCursor_InvalidFile;
    return none;
}
