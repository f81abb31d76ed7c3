/*
 * engine_shards.h - parameters of the shards engines, and a sampled analysis that goes
 * on from an exact one: what engine_auto.c needs beside push, finish and destroy.
 */
#ifndef RSC_DISTANCE_SHARDS_ENGINE_SHARDS_H
#define RSC_DISTANCE_SHARDS_ENGINE_SHARDS_H

#include "distance/engine_kind.h"
#include "distance/exact/exact_replay.h"
#include "distance/shards/shards_state.h"

/* What stands behind shards: and shards-max:. */
struct rsc_shards_parameters {
    double rate;         /* of lines kept, above 0 and up to 1 */
    uint32_t lines_most; /* 0: no bound */
};

/*
 * A state of rsc_engine_shards that knows of the lines kept what `exact` knows of
 * them, and counts references from now on. `exact` is as it was. lines_most may be
 * 0: no bound. Returns 0, RSC_ENOMEM or RSC_ELIMIT; *state is then NULL.
 */
int rsc_shards_engine_follow(void **state, const struct rsc_engine_options *options, double rate, uint32_t lines_most,
                             struct rsc_exact *exact, struct rsc_error *error);

/* The references counted. */
uint64_t rsc_shards_engine_references(const void *state);

#endif
