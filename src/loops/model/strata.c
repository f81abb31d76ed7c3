/* strata.c - see strata.h. */
#include "loops/model/strata.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "loops/model/region_analysis.h"

#define POINTS 32768u
#define POINTS_LEAST 256u /* of each reference */
#define SHORTEST 6u       /* shorter intervals than 2^6 are one stratum */
#define GOLDEN 0.6180339887498949
#define GROUPS 66u        /* by reference: none before, short, and an octave each */

void rsc_loops_strata_free(struct rsc_loops_strata *strata) {
    rsc_points_free(&strata->points);
    free(strata->first);
    free(strata->reference);
    memset(strata, 0, sizeof *strata);
}

static uint32_t group_of(double interval) {
    if (interval <= 0) return 0;
    int octave = ilogb(interval);
    return octave < (int)SHORTEST ? 1 : 2 + (uint32_t)octave - SHORTEST;
}

/* The octave of each point's interval at one thread. */
static int group_points(struct rsc_loops_analysis *analysis, const struct rsc_points *points, uint8_t *group,
                        struct rsc_error *error) {
    static const struct rsc_interleave alone = {.kind = RSC_INTERLEAVE_LOCKSTEP};
    struct rsc_plan *plan = NULL;
    struct rsc_search *search = NULL;
    struct rsc_crowd *crowd = NULL;
    int status = rsc_plan_new(&plan, analysis->nest, 1, analysis->options.schedule, error);
    if (status >= 0) status = rsc_search_new(&search, plan, error);
    if (status >= 0)
        status = rsc_crowd_new(&crowd, search, &alone, analysis->normal, analysis->options.line_bytes,
                               analysis->options.seed, error);
    for (size_t i = 0; i < points->count && status >= 0; i++) {
        struct rsc_moment moment;
        group[i] = (uint8_t)group_of(rsc_loops_interval(crowd, &points->point[i], &moment));
        if (analysis->nest->status < 0 || rsc_nest_stopped(analysis->nest))
            status = rsc_fail(error, analysis->nest->status, "%s: this nest is too large to analyse",
                              analysis->nest->region->name);
    }
    rsc_crowd_free(crowd);
    rsc_search_free(search);
    rsc_plan_free(plan);
    return status;
}

/*
 * Moves `count` points so that every beginning of them is spread evenly, by multiples of the golden section: halves of
 * halves would fall on the same places of loops whose lengths are powers of two.
 */
static void spread(struct rsc_point *point, struct rsc_point *room, uint8_t *taken, uint32_t count) {
    memset(taken, 0, count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t at = (uint32_t)(fmod((k + 0.5) * GOLDEN, 1) * count);
        while (taken[at]) at = at + 1 < count ? at + 1 : 0;
        taken[at] = 1;
        room[k] = point[at];
    }
    memcpy(point, room, count * sizeof *point);
}

/* Sorts the points of each reference by group, and makes each group that has any a stratum. */
static int divide(struct rsc_loops_strata *strata, const uint8_t *group, uint32_t references) {
    struct rsc_points *points = &strata->points;
    struct rsc_point *sorted = malloc((points->count + 1) * sizeof *sorted);
    uint8_t *taken = malloc(points->count + 1);
    strata->first = calloc((size_t)references * GROUPS + 1, sizeof *strata->first);
    strata->reference = calloc((size_t)references * GROUPS + 1, sizeof *strata->reference);
    if (!sorted || !taken || !strata->first || !strata->reference) {
        free(sorted);
        free(taken);
        return RSC_ENOMEM;
    }
    uint32_t at = 0;
    for (uint32_t r = 0; r < references; r++)
        for (uint32_t g = 0; g < GROUPS; g++) {
            uint32_t from = at;
            for (uint32_t i = points->first[r]; i < points->first[r + 1]; i++)
                if (group[i] == g) sorted[at++] = points->point[i];
            if (at == from) continue;
            strata->first[strata->count] = from;
            strata->reference[strata->count++] = r;
        }
    strata->first[strata->count] = at;
    for (uint32_t s = 0; s < strata->count; s++)
        spread(sorted + strata->first[s], points->point, taken, strata->first[s + 1] - strata->first[s]);
    free(taken);
    free(points->point);
    points->point = sorted;
    return 0;
}

int rsc_loops_strata_get(struct rsc_loops_analysis *analysis, const struct rsc_loops_strata **out,
                         struct rsc_error *error) {
    struct rsc_nest *nest = analysis->nest;
    struct rsc_loops_strata *strata = &analysis->strata;
    *out = strata;
    if (strata->count) return 0;
    uint64_t *wanted = calloc(nest->reference_count + (size_t)1, sizeof *wanted);
    uint8_t *group = NULL;
    double total = 0;
    int status = wanted ? 0 : RSC_ENOMEM;
    for (uint32_t r = 0; r < nest->reference_count; r++) total += (double)analysis->points.references[r];
    for (uint32_t r = 0; status >= 0 && r < nest->reference_count; r++)
        wanted[r] = (uint64_t)fmax(POINTS * ((double)analysis->points.references[r] / total), POINTS_LEAST);
    if (status >= 0)
        status = rsc_points_draw(&strata->points, &analysis->points, nest, wanted, analysis->options.seed + 1, error);
    if (status >= 0) group = malloc(strata->points.count + 1);
    if (status >= 0) status = group ? group_points(analysis, &strata->points, group, error) : RSC_ENOMEM;
    if (status >= 0) status = divide(strata, group, nest->reference_count);
    if (status == RSC_ENOMEM) rsc_fail_memory(error, "samples of loops");
    if (status < 0) rsc_loops_strata_free(strata);
    free(wanted);
    free(group);
    return status;
}
