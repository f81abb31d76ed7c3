/*
 * clang_region.c - converts functions to regions.
 *
 * Every outermost loop and every parallel construct outside loops becomes a region.
 * The code before them in the function sets the values of variables; its references
 * are not part of any region.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "loops/front/clang_front.h"

static void look_outside(struct front *front, CXCursor statement);
static void look_in(struct front *front, CXCursor statement);

/* Drops loops, guards and blocks without references; a shared loop with a barrier at its end becomes a barrier. */
static int prune(struct rsc_loop_node *node) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (prune(node->child[i])) node->child[kept++] = node->child[i];
    node->child_count = kept;
    if (kept || node->kind == RSC_NODE_REFERENCE || node->kind == RSC_NODE_BARRIER) return 1;
    if (node->kind == RSC_NODE_SINGLE || (node->kind == RSC_NODE_LOOP && node->share)) {
        if (node->nowait) return 0;
        node->kind = RSC_NODE_BARRIER;
        node->share = 0;
        return 1;
    }
    return 0;
}

static int has_reference(const struct rsc_loop_node *node) {
    if (node->kind == RSC_NODE_REFERENCE) return 1;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (has_reference(node->child[i])) return 1;
    return 0;
}

static int begin_region(struct front *front, CXCursor statement) {
    char name[300];
    const char *file;
    unsigned line;
    if (front->options->together && front->program->region_count &&
        front->function_region == front->program->region_count) {
        front->region = front->program->region_count - 1;
        front->at = front->program->region[front->region].root;
        return 0;
    }
    front_place(front, statement, &file, &line);
    for (unsigned copy = 0; copy < 10000; copy++) {
        uint32_t i = 0;
        if (copy) snprintf(name, sizeof name, "%.200s:%u.%u", front->function, line, copy + 1);
        else snprintf(name, sizeof name, "%.200s:%u", front->function, line);
        while (i < front->program->region_count && strcmp(front->program->region[i].name, name)) i++;
        if (i == front->program->region_count) break;
    }
    struct rsc_loop_region *region = rsc_loop_add_region(front->program, name);
    if (!region) return front_no_memory(front);
    front->inlined_before = front->inlined_count;
    region->file = file;
    region->function = front->function;
    region->line = line;
    front->region = front->program->region_count - 1;
    front->function_region = front->program->region_count;
    front->at = region->root;
    return 0;
}

static void end_region(struct front *front) {
    struct rsc_loop_region *region = &front->program->region[front->region];
    front_flush(front);
    front->at = NULL;
    front->known_count = 0;
    for (uint32_t i = 0; i < region->gap_count; i++) /* its functions are analysed by themselves */
        if (!region->gap[i].assumed) front->inlined_count = front->inlined_before;
    prune(region->root);
    if (!has_reference(region->root) && !region->gap_count && !front->options->together) front->program->region_count--;
}

static void outside_if(struct front *front, CXCursor statement) {
    struct kids kids = front_if_kids(front, statement), all = front_kids(front, statement);
    char reason[REASON_BYTES];
    if (kids.count < 2) return;
    for (unsigned i = 0; i + kids.count < all.count; i++) front_simple(front, all.item[i]);
    int holds = front_condition(front, kids.item[0], reason, sizeof reason);
    look_in(front, kids.item[0]);
    size_t mark = front->undo_count;
    if (holds != 0) look_outside(front, kids.item[1]);
    if (holds < 0) { /* the other branch starts from the same state */
        front_undo_to(front, mark);
        front_vector_forget(front, statement);
    }
    if (holds != 1 && kids.count > 2) look_outside(front, kids.item[2]);
    if (holds < 0) front_forget_assigned(front, statement, "depends on a condition");
}

/* Records the arguments of a call outside loops. */
static void note_call(struct front *front, CXCursor call) {
    CXCursor function = front->clang.getCursorReferenced(call);
    int count = front->clang.Cursor_getNumArguments(call);
    if (front->clang.Cursor_isNull(function)) return;
    function = front->clang.getCanonicalCursor(function);
    for (int p = 0; p < count; p++) {
        struct value value;
        int64_t number = 0;
        front_eval(front, front->clang.Cursor_getArgument(call, (unsigned)p), &value);
        int is_number = value_is_constant(&value, &number);
        size_t i = 0;
        while (i < front->known_call_count && (front->known_call[i].parameter != (unsigned)p ||
                                               !front->clang.equalCursors(front->known_call[i].function, function)))
            i++;
        if (i == front->known_call_count) {
            if (RSC_GROW(front->known_call, front->known_call_room, i + 1)) {
                front_no_memory(front);
                return;
            }
            front->known_call[front->known_call_count++] =
                (struct known_call){.function = function, .parameter = (unsigned)p, .value = number};
        }
        struct known_call *known = &front->known_call[i];
        known->differs |= !is_number || known->value != number;
        known->calls++;
    }
}

int front_passed(struct front *front, CXCursor function, unsigned parameter, unsigned calls, int64_t *value) {
    function = front->clang.getCanonicalCursor(function);
    for (size_t i = 0; i < front->known_call_count; i++) {
        const struct known_call *known = &front->known_call[i];
        if (known->parameter != parameter || !front->clang.equalCursors(known->function, function)) continue;
        *value = known->value;
        return !known->differs && known->calls == calls;
    }
    return 0;
}

/* A while loop outside all others: 1 if it is a region; else there is one that has only this gap. */
static int outside_while(struct front *front, CXCursor statement) {
    char reason[REASON_BYTES];
    if (front->collecting || !front_has_references(front, statement) || begin_region(front, statement)) return 0;
    int counts = !front_while(front, statement, reason, sizeof reason);
    if (!counts)
        front_gap(front, statement,
                  "a while loop whose trip count is not known: %.100s; only for loops inside it are analysed", reason);
    end_region(front);
    return counts;
}

/* What lies between a label and the last goto that leads back to it. */
struct back {
    unsigned from, to;
};

static enum CXChildVisitResult look_for_back(struct front *front, CXCursor cursor, void *context) {
    struct back *back = context;
    unsigned start, label, end;
    if (front_kind(front, cursor) != CXCursor_GotoStmt) return CXChildVisit_Recurse;
    struct kids kids = front_kids(front, cursor);
    if (!kids.count) return CXChildVisit_Continue;
    front_extent(front, cursor, &start, &end);
    front_extent(front, front->clang.getCursorReferenced(kids.item[0]), &label, &end);
    if (label == back->from && start > back->to) back->to = start;
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult look_between(struct front *front, CXCursor cursor, void *context) {
    const struct back *back = context;
    unsigned start, end;
    front_extent(front, cursor, &start, &end);
    if (end <= back->from || start >= back->to) return CXChildVisit_Continue;
    return start >= back->from && end <= back->to && front_touches_memory(front, cursor) ? CXChildVisit_Break
                                                                                         : CXChildVisit_Recurse;
}

/* A loop that a goto makes is left out; for, while and do loops in it are regions. */
static void outside_label(struct front *front, CXCursor label) {
    CXCursor body = front_body(front, front->calls[0]);
    struct back back;
    unsigned end;
    front_extent(front, label, &back.from, &end);
    back.to = back.from;
    front_finds(front, body, look_for_back, &back);
    if (!front->collecting && back.to > back.from && front_finds(front, body, look_between, &back) &&
        !begin_region(front, label)) {
        front_gap(front, label, "a loop that goto makes; only for loops inside it are analysed");
        end_region(front);
    }
    front_skip(front, body, "changes before a goto");
}

/*
 * Loops of a lambda, whenever that is called: variables that the function assigns to are not known in it. So are those of
 * ({ ... }), which are looked at after the expression around them.
 */
static enum CXChildVisitResult look_for_inner(struct front *front, CXCursor cursor, void *context) {
    (void)context;
    enum CXCursorKind kind = front_kind(front, cursor);
    if (kind != CXCursor_LambdaExpr && kind != CXCursor_StmtExpr) return CXChildVisit_Recurse;
    size_t mark = front->undo_count, count = front->size_count;
    struct front_size *sizes = rsc_arena_alloc(&front->arena, (count + 1) * sizeof *sizes);
    if (!sizes) return front_no_memory(front), CXChildVisit_Break;
    if (count) memcpy(sizes, front->sizes, count * sizeof *sizes);
    CXCursor function = front->calls[0];
    front_skip(front, kind == CXCursor_StmtExpr ? cursor : front_body(front, function),
               kind == CXCursor_StmtExpr ? "changes in ({ })" : "may change before the lambda is called");
    look_outside(front, front_body(front, cursor));
    front_undo_to(front, mark);
    if (count) memcpy(front->sizes, sizes, count * sizeof *sizes);
    return CXChildVisit_Continue;
}

static void look_in(struct front *front, CXCursor statement) {
    if (!front->collecting) front_finds(front, statement, look_for_inner, NULL);
}

/* try { } catch () { }: nothing is taken to be thrown; the loops of the handlers are regions too. */
static void outside_try(struct front *front, CXCursor statement) {
    struct kids kids = front_kids(front, statement);
    if (kids.count) look_outside(front, kids.item[0]);
    size_t mark = front->undo_count;
    if (kids.count) front_skip(front, kids.item[0], "depends on an exception");
    for (unsigned i = 1; i < kids.count; i++) look_outside(front, front_body(front, kids.item[i]));
    front_undo_to(front, mark);
}

static void look_outside(struct front *front, CXCursor statement) {
    unsigned start, end;
    struct kids kids;
    if (front->out_of_memory || front->nesting > FRONT_NESTING_MAX) return;
    front_extent(front, statement, &start, &end);
    struct rsc_omp *omp = front_omp_before(front, start);
    enum CXCursorKind kind = front_kind(front, statement);
    front->nesting++;
    if (front->collecting && (omp || front_is_for(front, statement))) {
        front_forget_assigned(front, statement, "changes in a loop");
        front->nesting--;
        return;
    }
    if (omp || front_is_for(front, statement)) {
        if (!begin_region(front, statement)) {
            if (omp) front_construct(front, omp, statement);
            else front_for(front, statement, NULL);
            end_region(front);
        }
        front->nesting--;
        return;
    }
    kids = front_kids(front, statement);
    switch ((int)kind) {
    case CXCursor_CompoundStmt:
        for (unsigned i = 0; i < kids.count; i++) look_outside(front, kids.item[i]);
        break;
    case CXCursor_IfStmt: outside_if(front, statement); break;
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt: /* each loop in it is a region */
        if (front_runs_once(front, statement)) {
            look_outside(front, kids.item[0]);
            break;
        }
        if (outside_while(front, statement)) break;
        __attribute__((fallthrough));
    case CXCursor_SwitchStmt:
    case CXCursor_LabelStmt:
        if (kind == CXCursor_LabelStmt) outside_label(front, statement);
        __attribute__((fallthrough));
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
        front_skip(front, statement, "changes in a loop");
        for (unsigned i = 0; i < kids.count; i++)
            if (front->clang.isStatement(front_kind(front, kids.item[i]))) look_outside(front, kids.item[i]);
        break;
    case CXCursor_CXXTryStmt: outside_try(front, statement); break;
    case CXCursor_ReturnStmt: look_in(front, statement); break;
    case CXCursor_DeclStmt:
        front_simple(front, statement);
        look_in(front, statement);
        front_vector_forget(front, statement);
        break;
    case CXCursor_CallExpr:
        if (front->collecting) note_call(front, statement);
        else front_simple(front, statement);
        if (!front_is_aligned_allocation(front, statement)) front_forget_globals(front, statement);
        look_in(front, statement);
        front_vector_run(front, statement);
        break;
    default:
        if (!front->clang.isExpression(kind)) break;
        front_simple(front, statement);
        look_in(front, statement);
        front_vector_run(front, statement);
        break;
    }
    front->nesting--;
}

static enum CXChildVisitResult look_for_lambda(struct front *front, CXCursor cursor, void *lambda) {
    if (front_kind(front, cursor) != CXCursor_LambdaExpr) return CXChildVisit_Recurse;
    *(CXCursor *)lambda = cursor;
    return CXChildVisit_Break;
}

/* auto f = [] { ... }; and int n = [] { ... return 3; }(); */
static CXCursor lambda_of(struct front *front, CXCursor variable) {
    CXCursor lambda = front->clang.getNullCursor();
    front_finds(front, variable, look_for_lambda, &lambda);
    return lambda;
}

int front_is_lambda(struct front *front, CXCursor variable) {
    return !front->clang.Cursor_isNull(lambda_of(front, variable));
}

void front_function(struct front *front, CXCursor function) {
    enum CXCursorKind kind = front_kind(front, function);
    int is_lambda = kind == CXCursor_VarDecl || kind == CXCursor_FieldDecl;
    CXCursor body = front_body(front, is_lambda ? lambda_of(front, function) : function);
    if (front_kind(front, body) == CXCursor_InvalidFile) return;
    front->function = front_name(front, function);
    front->function_region = UINT32_MAX;
    front->function_arrays = front->program->array_count;
    front->calls[0] = function;
    front->call_depth = 1;
    front->binding_count = front->undo_count = front->size_count = 0; /* globals too: other functions change them */
    front->extents_count = 0;
    front->stored_count = 0;
    front->stored_any = 0;
    front_find_addresses(front, body);
    front_find_stores(front, body);
    for (int i = 0; i < front->clang.Cursor_getNumArguments(function); i++)
        front_declare_shape(front, front->clang.Cursor_getArgument(function, (unsigned)i));
    look_outside(front, body);
    front->call_depth = 0;
}

int front_was_inlined(struct front *front, CXCursor function) {
    function = front->clang.getCanonicalCursor(function);
    for (size_t i = 0; i < front->inlined_count; i++)
        if (front->clang.equalCursors(front->inlined[i], function)) return 1;
    return 0;
}

static enum CXChildVisitResult look_for_loop(struct front *front, CXCursor cursor, void *loop) {
    enum CXCursorKind kind = front_kind(front, cursor);
    if (!front_is_for(front, cursor) && kind != CXCursor_WhileStmt && kind != CXCursor_DoStmt)
        return CXChildVisit_Recurse;
    *(CXCursor *)loop = cursor;
    return CXChildVisit_Break;
}

void front_leave_out(struct front *front, CXCursor function, const char *why) {
    CXCursor loop = front->clang.getNullCursor();
    front->function = front_name(front, function);
    front->function_region = UINT32_MAX;
    if (!front_finds(front, function, look_for_loop, &loop) || begin_region(front, loop)) return;
    front_gap(front, loop, "the loops of %.60s are left out: %s", front->function, why);
    end_region(front);
}
