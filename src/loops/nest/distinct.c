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
#define MARKING_COST_LOW 30000.0 /* below this, always mark */

static double marking_cost(const struct rsc_marking *marking) {
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

static int is_marked_faster(const struct rsc_marking *marking) {
    double cost = marking_cost(marking),
           lines = (double)(marking->reference->address_most - marking->reference->address_least) /
                   (double)(1ll << marking->line_shift);
    return cost < MARKING_COST_LOW || cost < LINE_COST * lines;
}

/* Marks the unmarked lines of one reference by a search for each. */
static void mark_one_by_one(struct rsc_marking *marking) {
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
        rsc_mark_lines(marking, line, line);
        if (along < 0) continue;
        /* Mark the rest of the run that contains it. */
        int64_t first, trip;
        memcpy(marking->value, marking->search->value, sizeof marking->value);
        trip = rsc_nest_trip(reference->path[along], marking->value, &first);
        if (trip > 0) rsc_mark_run(marking, (uint32_t)along, first, trip);
    }
}

/* Picks the lines of certain ranks. */
static void pick_lines(const struct rsc_marking *marking, uint64_t count, struct rsc_distinct_picks *picks) {
    struct rsc_rng rng;
    uint64_t rank = 0, word = marking->marked_from;
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

uint32_t rsc_distinct_covered(const struct rsc_search *search, uint32_t item, uint32_t at) {
    const struct rsc_nest_node *reference = search->nest->reference[search->by_item[at]];
    uint32_t deepest = 0;
    for (uint32_t k = search->item_first[item]; k < search->item_first[item + 1]; k++) {
        const struct rsc_nest_node *other = search->nest->reference[search->by_item[k]];
        if (k != at && other->path_length >= deepest && rsc_covers(other, reference) &&
            (k < at || !rsc_covers(reference, other)))
            deepest = other->path_length + 1;
    }
    return deepest;
}

/* A space, whose lines are marked for one thread after another. */
struct space {
    struct rsc_marking marking; /* no bitmap: it has no references */
    uint32_t number;
    uint64_t bytes; /* of the bitmap */
    const uint8_t *covered; /* by place in search->by_item */
};

static int open_space(struct space *space, struct rsc_search *search, uint32_t number, uint32_t line_shift,
                      const uint8_t *covered, struct rsc_error *error) {
    const struct rsc_nest *nest = search->nest;
    struct rsc_marking *marking = &space->marking;
    *space = (struct space){.number = number, .covered = covered};
    *marking = (struct rsc_marking){
        .search = search, .line_shift = line_shift, .first_line = INT64_MAX, .last_line = INT64_MIN};
    for (uint32_t r = 0; r < nest->reference_count; r++) {
        const struct rsc_nest_node *reference = nest->reference[r];
        if (reference->space != number) continue;
        int64_t least = reference->address_least >> line_shift, most = reference->address_most >> line_shift;
        if (least < marking->first_line) marking->first_line = least;
        if (most > marking->last_line) marking->last_line = most;
    }
    if (marking->first_line > marking->last_line) return 0;
    uint64_t lines = (uint64_t)(marking->last_line - marking->first_line) + 1;
    space->bytes = (lines / 64 + 1) * 8;
    if (space->bytes > BITMAP_BYTES_MAX)
        return rsc_fail(error, RSC_ELIMIT, "%s: references span %llu lines: too many to count", nest->region->name,
                        (unsigned long long)lines);
    marking->bitmap = rsc_pages_new(space->bytes);
    return marking->bitmap ? 0 : rsc_fail_memory(error, "lines of a loop nest");
}

static void close_space(struct space *space) {
    if (space->marking.bitmap) rsc_pages_free(space->marking.bitmap, space->bytes);
}

/* Marks the lines that a thread uses, or all together, where none is marked. */
static int mark_space(struct space *space, uint32_t thread, uint64_t runs_max) {
    struct rsc_marking *marking = &space->marking;
    const struct rsc_search *search = marking->search;
    struct rsc_nest *nest = search->nest;
    int status = 0;
    marking->thread = thread;
    marking->runs_max = runs_max;
    marking->runs = 0;
    for (uint32_t i = 0; marking->bitmap && i < nest->item_count && status >= 0; i++)
        for (uint32_t k = search->item_first[i]; k < search->item_first[i + 1] && status >= 0; k++) {
            marking->reference = nest->reference[search->by_item[k]];
            marking->item = &nest->item[i];
            marking->item_index = i;
            if (marking->reference->space != space->number || space->covered[k]) continue;
            memset(marking->value, 0, sizeof marking->value);
            rsc_marking_aim(marking);
            if (!rsc_mark_checks_hold(marking, 0) && !marking->reference->path_length) continue;
            if (!runs_max && thread == RSC_ALL_THREADS && !is_marked_faster(marking)) mark_one_by_one(marking);
            else status = rsc_mark_inside(marking, 0);
        }
    return status < 0 ? status : nest->status;
}

/* By place in search->by_item, whether rsc_distinct_covered() says so; NULL: no memory. */
static uint8_t *find_covered(const struct rsc_search *search, struct rsc_error *error) {
    const struct rsc_nest *nest = search->nest;
    uint8_t *covered = malloc(search->item_first[nest->item_count] + (size_t)1);
    if (!covered) rsc_fail_memory(error, "lines of a loop nest");
    for (uint32_t i = 0; covered && i < nest->item_count; i++)
        for (uint32_t k = search->item_first[i]; k < search->item_first[i + 1]; k++)
            covered[k] = rsc_distinct_covered(search, i, k) != 0;
    return covered;
}

/* Adds the lines of threads `from` .. `to` - 1 in one space. */
static int add_threads(struct rsc_search *search, uint32_t number, uint32_t from, uint32_t to, uint32_t line_shift,
                       uint64_t runs_max, const uint8_t *covered, uint64_t *lines, struct rsc_error *error) {
    struct space space;
    int status = open_space(&space, search, number, line_shift, covered, error);
    for (uint32_t t = from; t < to && status >= 0 && space.marking.bitmap; t++) {
        status = mark_space(&space, t, runs_max);
        *lines += rsc_marked_count(&space.marking);
        rsc_marked_clear(&space.marking);
    }
    close_space(&space);
    return status;
}

int rsc_distinct_of_threads(struct rsc_search *search, uint32_t from, uint32_t to, uint64_t line_bytes,
                            uint64_t runs_max, uint64_t *lines, struct rsc_error *error) {
    uint32_t shift = (uint32_t)__builtin_ctzll(line_bytes);
    uint8_t *covered = find_covered(search, error);
    int status = covered ? 0 : RSC_ENOMEM;
    *lines = 0;
    for (uint32_t number = 0; number < search->nest->space_count && status >= 0; number++)
        status = add_threads(search, number, from, to, shift, runs_max, covered, lines, error);
    free(covered);
    return status;
}

int rsc_distinct_own(struct rsc_search *search, uint64_t line_bytes, uint64_t *lines, struct rsc_error *error) {
    uint32_t shift = (uint32_t)__builtin_ctzll(line_bytes);
    uint8_t *covered = find_covered(search, error);
    int status = covered ? 0 : RSC_ENOMEM;
    for (uint32_t number = 0; number < search->nest->space_count && status >= 0; number++) {
        if (!search->nest->program->array[number].is_private) continue;
        lines[number] = 0;
        status = add_threads(search, number, 0, search->plan->threads, shift, 0, covered, &lines[number], error);
    }
    free(covered);
    return status;
}

int rsc_distinct_lines(struct rsc_search *search, uint32_t thread, uint64_t line_bytes, uint64_t runs_max,
                       uint64_t *lines, struct rsc_distinct_picks *picks, struct rsc_error *error) {
    struct rsc_nest *nest = search->nest;
    uint32_t shift = (uint32_t)__builtin_ctzll(line_bytes);
    uint8_t *covered = find_covered(search, error);
    int status = covered ? 0 : RSC_ENOMEM;
    for (uint32_t number = 0; number < nest->space_count && status >= 0; number++) {
        struct space space;
        lines[number] = 0;
        if (nest->program->array[number].is_private && thread == RSC_ALL_THREADS) continue;
        status = open_space(&space, search, number, shift, covered, error);
        if (status >= 0) status = mark_space(&space, thread, runs_max);
        if (status >= 0 && space.marking.bitmap) {
            lines[number] = rsc_marked_count(&space.marking);
            if (picks) pick_lines(&space.marking, lines[number], &picks[number]);
        }
        close_space(&space);
    }
    free(covered);
    if (status >= 0 && thread == RSC_ALL_THREADS) status = rsc_distinct_own(search, line_bytes, lines, error);
    return status;
}

uint64_t rsc_distinct_sum(const struct rsc_nest *nest, const uint64_t *lines) {
    uint64_t sum = 0;
    for (uint32_t space = 0; space < nest->space_count; space++) sum += lines[space];
    return sum;
}
