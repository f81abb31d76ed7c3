/*
 * time_sample.h - simulates some intervals of a trace, or a whole trace as one
 * interval of its workload (paper 001, section 4).
 *
 * Intervals are located and sought by the index of a native trace; only functional
 * warming (RSC_START_WARM) reads the accesses between them. A whole trace is read
 * sequentially.
 */
#ifndef RSC_SIMULATE_SAMPLING_TIME_SAMPLE_H
#define RSC_SIMULATE_SAMPLING_TIME_SAMPLE_H

#include "simulate/sampling/branches.h"

struct rsc_time_options {
    struct rsc_time_choice choice; /* intervals 0: the whole trace */
    enum rsc_cold_start cold_start;
    double confidence; /* percent */
    int writes_are_back; /* enum rsc_stream_writes: the trace is a miss stream */
    void (*progress)(void *user, uint64_t done, uint64_t total); /* accesses; NULL: none */
    void *user;
};

struct rsc_time_result {
    uint64_t instructions; /* of the whole trace, RSC_UNKNOWN if it has no counts */
    uint64_t accesses;     /* of the whole trace */
    uint64_t simulated;    /* accesses that were */
    uint64_t counted;      /* accesses in intervals */
    uint64_t references;   /* of the first level, in intervals */
    struct rsc_estimate estimates[RSC_SIM_CACHES_MAX]; /* by cache of the configuration */
    struct rsc_level_counts counts[RSC_SIM_CACHES_MAX]; /* accesses and misses as simulated, in intervals */
};

/*
 * `trace` is at its beginning, opened without decode_ahead if intervals are sought.
 * RSC_EINVAL for intervals that do not fit and for stitch or warm of a whole trace;
 * RSC_EUNSUPPORTED for a trace without an index. Free the result even after failure.
 */
int rsc_time_sample(const struct rsc_sim_config *config, const struct rsc_time_options *options,
                    struct rsc_trace *trace, struct rsc_time_result *result, struct rsc_error *error);
void rsc_time_result_free(struct rsc_time_result *result, size_t caches);

#endif
