/*
 * first_level.h - the usual first level, fast: LRU, write-back, allocating, shared by
 * all threads, sets a power of two.
 *
 * Accesses are cut into blocks and gathered; those that find the block used last in their
 * set can change nothing and are dropped (a write is kept if the block may not be dirty
 * yet). What is left goes through vector code that looks at a set as a whole, and misses
 * ask the levels below as they do one at a time. Counts are the same, to the last one.
 */
#ifndef RSC_SIMULATE_CACHE_FIRST_LEVEL_H
#define RSC_SIMULATE_CACHE_FIRST_LEVEL_H

#include <reusescope/trace.h>

struct rsc_sim;
struct rsc_first_level;

/* *out stays NULL where the simulator needs accesses one at a time. */
int rsc_first_level_new(struct rsc_first_level **out, struct rsc_sim *sim, struct rsc_error *error);
void rsc_first_level_free(struct rsc_first_level *first);

/* Serves accesses first..end-1, some perhaps later. */
int rsc_first_level_push(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                         struct rsc_error *error);

/* Serves what is gathered. */
void rsc_first_level_flush(struct rsc_first_level *level);

#endif
