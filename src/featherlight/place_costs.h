/*
 * place_costs.h - how long accesses of a place took and where their data came from, where a
 * PMU says so of the accesses that it samples.
 *
 * A reuse is caught by a debug register, which says neither. But accesses are sampled at random,
 * those of the reuse's instruction like all others: what its samples took in the mean is what
 * its reuses take in the mean. Samples with the reuse's call path are taken where there are
 * any, else all of the instruction.
 */
#ifndef RSC_FEATHERLIGHT_PLACE_COSTS_H
#define RSC_FEATHERLIGHT_PLACE_COSTS_H

#include "featherlight/watch_group.h"

struct rsc_pair_row;

struct rsc_place_costs {
    struct rsc_costly *list; /* owned; by pc, then path */
    size_t count;
};

/* Returns 0 or RSC_ENOMEM. A zeroed one may be freed. */
int rsc_place_costs_make(struct rsc_place_costs *costs, const struct rsc_watch_group *groups, uint32_t count);
void rsc_place_costs_free(struct rsc_place_costs *costs);

/* Sets latency, latency_samples and sources of a pair whose `reuse.pc` and `reuse_context` are set. */
void rsc_place_costs_fill(const struct rsc_place_costs *costs, struct rsc_pair_row *pair);

#endif
