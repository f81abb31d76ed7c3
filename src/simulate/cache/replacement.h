/*
 * replacement.h - which block of a full set goes, for the policies that keep
 * blocks in their ways (all but LRU and FIFO, whose order says it).
 *
 *   random  xorshift64 of the set; its high half times the ways
 *   plru    ways are split in halves (the left one the smaller), each node has a bit
 *           that says which half was used less recently; a touch turns the nodes on
 *           its path away from it. Node n's halves are nodes 2n+1 and 2n+2
 *   nru     a bit a way, set by a touch; when all would be set, the others are cleared.
 *           The first way without goes
 *   rrip    predictions 0 to 3 a way. A hit makes it 0; the first way with 3 goes, after
 *           all were raised until there is one. SRRIP fills with 2; BRRIP with 3, and with
 *           2 once in 32 by the set's generator; DRRIP as whichever of the two has missed
 *           less in its leading sets, 32 of each (fewer where there are fewer than 64 sets)
 *
 * An empty way is always taken first, the lowest.
 */
#ifndef RSC_SIMULATE_CACHE_REPLACEMENT_H
#define RSC_SIMULATE_CACHE_REPLACEMENT_H

#include "simulate/cache/cache.h"

/* Bytes of state a set needs, beside its generator. */
uint32_t rsc_replacement_state_bytes(enum rsc_policy policy, uint32_t ways);
int rsc_replacement_draws(enum rsc_policy policy);

/* State as in an empty cache. */
void rsc_replacement_reset(struct rsc_cache *cache);

/* A hit on, or a fill of, a way. */
void rsc_replacement_hit(struct rsc_cache *cache, uint64_t set, uint32_t way);
void rsc_replacement_filled(struct rsc_cache *cache, uint64_t set, uint32_t way);

/* The way to go of a set without empty ones. */
uint32_t rsc_replacement_victim(struct rsc_cache *cache, uint64_t set);

/* A miss, before it is filled: the duel of DRRIP counts it. */
void rsc_replacement_missed(struct rsc_cache *cache, uint64_t set);

#endif
