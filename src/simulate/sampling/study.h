/*
 * study.h - how well samples of one trace predict the whole trace: the experiments
 * of paper 001, on the caches of the lowest level of a hierarchy.
 *
 * One pass simulates the levels above as they are. For each cache of the lowest
 * level, its requests go to a simulation with the true state (misses by set, misses
 * by interval) and, for each interval length, to one that begins every interval
 * empty and one that sees only 30 intervals spread over the trace, one after the
 * other (stitch). All samples are then computed from these counts.
 */
#ifndef RSC_SIMULATE_SAMPLING_STUDY_H
#define RSC_SIMULATE_SAMPLING_STUDY_H

#include "profile/study_result.h"
#include "simulate/sampling/branches.h"
#include "simulate/sampling/set_choice.h"

/*
 * `trace` is at its beginning and knows its instructions (RSC_EINVAL otherwise).
 * workers: threads to use. writes_are_back: enum rsc_stream_writes. To be freed (rsc_study_free()) even after failure.
 */
int rsc_study_run(struct rsc_study *study, const struct rsc_sim_config *config, struct rsc_trace *trace,
                  unsigned workers, int writes_are_back, void (*progress)(void *user, uint64_t done, uint64_t total),
                  void *user, struct rsc_error *error);

/* How many fetches and data references the trace has for each value of the address bits low .. low + width - 1. */
struct rsc_study_uses {
    uint64_t *fetches, *data; /* owned by the pass: 2^width each */
    uint32_t low, width;
};

/* study_sets.c and study_times.c: from counts to results. */
int rsc_study_finish_sets(struct rsc_study_cache *cache, const struct rsc_cache_config *config,
                          const struct rsc_study *study, const uint64_t *set_misses, const struct rsc_study_uses *uses,
                          struct rsc_error *error);
int rsc_study_finish_times(struct rsc_study_cache *cache, struct rsc_study_time *time, uint64_t instructions,
                           struct rsc_error *error);

/* The interval, out of `count`, that is number k of a sample of n spread over them. */
static inline uint64_t rsc_study_spread(uint64_t k, uint64_t n, uint64_t count) {
    return (2 * k + 1) * count / (2 * n);
}

#endif
