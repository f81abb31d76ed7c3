/*
 * place_costs.h - latency and data source of the accesses of a place, if the PMU reports them
 * for sampled accesses.
 *
 * A debug register catches a reuse but reports neither. But accesses are sampled at random,
 * including those of the reuse's instruction, so the mean latency of its samples estimates the
 * mean latency of its reuses. Samples with the reuse's call path are used if there are any, else
 * all samples of the instruction.
 */
#ifndef RSC_FEATHERLIGHT_PLACE_COSTS_H
#define RSC_FEATHERLIGHT_PLACE_COSTS_H

#include "featherlight/watch_group.h"

struct rsc_pair_row;

struct rsc_place_costs {
    struct rsc_costly *list; /* owned; by pc, then path */
    size_t count;
};

/* Of `count` groups in each shape. Returns 0 or RSC_ENOMEM. A zeroed struct may be freed. */
int rsc_place_costs_make(struct rsc_place_costs *costs, struct rsc_watch_group *const *shapes, uint32_t shape_count,
                         uint32_t count);
void rsc_place_costs_free(struct rsc_place_costs *costs);

/* Sets latency, latency_samples and sources of a pair whose `reuse.pc` and `reuse_context` are set. */
void rsc_place_costs_fill(const struct rsc_place_costs *costs, struct rsc_pair_row *pair);

#endif
