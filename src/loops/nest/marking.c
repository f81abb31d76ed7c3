/* marking.c - see marking.h. */
#include "loops/nest/marking.h"

#include <stdlib.h>
#include <string.h>

#include "base/count_bits.h"

#define GAPS_PER_RUN 32 /* lines of a run that has gaps, marked in the time of one that has none */
#define GAPS_AT_ONCE 4096 /* between looks at the watch */

static inline void use_block(struct rsc_marking *marking, uint64_t block) {
    if (marking->used) marking->used[block / 64] |= UINT64_C(1) << block % 64;
}

/* Words `from` .. `to` - 1: whole blocks of them are full, the others are filled. */
static void fill_words(struct rsc_marking *marking, uint64_t from, uint64_t to) {
    uint64_t first = (from + RSC_MARKING_BLOCK - 1) / RSC_MARKING_BLOCK, last = to / RSC_MARKING_BLOCK;
    if (marking->full && first < last) {
        for (uint64_t block = first; block < last; block++) marking->full[block / 64] |= UINT64_C(1) << block % 64;
        fill_words(marking, from, first * RSC_MARKING_BLOCK);
        from = last * RSC_MARKING_BLOCK;
    }
    if (from >= to) return;
    for (uint64_t block = from / RSC_MARKING_BLOCK; block <= (to - 1) / RSC_MARKING_BLOCK; block++)
        use_block(marking, block);
    for (uint64_t *word = marking->bitmap + from, *end = marking->bitmap + to; word < end;) *word++ = ~UINT64_C(0);
}

static inline void mark_words(struct rsc_marking *marking, uint64_t a, uint64_t b) {
    uint64_t head = ~UINT64_C(0) << (a % 64), tail = ~UINT64_C(0) >> (63 - b % 64);
    use_block(marking, a / 64 / RSC_MARKING_BLOCK);
    if (a / 64 == b / 64) {
        marking->bitmap[a / 64] |= head & tail;
        return;
    }
    use_block(marking, b / 64 / RSC_MARKING_BLOCK);
    marking->bitmap[a / 64] |= head;
    if (b / 64 - a / 64 > 1) fill_words(marking, a / 64 + 1, b / 64);
    marking->bitmap[b / 64] |= tail;
}

/* No line but `from` .. `to` is about to be marked. */
static void widen(struct rsc_marking *marking, uint64_t from, uint64_t to) {
    if (!marking->marked_to || from / 64 < marking->marked_from) marking->marked_from = from / 64;
    if (to / 64 >= marking->marked_to) marking->marked_to = to / 64 + 1;
}

void rsc_mark_lines(struct rsc_marking *marking, int64_t from, int64_t to) {
    uint64_t a = (uint64_t)(from - marking->first_line), b = (uint64_t)(to - marking->first_line);
    widen(marking, a, b);
    mark_words(marking, a, b);
}

/* Marks the lines of single bytes `step` apart, from `at` to before `end`. */
static void mark_single(struct rsc_marking *marking, uint64_t at, uint64_t end, uint64_t step) {
    const uint32_t shift = marking->line_shift, block_shift = shift + 6 + RSC_MARKING_BLOCK_SHIFT;
    uint64_t *bitmap = marking->bitmap;
    while (at < end) {
        uint64_t block = at >> block_shift, block_end = (block + 1) << block_shift;
        use_block(marking, block);
        if (block_end > end || !marking->used) block_end = end;
        for (; at < block_end; at += step) {
            uint64_t bit = at >> shift;
            bitmap[bit / 64] |= UINT64_C(1) << bit % 64;
        }
    }
}

int rsc_mark_rows(struct rsc_marking *marking, int64_t address, int64_t extent, int64_t stride, int64_t count) {
    if (stride < 0) { /* from the lowest address on */
        address += stride * (count - 1);
        stride = -stride;
    }
    uint64_t at = (uint64_t)(address - marking->first_line * ((int64_t)1 << marking->line_shift)),
             step = (uint64_t)stride, length = (uint64_t)extent, end = at + step * (uint64_t)(count - 1);
    const uint32_t shift = marking->line_shift;
    widen(marking, at >> shift, (end + length) >> shift);
    for (int64_t k = 0; k < count && !extent; k += GAPS_AT_ONCE) {
        uint64_t rows = (uint64_t)(count - k < GAPS_AT_ONCE ? count - k : GAPS_AT_ONCE);
        mark_single(marking, at, at + step * (rows - 1) + 1, step + !step);
        at += step * rows;
        if (count - k > GAPS_AT_ONCE && rsc_nest_stopped(marking->search->nest)) return RSC_ELIMIT;
    }
    for (int64_t k = 0; k < count && extent; k++, at += step) {
        mark_words(marking, at >> shift, (at + length) >> shift);
        if (k % GAPS_AT_ONCE == GAPS_AT_ONCE - 1 && rsc_nest_stopped(marking->search->nest)) return RSC_ELIMIT;
    }
    marking->runs += extent || count == 1 ? (uint64_t)count : 1 + (uint64_t)count / GAPS_PER_RUN;
    return marking->runs_max && marking->runs > marking->runs_max ? RSC_ELIMIT : 0;
}

static int has_bit(const uint64_t *bits, uint64_t at) { return bits && bits[at / 64] >> at % 64 & 1; }

int rsc_is_marked(const struct rsc_marking *marking, int64_t line) {
    uint64_t bit = (uint64_t)(line - marking->first_line);
    return has_bit(marking->bitmap, bit) || has_bit(marking->full, bit / 64 / RSC_MARKING_BLOCK);
}

uint64_t rsc_marked_blocks(const struct rsc_marking *marking) {
    uint64_t end = (marking->marked_to + RSC_MARKING_BLOCK - 1) / RSC_MARKING_BLOCK, sum = 0;
    for (uint64_t word = marking->marked_from / RSC_MARKING_BLOCK / 64; word < (end + 63) / 64; word++)
        sum += (uint64_t)__builtin_popcountll(marking->used[word] & ~marking->full[word]);
    return sum;
}

uint64_t rsc_marked_count(const struct rsc_marking *marking) {
    uint64_t from = marking->marked_from, end = marking->marked_to, sum = 0;
    if (!marking->used) return rsc_count_bits(marking->bitmap + from, end - from);
    for (uint64_t word = from / RSC_MARKING_BLOCK / 64; word * 64 * RSC_MARKING_BLOCK < end; word++) {
        uint64_t full = marking->full[word];
        sum += (uint64_t)__builtin_popcountll(full) * RSC_MARKING_BLOCK * 64;
        for (uint64_t left = marking->used[word] & ~full; left; left &= left - 1) {
            uint64_t block = word * 64 + (uint64_t)__builtin_ctzll(left);
            sum += rsc_count_bits(marking->bitmap + block * RSC_MARKING_BLOCK, RSC_MARKING_BLOCK);
        }
    }
    return sum;
}

void rsc_marked_clear(struct rsc_marking *marking) {
    uint64_t from = marking->marked_from, end = marking->marked_to;
    if (!marking->used) memset(marking->bitmap + from, 0, (end - from) * sizeof *marking->bitmap);
    for (uint64_t word = from / RSC_MARKING_BLOCK / 64; marking->used && word * 64 * RSC_MARKING_BLOCK < end; word++) {
        for (uint64_t left = marking->used[word]; left; left &= left - 1) {
            uint64_t block = word * 64 + (uint64_t)__builtin_ctzll(left);
            memset(marking->bitmap + block * RSC_MARKING_BLOCK, 0, RSC_MARKING_BLOCK * sizeof *marking->bitmap);
        }
        marking->used[word] = marking->full[word] = 0;
    }
    marking->marked_from = marking->marked_to = 0;
}

int rsc_mark_checks_hold(const struct rsc_marking *marking, uint32_t depth) {
    const struct rsc_nest_node *reference = marking->reference;
    for (uint32_t i = 0; i < reference->check_count; i++) {
        struct rsc_nest_node guard = {.condition = (struct rsc_nest_condition *)reference->check[i],
                                      .condition_count = 1};
        if (reference->check[i]->deepest == depth && !rsc_nest_guard_holds(&guard, marking->value)) return 0;
    }
    return 1;
}

static int64_t stride_of(const struct rsc_nest_node *reference, uint32_t depth) {
    for (uint32_t i = 0; i < reference->address.count; i++)
        if (reference->address.depth[i] == depth)
            return reference->address.coefficient[i] * reference->path[depth]->step;
    return 0;
}

/* A loop that nothing inside depends on: its addresses are a run. */
int rsc_mark_run(struct rsc_marking *marking, uint32_t depth, int64_t first, int64_t trip) {
    const struct rsc_nest_node *reference = marking->reference;
    if (trip <= 0) return 0;
    int64_t stride = stride_of(reference, depth);
    marking->value[depth] = first;
    int64_t address = rsc_nest_affine_at(&reference->address, marking->value);
    if (llabs(stride) > 1ll << marking->line_shift) return rsc_mark_rows(marking, address, 0, stride, trip);
    int64_t length = stride * (trip - 1);
    return rsc_mark_rows(marking, length < 0 ? address + length : address, llabs(length), 0, 1);
}

/* Sets the loops inside `depth`, none of which matters, to the iterations that have the most; 0: one has none. */
static int inner_runs(struct rsc_marking *marking, uint32_t depth) {
    const struct rsc_nest_node *reference = marking->reference;
    for (uint32_t d = depth + 1; d < reference->path_length; d++) {
        int64_t first, trip = rsc_nest_trip(reference->path[d], marking->value, &first);
        if (trip <= 0) return 0;
        marking->value[d] = marking->at_last >> d & 1 ? first + (trip - 1) * reference->path[d]->step : first;
    }
    return 1;
}

/* Whether the iterations of `depth` whose inner loops run are neighbours: bounds are minima and maxima, steps are 1. */
static int is_convex(const struct rsc_nest_node *reference, uint32_t depth) {
    for (uint32_t d = depth + 1; d < reference->path_length; d++) {
        const struct rsc_nest_node *loop = reference->path[d];
        if (llabs(loop->step) != 1) return 0;
        for (uint32_t i = 0; i < loop->first_count; i++)
            if (loop->first[i].rounding != RSC_ROUND_NONE) return 0;
        for (uint32_t i = 0; i < loop->last_count; i++)
            if (loop->last[i].rounding != RSC_ROUND_NONE) return 0;
    }
    return 1;
}

/* Leaves out iterations of `depth` at both ends in which an inequality does not hold. Returns 0 for other conditions. */
static int keep_where_holds(const struct rsc_marking *marking, const struct rsc_nest_condition *check, uint32_t depth,
                            int64_t *first, int64_t *trip) {
    int64_t coefficient = 0, value[RSC_LOOP_DEPTH_MAX], step = marking->reference->path[depth]->step;
    if (check->kind != RSC_WHEN_AT_LEAST || check->deepest != depth) return 0;
    memcpy(value, marking->value, sizeof value);
    value[depth] = *first;
    for (uint32_t i = 0; i < check->value.count; i++)
        if (check->value.depth[i] == depth) coefficient = check->value.coefficient[i] * step;
    int64_t at_first = rsc_nest_affine_at(&check->value, value);
    if (coefficient < 0) { /* holds up to some iteration */
        int64_t most = at_first < 0 ? 0 : at_first / -coefficient + 1;
        if (*trip > most) *trip = most;
    } else if (at_first < 0) { /* holds from some iteration on */
        int64_t skipped = rsc_ceil_divide(-at_first, coefficient);
        if (skipped > *trip) skipped = *trip;
        *first += skipped * step;
        *trip -= skipped;
    }
    return 1;
}

/*
 * Whether the `*trip` iterations of `depth` from `*first` on make one run of addresses: no deeper variable matters,
 * and conditions on this one are inequalities. Leaves out iterations at both ends in which these do not hold or whose
 * inner loops have none.
 */
static int is_run(struct rsc_marking *marking, uint32_t depth, int64_t *first, int64_t *trip) {
    const struct rsc_nest_node *reference = marking->reference;
    int64_t step = reference->path[depth]->step, from = *first, count = *trip;
    if (marking->matters >> (depth + 1)) return 0;
    if (marking->thread != RSC_ALL_THREADS && depth < marking->item->node->depth)
        return 0; /* the owner is decided inside */
    for (uint32_t i = 0; i < reference->check_count; i++)
        if (reference->check[i]->value.depths >> depth & 1 &&
            !keep_where_holds(marking, reference->check[i], depth, &from, &count))
            return 0;
    *first = marking->value[depth] = from;
    *trip = count;
    if (!count) return 1;
    if (!(reference->inner_depths[depth] >> depth & 1)) {
        if (!inner_runs(marking, depth)) *trip = 0;
        return 1;
    }
    if (!is_convex(reference, depth)) return 0;
    for (; count && !inner_runs(marking, depth); count--) marking->value[depth] = from += step;
    for (marking->value[depth] = from + (count - 1) * step; count && !inner_runs(marking, depth); count--)
        marking->value[depth] -= step;
    *first = from;
    *trip = count;
    return 1;
}

static int go_through_share(struct rsc_marking *marking) {
    const struct rsc_nest_item *item = marking->item;
    uint32_t depth = item->node->depth, segment = UINT32_MAX;
    struct rsc_nest *nest = marking->search->nest;
    int64_t outer[RSC_LOOP_DEPTH_MAX];
    memcpy(outer, marking->value, sizeof outer);
    int64_t found = rsc_find_segment(marking->search, marking->item_index, outer);
    if (found < 0) return 0;
    segment = (uint32_t)found;
    const struct rsc_view *view = rsc_plan_view(marking->search->plan, segment);
    if (!view) return nest->status;
    int64_t count = rsc_view_iterations(view, marking->thread);
    uint32_t own = ((1u << item->group) - 1) << depth;
    if (count > 1 && !(marking->matters & own)) count = 1;
    if (count && item->group == 1 && view->split == RSC_SPLIT_BLOCK) {
        rsc_nest_group_values(item, marking->value, rsc_view_iteration(view, marking->thread, 0));
        int64_t first = marking->value[depth], trip = count;
        if (is_run(marking, depth, &first, &trip)) return rsc_mark_run(marking, depth, first, trip);
        int status;
        if (rsc_mark_box(marking, depth, depth, first, trip, &status)) return status;
    }
    for (int64_t m = 0; m < count; m++) {
        if (rsc_nest_stopped(nest)) return RSC_ELIMIT;
        rsc_nest_group_values(item, marking->value, rsc_view_iteration(view, marking->thread, m));
        int holds = 1;
        for (uint32_t g = 0; g < item->group; g++) holds &= rsc_mark_checks_hold(marking, depth + g);
        int status = holds ? rsc_mark_inside(marking, depth + item->group) : 0;
        if (status < 0) return status;
    }
    return 0;
}

/* All of the thread's shares at once, where the loops around the shared one change nothing about them. */
static int mark_shares(struct rsc_marking *marking, int *status) {
    const struct rsc_nest_item *item = marking->item;
    uint32_t depth = item->node->depth;
    int64_t trip;
    if (!depth || item->group != 1) return 0;
    for (uint32_t d = 0; d < depth; d++) {
        trip = rsc_nest_trip(marking->reference->path[d], marking->value, &marking->value[d]);
        if (trip <= 0) return 0;
    }
    int64_t segment = rsc_find_segment(marking->search, marking->item_index, marking->value);
    const struct rsc_view *view = segment < 0 ? NULL : rsc_plan_view(marking->search->plan, (uint32_t)segment);
    if (!view || view->split != RSC_SPLIT_BLOCK) return 0;
    trip = rsc_view_iterations(view, marking->thread);
    if (trip) rsc_nest_group_values(item, marking->value, rsc_view_iteration(view, marking->thread, 0));
    return rsc_mark_box(marking, 0, depth, marking->value[depth], trip, status);
}

int rsc_mark_iterations(struct rsc_marking *marking, uint32_t depth, int64_t first, int64_t trip) {
    const struct rsc_nest_node *reference = marking->reference;
    int status = 0;
    if (!(marking->matters >> depth & 1)) {
        if (marking->at_last >> depth & 1) first += (trip - 1) * reference->path[depth]->step;
        trip = 1;
    }
    if (is_run(marking, depth, &first, &trip)) return rsc_mark_run(marking, depth, first, trip);
    if (marking->thread == RSC_ALL_THREADS || depth >= marking->item->node->depth)
        if (rsc_mark_box(marking, depth, depth, first, trip, &status)) return status;
    for (int64_t k = 0; k < trip; k++) {
        if (rsc_nest_stopped(marking->search->nest)) return RSC_ELIMIT;
        marking->value[depth] = first + k * reference->path[depth]->step;
        if (rsc_mark_checks_hold(marking, depth)) status = rsc_mark_inside(marking, depth + 1);
        else if (marking->runs_max && ++marking->runs > marking->runs_max) status = RSC_ELIMIT; /* looking costs too */
        if (status < 0) return status;
    }
    return 0;
}

int rsc_mark_inside(struct rsc_marking *marking, uint32_t depth) {
    const struct rsc_nest_node *reference = marking->reference;
    int status;
    if (!depth && marking->thread != RSC_ALL_THREADS && marking->item->who == RSC_RUN_SHARED)
        if (mark_shares(marking, &status)) return status;
    if (marking->thread != RSC_ALL_THREADS && depth == marking->item->node->depth) {
        if (marking->item->who == RSC_RUN_SHARED) return go_through_share(marking);
        if (marking->item->who == RSC_RUN_BY_ONE && marking->thread) return 0;
        uint32_t limit = marking->item->thread_limit;
        if (limit && marking->thread >= limit) return 0;
    }
    if (depth == reference->path_length) {
        int64_t line = rsc_nest_affine_at(&reference->address, marking->value) >> marking->line_shift;
        rsc_mark_lines(marking, line, line);
        return marking->runs_max && ++marking->runs > marking->runs_max ? RSC_ELIMIT : 0;
    }
    int64_t first, trip = rsc_nest_trip(reference->path[depth], marking->value, &first);
    if (trip <= 0) return 0;
    return rsc_mark_iterations(marking, depth, first, trip);
}

/* What a larger value of variable `depth` does to a term: 1: makes it larger, -1: smaller, 0: nothing. */
static int slope(const struct rsc_nest_term *term, uint32_t count, uint32_t depth, int *mixed) {
    int all = 0;
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < term[t].value.count; i++) {
            if (term[t].value.depth[i] != depth) continue;
            int one = term[t].value.coefficient[i] > 0 ? 1 : -1;
            if (all && all != one) *mixed = 1;
            all = one;
        }
    return all;
}

/*
 * Whether the loops inside loop `depth` have every iteration that they have at any of its values at its largest (1)
 * or smallest (-1) value; 0: at neither. Their ranges must grow with the value, or shrink, all of them.
 */
static int has_most(const struct rsc_nest_node *reference, uint32_t depth) {
    int all = 0, mixed = 0;
    for (uint32_t d = depth + 1; d < reference->path_length; d++) {
        const struct rsc_nest_node *loop = reference->path[d];
        if (!(loop->bound_depths >> depth & 1)) continue;
        int up = loop->step > 0 ? 1 : -1, first = -up * slope(loop->first, loop->first_count, depth, &mixed),
            last = up * slope(loop->last, loop->last_count, depth, &mixed);
        if (mixed || (first && last && first != last) || (first && llabs(loop->step) != 1)) return 0;
        int one = first ? first : last;
        if (all && one && all != one) return 0;
        if (one) all = one;
    }
    return all;
}

/* Finds the variables that change the address, or the loops inside them so that no value has all the others have. */
void rsc_marking_aim(struct rsc_marking *marking) {
    const struct rsc_nest_node *reference = marking->reference;
    int shared = marking->thread != RSC_ALL_THREADS && marking->item->who == RSC_RUN_SHARED;
    uint32_t matters = reference->address.depths,
             inside = shared ? marking->item->node->depth + marking->item->group : 0;
    marking->at_last = 0;
    for (uint32_t i = 0; i < reference->check_count; i++) matters |= reference->check[i]->value.depths;
    if (shared) matters |= marking->item->node->depths; /* the assignment of iterations to threads */
    for (uint32_t d = 0; d < reference->path_length; d++) {
        if (matters >> d & 1 || !(reference->inner_depths[d] >> d & 1)) continue;
        int most = d >= inside ? has_most(reference, d) : 0;
        if (!most) matters |= 1u << d;
        else if ((most > 0) == (reference->path[d]->step > 0)) marking->at_last |= 1u << d;
    }
    marking->matters = matters;
}
