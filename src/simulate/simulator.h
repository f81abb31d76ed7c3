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

/* A zero field selects the default. */
struct rsc_sim_options {
    uint64_t warm_accesses;  /* accesses of the trace before counting starts */
    double warm_fill;        /* counting starts once this part of the last level is filled; 0: at once */
    uint64_t window_accesses; /* also count by windows of this many accesses */
    unsigned workers;        /* threads; 0 and 1: the caller's alone */
    int classify;            /* misses into cold, capacity, conflict and coherence */
    int writes_are_back;     /* enum rsc_stream_writes: the trace is a miss stream */
    int slow;                /* always one access at a time (for tests) */

    /* Called for every demand miss of a primary cache; level is its index among the primary ones. Not with opt. */
    void (*missed)(void *user, const struct rsc_batch *batch, int level, const struct rsc_request *request);
    /* Called for every request past the last level. Not with opt. */
    void (*past_last)(void *user, const struct rsc_batch *batch, const struct rsc_request *request);
    void *user; /* of both */
};

struct rsc_sim;

/* options may be NULL. Free *out with rsc_sim_free(). */
int rsc_sim_new(struct rsc_sim **out, const struct rsc_sim_config *config, const struct rsc_sim_options *options,
                struct rsc_error *error);

/* Processes a batch; the caller keeps ownership. */
int rsc_sim_push(struct rsc_sim *sim, const struct rsc_batch *batch, struct rsc_error *error);

int rsc_sim_finish(struct rsc_sim *sim, struct rsc_sim_result *result, struct rsc_error *error);

/* NULL is allowed. */
void rsc_sim_free(struct rsc_sim *sim);

/*
 * If an index depends on the process: sets *pid to the owner of the block of a request past the last level and
 * returns 1; the program's address is in the low RSC_SPACE_SHIFT bits. Returns 0 otherwise.
 */
int rsc_sim_request_owner(const struct rsc_sim *sim, const struct rsc_request *request, uint64_t *pid);

#endif
