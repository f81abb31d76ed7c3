/* distinct.c - see distinct.h. One bitmap per space. */
#include "loops/nest/distinct.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pages.h"
#include "base/rng.h"

#define BITMAP_BYTES_MAX (UINT64_C(4) << 30)
/* Microseconds: of a run and of a line of one that has gaps when marking, and of a line when searching line by line. */
#define RUN_COST 0.1
#define GAP_COST 0.003
#define LINE_COST 0.5
#define GAPS_AT_ONCE 4096 /* between looks at the watch */
#define MARKING_COST_LOW 30000.0 /* below this, always mark */

struct marking {
    struct rsc_search *search;
    const struct rsc_nest_node *reference;
    const struct rsc_nest_item *item;
    uint32_t item_index;
    uint32_t thread; /* or RSC_ALL_THREADS */
    uint32_t line_shift;
    uint32_t matters; /* bits of depths that must be enumerated */
    uint32_t at_last; /* bits of other depths whose last iteration has all that the others have; else the first has */
    uint64_t *bitmap;
    int64_t first_line, last_line;
    uint64_t runs, runs_max;
    int64_t value[RSC_LOOP_DEPTH_MAX];
};

static void mark_range(struct marking *marking, int64_t from, int64_t to) {
    uint64_t a = (uint64_t)(from - marking->first_line), b = (uint64_t)(to - marking->first_line);
    uint64_t *word = marking->bitmap + a / 64, *end = marking->bitmap + b / 64;
    uint64_t head = ~UINT64_C(0) << (a % 64), tail = ~UINT64_C(0) >> (63 - b % 64);
    if (word == end) {
        *word |= head & tail;
        return;
    }
    *word++ |= head;
    while (word < end) *word++ = ~UINT64_C(0);
    *end |= tail;
}

static int go_deeper(struct marking *marking, uint32_t depth);

static int checks_hold(const struct marking *marking, uint32_t depth) {
    const struct rsc_nest_node *reference = marking->reference;
    for (uint32_t i = 0; i < reference->check_count; i++) {
        struct rsc_nest_node guard = {.condition = (struct rsc_nest_condition *)reference->check[i],
                                      .condition_count = 1};
        if (reference->check[i]->deepest == depth && !rsc_nest_guard_holds(&guard, marking->value)) return 0;
    }
    return 1;
}

/* A loop that nothing inside depends on: its addresses are a run. */
static int mark_run(struct marking *marking, uint32_t depth, int64_t first, int64_t trip) {
    const struct rsc_nest_node *reference = marking->reference;
    int64_t coefficient = 0;
    if (trip <= 0) return 0;
    for (uint32_t i = 0; i < reference->address.count; i++)
        if (reference->address.depth[i] == depth) coefficient = reference->address.coefficient[i];
    int64_t stride = coefficient * reference->path[depth]->step;
    marking->value[depth] = first;
    int64_t address = rsc_nest_affine_at(&reference->address, marking->value);
    if (llabs(stride) <= 1ll << marking->line_shift) {
        int64_t end = address + stride * (trip - 1);
        mark_range(marking, (address < end ? address : end) >> marking->line_shift,
                   (address < end ? end : address) >> marking->line_shift);
        marking->runs++;
    } else {
        for (int64_t k = 0; k < trip; k++, address += stride) {
            mark_range(marking, address >> marking->line_shift, address >> marking->line_shift);
            if (k % GAPS_AT_ONCE == GAPS_AT_ONCE - 1 && rsc_nest_stopped(marking->search->nest)) return RSC_ELIMIT;
        }
        marking->runs += (uint64_t)trip;
    }
    return marking->runs_max && marking->runs > marking->runs_max ? RSC_ELIMIT : 0;
}

/* Sets the loops inside `depth`, none of which matters, to the iterations that have the most; 0: one has none. */
static int inner_runs(struct marking *marking, uint32_t depth) {
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

/*
 * Whether the `*trip` iterations of `depth` from `*first` on make one run of addresses: no deeper variable matters,
 * and no condition depends on this one. Leaves out iterations at both ends whose inner loops have none.
 */
static int is_run(struct marking *marking, uint32_t depth, int64_t *first, int64_t *trip) {
    const struct rsc_nest_node *reference = marking->reference;
    int64_t step = reference->path[depth]->step, from = *first, count = *trip;
    if (marking->matters >> (depth + 1)) return 0;
    if (marking->thread != RSC_ALL_THREADS && depth < marking->item->node->depth)
        return 0; /* the owner is decided inside */
    for (uint32_t i = 0; i < reference->check_count; i++)
        if (reference->check[i]->value.depths >> depth & 1) return 0;
    marking->value[depth] = from;
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

static int go_through_share(struct marking *marking) {
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
        if (is_run(marking, depth, &first, &trip)) return mark_run(marking, depth, first, trip);
    }
    for (int64_t m = 0; m < count; m++) {
        if (rsc_nest_stopped(nest)) return RSC_ELIMIT;
        rsc_nest_group_values(item, marking->value, rsc_view_iteration(view, marking->thread, m));
        int holds = 1;
        for (uint32_t g = 0; g < item->group; g++) holds &= checks_hold(marking, depth + g);
        int status = holds ? go_deeper(marking, depth + item->group) : 0;
        if (status < 0) return status;
    }
    return 0;
}

static int go_deeper(struct marking *marking, uint32_t depth) {
    const struct rsc_nest_node *reference = marking->reference;
    if (marking->thread != RSC_ALL_THREADS && depth == marking->item->node->depth) {
        if (marking->item->who == RSC_RUN_SHARED) return go_through_share(marking);
        if (marking->item->who == RSC_RUN_BY_ONE && marking->thread) return 0;
        uint32_t limit = marking->item->thread_limit;
        if (limit && marking->thread >= limit) return 0;
    }
    if (depth == reference->path_length) {
        int64_t line = rsc_nest_affine_at(&reference->address, marking->value) >> marking->line_shift;
        mark_range(marking, line, line);
        return marking->runs_max && ++marking->runs > marking->runs_max ? RSC_ELIMIT : 0;
    }
    int64_t first, trip = rsc_nest_trip(reference->path[depth], marking->value, &first);
    if (trip <= 0) return 0;
    if (!(marking->matters >> depth & 1)) {
        if (marking->at_last >> depth & 1) first += (trip - 1) * reference->path[depth]->step;
        trip = 1;
    }
    if (is_run(marking, depth, &first, &trip)) return mark_run(marking, depth, first, trip);
    for (int64_t k = 0; k < trip; k++) {
        if (rsc_nest_stopped(marking->search->nest)) return RSC_ELIMIT;
        marking->value[depth] = first + k * reference->path[depth]->step;
        int status = 0;
        if (checks_hold(marking, depth)) status = go_deeper(marking, depth + 1);
        else if (marking->runs_max && ++marking->runs > marking->runs_max) status = RSC_ELIMIT; /* looking costs too */
        if (status < 0) return status;
    }
    return 0;
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
static void find_what_matters(struct marking *marking) {
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

static double marking_cost(const struct marking *marking) {
    const struct rsc_nest_node *reference = marking->reference;
    double runs = 1, innermost = 1;
    for (uint32_t d = 0; d < reference->path_length; d++) {
        if (!(marking->matters >> d & 1)) continue;
        const struct rsc_nest_node *loop = reference->path[d];
        runs *= innermost;
        innermost = ((double)loop->most - (double)loop->least) / (double)llabs(loop->step) + 1;
    }
    int64_t coefficient = 0;
    for (uint32_t i = 0; i < reference->address.count; i++)
        if (reference->address.depth[i] == 31 - (uint32_t)__builtin_clz(marking->matters | 1))
            coefficient = reference->address.coefficient[i];
    if (!coefficient) return RUN_COST * runs * innermost; /* a loop that matters to others: no run */
    return RUN_COST * runs + (llabs(coefficient) > 1ll << marking->line_shift ? GAP_COST * runs * innermost : 0);
}

static int is_marked_faster(const struct marking *marking) {
    double cost = marking_cost(marking),
           lines = (double)(marking->reference->address_most - marking->reference->address_least) /
                   (double)(1ll << marking->line_shift);
    return cost < MARKING_COST_LOW || cost < LINE_COST * lines;
}

/* Marks the unmarked lines of one reference by a search for each. */
static void mark_one_by_one(struct marking *marking) {
    const struct rsc_nest_node *reference = marking->reference;
    int64_t line_bytes = (int64_t)1 << marking->line_shift;
    int64_t from = reference->address_least >> marking->line_shift, to = reference->address_most >> marking->line_shift;
    int along = -1; /* a loop whose iterations are one run in any case */
    for (uint32_t i = 0; i < reference->address.count && !reference->check_count; i++) {
        uint32_t d = reference->address.depth[i];
        if (llabs(reference->address.coefficient[i] * reference->path[d]->step) <= line_bytes &&
            !(reference->inner_depths[d] >> d & 1))
            along = (int)d;
    }
    for (int64_t line = from; line <= to && !rsc_nest_stopped(marking->search->nest); line++) {
        uint64_t bit = (uint64_t)(line - marking->first_line);
        if (marking->bitmap[bit / 64] >> (bit % 64) & 1) continue;
        struct rsc_target target = {
            .space = reference->space, .low = line * line_bytes, .high = line * line_bytes + line_bytes - 1};
        if (!rsc_ever_touches(marking->search, reference, &target)) continue;
        marking->bitmap[bit / 64] |= UINT64_C(1) << (bit % 64);
        if (along < 0) continue;
        /* Mark the rest of the run that contains it. */
        int64_t first, trip;
        memcpy(marking->value, marking->search->value, sizeof marking->value);
        trip = rsc_nest_trip(reference->path[along], marking->value, &first);
        if (trip > 0) mark_run(marking, (uint32_t)along, first, trip);
    }
}

/* Picks the lines of certain ranks. */
static void pick_lines(const struct marking *marking, uint64_t count, struct rsc_distinct_picks *picks) {
    struct rsc_rng rng;
    uint64_t rank = 0, word = 0;
    rsc_rng_seed(&rng, (uint64_t)marking->first_line, 65);
    picks->count = count < RSC_DISTINCT_PICKS ? (uint32_t)count : RSC_DISTINCT_PICKS;
    for (uint32_t k = 0; k < picks->count; k++) {
        uint64_t from = k * count / picks->count, to = (k + 1) * count / picks->count,
                 wanted = from + rsc_rng_below(&rng, to - from), in_word;
        while (in_word = (uint64_t)__builtin_popcountll(marking->bitmap[word]), rank + in_word <= wanted)
            rank += in_word, word++;
        uint64_t bits = marking->bitmap[word];
        for (uint64_t i = rank; i < wanted; i++) bits &= bits - 1;
        picks->address[k] = (marking->first_line + (int64_t)(64 * word + (uint64_t)__builtin_ctzll(bits))) *
                            ((int64_t)1 << marking->line_shift);
    }
}

/* Whether `a` touches every address that `b` does: in the same loops, under no other conditions. */
static int covers(const struct rsc_nest_node *a, const struct rsc_nest_node *b) {
    if (a->space != b->space || a->address.constant != b->address.constant || a->address.count != b->address.count ||
        a->path_length > b->path_length || a->check_count > b->check_count)
        return 0;
    for (uint32_t i = 0; i < a->address.count; i++)
        if (a->address.depth[i] != b->address.depth[i] || a->address.coefficient[i] != b->address.coefficient[i])
            return 0;
    for (uint32_t d = 0; d < a->path_length; d++)
        if (a->path[d] != b->path[d]) return 0;
    for (uint32_t i = 0; i < a->check_count; i++) {
        uint32_t j = 0;
        while (j < b->check_count && a->check[i] != b->check[j]) j++;
        if (j == b->check_count) return 0;
    }
    return 1;
}

/* Whether another reference of the item touches all that the one at by_item[at] does; of two alike, the first counts. */
static int is_covered(const struct rsc_search *search, uint32_t item, uint32_t at) {
    const struct rsc_nest_node *reference = search->nest->reference[search->by_item[at]];
    for (uint32_t k = search->item_first[item]; k < search->item_first[item + 1]; k++) {
        const struct rsc_nest_node *other = search->nest->reference[search->by_item[k]];
        if (k != at && covers(other, reference) && (k < at || !covers(reference, other))) return 1;
    }
    return 0;
}

static int count_space(struct rsc_search *search, uint32_t space, uint32_t thread, uint32_t line_shift,
                       uint64_t runs_max, uint64_t *count, struct rsc_distinct_picks *picks, struct rsc_error *error) {
    struct rsc_nest *nest = search->nest;
    struct marking marking = {.search = search,
                              .thread = thread,
                              .line_shift = line_shift,
                              .runs_max = runs_max,
                              .first_line = INT64_MAX,
                              .last_line = INT64_MIN};
    for (uint32_t r = 0; r < nest->reference_count; r++) {
        const struct rsc_nest_node *reference = nest->reference[r];
        if (reference->space != space) continue;
        int64_t least = reference->address_least >> line_shift, most = reference->address_most >> line_shift;
        if (least < marking.first_line) marking.first_line = least;
        if (most > marking.last_line) marking.last_line = most;
    }
    if (marking.first_line > marking.last_line) return 0;
    uint64_t lines = (uint64_t)(marking.last_line - marking.first_line) + 1, bytes = (lines / 64 + 1) * 8;
    if (bytes > BITMAP_BYTES_MAX)
        return rsc_fail(error, RSC_ELIMIT, "%s: references span %llu lines: too many to count", nest->region->name,
                        (unsigned long long)lines);
    marking.bitmap = rsc_pages_new(bytes);
    if (!marking.bitmap) return rsc_fail_memory(error, "lines of a loop nest");
    int status = 0;
    for (uint32_t i = 0; i < nest->item_count && status >= 0; i++)
        for (uint32_t k = search->item_first[i]; k < search->item_first[i + 1] && status >= 0; k++) {
            marking.reference = nest->reference[search->by_item[k]];
            marking.item = &nest->item[i];
            marking.item_index = i;
            if (marking.reference->space != space || is_covered(search, i, k)) continue;
            memset(marking.value, 0, sizeof marking.value);
            find_what_matters(&marking);
            if (!checks_hold(&marking, 0) && !marking.reference->path_length) continue;
            if (!runs_max && thread == RSC_ALL_THREADS && !is_marked_faster(&marking)) mark_one_by_one(&marking);
            else status = go_deeper(&marking, 0);
        }
    if (status >= 0) status = nest->status;
    if (status >= 0)
        for (uint64_t w = 0; w <= (lines - 1) / 64; w++) *count += (uint64_t)__builtin_popcountll(marking.bitmap[w]);
    if (status >= 0 && picks) pick_lines(&marking, *count, picks);
    rsc_pages_free(marking.bitmap, bytes);
    return status;
}

int rsc_distinct_own(struct rsc_search *search, uint64_t line_bytes, uint64_t *lines, struct rsc_error *error) {
    uint32_t shift = (uint32_t)__builtin_ctzll(line_bytes);
    int status = 0;
    for (uint32_t space = 0; space < search->nest->space_count; space++) {
        if (!search->nest->program->array[space].is_private) continue;
        lines[space] = 0;
        for (uint32_t t = 0; t < search->plan->threads && status >= 0; t++)
            status = count_space(search, space, t, shift, 0, &lines[space], NULL, error);
    }
    return status;
}

int rsc_distinct_lines(struct rsc_search *search, uint32_t thread, uint64_t line_bytes, uint64_t runs_max,
                       uint64_t *lines, struct rsc_distinct_picks *picks, struct rsc_error *error) {
    struct rsc_nest *nest = search->nest;
    uint32_t shift = (uint32_t)__builtin_ctzll(line_bytes);
    int status = 0;
    for (uint32_t space = 0; space < nest->space_count && status >= 0; space++) {
        lines[space] = 0;
        if (nest->program->array[space].is_private && thread == RSC_ALL_THREADS) continue;
        status =
            count_space(search, space, thread, shift, runs_max, &lines[space], picks ? &picks[space] : NULL, error);
    }
    if (status >= 0 && thread == RSC_ALL_THREADS) status = rsc_distinct_own(search, line_bytes, lines, error);
    return status;
}

uint64_t rsc_distinct_sum(const struct rsc_nest *nest, const uint64_t *lines) {
    uint64_t sum = 0;
    for (uint32_t space = 0; space < nest->space_count; space++) sum += lines[space];
    return sum;
}
