/*
 * simulated_pmu.h - featherlight on a trace: a performance monitoring unit and debug
 * registers that are only played, one set for each thread.
 *
 * Each thread has a counter of loads and one of stores. When one has counted a
 * period, that reference is sampled, and runtime/watch/watch_slots.h says which register
 * is to watch its word; the thread's next reference to that word is the hit.
 * References are cut at words of 8 bytes as everywhere: a load of 32 bytes is four.
 * Fetches are not data and are neither counted nor seen. What real units do worse:
 *
 *   skid    Up to so many references of the thread go by before a sampled address
 *           is watched and the counters are read (uniform from 0 to skid). A reuse
 *           in between is missed, intervals come out shorter. Overflows meanwhile
 *           are lost.
 *   shadow  A reference that misses in a small cache (512 lines of 64 bytes, direct
 *           mapped) takes long; the `shadow` references after it cannot be sampled.
 *           An overflow among them samples the first after them instead.
 *
 * Without a period it is found on the way: 1 at first, and twice as long after every
 * PERIOD_SAMPLES samples, so that any trace gives between PERIOD_SAMPLES and that
 * times its logarithm, and its second half at least PERIOD_SAMPLES / 2 .
 */
#ifndef RSC_FEATHERLIGHT_SIMULATED_PMU_H
#define RSC_FEATHERLIGHT_SIMULATED_PMU_H

#include <reusescope/trace.h>

#include "featherlight/featherlight.h"

struct rsc_pmu_options {
    uint64_t period;    /* references of a kind per sample; 0: found on the way */
    uint32_t registers; /* 1 to RSC_WATCH_SLOTS_MAX */
    uint32_t skid, shadow;
    int fixed; /* exactly `period` apart, from a random start; else at random (geometric), `period` on average */
    enum rsc_watch_replacement replacement;
    struct rsc_featherlight_options estimate; /* by and sampling are set here */
};

/* pmu_parameters.c: "period=5M,registers=4" and so on; NULL: all defaults. RSC_EINVAL with one clear line. */
int rsc_pmu_parse(struct rsc_pmu_options *options, const char *text, struct rsc_error *error);

/* The engine's name with what is not default, as made.by has it. */
void rsc_pmu_name(const struct rsc_pmu_options *options, char *text, size_t bytes);

struct rsc_simulated_pmu;

int rsc_simulated_pmu_new(struct rsc_simulated_pmu **out, const struct rsc_pmu_options *options,
                          struct rsc_error *error);
int rsc_simulated_pmu_push(struct rsc_simulated_pmu *pmu, const struct rsc_batch *batch, struct rsc_error *error);

/* *out is as rsc_featherlight_finish() leaves it, with the mappings that the trace tells of. */
int rsc_simulated_pmu_finish(struct rsc_simulated_pmu *pmu, struct rsc_profile **out, struct rsc_error *error);
void rsc_simulated_pmu_free(struct rsc_simulated_pmu *pmu); /* NULL is allowed */

/* Its estimate so far, for tests and benchmarks. */
const struct rsc_featherlight *rsc_simulated_pmu_feather(const struct rsc_simulated_pmu *pmu);

#endif
