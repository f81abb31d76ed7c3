/*
 * clang_reduce.c - arrays of which each thread has a copy: reduction(+: hist[0:N]), firstprivate(table).
 *
 * The source does not show what the compiler adds. For a reduction each thread clears a copy of its own, works on that,
 * and adds it to the shared array before the barrier at the end. For firstprivate it copies the shared array before.
 */
#include <string.h>

#include "loops/front/clang_front.h"

struct wanted {
    const struct rsc_omp *omp;
    const char *name;
    CXCursor variable;
};

static enum CXChildVisitResult take_variable(struct front *front, CXCursor cursor, void *data) {
    struct wanted *wanted = data;
    if (front_kind(front, cursor) != CXCursor_DeclRefExpr || strcmp(front_name(front, cursor), wanted->name) != 0)
        return CXChildVisit_Recurse;
    wanted->variable = front->clang.getCanonicalCursor(front->clang.getCursorReferenced(cursor));
    return front_means(front, wanted->omp, wanted->name, wanted->variable) ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* The numbers of [START:LENGTH]; START may be left out. */
static int read_bounds(struct front *front, const struct rsc_omp *omp, const char *open, int64_t *start,
                       int64_t *length) {
    const char *colon = strchr(open, ':'), *close = strchr(open, ']');
    struct rsc_omp_number number = {NULL};
    *start = 0;
    if (!colon || !close || colon > close) return -1;
    number.text = rsc_arena_strndup(&front->arena, open + 1, (size_t)(colon - open - 1));
    if (!number.text) return front_no_memory(front);
    if (colon > open + 1 && (!front_omp_number(front, omp, &number, start) || *start < 0)) return -1;
    number.text = rsc_arena_strndup(&front->arena, colon + 1, (size_t)(close - colon - 1));
    if (!number.text) return front_no_memory(front);
    return front_omp_number(front, omp, &number, length) && *length > 0 && *length < RSC_LOOP_VALUE_MAX / 4096 ? 0 : -1;
}

int front_reduction_read(struct front *front, const struct rsc_omp *omp, CXCursor statement,
                         struct front_reduction *reduction) {
    int64_t start, length;
    struct wanted wanted = {.omp = omp,
                            .name = rsc_arena_strndup(&front->arena, omp->reduced, strcspn(omp->reduced, " \t["))};
    if (!wanted.name) return front_no_memory(front);
    if (read_bounds(front, omp, strchr(omp->reduced, '['), &start, &length)) return -1;
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

struct copying {
    const struct rsc_omp *omp;
    struct front_copies *copies;
};

/* Adds an array that is named; breaks off at one whose copies are not supported. */
static enum CXChildVisitResult take_copied(struct front *front, CXCursor cursor, void *data) {
    const struct copying *copying = data;
    struct front_copies *copies = copying->copies;
    if (front_kind(front, cursor) != CXCursor_DeclRefExpr) return CXChildVisit_Recurse;
    const char *name = front_name(front, cursor);
    CXType type = front_type(front, cursor);
    int first = rsc_omp_is_first(copying->omp, name);
    if ((!first && !rsc_omp_is_copied(copying->omp, name)) ||
        (!type_is_array(type) && !front_holds_array(front, type) && !type_is_vector(front, type)))
        return CXChildVisit_Recurse;
    CXCursor variable = front->clang.getCanonicalCursor(front->clang.getCursorReferenced(cursor));
    if (!front_means(front, copying->omp, name, variable)) return CXChildVisit_Recurse;
    for (unsigned i = 0; i < copies->count; i++)
        if (front->clang.equalCursors(copies->item[i].variable, variable)) return CXChildVisit_Recurse;
    struct binding *binding = front_variable(front, variable);
    long long bytes = front->clang.Type_getSizeOf(type);
    copies->bad = name;
    if (!first || bytes < 1 || type_is_vector(front, type) ||
        copies->count == sizeof copies->item / sizeof *copies->item || !binding || binding->value.kind != VALUE_POINTER)
        return CXChildVisit_Break;
    struct value value = binding->value;
    if (value.array == UINT32_MAX) value.array = front_array_of_variable(front, variable, &value.shape);
    copies->item[copies->count++] = (struct front_reduction){.variable = variable,
                                                             .shape = value.shape,
                                                             .shared = {.array = value.array, .offset = value.offset},
                                                             .bytes = rsc_affine_number(bytes)};
    return CXChildVisit_Recurse;
}

int front_copies_read(struct front *front, const struct rsc_omp *omp, CXCursor statement, struct front_copies *copies) {
    struct copying copying = {omp, copies};
    return (omp->first_names || omp->copied_names) && front_finds(front, statement, take_copied, &copying) ? -1 : 0;
}

void front_copies_write(struct front *front, CXCursor statement) {
    const struct front_copies *copies = front->copies;
    front->copies = NULL;
    for (unsigned i = 0; copies && i < copies->count; i++) {
        struct front_span span[2] = {copies->item[i].shared, copies->item[i].shared};
        span[1].array = front_array_of_variable(front, copies->item[i].variable, &copies->item[i].shape); /* private */
        span[1].is_write = 1;
        if (front_copy(front, statement, front_name(front, copies->item[i].variable), span, 2, &copies->item[i].bytes))
            front_gap(front, statement, "the copies of firstprivate do not fit the loop tree");
    }
}
