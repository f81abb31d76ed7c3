/* multicore_engines.h - the engines of this room. */
#ifndef RSC_MULTICORE_MULTICORE_ENGINES_H
#define RSC_MULTICORE_MULTICORE_ENGINES_H

#include "distance/engine_kind.h"

extern const struct rsc_engine_kind rsc_engine_sampled;
extern const struct rsc_engine_kind rsc_engine_private; /* used by exact and auto for model "private" */
extern const struct rsc_engine_kind rsc_engine_gpu_private; /* by gpu */

/*
 * For the state of rsc_engine_private, before its first batch: its numbers are those of this state of rsc_engine_exact,
 * which takes the same batches and has the same options, for as long as there is only one stack. rsc_private_stand() is
 * shown each batch before either engine takes it, and the private engine finishes first. Returns 1 while it leans, 0 or
 * an error.
 */
void rsc_private_lean_on(void *state, void *exact_state);
int rsc_private_stand(void *state, const struct rsc_batch *batch, struct rsc_error *error);

#endif
