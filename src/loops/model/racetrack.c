/*
 * racetrack.c - paper 004's model: private intervals (PRI) are collected once, at one
 * number of threads, and converted to any other.
 *
 * By table 1 of the paper, with r a private interval and T the number of threads:
 *   short                      negative binomial: trials until r successes of 1/T
 *   long, reference private    T r
 *   long, reference shared     racetrack: a share x of T r, of density
 *                              (T-1)(1-x)^(T-2): T-1 points cut T r in T parts
 * The paper leaves open whether r or T r is split; here it is T r, so that the mean
 * stays r: in T r references each of T threads comes by once. Theorem 3.1 defines
 * long, with constants that the paper does not give (below). A reference is shared if
 * its subscripts have no variable of the shared loop. Cold is the sum of each
 * thread's own first uses, at the base number of threads. The curve uses one
 * distribution for the whole run: no slices.
 */
#include <math.h>

#include "base/fail.h"
#include "loops/model/region_analysis.h"

/* P(c1 T r <= CRI <= c2 T r) >= 1 - 2 eps; these make everything above 276 long. */
#define C1 0.75
#define C2 1.25
#define EPSILON 0.001

static double longest_short(void) {
    double tail = log(1 / EPSILON);
    double above = 2 * tail / (C2 * (1 / C2 - 1) * (1 / C2 - 1));
    double below = 3 * tail / (C1 * (1 / C1 - 1) * (1 / C1 - 1));
    return above > below ? above : below;
}

static int is_shared(const struct rsc_nest *nest, const struct rsc_point *point) {
    const struct rsc_nest_item *item = &nest->item[nest->segment[point->segment].item];
    if (nest->reference[point->reference]->is_private || item->who == RSC_RUN_BY_ONE) return 0;
    if (item->who == RSC_RUN_BY_ALL) return 1;
    uint32_t moving = ((1u << item->group) - 1) << item->node->depth;
    return !(nest->reference[point->reference]->address.depths & moving);
}

int rsc_loops_sample_racetrack(struct rsc_loops_analysis *analysis, uint32_t threads, uint32_t every,
                               struct rsc_loops_samples *samples, struct rsc_error *error) {
    struct rsc_plan *plan = NULL;
    struct rsc_search *search = NULL;
    struct rsc_crowd *crowd = NULL;
    struct rsc_interleave lockstep = {.kind = RSC_INTERLEAVE_LOCKSTEP};
    struct rsc_nest *nest = analysis->nest;
    uint32_t base = analysis->options.base_threads;
    int status = rsc_loops_samples_new(samples, analysis->points.count, error);
    if (status >= 0) status = rsc_plan_new(&plan, nest, base, analysis->options.schedule, error);
    if (status >= 0) status = rsc_search_new(&search, plan, error);
    if (status >= 0)
        status = rsc_crowd_new(&crowd, search, &lockstep, analysis->normal, analysis->options.line_bytes,
                               analysis->options.seed + threads, error);
    double bound = longest_short();
    for (size_t i = 0; status >= 0 && i < analysis->points.count; i++) {
        const struct rsc_point *point = &analysis->points.point[i];
        uint32_t place = (uint32_t)i - analysis->points.first[point->reference];
        if (every > 1 && place % every && place >= RSC_POINTS_LEAST) continue;
        struct rsc_target target = rsc_crowd_target(crowd, point);
        struct rsc_moment moment = rsc_crowd_moment(crowd, point);
        uint32_t phase;
        int64_t touched;
        double r, interval = 0;
        if (rsc_crowd_own_history(crowd, &moment, &target, &phase, &touched, &r)) {
            if (r <= bound)
                interval = r + chance_poisson(&crowd->chance, chance_gamma(&crowd->chance, r) * (threads - 1));
            else if (!is_shared(nest, point) || threads == 1) interval = threads * r;
            else interval = threads * r * (1 - pow(1 - chance_even(&crowd->chance), 1.0 / (threads - 1)));
            if (interval < 1) interval = 1;
        }
        samples->reference[samples->count] = point->reference;
        samples->sample[samples->count++] =
            (struct rsc_reuse_sample){.end = moment.end, .interval = interval, .weight = point->weight};
        if (nest->status < 0 || rsc_nest_stopped(nest))
            status = rsc_fail(error, nest->status, "%s: this nest is too large to analyse", nest->region->name);
    }
    if (status >= 0) {
        rsc_loops_samples_weigh(&analysis->points, samples, plan->phase_start[nest->phase_count]);
        for (size_t i = 0; i < samples->count; i++)
            if (samples->sample[i].interval <= 0) samples->cold += samples->sample[i].weight;
    }
    rsc_crowd_free(crowd);
    rsc_search_free(search);
    rsc_plan_free(plan);
    return status;
}
