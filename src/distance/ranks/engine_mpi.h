/*
 * engine_mpi.h - the engine of several ranks, over any transport: the MPI engine uses
 * it, and tests run it over threads.
 *
 * Each rank pushes its part of the trace; rank order is trace order. All ranks call
 * finish(), which returns the whole profile on rank 0 and an empty one elsewhere. After
 * a failure on any rank all must be ended (rsc_ranks.abort), as the others would wait
 * for it.
 */
#ifndef RSC_DISTANCE_RANKS_ENGINE_MPI_H
#define RSC_DISTANCE_RANKS_ENGINE_MPI_H

#include "distance/engine_kind.h"
#include "distance/ranks/ranks.h"

/* The engine's own create, push, finish and destroy. `ranks` must outlive it. */
int rsc_ranked_create(void **state, const struct rsc_engine_options *options, struct rsc_ranks *ranks,
                      struct rsc_error *error);
int rsc_ranked_push(void *state, const struct rsc_batch *batch, struct rsc_error *error);
int rsc_ranked_finish(void *state, struct rsc_profile **out, struct rsc_error *error);
void rsc_ranked_destroy(void *state);

#endif
