/*
 * hierarchy.h - caches above each other, one access at a time.
 *
 * What happens, in this order, when a cache is asked for a block it does not have:
 * a victim goes and the block takes its place; the block is read from the level
 * below; a write-through's data is written below; a dirty victim is written back
 * below. A write-back that misses takes a frame without reading the block from below
 * and counts as no miss: nothing waits for it. (Write-backs and misses are told apart
 * everywhere: docs/sim.md compares these conventions with Dinero's.)
 *
 * Several caches of the same name are alternatives: hierarchies only have the
 * primary ones; rsc_hierarchy_tap() yields the requests the others are to see.
 */
#ifndef RSC_SIMULATE_HIERARCHY_H
#define RSC_SIMULATE_HIERARCHY_H

#include "simulate/cache.h"

#define RSC_KINDS 3

/* Of a level, all its caches together. Arrays are by enum rsc_kind of the access behind a request. */
struct rsc_level_counts {
    uint64_t accesses[RSC_KINDS]; /* demand: of the program, or of misses above, or written through from above */
    uint64_t misses[RSC_KINDS];   /* of those */
    uint64_t cold[RSC_KINDS], capacity[RSC_KINDS], conflict[RSC_KINDS], coherence[RSC_KINDS]; /* of misses, where classified */
    uint64_t writes_in;        /* write-backs from above */
    uint64_t writes_in_missed; /* of those, that did not find their block */
    uint64_t writebacks;       /* dirty blocks written below: evicted, or asked for by another cache */
    uint64_t writethroughs;    /* writes passed below */
    uint64_t dirty_at_end;
    uint64_t blocks_at_end;    /* in the caches, of `blocks` there are */
    uint64_t blocks;
    uint64_t prefetches, prefetches_used; /* issued here; asked for before they went */
    uint64_t prefetches_in;    /* from above */
    uint64_t victim_hits;      /* misses of the cache that its victim cache had: not in misses */
    uint64_t buffer_merged;    /* writes below that the write buffer had already */
    uint64_t invalidated;      /* blocks taken away by other threads' writes */
    uint64_t back_invalidated; /* blocks taken away by an inclusive level below */
};

enum rsc_op {
    RSC_OP_READ,       /* a block, or part of it */
    RSC_OP_WRITE,      /* data of one access */
    RSC_OP_WRITE_BACK, /* a block from above */
    RSC_OP_PREFETCH,   /* a block, on suspicion */
};

struct rsc_request {
    uint64_t addr;
    uint32_t bytes;
    uint32_t access; /* index in the batch of the access behind it */
    uint32_t thread;
    uint8_t op;   /* enum rsc_op */
    uint8_t kind; /* enum rsc_kind of the access behind it */
    uint16_t reserved;
};

/* Told of every request that reaches a level, in order, before it is served. */
struct rsc_hierarchy_tap {
    void (*request)(void *user, const struct rsc_request *request);
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
};

struct rsc_hierarchy {
    struct rsc_level levels[RSC_SIM_LEVELS_MAX + 1];
    size_t level_count;
    int entry[RSC_KINDS]; /* level that an access of that kind asks first; -1: none, it is left out */
    uint64_t left_out;    /* accesses of kinds that no cache takes */
    uint64_t memory_reads, memory_writes; /* requests past the last level */
    uint64_t seed;
    int coherent;

    /* Address spaces, where an index depends on the process: */
    int by_process;
    uint64_t *pids;        /* owned: process id by number of the space, 2^16 of them */
    uint32_t pid_count;
    uint64_t last_pid;
    uint32_t last_space;

    uint32_t access; /* index of the access being served */
    int status;      /* a cache could not be made: RSC_ENOMEM */
};

/* A hierarchy of the primary caches of `config`, which is checked. To be freed even after failure. */
int rsc_hierarchy_init(struct rsc_hierarchy *hierarchy, const struct rsc_sim_config *config, struct rsc_error *error);
void rsc_hierarchy_free(struct rsc_hierarchy *hierarchy);

/* Serves accesses first..end-1 of a batch. */
int rsc_hierarchy_push(struct rsc_hierarchy *hierarchy, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                       struct rsc_error *error);

/* One request straight to a level, as from a tap. The caller looks at hierarchy->status. */
void rsc_hierarchy_request(struct rsc_hierarchy *hierarchy, int level, const struct rsc_request *request);

/* The address that caches are asked for: with the process in its top bits, where an index needs it. */
uint64_t rsc_hierarchy_address(struct rsc_hierarchy *hierarchy, const struct rsc_batch *batch, uint32_t access);

/* Counts with what is known only now: dirty and filled blocks. */
struct rsc_level_counts rsc_level_total(const struct rsc_level *level);

/* Counts start from 0 again; the caches stay as they are. */
void rsc_hierarchy_forget_counts(struct rsc_hierarchy *hierarchy);

/* Back to empty caches and no counts. */
void rsc_hierarchy_empty(struct rsc_hierarchy *hierarchy);

/* The cache of a level that serves a thread, made if need be; NULL and status set when out of memory. */
struct rsc_cache *rsc_hierarchy_cache(struct rsc_hierarchy *hierarchy, int level, uint32_t thread);

static inline uint64_t rsc_kinds_sum(const uint64_t by_kind[RSC_KINDS]) {
    return by_kind[RSC_READ] + by_kind[RSC_WRITE] + by_kind[RSC_FETCH];
}

#endif
