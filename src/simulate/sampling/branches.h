/*
 * branches.h - a hierarchy of primary caches with the alternatives beside them,
 * watched, for sampling.
 *
 * A tap at the primary cache of their name feeds the alternatives. With
 * RSC_WATCH_COLD each cache has the watch of cold_start.h, whose clock is
 * instructions (accesses if a trace has no instruction counts). Caches are numbered
 * as in the configuration.
 */
#ifndef RSC_SIMULATE_SAMPLING_BRANCHES_H
#define RSC_SIMULATE_SAMPLING_BRANCHES_H

#include "simulate/sampling/cold_start.h"
#include "simulate/cache/hierarchy.h"

/* What is kept of each cache beyond its counts. */
enum rsc_branch_watch {
    RSC_WATCH_NOTHING,
    RSC_WATCH_SETS, /* misses by set; rsc_branches_empty() resets them */
    RSC_WATCH_COLD, /* cold_start.h */
};

struct rsc_branches;

struct rsc_branch_counts {
    uint64_t accesses, misses; /* demand */
};

int rsc_branches_new(struct rsc_branches **out, const struct rsc_sim_config *config, enum rsc_branch_watch watch,
                     struct rsc_error *error);
void rsc_branches_free(struct rsc_branches *branches);

/* Shares the address spaces of another; call before the first push. */
void rsc_branches_use_spaces(struct rsc_branches *branches, struct rsc_spaces *spaces);

/* The address spaces, if an index depends on the process; else NULL. */
struct rsc_spaces *rsc_branches_spaces(struct rsc_branches *branches);

/* The trace is a miss stream: its writes are write-backs. */
void rsc_branches_writes_are_back(struct rsc_branches *branches, int how);

/* Sends one request at time `now` to the first cache, as from a tap of another hierarchy. */
void rsc_branches_request(struct rsc_branches *branches, const struct rsc_request *request, uint64_t now);

/* Out of memory since it was made? Returns 0 or negative. */
int rsc_branches_status(const struct rsc_branches *branches, struct rsc_error *error);

/* Calls `tap` (copied) for all requests to a cache, before they are served. */
void rsc_branches_tap(struct rsc_branches *branches, size_t cache, const struct rsc_hierarchy_tap *tap);

/* Serves accesses first .. end - 1 of a batch. */
int rsc_branches_push(struct rsc_branches *branches, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                      struct rsc_error *error);

/* Empties the caches and resets the counts. */
void rsc_branches_empty(struct rsc_branches *branches);

struct rsc_branch_counts rsc_branches_counts(const struct rsc_branches *branches, size_t cache);

/* References to the first level so far. */
uint64_t rsc_branches_references(const struct rsc_branches *branches);

/* Demand misses by set, all caches of the level together: rsc_cache_sets() of them. NULL unless RSC_WATCH_SETS. */
const uint64_t *rsc_branches_set_misses(const struct rsc_branches *branches, size_t cache);

/* Counts since the caches were empty, all caches of the level together; only with RSC_WATCH_COLD. */
struct rsc_cold_counts rsc_branches_cold(const struct rsc_branches *branches, size_t cache);

/* All that is counted of a cache while references are pushed. */
const struct rsc_level_counts *rsc_branches_running(const struct rsc_branches *branches, size_t cache);

#endif
