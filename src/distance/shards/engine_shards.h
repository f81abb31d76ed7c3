/*
 * engine_shards.h - parameters of the shards engines, and sampling that continues an
 * exact analysis: what engine_auto.c needs besides push, finish and destroy.
 */
#ifndef RSC_DISTANCE_SHARDS_ENGINE_SHARDS_H
#define RSC_DISTANCE_SHARDS_ENGINE_SHARDS_H

#include "distance/engine_kind.h"
#include "distance/exact/exact_replay.h"
#include "distance/shards/shards_state.h"

/* The parameter after shards: and shards-max:. */
struct rsc_shards_parameters {
    double rate;         /* of lines kept, above 0 and up to 1 */
    uint32_t lines_most; /* 0: no bound */
};

/*
 * Makes a state of rsc_engine_shards with the kept lines of `exact`, which counts
 * references from now on. `exact` is not changed. lines_most may be 0: no bound.
 * Returns 0, RSC_ENOMEM or RSC_ELIMIT; *state is then NULL.
 */
int rsc_shards_engine_follow(void **state, const struct rsc_engine_options *options, double rate, uint32_t lines_most,
                             const struct rsc_exact *exact, struct rsc_error *error);

/* The references counted. */
uint64_t rsc_shards_engine_references(const void *state);

#endif
