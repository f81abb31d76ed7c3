/*
 * set_associative.h - misses of a set-associative LRU cache from the curve of fully associative ones.
 *
 * If lines are spread over S sets at random, a reuse of distance d misses in W ways with the chance that at least W of
 * the d lines in between are in its set: P(Binomial(d, 1/S) >= W). The curve's steps are the distances' distribution.
 * What this leaves out: regular strides, which use some sets more than others. Regions small enough are simulated
 * instead (rsc_loops_replay()).
 */
#ifndef RSC_LOOPS_MODEL_SET_ASSOCIATIVE_H
#define RSC_LOOPS_MODEL_SET_ASSOCIATIVE_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/profile.h>

/* miss_ratio, low and high for a cache of sets * ways lines; the curve's points ascend from 1 line to all of them. */
struct rsc_mrc_point rsc_set_associative_at(const struct rsc_mrc_point *mrc, size_t count, uint64_t sets,
                                            uint32_t ways);

#endif
