/*
 * simulator.h - a trace through caches, to counts.
 *
 *     rsc_sim_new(&sim, &config, &options, &error);
 *     while (rsc_trace_next(trace, &batch, &error) > 0) rsc_sim_push(sim, batch, &error);
 *     rsc_sim_finish(sim, &result, &error);
 *     rsc_sim_free(sim);
 */
#ifndef RSC_SIMULATE_SIMULATOR_H
#define RSC_SIMULATE_SIMULATOR_H

#include "simulate/hierarchy.h"

struct rsc_sim_options {
    uint64_t warm_accesses; /* accesses of the trace before counting starts */
    const struct rsc_log *log;
};

struct rsc_sim_level_result {
    struct rsc_cache_config config;
    struct rsc_level_counts counts;
    int alternative;      /* 0: the primary cache of its name; n: the nth other */
};

struct rsc_sim_result {
    uint64_t instructions; /* counted, RSC_UNKNOWN where the trace does not say */
    uint64_t accesses;     /* of the trace, counted */
    uint64_t warm_accesses; /* of the trace, before counting */
    uint64_t references;   /* requests to the first level, by blocks: what is missed per */
    uint64_t left_out;     /* accesses of kinds that no cache takes */
    struct rsc_sim_level_result levels[RSC_SIM_CACHES_MAX];
    size_t level_count;
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

/* Misses per instruction; NAN where instructions are not known or 0. */
double rsc_sim_mpi(const struct rsc_sim_result *result, const struct rsc_sim_level_result *level);

#endif
