/*
 * clang_source.c - from preprocessed C to the text form: parsing, choosing
 * functions, building, writing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "loops/front/clang_front.h"
#include "loops/front/clang_source.h"

/* The first error in the source, as one line. Errors inside system headers are ignored: compilers differ there. */
static int first_error(struct front *front, CXTranslationUnit unit, const char *path, struct rsc_error *error) {
    unsigned count = front->clang.getNumDiagnostics(unit);
    for (unsigned i = 0; i < count; i++) {
        CXDiagnostic diagnostic = front->clang.getDiagnostic(unit, i);
        CXSourceLocation location = front->clang.getDiagnosticLocation(diagnostic);
        CXString file, text;
        unsigned line;
        if (front->clang.getDiagnosticSeverity(diagnostic) < CXDiagnostic_Error) continue;
        if (front->clang.Location_isInSystemHeader(location)) continue;
        front->clang.getPresumedLocation(location, &file, &line, NULL);
        text = front->clang.getDiagnosticSpelling(diagnostic);
        const char *name = front->clang.getCString(file);
        return rsc_fail(error, RSC_EFORMAT, "%s:%u: %s", name && *name ? name : path, line,
                        front->clang.getCString(text));
    }
    return 0;
}

struct functions {
    struct front *front;
    CXCursor *item;
    size_t count, room;
    CXCursor *called; /* from inside loops */
    size_t called_count, called_room;
    CXCursor *every; /* callee of every call of the file */
    size_t every_count, every_room;
    CXCursor *instance; /* definitions of templates' instances that are called */
    size_t instance_count, instance_room;
    int in_loop;
};

static int append(struct front *front, CXCursor **list, size_t *count, size_t *room, CXCursor cursor) {
    if (RSC_GROW(*list, *room, *count + 1)) return front_no_memory(front);
    (*list)[(*count)++] = cursor;
    return 0;
}

static enum CXChildVisitResult find_calls(CXCursor cursor, CXCursor parent, CXClientData data);

/* Adds the instance of a template that is called, and those that it calls. */
static void add_instance(struct functions *functions, CXCursor callee) {
    struct front *front = functions->front;
    if (!front->is_cxx || front->clang.Cursor_isNull(callee)) return;
    CXCursor definition = front->clang.getCursorDefinition(callee);
    if (front->clang.Cursor_isNull(definition) ||
        front->clang.Cursor_isNull(front->clang.getSpecializedCursorTemplate(definition)) ||
        front->clang.Location_isInSystemHeader(front->clang.getCursorLocation(definition)) ||
        front->nesting >= FRONT_NESTING_MAX)
        return;
    for (size_t i = 0; i < functions->instance_count; i++)
        if (front->clang.equalCursors(functions->instance[i], definition)) return;
    if (append(front, &functions->instance, &functions->instance_count, &functions->instance_room, definition)) return;
    int in_loop = functions->in_loop;
    functions->in_loop = 0;
    front->nesting++;
    front->clang.visitChildren(definition, find_calls, functions);
    front->nesting--;
    functions->in_loop = in_loop;
}

static enum CXChildVisitResult find_calls(CXCursor cursor, CXCursor parent, CXClientData data) {
    struct functions *functions = data;
    struct front *front = functions->front;
    (void)parent;
    if (front_is_for(front, cursor) && !functions->in_loop) {
        functions->in_loop = 1;
        front->clang.visitChildren(cursor, find_calls, functions);
        functions->in_loop = 0;
        return CXChildVisit_Continue;
    }
    if (front_kind(front, cursor) != CXCursor_CallExpr && front_kind(front, cursor) != CXCursor_DeclRefExpr)
        return CXChildVisit_Recurse;
    CXCursor callee = front->clang.getCursorReferenced(cursor);
    add_instance(functions, callee);
    int is_method = front_kind(front, cursor) == CXCursor_CallExpr && !front->clang.Cursor_isNull(callee) &&
                    front_kind(front, callee) == CXCursor_CXXMethod &&
                    !front->clang.Cursor_isNull(front_followed(front, callee));
    if (front->clang.Cursor_isNull(callee) || (front_kind(front, callee) != CXCursor_FunctionDecl && !is_method))
        return CXChildVisit_Recurse;
    callee = front->clang.getCanonicalCursor(callee);
    if (front_kind(front, cursor) ==
        CXCursor_DeclRefExpr) { /* one per call; a function whose address is taken has one without a call */
        if (append(front, &functions->every, &functions->every_count, &functions->every_room, callee))
            return CXChildVisit_Break;
    } else if (functions->in_loop &&
               append(front, &functions->called, &functions->called_count, &functions->called_room, callee)) {
        return CXChildVisit_Break;
    }
    return CXChildVisit_Recurse;
}

static int is_function(struct front *front, CXCursor cursor) {
    enum CXCursorKind kind = front_kind(front, cursor);
    return (kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod || kind == CXCursor_Constructor ||
            kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction) &&
           front->clang.isCursorDefinition(cursor);
}

static int is_class_template(enum CXCursorKind kind) {
    return kind == CXCursor_ClassTemplate || kind == CXCursor_ClassTemplatePartialSpecialization;
}

/* A function whose types depend on the parameters of a template, its own or that of its class. */
static int is_template(struct front *front, CXCursor function) {
    if (front_kind(front, function) == CXCursor_FunctionTemplate) return 1;
    for (CXCursor holder = front->clang.getCursorSemanticParent(function); !front->clang.Cursor_isNull(holder);
         holder = front->clang.getCursorSemanticParent(holder)) {
        enum CXCursorKind kind = front_kind(front, holder);
        if (is_class_template(kind)) return 1;
        if (kind == CXCursor_TranslationUnit || kind == CXCursor_Namespace) break;
    }
    return 0;
}

/* Functions of C++ are also in namespaces and classes, but for those of the library. */
static enum CXChildVisitResult inside(struct front *front, CXCursor cursor) {
    enum CXCursorKind kind = front_kind(front, cursor);
    int holds = kind == CXCursor_Namespace || kind == CXCursor_ClassDecl || kind == CXCursor_StructDecl ||
                kind == CXCursor_UnionDecl || kind == CXCursor_FriendDecl || kind == CXCursor_LinkageSpec ||
                is_class_template(kind);
    return front->is_cxx && holds && !front->clang.Location_isInSystemHeader(front->clang.getCursorLocation(cursor))
               ? CXChildVisit_Recurse
               : CXChildVisit_Continue;
}

/* Adds the instances of a template, or (without any) the template itself. */
static int add_template(struct functions *functions, CXCursor function) {
    struct front *front = functions->front;
    CXCursor canonical = front->clang.getCanonicalCursor(function);
    unsigned found = 0, start, end, at, to;
    front_extent(front, function, &start, &end);
    for (size_t i = 0; i < functions->instance_count; i++) {
        CXCursor of = front->clang.getSpecializedCursorTemplate(functions->instance[i]);
        front_extent(front, functions->instance[i], &at, &to);
        if (!front->clang.equalCursors(front->clang.getCanonicalCursor(of), canonical) || at < start || at >= end)
            continue; /* or a specialisation, which is listed where it is */
        found++;
        if (append(front, &functions->item, &functions->count, &functions->room, functions->instance[i])) return -1;
    }
    return found ? 0 : append(front, &functions->item, &functions->count, &functions->room, function);
}

static enum CXChildVisitResult find_function(CXCursor cursor, CXCursor parent, CXClientData data) {
    struct functions *functions = data;
    struct front *front = functions->front;
    enum CXCursorKind kind = front_kind(front, cursor);
    const char *file;
    unsigned line;
    (void)parent;
    int lambda = front->is_cxx && (kind == CXCursor_VarDecl || kind == CXCursor_FieldDecl) &&
                 !front->clang.isStatement(front_kind(front, parent)); /* auto f = [] { ... }; outside of functions */
    if (kind != CXCursor_FunctionTemplate && !is_function(front, cursor) && !lambda) {
        if (front->clang.isStatement(kind) || front->clang.isExpression(kind))
            return CXChildVisit_Recurse; /* of a function: classes in it */
        return inside(front, cursor);
    }
    if (lambda && !front_is_lambda(front, cursor)) return CXChildVisit_Continue;
    front_place(front, cursor, &file, &line);
    const char *wanted = front->options->function;
    if (!strcmp(file, front->main_file) && front->is_cxx && !lambda)
        front->clang.visitChildren(cursor, find_function, data);
    if (wanted ? strcmp(front_name(front, cursor), wanted) != 0 : strcmp(file, front->main_file) != 0)
        return CXChildVisit_Continue;
    int failed = !lambda && is_template(front, cursor)
                     ? add_template(functions, cursor)
                     : append(front, &functions->item, &functions->count, &functions->room, cursor);
    return failed ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* Whether a function is called from another function's loops and has no parallel loops of its own. */
static int is_called(struct functions *functions, CXCursor function) {
    struct front *front = functions->front;
    unsigned start, end;
    front_extent(front, function, &start, &end);
    for (size_t i = 0; i < front->omp.count; i++)
        if (front->omp.item[i].start >= start && front->omp.item[i].start < end && front->omp.item[i].is_parallel)
            return 0;
    function = front->clang.getCanonicalCursor(function);
    for (size_t i = 0; i < functions->called_count; i++)
        if (front->clang.equalCursors(functions->called[i], function)) return 1;
    return 0;
}

/* First pass: collects the calls and the numbers they pass. */
static enum CXChildVisitResult collect_calls(CXCursor cursor, CXCursor parent, CXClientData data) {
    struct functions *functions = data;
    struct front *front = functions->front;
    (void)parent;
    if (!is_function(front, cursor)) return inside(front, cursor);
    if (front->is_cxx && is_template(front, cursor)) return CXChildVisit_Continue; /* calls are known in instances */
    if (front->clang.Location_isInSystemHeader(front->clang.getCursorLocation(cursor))) return CXChildVisit_Continue;
    front->clang.visitChildren(cursor, find_calls, functions);
    front_function(front, cursor);
    return front->out_of_memory ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* All callers of a static function are in the file, so their arguments are known. */
static void set_parameters(struct functions *functions, CXCursor function) {
    struct front *front = functions->front;
    CXCursor canonical = front->clang.getCanonicalCursor(function);
    unsigned calls = 0;
    int count = front->clang.Cursor_getNumArguments(function);
    front->passed_count = 0;
    if (front->clang.Cursor_getStorageClass(function) != CX_SC_Static) return;
    for (size_t i = 0; i < functions->every_count; i++)
        calls += front->clang.equalCursors(functions->every[i], canonical) != 0;
    for (int p = 0; p < count && calls; p++) {
        int64_t value;
        if (!front_passed(front, function, (unsigned)p, calls, &value)) continue;
        if (front->passed_count == sizeof front->passed / sizeof *front->passed) return;
        front->passed[front->passed_count].parameter =
            front->clang.getCanonicalCursor(front->clang.Cursor_getArgument(function, (unsigned)p));
        front->passed[front->passed_count++].value = value;
    }
}

static void add_regions(struct functions *functions, CXCursor function) {
    struct front *front = functions->front;
    if (front->is_cxx && is_template(front, function)) {
        front_leave_out(front, function, "a template of which no call was found in this file");
        return;
    }
    set_parameters(functions, function);
    front_function(front, function);
}

static int build(struct front *front, CXTranslationUnit unit, const char *path, struct rsc_error *error) {
    struct functions functions = {.front = front};
    int status = 0;
    front_find_escaped(front);
    front->collecting = 1;
    front->clang.visitChildren(front->clang.getTranslationUnitCursor(unit), collect_calls, &functions);
    front->collecting = 0;
    front->program->array_count = 0; /* the analysed functions add their arrays again */
    front->clang.visitChildren(front->clang.getTranslationUnitCursor(unit), find_function, &functions);
    /* first those that no loop calls, then those whose calls are in no analysed loop, callers before what they call */
    for (size_t i = 0; i < functions.count && !front->out_of_memory; i++)
        if (front->options->function || !is_called(&functions, functions.item[i]))
            add_regions(&functions, functions.item[i]);
    for (size_t i = functions.count; i-- > 0 && !front->options->function && !front->out_of_memory;)
        if (is_called(&functions, functions.item[i]) && !front_was_inlined(front, functions.item[i]))
            add_regions(&functions, functions.item[i]);
    if (front->options->function && !functions.count && !front->out_of_memory)
        status = rsc_fail(error, RSC_EINVAL, "%s: no function %.100s is defined here", path, front->options->function);
    free(functions.item);
    free(functions.called);
    free(functions.every);
    free(functions.instance);
    return status;
}

int rsc_clang_source_read(const char *path, const char *source, size_t bytes, const struct rsc_c_options *options,
                          char **text, size_t *text_bytes, struct rsc_error *error) {
    int is_cxx = rsc_c_source_is_cxx(path);
    const char *const arguments[] = {"-x",
                                     is_cxx ? "c++-cpp-output" : "cpp-output",
                                     is_cxx ? "-std=gnu++20" : "-std=gnu17",
                                     "-w",
                                     "-ferror-limit=0",
                                     "-fno-spell-checking"};
    struct CXUnsavedFile file = {"source.i", source, bytes};
    CXTranslationUnit unit = NULL;
    struct front *front = calloc(1, sizeof *front);
    int status = 0;
    *text = NULL;
    if (!front) return rsc_fail_memory(error, path);
    front->options = options;
    front->is_cxx = is_cxx;
    front->text = source;
    front->bytes = bytes;
    front->main_file = path;
    rsc_arena_init(&front->arena);
    if ((status = rsc_clang_load(&front->clang, error))) goto out;
    if (!(front->program = rsc_loop_program_new()) || rsc_omp_scan(&front->omp, &front->arena, source, bytes)) {
        status = rsc_fail_memory(error, path);
        goto out;
    }
    CXIndex index = front->clang.createIndex(0, 0);
    enum CXErrorCode code = front->clang.parseTranslationUnit2(
        index, "source.i", arguments, sizeof arguments / sizeof *arguments, &file, 1, 0, &unit);
    if (code != CXError_Success || !unit) {
        status = rsc_fail(error, RSC_EFORMAT, "%s: clang could not read this source", path);
        goto out;
    }
    front->tree = front->clang.getTranslationUnitCursor(unit);
    if ((status = first_error(front, unit, path, error)) || (status = build(front, unit, path, error))) goto out;
    if (!front->out_of_memory) front_sort_arrays(front);
    if (front->out_of_memory) {
        status = front->program->node_total >= RSC_LOOP_NODES_MAX
                     ? rsc_fail(error, RSC_ELIMIT, "%s: the loop tree has more than %d nodes", path, RSC_LOOP_NODES_MAX)
                     : rsc_fail_memory(error, path);
    } else if ((status = rsc_loop_text_write(front->program, text, text_bytes))) {
        status = rsc_fail_memory(error, path);
    }
out:
    rsc_loop_program_free(front->program);
    rsc_arena_free(&front->arena);
    free(front->binding);
    free(front->undo);
    free(front->origin);
    free(front->known_call);
    free(front->inlined);
    free(front->known);
    free(front->pending);
    free(front->sizes);
    free(front->escaped);
    free(front->extents);
    free(front->named);
    free(front);
    return status;
}
