/*
 * coherence.h - MESI between the caches of different threads.
 *
 * M, E and S are told apart by an entry's flags: dirty is M, shared is S, neither
 * is E; I is not being there. Only first-level entries need the shared flag: a first-
 * level block without it is in no other thread's caches, so it can be written in
 * silence. What is kept coherent together is the largest block of the private levels.
 *
 * A write to a block that is not there, or shared, takes the block out of every other
 * private cache. A read that misses the first level makes dirty copies elsewhere clean.
 * In both cases each dirty copy is written back to the first level that its owner and
 * the asking thread have in common. An instruction cache is as private as a data cache,
 * but a thread's own two are not kept coherent with each other.
 */
#ifndef RSC_SIMULATE_CACHE_COHERENCE_H
#define RSC_SIMULATE_CACHE_COHERENCE_H

#include "simulate/cache/hierarchy.h"

/* What must happen before a first-level cache serves a request. Returns whether other threads' caches have the block. */
int rsc_coherence_before(struct rsc_hierarchy *hierarchy, struct rsc_cache *cache, uint64_t block,
                         const struct rsc_request *request);

#endif
