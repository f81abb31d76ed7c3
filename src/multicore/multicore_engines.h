/* multicore_engines.h - the engines of this room. */
#ifndef RSC_MULTICORE_MULTICORE_ENGINES_H
#define RSC_MULTICORE_MULTICORE_ENGINES_H

#include "distance/engine_kind.h"

extern const struct rsc_engine_kind rsc_engine_sampled;
extern const struct rsc_engine_kind rsc_engine_private; /* used by exact and auto for model "private" */

#endif
