/* engine_sampled_exact.h - a sample of the lines of a trace, analysed exactly
 * (sampled_exact.h): used by engine "sampled" for private stacks. */
#ifndef RSC_DISTANCE_SHARDS_ENGINE_SAMPLED_EXACT_H
#define RSC_DISTANCE_SHARDS_ENGINE_SAMPLED_EXACT_H

#include "distance/engine_kind.h"

/* Made by rsc_sampled_exact_create(), not by .create. rate above 0 and up to 1. */
extern const struct rsc_engine_kind rsc_engine_sampled_exact;
int rsc_sampled_exact_create(void **state, const struct rsc_engine_options *options, double rate,
                             struct rsc_error *error);

#endif
