/*
 * burst_sample.h - true distances in parts of the trace, taken at random times.
 *
 * A burst first warms up: an exact analysis starts empty and runs until it has seen
 * `wanted` lines (or long enough to show that there are hardly that many). Then twice
 * as many references are counted. A reference whose line the burst has not seen has a
 * distance of `wanted` or more. A burst represents the time since the last one ended:
 * its counts are weighted by that time over the references it counted. Bursts are
 * frequent at the beginning and take a 48th of the trace later.
 *
 * The first 65,536 references are counted separately: all of them are exact.
 */
#ifndef RSC_DISTANCE_TIME_BURST_SAMPLE_H
#define RSC_DISTANCE_TIME_BURST_SAMPLE_H

#include <stdint.h>

#include "base/rng.h"
#include "distance/exact/exact_state.h"
#include "distance/time/last_use.h"
#include "distance/time/truth_lines.h"

#define RSC_BURST_FIRST 65536u

struct rsc_burst_sample {
    struct rsc_rng rng;
    enum { RSC_BURST_BEGINS, RSC_BURST_WAITS, RSC_BURST_WARMS, RSC_BURST_COUNTS } state;
    struct rsc_exact exact;
    uint64_t left;         /* references until the state ends, at the latest */
    uint64_t taken;        /* references in this state so far */
    uint64_t wanted;       /* lines seen when warm */
    uint64_t spent;        /* references in bursts, without the first */
    uint32_t period_last;  /* references per reference of a burst, later: 48 unless the caller sets it */
    uint64_t period;       /* references since the last burst ended */
    uint32_t bursts;       /* that have ended, without the first */
    uint32_t bin_count;
    uint64_t first;        /* references of the beginning */
    uint64_t *first_ri, *first_rd; /* [fine bin]; owned, as are all below */
    uint64_t *ri, *rd;             /* [fine bin], of the burst in progress */
    uint64_t beyond;               /* of the current burst: line not seen in it, though used before it */
    double *part_ri, *part_rd; /* [part][fine bin]: of past bursts, weighted; burst i is in part i % parts */
    double part_beyond[RSC_SAMPLE_PARTS], part_references[RSC_SAMPLE_PARTS];
    double heaviest; /* weight of a reference, in any burst */
    uint32_t rd_found[RSC_LAST_USE_RUN];
    uint64_t ri_found[RSC_LAST_USE_RUN];
};

/* Returns 0 or RSC_ENOMEM. A zeroed sample may always be freed. */
int rsc_burst_sample_init(struct rsc_burst_sample *sample, uint64_t seed);
void rsc_burst_sample_free(struct rsc_burst_sample *sample);

/*
 * Processes `count` references (RSC_LAST_USE_RUN at most) with their true intervals.
 * The next burst to start needs `wanted` lines. Returns 0, RSC_ENOMEM or RSC_ELIMIT.
 */
int rsc_burst_sample_take(struct rsc_burst_sample *sample, const uint64_t *lines, const uint64_t *ri, uint32_t count,
                          uint64_t wanted);

/* The same without lines, if no burst begins or is active in between: returns 0 if one does. */
static inline int rsc_burst_sample_skip(struct rsc_burst_sample *sample, uint64_t count) {
    if (sample->state != RSC_BURST_WAITS || sample->left <= count) return 0;
    sample->left -= count;
    sample->taken += count;
    sample->period += count;
    return 1;
}

#endif
