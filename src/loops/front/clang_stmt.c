/* clang_stmt.c - statements in the order of execution, and the paths through them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loops/front/clang_front.h"

static void run_block(struct front *front, CXCursor block, CXCursor *statements, unsigned count, unsigned from,
                      unsigned end);

void front_flush(struct front *front) {
    const char *region_file = front->at ? front->program->region[front->region].file : NULL;
    for (size_t i = 0; i < front->pending_count && front->at; i++) {
        const struct pending *pending = &front->pending[i];
        struct rsc_loop_node *node = rsc_loop_add_node(front->program, front->at, RSC_NODE_REFERENCE);
        if (!node) {
            front_no_memory(front);
            break;
        }
        node->array = pending->array;
        node->is_write = pending->is_write;
        node->size_bytes = pending->size_bytes;
        node->offset = pending->offset;
        node->line = pending->line;
        node->file = region_file && !strcmp(region_file, pending->file) ? NULL : pending->file;
        node->text = pending->text;
        front->flushed = 1;
    }
    front->pending_count = 0;
}

/* Advances to the next set of choices: the last "holds" becomes "does not hold". */
static int next_path(struct paths *paths) {
    while (paths->count && !paths->choice[paths->count - 1]) paths->count--;
    if (!paths->count) return 0;
    paths->choice[paths->count - 1] = 0;
    return 1;
}

/* Undoes the bindings of a path, and records which variables changed. */
static void roll_back(struct front *front, size_t mark, unsigned char *changed, size_t changed_room) {
    for (size_t i = mark; i < front->undo_count; i++)
        if (front->undo[i].index < changed_room) changed[front->undo[i].index] = 1;
    front_undo_to(front, mark);
}

void front_paths(struct front *front, void (*body)(struct front *front, void *data), void *data) {
    struct paths mine = {.start = front->at}, *outer = front->paths;
    struct rsc_loop_node *at = front->at;
    size_t known = front->known_count, mark = front->undo_count;
    int flushed = front->flushed, more;
    enum { CHANGED_MAX = 4096 };
    unsigned char *changed = NULL; /* variables assigned on some path, if there is more than one path */
    front_flush(front);
    do {
        front->paths = &mine;
        mine.cursor = 0;
        front->flushed = 0;
        body(front, data);
        front_flush(front);
        front->at = at;
        front->known_count = known;
        if (mine.count && !changed && !(changed = calloc(CHANGED_MAX, 1))) front_no_memory(front);
        if (changed) roll_back(front, mark, changed, CHANGED_MAX);
        more = next_path(&mine) && !front->out_of_memory;
    } while (more);
    for (size_t i = 0; changed && i < front->binding_count && i < CHANGED_MAX; i++)
        if (changed[i] && !front->binding[i].counter) {
            struct value value;
            value_opaque(&value, "%.60s depends on a condition", front_name(front, front->binding[i].variable));
            front_bind(front, &front->binding[i], &value);
        }
    free(changed);
    front->paths = outer;
    front->flushed = flushed;
}

/*
 * A static variable was initialised before: no references. Its initial value is its value if the function does not
 * change it. Returns 1 if that is all, 0 if the value is to be read.
 */
static int declare_static(struct front *front, CXCursor variable, CXCursor start) {
    CXCursor function = front->clang.getCursorDefinition(front->clang.getCursorSemanticParent(variable));
    CXType type = front_type(front, variable);
    struct binding *binding = front_variable(front, variable);
    struct value value;
    if (!binding || (!type_is_integer(type) && type.kind != CXType_Pointer)) return 1;
    if (front->clang.Cursor_isNull(function) || !front_assigns_variable(front, front_body(front, function), variable))
        return 0;
    const char *name = front_name(front, variable);
    if (type.kind == CXType_Pointer) {
        front_eval(front, start, &value);
        if (value.kind == VALUE_NUMBER && !front->at) return 0; /* NULL: allocated in the first call */
        value_opaque(&value, "%.60s is static: it keeps its value between calls", name);
    } else {
        value_opaque(&value, "%.50s is static: it keeps its value between calls (--set %.50s=NUMBER gives it)", name,
                     name);
    }
    front_bind(front, binding, &value);
    return 1;
}

static void declare(struct front *front, CXCursor variable) {
    CXType type = front_type(front, variable);
    front_declare_shape(front, variable);
    struct binding *binding = front_variable(front, variable);
    struct value value;
    if (!binding) return;
    enum CX_StorageClass storage = front->clang.Cursor_getStorageClass(variable);
    binding->in_parallel = front->in_parallel && storage != CX_SC_Static && storage != CX_SC_Extern;
    CXCursor start = front->clang.Cursor_getVarDeclInitializer(variable);
    if (front->clang.Cursor_isNull(start)) {
        if (type_is_integer(type)) {
            value_opaque(&value, "%.60s has no value yet", front_name(front, variable));
            front_bind(front, binding, &value);
        }
        return;
    }
    int is_static = storage == CX_SC_Static;
    if (front_cxx_declare(front, variable, start) || (is_static && declare_static(front, variable, start))) return;
    if (front->at && (type_is_array(type) || front_holds_array(front, type)))
        return front_initialise(front, variable, start);
    if (type_is_array(type) || type.kind == CXType_Record) return front_store_values(front, variable, start);
    size_t made = front->pending_count;
    front_eval(front, start, &value);
    if (is_static) front->pending_count = made;
    binding = front_variable(front, variable);
    if (!binding) return;
    int64_t number;
    struct value setting;
    if (type_is_integer(type)) {
        if (value.kind == VALUE_POINTER) value_opaque(&value, "a pointer is used as a number");
        front_convert(front, type, &value);
        if (!front->at) { /* before the loops a value from the command line overrides the source's */
            value_opaque(&setting, "none");
            front_bind(front, binding, &setting);
            if (value_is_constant(&binding->value, &number)) return;
        }
        front_bind(front, binding, &value);
    } else if (type.kind == CXType_Pointer) {
        struct shape shape;
        char reason[REASON_BYTES];
        if (value.kind == VALUE_OPAQUE && !front->at && value.is_fresh) return; /* a separate array */
        if (value.kind == VALUE_POINTER) {
            if (front_shape_of_variable(front, variable, &shape, reason, sizeof reason))
                value_opaque(&value, "%s", reason);
            else front_reshape(front, &value, &shape);
        }
        if ((binding = front_variable(front, variable))) front_bind(front, binding, &value);
    } else if (front->options->count_scalars && front->at) {
        struct place place = {.variable = front->clang.getCanonicalCursor(variable),
                              .array = UINT32_MAX,
                              .shape = {.element = type, .element_bytes = front->clang.Type_getSizeOf(type)}};
        front_touch(front, variable, &place, 1);
    }
}

void front_simple(struct front *front, CXCursor statement) {
    struct value value;
    front_note_ends(front, statement);
    if (front_kind(front, statement) == CXCursor_VarDecl) return declare(front, statement);
    if (front_kind(front, statement) != CXCursor_DeclStmt) {
        struct place unused; /* f(x); reads nothing of what its reference leads to */
        CXCursor call = front_strip(front, statement);
        if (front_kind(front, call) != CXCursor_CallExpr || !front_call_place(front, call, &unused))
            front_eval(front, statement, &value);
        else if (unused.opaque) front_gap(front, statement, "%s", unused.reason);
        return;
    }
    struct kids kids = front_kids(front, statement);
    for (unsigned i = 0; i < kids.count; i++)
        if (front_kind(front, kids.item[i]) == CXCursor_VarDecl) declare(front, kids.item[i]);
        else if (front_has_references(front, kids.item[i]))
            front_gap(front, kids.item[i], "a declaration that is not supported");
}

static void simple_path(struct front *front, void *data) { front_simple(front, *(CXCursor *)data); }

/* A branch whose condition is not affine: a gap if it touches memory. */
static void unknown_branch(struct front *front, CXCursor statement, CXCursor branch, const char *reason) {
    if (front->at && front_has_references(front, branch)) {
        struct rsc_loop_node *at = front->at;
        struct rsc_loop_node aside = {.kind = RSC_NODE_BODY, .parent = at, .depth = front_depth(front)};
        front_flush(front);
        front->at = &aside; /* built only to find out whether it has references */
        front->gaps_muted++;
        front_statement(front, branch);
        front->gaps_muted--;
        front->at = at;
        if (aside.child_count) front_gap(front, statement, "whether this runs is not affine: %s", reason);
    }
    front_skip(front, branch, "depends on data");
}

static void if_path(struct front *front, void *data) {
    CXCursor statement = *(CXCursor *)data;
    struct kids kids = front_if_kids(front, statement), all = front_kids(front, statement);
    char reason[REASON_BYTES];
    if (kids.count < 2) return;
    for (unsigned i = 0; i + kids.count < all.count; i++) front_simple(front, all.item[i]);
    int asserts = front_asserts(front, statement);
    if (asserts >= 0) {
        front_assume(front, kids.item[0], asserts);
        front_flush(front);
        if (asserts) front_statement(front, kids.item[1]);
        else if (kids.count > 2) front_statement(front, kids.item[2]);
        return;
    }
    int idle =
        !front_touches_memory(front, kids.item[1]) && (kids.count < 3 || !front_touches_memory(front, kids.item[2]));
    front->no_chance += idle;
    int holds = front_condition(front, kids.item[0], reason, sizeof reason);
    front->no_chance -= idle;
    if (holds < 0) {
        for (unsigned i = 1; i < kids.count; i++) unknown_branch(front, statement, kids.item[i], reason);
        return;
    }
    front_flush(front);
    if (holds) front_statement(front, kids.item[1]);
    else if (kids.count > 2) front_statement(front, kids.item[2]);
}

static void not_a_loop_tree(struct front *front, CXCursor statement, const char *what) {
    front_gap(front, statement, "%s", what);
    front_skip(front, statement, "changes");
}

static void while_or_gap(struct front *front, CXCursor statement) {
    char reason[REASON_BYTES], why[REASON_BYTES + 60];
    if (!front_while(front, statement, reason, sizeof reason)) return;
    snprintf(why, sizeof why, "a while loop whose trip count is not known: %s", reason);
    not_a_loop_tree(front, statement, why);
}

static int is_loop(struct front *front, CXCursor statement) {
    enum CXCursorKind kind = front_kind(front, statement);
    return front_is_for(front, statement) || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt;
}

void front_statement(struct front *front, CXCursor statement) {
    unsigned start, end;
    struct kids kids;
    if (front->out_of_memory) return;
    if (++front->nesting > FRONT_NESTING_MAX) {
        front->nesting--;
        front_gap(front, statement, "statements are nested too deep");
        return;
    }
    front_extent(front, statement, &start, &end);
    struct rsc_omp *omp = front_omp_before(front, start);
    int at_body = front->at_body;
    front->at_body = 0;
    if (!front->at && (omp || is_loop(front, statement))) { /* of a function that is called outside of regions */
        front_skip(front, statement, "changes in a loop");
        front->nesting--;
        front->at_body = at_body;
        return;
    }
    if (omp) {
        front_construct(front, omp, statement);
        front->nesting--;
        front->at_body = at_body;
        return;
    }
    switch ((int)front_kind(front, statement)) {
    case CXCursor_CompoundStmt:
        kids = front_kids(front, statement);
        front->at_body = at_body;
        run_block(front, statement, kids.item, kids.count, start, end);
        break;
    case CXCursor_CXXForRangeStmt:
    case CXCursor_ForStmt: front_for(front, statement, NULL); break;
    case CXCursor_IfStmt: front_paths(front, if_path, &statement); break;
    case CXCursor_NullStmt: break;
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
        if (front_runs_once(front, statement)) front_statement(front, front_kids(front, statement).item[0]);
        else while_or_gap(front, statement);
        break;
    case CXCursor_CXXTryStmt: /* nothing is taken to be thrown */
        kids = front_kids(front, statement);
        if (kids.count) front_statement(front, kids.item[0]);
        break;
    case CXCursor_SwitchStmt: not_a_loop_tree(front, statement, "a switch"); break;
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
    case CXCursor_GotoStmt:
    case CXCursor_ReturnStmt:
    case CXCursor_LabelStmt: not_a_loop_tree(front, statement, "a jump that skips the rest of the loop"); break;
    default:
        if (front_kind(front, statement) == CXCursor_DeclStmt ||
            front->clang.isExpression(front_kind(front, statement)))
            front_paths(front, simple_path, &statement);
        else not_a_loop_tree(front, statement, "an unsupported statement");
        break;
    }
    front->at_body = at_body;
    front->nesting--;
}

/* if (...) continue; or if (...) { ...; continue; }: the number of statements before the continue, -1 for another
 * form. */
static int statements_before_continue(struct front *front, CXCursor statement, struct kids *before) {
    struct kids kids = front_kids(front, statement);
    *before = (struct kids){0};
    if (front_kind(front, statement) != CXCursor_IfStmt || kids.count != 2) return -1;
    CXCursor then = kids.item[1];
    if (front_kind(front, then) == CXCursor_CompoundStmt) {
        *before = front_kids(front, then);
        if (!before->count) return -1;
        then = before->item[--before->count];
    }
    return front_kind(front, then) == CXCursor_ContinueStmt ? (int)before->count : -1;
}

static int is_skip(struct front *front, CXCursor statement) {
    struct kids before;
    return front->at_body && statements_before_continue(front, statement, &before) >= 0;
}

/* Does it assign to an integer or pointer that later statements may use? */
static int binds(struct front *front, CXCursor statement) {
    enum CXCursorKind kind = front_kind(front, statement);
    if (kind == CXCursor_DeclStmt) return 1;
    return (front->clang.isExpression(kind) || kind == CXCursor_IfStmt) && front_assigns_counters(front, statement);
}

struct rest {
    CXCursor block, *statements;
    unsigned count, from, end;
};

/* Runs the first statement, and all after it in each of its paths. */
static void rest_path(struct front *front, void *data) {
    struct rest *rest = data;
    CXCursor first = rest->statements[0];
    char reason[REASON_BYTES];
    unsigned start, end;
    front_extent(front, first, &start, &end);
    if (is_skip(front, first)) {
        struct kids kids = front_kids(front, first);
        int holds = front_condition(front, kids.item[0], reason, sizeof reason);
        front_flush(front);
        if (holds < 0) {
            front_gap(front, first, "whether the rest of the iteration runs is not affine: %s", reason);
            return;
        }
        if (holds) {
            statements_before_continue(front, first, &kids);
            run_block(front, first, kids.item, kids.count, start, end);
            return;
        }
    } else if (front_kind(front, first) == CXCursor_IfStmt) {
        int at_body = front->at_body;
        front->at_body = 0;
        if_path(front, &first);
        front->at_body = at_body;
        front_flush(front);
    } else {
        front_simple(front, first);
        front_flush(front);
    }
    run_block(front, rest->block, rest->statements + 1, rest->count - 1, end, rest->end);
}

static void run_block(struct front *front, CXCursor block, CXCursor *statements, unsigned count, unsigned from,
                      unsigned end) {
    for (unsigned i = 0; i < count && !front->out_of_memory; i++) {
        unsigned start, stop;
        front_extent(front, statements[i], &start, &stop);
        front_standalone(front, from, start, statements[i]);
        from = stop;
        if (!front_omp_before(front, start) && (is_skip(front, statements[i]) || binds(front, statements[i]))) {
            struct rest rest = {block, statements + i, count - i, start, end};
            front_paths(front, rest_path, &rest);
            return;
        }
        int at_body = front->at_body;
        if (front_kind(front, statements[i]) == CXCursor_CompoundStmt) front->at_body = 0; /* a block of its own */
        front_statement(front, statements[i]);
        front->at_body = at_body;
    }
    front_standalone(front, from, end, count ? statements[count - 1] : block);
}
