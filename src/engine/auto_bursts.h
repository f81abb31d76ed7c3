/*
 * auto_bursts.h - true distances in parts of the trace, taken at random times.
 *
 * A burst first warms up: an exact analysis starts empty and runs until it has seen
 * `wanted` lines (or long enough to show that there are hardly that many). Then twice
 * as many references are counted. A reference whose line the burst has not seen has a
 * distance of `wanted` or more. A burst represents the time since the last one ended:
 * its counts are weighted by that time over the references it counted. Bursts are
 * frequent at the beginning and take a 16th of the trace later.
 */
#ifndef RSC_ENGINE_AUTO_BURSTS_H
#define RSC_ENGINE_AUTO_BURSTS_H

#include <stdint.h>

#include "base/rng.h"
#include "distance/exact/exact_state.h"

#define RSC_BURST_PARTS 16u
#define RSC_BURST_RUN 1024u /* most references in one call */

struct rsc_burst_sample {
    struct rsc_rng rng;
    enum { RSC_BURST_WAITS, RSC_BURST_WARMS, RSC_BURST_COUNTS } state;
    struct rsc_exact exact;
    uint64_t left;   /* references until the state ends, at the latest */
    uint64_t taken;  /* references in this state so far */
    uint64_t wanted; /* lines seen when warm */
    uint64_t spent;  /* references in bursts */
    uint64_t period; /* references since the last burst ended */
    uint32_t bursts; /* that have ended */
    uint32_t bin_count;
    uint64_t *rd;    /* [fine bin], of the burst in progress; owned */
    uint64_t beyond; /* of the current burst: line not seen in it */
    double *part_rd; /* [part][fine bin]: of past bursts, weighted; burst i is in part i % parts; owned */
    double part_beyond[RSC_BURST_PARTS], part_references[RSC_BURST_PARTS];
    uint32_t rd_found[RSC_BURST_RUN];
    uint64_t ri_found[RSC_BURST_RUN];
};

/* Bursts of `wanted` lines. Returns 0 or RSC_ENOMEM. A zeroed sample may always be freed. */
int rsc_burst_sample_init(struct rsc_burst_sample *sample, uint64_t seed, uint64_t wanted);
void rsc_burst_sample_free(struct rsc_burst_sample *sample);

/* Processes `count` references (RSC_BURST_RUN at most). Returns 0, RSC_ENOMEM or RSC_ELIMIT. */
int rsc_burst_sample_take(struct rsc_burst_sample *sample, const uint64_t *lines, uint32_t count);

/* The same without lines, if no burst begins or is active in between: returns 0 if one does. */
static inline int rsc_burst_sample_skip(struct rsc_burst_sample *sample, uint64_t count) {
    if (sample->state != RSC_BURST_WAITS || sample->left <= count) return 0;
    sample->left -= count;
    sample->taken += count;
    sample->period += count;
    return 1;
}

#endif
