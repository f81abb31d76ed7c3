/*
 * replacement.h - chooses the victim of a full set, for the policies that keep blocks
 * in their ways (all but LRU and FIFO, which evict the last in order).
 *
 *   random  xorshift64 per set; its high half times the ways
 *   plru    a binary tree over the ways (the left half is the smaller); each node has a
 *           bit for the half used less recently; a touch points the nodes on its path
 *           away from it. Node n's halves are nodes 2n+1 and 2n+2
 *   nru     a bit per way, set by a touch; when all would be set, the others are cleared.
 *           The victim is the first way with a clear bit
 *   rrip    a prediction of 0 to 3 per way. A hit sets it to 0. The victim is the first
 *           way with 3, after all were incremented until there is one. SRRIP fills with 2;
 *           BRRIP with 3, and with 2 once in 32 by the set's generator; DRRIP like the one
 *           of the two with fewer misses in its leader sets, 32 of each (fewer if there are
 *           fewer than 64 sets)
 *
 * Empty ways are filled first, the lowest before others.
 */
#ifndef RSC_SIMULATE_CACHE_REPLACEMENT_H
#define RSC_SIMULATE_CACHE_REPLACEMENT_H

#include "simulate/cache/cache.h"

/* Bytes of state per set, besides its generator. */
uint32_t rsc_replacement_state_bytes(enum rsc_policy policy, uint32_t ways);
int rsc_replacement_draws(enum rsc_policy policy);

/* Resets the state to that of an empty cache. */
void rsc_replacement_reset(struct rsc_cache *cache);

/* A hit on, or a fill of, a way. */
void rsc_replacement_hit(struct rsc_cache *cache, uint64_t set, uint32_t way);
void rsc_replacement_filled(struct rsc_cache *cache, uint64_t set, uint32_t way);

/* The victim way of a full set. */
uint32_t rsc_replacement_victim(struct rsc_cache *cache, uint64_t set);

/* A miss, before the fill: DRRIP's set dueling counts it. */
void rsc_replacement_missed(struct rsc_cache *cache, uint64_t set);

#endif
