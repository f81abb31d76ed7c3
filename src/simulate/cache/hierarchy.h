/*
 * hierarchy.h - caches above each other, one access at a time.
 *
 * What happens, in this order, when a cache is asked for a block it does not have:
 * a victim goes and the block takes its place; the block is read from the level
 * below; a write-through's data is written below; a dirty victim is written back
 * below. A write-back that misses takes a frame without reading the block from below
 * and counts as no miss: nothing waits for it. (Write-backs and misses are told apart
 * everywhere: docs/guide/sim.md compares these conventions with Dinero's.)
 *
 * Several caches of the same name are alternatives: hierarchies only have the
 * primary ones; rsc_hierarchy_tap() yields the requests the others are to see.
 */
#ifndef RSC_SIMULATE_CACHE_HIERARCHY_H
#define RSC_SIMULATE_CACHE_HIERARCHY_H

#include "simulate/cache/cache.h"
#include "simulate/cache/spaces.h"

/* Told of every request that reaches a level, or memory, in order, before it is served. */
struct rsc_hierarchy_tap {
    void (*request)(void *user, const struct rsc_request *request);
    void *user;
};

/* Told of every demand access that missed at a level: request->access says whose it is. */
struct rsc_hierarchy_missed {
    void (*missed)(void *user, int level, const struct rsc_request *request);
    void *user;
};

struct rsc_level {
    struct rsc_cache_config config;
    struct rsc_cache *caches; /* owned: one for each group of threads, made when first needed */
    size_t cache_count;
    int below; /* index of the next level; -1: memory */
    struct rsc_level_counts counts;
    struct rsc_hierarchy_tap tap;
    struct rsc_cache_watch watch; /* for caches made from here on */
    uint64_t *set_misses; /* demand misses by set are counted here, all caches together; NULL: not counted. Not owned */
};

struct rsc_hierarchy {
    struct rsc_level levels[RSC_SIM_LEVELS_MAX + 1];
    size_t level_count;
    int entry[RSC_KINDS]; /* level that an access of that kind asks first; -1: none, it is left out */
    uint64_t left_out; /* accesses of kinds that no cache takes */
    uint64_t memory_reads, memory_writes; /* requests past the last level */
    struct rsc_hierarchy_tap memory;
    struct rsc_hierarchy_missed missed;
    uint64_t seed;
    int classify; /* misses are put in classes */
    int coherent;
    uint32_t coherence_shift; /* log2 of the bytes kept coherent together: the largest private block */
    int others_have; /* the block being filled is in another thread's caches too */

    struct rsc_spaces *spaces; /* where an index depends on the process; else NULL */
    int own_spaces;
    int writes_are_back; /* enum rsc_stream_writes: the trace is a miss stream */
    int status; /* a cache could not be made: RSC_ENOMEM */
};

/* A hierarchy of the primary caches of `config`, which is checked. To be freed even after failure. */
int rsc_hierarchy_init(struct rsc_hierarchy *hierarchy, const struct rsc_sim_config *config, struct rsc_error *error);
void rsc_hierarchy_free(struct rsc_hierarchy *hierarchy);

/* The error for a status that is set. */
int rsc_hierarchy_fail(const struct rsc_hierarchy *hierarchy, struct rsc_error *error);

/* Serves accesses first..end-1 of a batch. */
int rsc_hierarchy_push(struct rsc_hierarchy *hierarchy, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                       struct rsc_error *error);

/* One request straight to a level, as from a tap. The caller looks at hierarchy->status. */
void rsc_hierarchy_request(struct rsc_hierarchy *hierarchy, int level, const struct rsc_request *request);

/*
 * The request that access `i` of a batch makes, with the address that caches are asked
 * for. Returns the level it goes to; -1: no cache takes its kind, or status is set.
 */
int rsc_hierarchy_make_request(struct rsc_hierarchy *hierarchy, const struct rsc_batch *batch, uint32_t i,
                               struct rsc_request *request);

/* Uses another's address spaces, which must outlive it; before anything is pushed. */
void rsc_hierarchy_use_spaces(struct rsc_hierarchy *hierarchy, struct rsc_spaces *spaces);

/* Writes what is still in write buffers. Call at the end. */
void rsc_hierarchy_drain(struct rsc_hierarchy *hierarchy);

/* Counts with what is known only now: dirty and filled blocks. */
struct rsc_level_counts rsc_level_total(const struct rsc_level *level);

/* Counts start from 0 again; the caches stay as they are. */
void rsc_hierarchy_forget_counts(struct rsc_hierarchy *hierarchy);

/* Back to empty caches and no counts. */
void rsc_hierarchy_empty(struct rsc_hierarchy *hierarchy);

/*
 * The cache of a level that serves a thread, made if need be; NULL and status set
 * when out of memory. A level's caches may move when one is made.
 */
struct rsc_cache *rsc_hierarchy_cache(struct rsc_hierarchy *hierarchy, int level, uint32_t thread);

void rsc_hierarchy_to_memory(struct rsc_hierarchy *hierarchy, const struct rsc_request *request);

#endif
