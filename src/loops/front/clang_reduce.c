/*
 * clang_reduce.c - reductions over an array section: reduction(+: hist[0:N]).
 *
 * The source does not show what the compiler adds: each thread clears a copy of its own, works on that, and adds it to
 * the shared array before the barrier at the end.
 */
#include <string.h>

#include "loops/front/clang_front.h"

struct wanted {
    const char *name;
    CXCursor variable;
};

static enum CXChildVisitResult take_variable(struct front *front, CXCursor cursor, void *data) {
    struct wanted *wanted = data;
    if (front_kind(front, cursor) != CXCursor_DeclRefExpr || strcmp(front_name(front, cursor), wanted->name) != 0)
        return CXChildVisit_Recurse;
    wanted->variable = front->clang.getCanonicalCursor(front->clang.getCursorReferenced(cursor));
    return CXChildVisit_Break;
}

/* The numbers of [START:LENGTH]; START may be left out. */
static int read_bounds(struct front *front, const char *open, int64_t *start, int64_t *length) {
    const char *colon = strchr(open, ':'), *close = strchr(open, ']');
    struct rsc_omp_number number = {NULL};
    *start = 0;
    if (!colon || !close || colon > close) return -1;
    number.text = rsc_arena_strndup(&front->arena, open + 1, (size_t)(colon - open - 1));
    if (!number.text) return front_no_memory(front);
    if (colon > open + 1 && (!front_omp_number(front, &number, start) || *start < 0)) return -1;
    number.text = rsc_arena_strndup(&front->arena, colon + 1, (size_t)(close - colon - 1));
    if (!number.text) return front_no_memory(front);
    return front_omp_number(front, &number, length) && *length > 0 && *length < RSC_LOOP_VALUE_MAX / 4096 ? 0 : -1;
}

int front_reduction_read(struct front *front, const struct rsc_omp *omp, CXCursor statement,
                         struct front_reduction *reduction) {
    int64_t start, length;
    struct wanted wanted = {.name = rsc_arena_strndup(&front->arena, omp->reduced, strcspn(omp->reduced, " \t["))};
    if (!wanted.name) return front_no_memory(front);
    if (read_bounds(front, strchr(omp->reduced, '['), &start, &length)) return -1;
    if (!front_finds(front, statement, take_variable, &wanted)) return -1;
    struct binding *binding = front_variable(front, wanted.variable);
    if (!binding || binding->value.kind != VALUE_POINTER || binding->value.shape.rank != 1) return -1;
    struct value value = binding->value;
    struct rsc_affine first = rsc_affine_number(start);
    if (value.array == UINT32_MAX) value.array = front_array_of_variable(front, wanted.variable, &value.shape);
    *reduction = (struct front_reduction){.variable = wanted.variable,
                                          .shape = value.shape,
                                          .shared = {.array = value.array, .offset = value.offset},
                                          .bytes = rsc_affine_number(length * value.shape.element_bytes)};
    return rsc_affine_add(&reduction->shared.offset, &first, value.shape.element_bytes);
}

void front_reduce(struct front *front, struct rsc_omp *omp, CXCursor statement) {
    const struct front_reduction reduction = *front->reduction;
    struct front_span own = reduction.shared, parts[3];
    int nowait = omp->nowait, bad;
    front->reduction = NULL;
    own.array = front_array_of_variable(front, reduction.variable, &reduction.shape); /* now private */
    own.is_write = 1;
    bad = front_copy(front, statement, omp->reduced, &own, 1, &reduction.bytes);
    uint32_t made = front->at->child_count;
    if (omp->is_for) front_for(front, statement, omp);
    else front_statement(front, statement);
    for (uint32_t i = made; i < front->at->child_count && omp->is_for; i++) front->at->child[i]->nowait = 1;
    own.is_write = 0;
    parts[0] = own;
    parts[1] = parts[2] = reduction.shared;
    parts[2].is_write = 1;
    bad = bad || front_copy(front, statement, omp->reduced, parts, 3, &reduction.bytes);
    if (bad) front_gap(front, statement, "the reduction's copies do not fit the loop tree");
    if (omp->is_parallel || nowait) return;
    struct rsc_loop_node *barrier = rsc_loop_add_node(front->program, front->at, RSC_NODE_BARRIER);
    if (barrier) barrier->line = 0;
    else front_no_memory(front);
}
