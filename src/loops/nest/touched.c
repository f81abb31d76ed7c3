/* touched.c - see touched.h. */
#include "loops/nest/touched.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "loops/nest/distinct.h"

#define LINES_MAX (INT64_C(1) << 24)
#define BLOCK_RUNS 4u /* runs marked in the time of counting a block and clearing it */

struct rsc_touched {
    struct rsc_marking marking;
    uint32_t *matters, *at_last; /* by reference */
    uint32_t *covered;           /* by place in search->by_item: rsc_distinct_covered() */
};

void rsc_touched_free(struct rsc_touched *touched) {
    if (!touched) return;
    free(touched->marking.bitmap);
    free(touched->marking.used);
    free(touched->marking.full);
    free(touched->matters);
    free(touched->at_last);
    free(touched->covered);
    free(touched);
}

int rsc_touched_new(struct rsc_touched **out, struct rsc_search *search, uint64_t line_bytes, struct rsc_error *error) {
    const struct rsc_nest *nest = search->nest;
    uint32_t references = nest->reference_count, shift = (uint32_t)__builtin_ctzll(line_bytes);
    int64_t least = INT64_MAX, most = INT64_MIN;
    *out = NULL;
    for (uint32_t r = 0; r < references; r++) {
        if (nest->reference[r]->is_private) return 0;
        if (nest->reference[r]->address_least < least) least = nest->reference[r]->address_least;
        if (nest->reference[r]->address_most > most) most = nest->reference[r]->address_most;
    }
    least >>= shift;
    most >>= shift;
    if (least > most || most - least >= LINES_MAX) return 0;
    struct rsc_touched *touched = calloc(1, sizeof *touched);
    if (!touched) return rsc_fail_memory(error, "lines of a loop nest");
    struct rsc_marking *marking = &touched->marking;
    *marking = (struct rsc_marking){
        .search = search, .thread = RSC_ALL_THREADS, .line_shift = shift, .first_line = least, .last_line = most};
    uint64_t blocks = (uint64_t)(most - least) / 64 / RSC_MARKING_BLOCK + 1;
    marking->bitmap = calloc(blocks * RSC_MARKING_BLOCK, sizeof *marking->bitmap);
    marking->used = calloc(blocks / 64 + 1, sizeof *marking->used);
    marking->full = calloc(blocks / 64 + 1, sizeof *marking->full);
    touched->matters = calloc(references + (size_t)1, sizeof *touched->matters);
    touched->at_last = calloc(references + (size_t)1, sizeof *touched->at_last);
    touched->covered = calloc(references + (size_t)1, sizeof *touched->covered);
    if (!marking->bitmap || !marking->used || !marking->full || !touched->matters || !touched->at_last ||
        !touched->covered) {
        rsc_touched_free(touched);
        return rsc_fail_memory(error, "lines of a loop nest");
    }
    for (uint32_t i = 0; i < nest->item_count; i++)
        for (uint32_t k = search->item_first[i]; k < search->item_first[i + 1]; k++) {
            uint32_t r = search->by_item[k];
            marking->reference = nest->reference[r];
            rsc_marking_aim(marking);
            touched->matters[r] = marking->matters;
            touched->at_last[r] = marking->at_last;
            touched->covered[k] = rsc_distinct_covered(search, i, k);
        }
    *out = touched;
    return 0;
}

/* The conditions of the reference that no variable from `depth` on decides. */
static int outer_checks_hold(const struct rsc_marking *marking, uint32_t depth) {
    const struct rsc_nest_node *reference = marking->reference;
    for (uint32_t i = 0; i < reference->check_count; i++) {
        struct rsc_nest_node guard = {.condition = (struct rsc_nest_condition *)reference->check[i],
                                      .condition_count = 1};
        if (!(reference->check[i]->value.depths >> depth) && !rsc_nest_guard_holds(&guard, marking->value)) return 0;
    }
    return 1;
}

/*
 * Marks all that the item's references touch: in `trip` iterations of `loop` from `first` on, or, without one, in the
 * whole item, for the values of the variables around it.
 */
static int mark_whole(struct rsc_touched *touched, uint32_t item, const struct rsc_nest_node *loop, int64_t first,
                      int64_t trip) {
    struct rsc_marking *marking = &touched->marking;
    const struct rsc_search *search = marking->search;
    uint32_t depth = loop ? loop->depth : search->nest->item[item].node->depth;
    int64_t outer[RSC_LOOP_DEPTH_MAX];
    memcpy(outer, marking->value, depth * sizeof *outer);
    int status = 0;
    for (uint32_t k = search->item_first[item]; k < search->item_first[item + 1] && status >= 0; k++) {
        uint32_t r = search->by_item[k];
        const struct rsc_nest_node *reference = search->nest->reference[r];
        if (loop && (reference->path_length <= depth || reference->path[depth] != loop)) continue;
        if (touched->covered[k] > (loop ? depth + 1 : 0)) continue; /* by one that is marked here too */
        memcpy(marking->value, outer, depth * sizeof *outer);
        marking->reference = reference;
        marking->matters = touched->matters[r];
        marking->at_last = touched->at_last[r];
        if (!outer_checks_hold(marking, depth)) continue;
        status = loop ? rsc_mark_iterations(marking, depth, first, trip) : rsc_mark_inside(marking, depth);
    }
    memcpy(marking->value, outer, depth * sizeof *outer);
    return status;
}

static int mark_part(struct rsc_touched *touched, uint32_t item, const struct rsc_nest_node *node, int64_t from,
                     int64_t to);

static int mark_loop(struct rsc_touched *touched, uint32_t item, const struct rsc_nest_node *loop, int64_t from,
                     int64_t to, int64_t count) {
    struct rsc_marking *marking = &touched->marking;
    struct rsc_nest *nest = marking->search->nest;
    int64_t *value = marking->value, first, trip = rsc_nest_trip(loop, value, &first);
    int64_t rest = from, to_rest = to, end = trip, start = rsc_nest_iteration_at(nest, loop, value, first, trip, &rest);
    if (to < count) end = rsc_nest_iteration_at(nest, loop, value, first, trip, &to_rest);
    else to_rest = 0;
    if (start < 0 || end < 0 || start > trip || end > trip) return nest->status < 0 ? nest->status : RSC_EINVAL;
    value[loop->depth] = first + start * loop->step;
    if (start == end) return mark_part(touched, item, loop, rest, to_rest);
    int status = 0;
    if (rest) status = mark_part(touched, item, loop, rest, rsc_nest_body(nest, loop, value)), start++;
    if (status >= 0 && start < end) status = mark_whole(touched, item, loop, first + start * loop->step, end - start);
    value[loop->depth] = first + end * loop->step;
    if (status >= 0 && to_rest) status = mark_part(touched, item, loop, 0, to_rest);
    return status;
}

/* Marks references number `from` .. `to` - 1 of one pass over the children of a node. */
static int mark_part(struct rsc_touched *touched, uint32_t item, const struct rsc_nest_node *node, int64_t from,
                     int64_t to) {
    struct rsc_marking *marking = &touched->marking;
    struct rsc_nest *nest = marking->search->nest;
    int status = 0;
    for (uint32_t i = 0; i < node->child_count && to > 0 && status >= 0; i++) {
        const struct rsc_nest_node *child = node->child[i];
        int64_t count = rsc_nest_count(nest, child, marking->value);
        int64_t begin = from > 0 ? from : 0, end = to < count ? to : count;
        from -= count;
        to -= count;
        if (begin >= end) continue;
        if (child->kind == RSC_NODE_REFERENCE) {
            int64_t line = rsc_nest_affine_at(&child->address, marking->value) >> marking->line_shift;
            rsc_mark_lines(marking, line, line);
            marking->runs++;
        } else if (child->kind == RSC_NODE_LOOP) status = mark_loop(touched, item, child, begin, end, count);
        else status = mark_part(touched, item, child, begin, end);
    }
    return status < 0 ? status : nest->status;
}

/* Iterations `from` .. `end` - 1 of a shared loop, or of two that are split together. */
static int mark_neighbours(struct rsc_touched *touched, uint32_t index, int64_t from, int64_t end) {
    int64_t *value = touched->marking.value, first;
    const struct rsc_nest_item *item = &touched->marking.search->nest->item[index];
    const struct rsc_nest_node *inner = item->inner;
    int status = 0;
    rsc_nest_trip(item->node, value, &first);
    if (item->group == 1) return mark_whole(touched, index, item->node, first + from * item->node->step, end - from);
    while (from < end && status >= 0) {
        rsc_nest_group_values(item, value, from);
        int64_t at = value[inner->depth], trip = rsc_nest_trip(inner, value, &first),
                left = trip - (at - first) / inner->step;
        if (left == trip && !item->starts && trip <= end - from) {
            int64_t rows = (end - from) / trip;
            status = mark_whole(touched, index, item->node, value[item->node->depth], rows);
            from += rows * trip;
        } else {
            if (left > end - from) left = end - from;
            status = mark_whole(touched, index, inner, at, left);
            from += left;
        }
    }
    return status;
}

/* Iterations m .. end - 1 of a thread's share, whole. */
static int mark_share(struct rsc_touched *touched, uint32_t index, const struct rsc_view *view, uint32_t thread,
                      int64_t m, int64_t end) {
    struct rsc_marking *marking = &touched->marking;
    struct rsc_nest *nest = marking->search->nest;
    const struct rsc_nest_item *item = &nest->item[index];
    int status = 0;
    while (m < end && status >= 0) {
        int64_t iteration = rsc_view_iteration(view, thread, m), last = iteration;
        if (item->group > 2) {
            rsc_nest_group_values(item, marking->value, iteration);
            status = mark_part(touched, index, item->inner, 0, rsc_nest_body(nest, item->inner, marking->value));
            m++;
            continue;
        }
        if (view->split == RSC_SPLIT_BLOCK) last += end - 1 - m, m = end;
        else
            for (m++; m < end && rsc_view_iteration(view, thread, m) == last + 1; m++) last++;
        status = mark_neighbours(touched, index, iteration, last + 1);
    }
    return status;
}

int rsc_touched_add(struct rsc_touched *touched, uint32_t phase, uint32_t thread, int64_t from, int64_t to,
                    uint64_t runs) {
    struct rsc_marking *marking = &touched->marking;
    struct rsc_plan *plan = marking->search->plan;
    struct rsc_nest *nest = plan->nest;
    const struct rsc_nest_phase *range = &nest->phase[phase];
    int status = 0;
    marking->runs_max = runs;
    for (uint32_t s = range->first; s < range->first + range->count && to > 0 && status >= 0; s++) {
        const struct rsc_view *view = rsc_plan_view(plan, s);
        if (!view) return nest->status;
        int64_t length = rsc_view_length(view, thread), begin = from > 0 ? from : 0, end = to < length ? to : length;
        from -= length;
        to -= length;
        if (begin >= end) continue;
        uint32_t index = nest->segment[s].item;
        const struct rsc_nest_item *item = &nest->item[index];
        rsc_plan_values(plan, s, marking->value);
        if (item->who != RSC_RUN_SHARED) {
            status = mark_part(touched, index, item->node, begin, end);
            continue;
        }
        int64_t rest, end_rest = 0, m = rsc_view_find(view, thread, begin, &rest),
                      m_end = rsc_view_iterations(view, thread);
        if (end < length) m_end = rsc_view_find(view, thread, end, &end_rest);
        if (rest || m == m_end) {
            rsc_nest_group_values(item, marking->value, rsc_view_iteration(view, thread, m));
            int64_t body = m == m_end ? end_rest : rsc_nest_body(nest, item->inner, marking->value);
            status = mark_part(touched, index, item->inner, rest, body);
            if (m++ == m_end) continue;
        }
        if (status >= 0) status = mark_share(touched, index, view, thread, m, m_end);
        if (status >= 0 && end_rest) {
            rsc_nest_group_values(item, marking->value, rsc_view_iteration(view, thread, m_end));
            status = mark_part(touched, index, item->inner, 0, end_rest);
        }
    }
    return status < 0 ? status : marking->runs > runs ? RSC_ELIMIT : nest->status;
}

int rsc_touched_add_phase(struct rsc_touched *touched, uint32_t phase, uint64_t runs) {
    struct rsc_marking *marking = &touched->marking;
    struct rsc_nest *nest = marking->search->nest;
    const struct rsc_nest_phase *range = &nest->phase[phase];
    int status = 0;
    marking->runs_max = runs;
    for (uint32_t s = range->first; s < range->first + range->count && status >= 0; s++) {
        if (!nest->segment[s].total) continue;
        rsc_plan_values(marking->search->plan, s, marking->value);
        status = mark_whole(touched, nest->segment[s].item, NULL, 0, 0);
    }
    return status < 0 ? status : marking->runs > runs ? RSC_ELIMIT : nest->status;
}

uint64_t rsc_touched_count(struct rsc_touched *touched, int64_t address, uint64_t *runs) {
    struct rsc_marking *marking = &touched->marking;
    uint64_t count = rsc_marked_count(marking);
    if (rsc_is_marked(marking, address >> marking->line_shift)) count--;
    *runs = marking->runs + BLOCK_RUNS * rsc_marked_blocks(marking);
    rsc_marked_clear(marking);
    marking->runs = 0;
    return count;
}
