/*
 * first_level.h - the fast path for the usual first level: LRU, write-back,
 * write-allocate, shared by all threads, a power of two of sets.
 *
 * Accesses are cut into blocks and gathered. A reference to the block used last in its
 * set changes nothing and is dropped (a write is kept if the block may not be dirty
 * yet). Vector code that processes a whole set at once serves the rest, and misses go
 * to the levels below as on the slow path. All counts are identical to the slow path's.
 */
#ifndef RSC_SIMULATE_CACHE_FIRST_LEVEL_H
#define RSC_SIMULATE_CACHE_FIRST_LEVEL_H

#include <reusescope/trace.h>

struct rsc_sim;
struct rsc_first_level;

/* *out stays NULL if the simulator needs accesses one at a time. */
int rsc_first_level_new(struct rsc_first_level **out, struct rsc_sim *sim, struct rsc_error *error);
void rsc_first_level_free(struct rsc_first_level *first);

/* Serves accesses first..end-1; some may be gathered and served later. */
int rsc_first_level_push(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                         struct rsc_error *error);

/* Serves what is gathered. */
void rsc_first_level_flush(struct rsc_first_level *level);

#endif
