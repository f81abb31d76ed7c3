/*
 * coherence.h - MESI between the caches of different threads.
 *
 * An entry's flags give its state: dirty is M, shared is S, neither is E; an absent
 * block is I. Only first-level entries need the shared flag: a first-level block
 * without it is in no other thread's caches, so a write needs no snoop. The coherence
 * unit is the largest block of the private levels.
 *
 * A write to an absent or shared block invalidates the block in every other private
 * cache. A read that misses the first level makes dirty copies elsewhere clean. In both
 * cases each dirty copy is written back to the first level that its owner and the
 * requesting thread share. Instruction caches take part like data caches, but a
 * thread's own two are not kept coherent with each other.
 */
#ifndef RSC_SIMULATE_CACHE_COHERENCE_H
#define RSC_SIMULATE_CACHE_COHERENCE_H

#include "simulate/cache/hierarchy.h"

/* Snoops before a first-level cache serves a request. Returns whether other threads' caches have the block. */
int rsc_coherence_before(struct rsc_hierarchy *hierarchy, struct rsc_cache *cache, uint64_t block,
                         const struct rsc_request *request);

#endif
