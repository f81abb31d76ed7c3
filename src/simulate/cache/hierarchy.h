/*
 * hierarchy.h - a hierarchy of caches, one access at a time.
 *
 * A miss proceeds in this order: the block replaces a victim; the block is read from
 * the level below; a write-through's data is written below; a dirty victim is written
 * back below. A write-back that misses takes a frame without reading the block from
 * below and does not count as a miss: nothing waits for it. (Write-backs and misses
 * are counted separately everywhere: docs/guide/sim.md compares these conventions with
 * Dinero's.)
 *
 * Several caches of the same name are alternatives. A hierarchy contains only the
 * primary ones; rsc_hierarchy_tap() yields the requests for the others.
 */
#ifndef RSC_SIMULATE_CACHE_HIERARCHY_H
#define RSC_SIMULATE_CACHE_HIERARCHY_H

#include "simulate/cache/cache.h"
#include "simulate/cache/spaces.h"

/* Called for every request that reaches a level, or memory, in order, before it is served. */
struct rsc_hierarchy_tap {
    void (*request)(void *user, const struct rsc_request *request);
    void *user;
};

/* Called for every demand miss at a level: request->access is the access that caused it. */
struct rsc_hierarchy_missed {
    void (*missed)(void *user, int level, const struct rsc_request *request);
    void *user;
};

struct rsc_level {
    struct rsc_cache_config config;
    struct rsc_cache *caches; /* owned: one per group of threads, created when first needed */
    size_t cache_count;
    int below; /* index of the next level; -1: memory */
    struct rsc_level_counts counts;
    struct rsc_hierarchy_tap tap;
    struct rsc_cache_watch watch; /* for caches created from here on */
    uint64_t *set_misses; /* demand misses by set, all caches together; NULL: not counted. Not owned */
};

struct rsc_hierarchy {
    struct rsc_level levels[RSC_SIM_LEVELS_MAX + 1];
    size_t level_count;
    int entry[RSC_KINDS]; /* first level for accesses of that kind; -1: none, they are skipped */
    uint64_t left_out; /* accesses of kinds that no cache takes */
    uint64_t memory_reads, memory_writes; /* requests past the last level */
    struct rsc_hierarchy_tap memory;
    struct rsc_hierarchy_missed missed;
    uint64_t seed;
    int classify; /* misses are classified */
    int coherent;
    uint32_t coherence_shift; /* log2 of the coherence unit in bytes: the largest private block */
    int others_have; /* the block being filled is in another thread's caches too */

    struct rsc_spaces *spaces; /* if an index depends on the process; else NULL */
    int own_spaces;
    int writes_are_back; /* enum rsc_stream_writes: the trace is a miss stream */
    int status; /* RSC_ENOMEM once a cache could not be created */
};

/* Makes a hierarchy of the primary caches of `config`, which it checks. Free it even after failure. */
int rsc_hierarchy_init(struct rsc_hierarchy *hierarchy, const struct rsc_sim_config *config, struct rsc_error *error);
void rsc_hierarchy_free(struct rsc_hierarchy *hierarchy);

/* The error for a status that is set. */
int rsc_hierarchy_fail(const struct rsc_hierarchy *hierarchy, struct rsc_error *error);

/* Serves accesses first..end-1 of a batch. */
int rsc_hierarchy_push(struct rsc_hierarchy *hierarchy, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                       struct rsc_error *error);

/* Serves one request at a level, as from a tap. The caller checks hierarchy->status. */
void rsc_hierarchy_request(struct rsc_hierarchy *hierarchy, int level, const struct rsc_request *request);

/*
 * Makes the request of access `i` of a batch, with the address that the caches use.
 * Returns the level it goes to; -1: no cache takes its kind, or status is set.
 */
int rsc_hierarchy_make_request(struct rsc_hierarchy *hierarchy, const struct rsc_batch *batch, uint32_t i,
                               struct rsc_request *request);

/* Shares the address spaces of another hierarchy, which must outlive it. Call before the first push. */
void rsc_hierarchy_use_spaces(struct rsc_hierarchy *hierarchy, struct rsc_spaces *spaces);

/* Drains the write buffers. Call at the end. */
void rsc_hierarchy_drain(struct rsc_hierarchy *hierarchy);

/* The counts, including the current dirty and valid blocks. */
struct rsc_level_counts rsc_level_total(const struct rsc_level *level);

/* Resets the counts to 0; the caches keep their contents. */
void rsc_hierarchy_forget_counts(struct rsc_hierarchy *hierarchy);

/* Empties the caches and resets the counts. */
void rsc_hierarchy_empty(struct rsc_hierarchy *hierarchy);

/*
 * The cache of a level that serves a thread, created if needed; NULL and status set
 * when out of memory. A level's caches may move when one is created.
 */
struct rsc_cache *rsc_hierarchy_cache(struct rsc_hierarchy *hierarchy, int level, uint32_t thread);

void rsc_hierarchy_to_memory(struct rsc_hierarchy *hierarchy, const struct rsc_request *request);

#endif
