/*
 * all_sizes.h - every power-of-two size and associativity of LRU at once.
 *
 * For one number of sets, LRU caches of all associativities have the inclusion
 * property: one stack of blocks per set, in order of use, describes them all (Mattson
 * et al., 1970; Hill and Smith's all-associativity simulation). A block found at depth
 * d, counted from 0, hits in caches of more than d ways. One pass keeps such stacks
 * for every number of sets that the requested sizes need.
 *
 * Write-backs are counted too: a written block is dirty in the caches of more ways
 * than the greatest depth it has reached since.
 */
#ifndef RSC_SIMULATE_CACHE_ALL_SIZES_H
#define RSC_SIMULATE_CACHE_ALL_SIZES_H

#include "simulate/cache/hierarchy.h"

#define RSC_ALL_WAYS_MAX 256u /* powers of two: 9 of them */
#define RSC_ALL_WAYS_LOG 9

/* Stacks for one number of sets. */
struct rsc_all_stacks {
    uint64_t sets;
    uint32_t depth;     /* of the stacks: the most ways at this number of sets */
    uint64_t *blocks;   /* owned: sets * depth, newest first; block + 1, 0 is none */
    uint16_t *lost;     /* owned: dirty in caches of more ways than this; LOST_ALL: in none */
    uint64_t hits[RSC_KINDS][RSC_ALL_WAYS_LOG]; /* of demand, by log2 of the fewest ways that hit */
    uint64_t writebacks[RSC_ALL_WAYS_LOG];      /* by log2 of the ways */
    uint64_t dirty[RSC_ALL_WAYS_LOG];
    uint64_t filled[RSC_ALL_WAYS_LOG];
};

struct rsc_all_sizes {
    struct rsc_all_config config;
    struct rsc_all_stacks *stacks; /* owned: by ascending number of sets */
    size_t stack_count;
    uint64_t accesses[RSC_KINDS], writes_in;
    uint32_t block_shift;
};

/* Free it even after failure. */
int rsc_all_init(struct rsc_all_sizes *all, const struct rsc_all_config *config, struct rsc_error *error);
void rsc_all_free(struct rsc_all_sizes *all);

void rsc_all_request(struct rsc_all_sizes *all, const struct rsc_request *request);

/* Counts start from 0; the stacks stay. */
void rsc_all_forget_counts(struct rsc_all_sizes *all);

/* The number of caches, and the counts of one of them so far. */
size_t rsc_all_count(const struct rsc_all_sizes *all);
void rsc_all_settle(struct rsc_all_sizes *all); /* before reading counts */
void rsc_all_result(const struct rsc_all_sizes *all, size_t index, struct rsc_cache_config *config,
                    struct rsc_level_counts *counts);

#endif
