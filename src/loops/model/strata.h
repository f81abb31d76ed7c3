/*
 * strata.h - many points of a region, in groups that are alike: those of one reference whose lines were last used
 * about as long ago when one thread runs alone.
 *
 * Far reuses, which miss, are few among a reference's instances. Which instances have them depends on the loop that
 * carries the reuse, at any number of threads. So the points are chosen and grouped once; a further number of threads
 * looks at a few of each group, and at most where the group's outcome is uncertain.
 */
#ifndef RSC_LOOPS_MODEL_STRATA_H
#define RSC_LOOPS_MODEL_STRATA_H

#include "loops/search/points.h"

struct rsc_loops_analysis;

struct rsc_loops_strata {
    struct rsc_points points; /* in order of stratum, so also of reference; of each stratum, in an order whose every
                                 beginning is spread evenly over it */
    uint32_t count;
    uint32_t *first;     /* [count + 1]: points of each */
    uint32_t *reference; /* [count] */
};

/* Created when first asked for; owned by the analysis. */
int rsc_loops_strata_get(struct rsc_loops_analysis *analysis, const struct rsc_loops_strata **out,
                         struct rsc_error *error);
void rsc_loops_strata_free(struct rsc_loops_strata *strata);

#endif
