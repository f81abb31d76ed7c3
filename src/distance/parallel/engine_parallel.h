/* engine_parallel.h - the two variants of the parallel engine, what they share, and settings for tests. */
#ifndef RSC_DISTANCE_PARALLEL_ENGINE_PARALLEL_H
#define RSC_DISTANCE_PARALLEL_ENGINE_PARALLEL_H

#include <stdint.h>

#include "distance/count/accumulate.h"
#include "distance/engine_kind.h"
#include "distance/count/late_attribution.h"

extern const struct rsc_engine_kind rsc_parallel_stages, rsc_parallel_rounds;

/* The error message of either variant: `stretches` (its slices or blocks) had up to `references` each. */
void rsc_parallel_failure(struct rsc_error *error, int status, uint32_t workers, const char *stretches,
                          uint64_t references);

/* For tests, before the first push, with the `state` of create(): gives each
 * worker about this many references per round, in whole lines of the bitmap (448). */
void rsc_rounds_set_slice(void *state, uint32_t references);

#endif
