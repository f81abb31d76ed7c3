/*
 * simulator.h - a trace through caches, to counts.
 *
 *     rsc_sim_new(&sim, &config, &options, &error);
 *     while (rsc_trace_next(trace, &batch, &error) > 0) rsc_sim_push(sim, batch, &error);
 *     rsc_sim_finish(sim, &result, &error);
 *     rsc_sim_result_free(&result);
 *     rsc_sim_free(sim);
 */
#ifndef RSC_SIMULATE_SIMULATOR_H
#define RSC_SIMULATE_SIMULATOR_H

#include "simulate/cache/hierarchy.h"

/* Zero in any field is the default. */
struct rsc_sim_options {
    uint64_t warm_accesses;  /* accesses of the trace before counting starts */
    double warm_fill;        /* counting starts once this part of the last level is filled; 0: at once */
    uint64_t window_accesses; /* also count by windows of so many accesses */
    unsigned workers;        /* threads; 0 and 1: the caller's alone */
    int classify;            /* misses into cold, capacity, conflict and coherence */
    int writes_are_back;     /* enum rsc_stream_writes: the trace is a miss stream */
    int slow;                /* one access at a time, whatever the caches (for tests) */

    /* Told of every demand miss of a primary cache, by its index among the primary ones. Not with opt. */
    void (*missed)(void *user, const struct rsc_batch *batch, int level, const struct rsc_request *request);
    /* Told of every request past the last level. Not with opt. */
    void (*past_last)(void *user, const struct rsc_batch *batch, const struct rsc_request *request);
    void *user; /* of both */
};

struct rsc_sim;

/* options may be NULL. *out is to be freed with rsc_sim_free(). */
int rsc_sim_new(struct rsc_sim **out, const struct rsc_sim_config *config, const struct rsc_sim_options *options,
                struct rsc_error *error);

/* Takes in a batch, which the caller keeps. */
int rsc_sim_push(struct rsc_sim *sim, const struct rsc_batch *batch, struct rsc_error *error);

int rsc_sim_finish(struct rsc_sim *sim, struct rsc_sim_result *result, struct rsc_error *error);

/* NULL is allowed. */
void rsc_sim_free(struct rsc_sim *sim);

/*
 * Of a request past the last level where an index depends on the process: the process whose block it is. Its
 * address without that is the program's, in the low RSC_SPACE_SHIFT bits. Returns 0 where no index does.
 */
int rsc_sim_request_owner(const struct rsc_sim *sim, const struct rsc_request *request, uint64_t *pid);

#endif
