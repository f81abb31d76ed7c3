/*
 * counted_lines.c - distances of long reuses by counting lines.
 *
 * The footprint of a slice of time is an average: where all long reuses of a reference have the same distance, it
 * spreads them, and the curve has a slope where the true one has a step. So for some long reuses the lines in between
 * are counted: of lines spread over each space (distinct.h), those whose last touch before the later use is within the
 * interval. The other long reuses of the reference take the factor between count and footprint from one that is alike.
 */
#include <stdlib.h>
#include <string.h>

#include "loops/model/region_analysis.h"

#define LONG_LINES 256.0 /* distances from here on are counted, */
#define LONG_SHARE 6.0 /* if they are this share of all lines: less than ten of the lines looked at say too little */
#define TURN 197u /* odd, so that all lines have a turn */
#define PICKS 64u /* lines looked at for each */
#define WORK 12000.0 /* searches and tenths of threads drawn: some 6 ms */
#define COUNTED_FEWEST 16u
#define ALIKE 0.01 /* differences below this, of the logarithm of distances, mean nothing */
#define COUNTED_MOST 256u
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

/* Lines used between the point and the last use of its line before it. */
static double count_lines(struct rsc_crowd *crowd, const struct rsc_point *point, const struct line *line,
                          size_t lines) {
    struct rsc_moment moment = rsc_crowd_moment(crowd, point);
    struct rsc_target own = rsc_crowd_target(crowd, point);
    struct rsc_touch in_phase = rsc_crowd_own_touch(crowd, &moment, rsc_crowd_own(crowd, &moment, &own)), since;
    since = rsc_crowd_others(crowd, &moment, &own, &in_phase);
    if (since.found) in_phase = since;
    since = in_phase.found ? in_phase : rsc_crowd_earlier(crowd, &moment, &own);
    double sum = 0;
    for (size_t i = 0; i < lines && since.found; i++) {
        const struct rsc_target *target = &line[i].target;
        if (target->low == own.low) continue;
        struct rsc_touch touch = rsc_crowd_own_touch(crowd, &moment, rsc_crowd_own(crowd, &moment, target));
        int used = touch.found && (!in_phase.found || touch.ago < in_phase.ago);
        if (!used) used = rsc_crowd_others(crowd, &moment, target, &in_phase).found;
        if (!used && !in_phase.found) {
            touch = rsc_crowd_earlier(crowd, &moment, target);
            used = touch.found && touch.interval < since.interval;
        }
        if (used) sum += line[i].weight;
    }
    return sum;
}

/* The mean factor of the counted samples of the same reference, most of it from those whose distance is like this one's. */
static double factor_of(const struct rsc_loops_samples *samples, const double *footprint, size_t at,
                        const struct counted *counted, size_t count) {
    double sum = 0, weights = 0;
    for (size_t i = 0; i < count; i++) {
        if (samples->reference[counted[i].at] != samples->reference[at]) continue;
        double apart = fabs(log(footprint[counted[i].at] / footprint[at])) +
                       fabs((double)counted[i].at - (double)at) / (double)samples->count;
        double weight = 1 / ((apart + ALIKE) * (apart + ALIKE));
        sum += weight * counted[i].factor;
        weights += weight;
    }
    return weights > 0 ? sum / weights : 1;
}

int rsc_loops_count_lines(const struct rsc_loops_analysis *analysis, struct rsc_crowd *crowd,
                          const struct rsc_points *points, struct rsc_loops_samples *samples) {
    if (analysis->has_private) return 0;
    double *footprint = malloc((samples->count + 1) * sizeof *footprint);
    size_t *longs = malloc((samples->count + 1) * sizeof *longs), long_count = 0;
    struct counted *counted = malloc(((size_t)COUNTED_MOST + 1) * sizeof *counted);
    struct line *line = malloc((analysis->nest->space_count + (size_t)PICKS + 1) * sizeof *line);
    int status = footprint && longs && counted && line ? 0 : RSC_ENOMEM;
    double least = fmax(LONG_LINES, samples->lines / LONG_SHARE);
    for (size_t i = 0; status >= 0 && i < samples->count; i++) {
        footprint[i] = samples->sample[i].distance;
        if (samples->sample[i].interval > 0 && footprint[i] >= least) longs[long_count++] = i;
    }
    size_t count = 0;
    double work = 0;
    for (; status >= 0 && count < long_count && count < COUNTED_MOST; count++) {
        if (count >= COUNTED_FEWEST && work > WORK) break;
        uint64_t before = crowd->search->searches;
        size_t at = longs[(size_t)(fmod((double)count * GOLDEN, 1) * (double)long_count)];
        size_t lines = choose_lines(analysis, samples->lines, count * TURN, line);
        rsc_loops_draw_as(crowd, at);
        double distance = count_lines(crowd, &points->point[at], line, lines);
        work += (double)(crowd->search->searches - before) + (double)lines * crowd->plan->threads / 10;
        counted[count] = (struct counted){at, distance / footprint[at]};
    }
    for (size_t k = 0; status >= 0 && k < long_count; k++)
        samples->sample[longs[k]].distance =
            floor(footprint[longs[k]] * factor_of(samples, footprint, longs[k], counted, count) + 0.5);
    free(footprint);
    free(longs);
    free(counted);
    free(line);
    return status;
}
