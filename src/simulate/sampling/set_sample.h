/*
 * set_sample.h - simulating some of the sets of a hierarchy (paper 001, section 3).
 *
 *     rsc_set_sample_new(&sets, &config, &choice, filtered, 0, &error);
 *     while (...) rsc_set_sample_push(sets, batch, &error);      whole batches: it takes what it needs
 *     rsc_set_sample_finish(sets, instructions, accesses, confidence, &result, &error);
 *     rsc_set_sample_free(sets);
 */
#ifndef RSC_SIMULATE_SAMPLING_SET_SAMPLE_H
#define RSC_SIMULATE_SAMPLING_SET_SAMPLE_H

#include "simulate/sampling/set_choice.h"
#include "simulate/simulator.h"

struct rsc_set_sample;

struct rsc_set_result {
    uint64_t instructions, accesses; /* of the whole trace */
    uint64_t sampled;                /* accesses, or parts of them, that were simulated */
    uint64_t references;             /* of the first level */
    struct rsc_cache_config configs[RSC_SIM_CACHES_MAX]; /* rows as the simulator has them: one for each cache */
    int alternative[RSC_SIM_CACHES_MAX];
    struct rsc_estimate estimates[RSC_SIM_CACHES_MAX];
    struct rsc_level_counts counts[RSC_SIM_CACHES_MAX]; /* of the sampled sets; with all values of all sets */
};

/*
 * `choice` is settled (set_choice.h). filtered: the trace already holds only this
 * sample. miss_stream: its writes are write-backs.
 */
int rsc_set_sample_new(struct rsc_set_sample **out, const struct rsc_sim_config *config,
                       const struct rsc_set_choice *choice, int filtered, int miss_stream, struct rsc_error *error);
int rsc_set_sample_push(struct rsc_set_sample *sets, const struct rsc_batch *batch, struct rsc_error *error);

/*
 * Has the threads that decode the trace take the sample. Returns whether they can: then its parts are pushed instead of
 * batches. They end (rsc_trace_end_parts()) before `sets` is freed.
 */
int rsc_set_sample_use_parts(struct rsc_set_sample *sets, struct rsc_trace *trace);
int rsc_set_sample_push_part(struct rsc_set_sample *sets, const void *part, const struct rsc_batch *batch,
                             struct rsc_error *error);

/*
 * instructions and accesses are those of the whole trace (RSC_UNKNOWN: not known).
 * Free the result even after failure.
 */
int rsc_set_sample_finish(struct rsc_set_sample *sets, uint64_t instructions, uint64_t accesses, double confidence,
                          struct rsc_set_result *result, struct rsc_error *error);
void rsc_set_sample_free(struct rsc_set_sample *sets);
void rsc_set_result_free(struct rsc_set_result *result, size_t caches);

/* ---- from misses by set ---- */

#endif
