/*
 * counted_lines.c - distances of long reuses by counting lines.
 *
 * The footprint of a slice of time is an average: where all long reuses of a reference have the same distance, it
 * spreads them, and the curve has a slope where the true one has a step. So for some long reuses the lines in between
 * are counted: all that the threads touch in between are marked (touched.h), or, where those are too many, of lines
 * spread over each space (distinct.h) those whose last touch before the later use is within the
 * interval. The other long reuses of the reference take the factor between count and footprint from one that is alike.
 */
#include <stdlib.h>
#include <string.h>

#include "loops/model/region_analysis.h"
#include "loops/nest/touched.h"

#define LONG_LINES 256.0 /* distances from here on are counted, */
#define LONG_SHARE \
    6.0 /* by lines spread over spaces only if they are this share of all: less than ten of the lines say too little */
#define RUNS_PER_SEARCH 20.0 /* marked in the time of one */
#define RUNS_MOST 40000u /* of one window */
#define TURN 197u /* odd, so that all lines have a turn */
#define PICKS 64u /* lines looked at for each */
#define WORK 10000.0 /* searches and tenths of threads drawn: some 8 ms */
#define WORK_RECTANGULAR 4000.0
#define COUNTED_FEWEST 16u
#define COUNTED_MOST 4096u
#define GOLDEN 0.6180339887498949 /* its multiples, modulo 1, are spread evenly however many there are */

struct counted {
    size_t at; /* index of the sample */
    double factor;
};

struct line {
    struct rsc_target target;
    double weight;
};

/* Spreads PICKS lines, or one for each space, over the spaces by their size; others for each `turn`. */
static size_t choose_lines(const struct rsc_loops_analysis *analysis, double distinct, size_t turn, struct line *line) {
    size_t count = 0;
    for (uint32_t space = 0; space < analysis->nest->space_count; space++) {
        const struct rsc_distinct_picks *picks = &analysis->picks[space];
        double lines = (double)analysis->lines[space];
        uint32_t wanted = (uint32_t)ceil(PICKS * lines / distinct);
        if (wanted > picks->count) wanted = picks->count;
        for (uint32_t k = 0; k < wanted; k++) {
            int64_t low =
                picks->address[(k * picks->count + turn % RSC_DISTINCT_PICKS * picks->count / RSC_DISTINCT_PICKS) /
                               wanted];
            line[count++] = (struct line){
                {.space = space, .low = low, .high = low + (int64_t)analysis->options.line_bytes - 1}, lines / wanted};
        }
    }
    return count;
}

struct counting {
    const struct rsc_loops_analysis *analysis;
    struct rsc_crowd *crowd;
    struct rsc_touched *touched; /* NULL: not here */
    double all, too_long; /* lines; windows of that many take too many runs */
    struct line *line;
    double work;
    size_t spread; /* windows counted by lines spread over all */
};

/* Of lines spread over the spaces, those used since `since`. */
static double count_spread(struct counting *counting, const struct rsc_moment *moment, const struct rsc_target *own,
                           const struct rsc_touch *since, int in_phase, size_t turn) {
    struct rsc_crowd *crowd = counting->crowd;
    const struct rsc_touch this_phase = {.found = in_phase, .ago = since->ago, .interval = since->interval};
    size_t lines = choose_lines(counting->analysis, counting->all, turn, counting->line);
    uint64_t before = crowd->search->searches;
    double sum = 0;
    for (size_t i = 0; i < lines; i++) {
        const struct rsc_target *target = &counting->line[i].target;
        if (target->low == own->low) continue;
        struct rsc_touch touch = rsc_crowd_own_touch(crowd, moment, rsc_crowd_own(crowd, moment, target));
        int used = touch.found && (!in_phase || touch.ago < since->ago);
        if (!used) used = rsc_crowd_others(crowd, moment, target, &this_phase).found;
        if (!used && !in_phase) {
            touch = rsc_crowd_earlier(crowd, moment, target);
            used = touch.found && touch.interval < since->interval;
        }
        if (used) sum += counting->line[i].weight;
    }
    counting->work += (double)(crowd->search->searches - before) + (double)lines * crowd->plan->threads / 10;
    return sum;
}

/* Lines used between the point and the last use of its line before it; -1: not counted. `footprint`: what it may be. */
static double count_lines(struct counting *counting, const struct rsc_point *point, double footprint, size_t turn) {
    struct rsc_crowd *crowd = counting->crowd;
    struct rsc_moment moment = rsc_crowd_moment(crowd, point);
    struct rsc_target target = rsc_crowd_target(crowd, point);
    int64_t own = rsc_crowd_own(crowd, &moment, &target);
    struct rsc_touch since = rsc_crowd_own_touch(crowd, &moment, own), other;
    other = rsc_crowd_others(crowd, &moment, &target, &since);
    if (other.found) since = other;
    int in_phase = since.found;
    if (!in_phase) since = rsc_crowd_earlier(crowd, &moment, &target);
    if (!since.found) return -1;
    if (counting->touched && footprint < counting->too_long) {
        int status =
            rsc_crowd_mark_window(crowd, counting->touched, &moment, &since, in_phase, own, other.found, RUNS_MOST);
        uint64_t runs, count = rsc_touched_count(counting->touched, target.low, &runs);
        counting->work += (double)runs / RUNS_PER_SEARCH + crowd->plan->threads / 2.0;
        if (status >= 0) return (double)count;
        if (status != RSC_ELIMIT || crowd->nest->status < 0) return -1;
        counting->too_long = footprint;
    }
    if (footprint < counting->all / LONG_SHARE) return -1;
    counting->spread++;
    return count_spread(counting, &moment, &target, &since, in_phase, turn);
}

/* The factor of the counted sample of the same reference whose distance and place are most like this one's. */
static double factor_of(const struct rsc_loops_samples *samples, const double *logarithm, size_t at,
                        const struct counted *counted, size_t count) {
    double nearest = INFINITY, factor = 1;
    for (size_t i = 0; i < count; i++) {
        if (samples->reference[counted[i].at] != samples->reference[at]) continue;
        double apart = fabs(logarithm[counted[i].at] - logarithm[at]) +
                       fabs((double)counted[i].at - (double)at) / (double)samples->count;
        if (apart < nearest) nearest = apart, factor = counted[i].factor;
    }
    return factor;
}

int rsc_loops_count_lines(const struct rsc_loops_analysis *analysis, struct rsc_crowd *crowd,
                          const struct rsc_points *points, const uint32_t *which, struct rsc_loops_samples *samples) {
    samples->spread = 1;
    if (analysis->has_private) return 0;
    double *footprint = malloc((samples->count + 1) * sizeof *footprint);
    double *logarithm = malloc((samples->count + 1) * sizeof *logarithm);
    size_t *longs = malloc((samples->count + 1) * sizeof *longs), long_count = 0, count = 0;
    struct counted *counted = malloc(((size_t)COUNTED_MOST + 1) * sizeof *counted);
    struct counting counting = {.analysis = analysis,
                                .crowd = crowd,
                                .all = samples->lines,
                                .too_long = INFINITY,
                                .line =
                                    malloc((analysis->nest->space_count + (size_t)PICKS + 1) * sizeof *counting.line)};
    int status = footprint && logarithm && longs && counted && counting.line ? 0 : RSC_ENOMEM;
    if (status >= 0) status = rsc_touched_new(&counting.touched, crowd->search, analysis->options.line_bytes, NULL);
    double least = counting.touched ? LONG_LINES : fmax(LONG_LINES, samples->lines / LONG_SHARE);
    for (size_t i = 0; status >= 0 && i < samples->count; i++) {
        footprint[i] = samples->sample[i].distance;
        logarithm[i] = log(fmax(footprint[i], 1));
        if (samples->sample[i].interval > 0 && footprint[i] >= least) longs[long_count++] = i;
    }
    double work = analysis->rectangular ? WORK_RECTANGULAR : WORK;
    for (size_t k = 0; status >= 0 && k < long_count && k < COUNTED_MOST; k++) {
        if (k >= COUNTED_FEWEST && counting.work > work) break;
        size_t at = longs[(size_t)(fmod((double)k * GOLDEN, 1) * (double)long_count)];
        rsc_loops_draw_as(crowd, which[at]);
        double distance = count_lines(&counting, &points->point[which[at]], footprint[at], k * TURN);
        if (distance >= 0) counted[count++] = (struct counted){at, distance / footprint[at]};
    }
    samples->spread = count ? (double)counting.spread / (double)count : 1;
    for (size_t k = 0; status >= 0 && k < long_count; k++)
        samples->sample[longs[k]].distance =
            floor(footprint[longs[k]] * factor_of(samples, logarithm, longs[k], counted, count) + 0.5);
    free(footprint);
    free(logarithm);
    free(longs);
    free(counted);
    free(counting.line);
    rsc_touched_free(counting.touched);
    return status;
}
