/*
 * simulated_pmu.h - featherlight on a trace: a simulated performance monitoring unit and
 * debug registers, one set per thread.
 *
 * Each thread has a counter of loads and one of stores. When one has counted a period,
 * that reference is sampled, and runtime/watch/watch_slots.h chooses the register to
 * watch its word; the thread's next reference to that word is the hit. References are
 * split into words of 8 bytes: a load of 32 bytes is four. Fetches are not data and are
 * ignored. Two defects of real units can be simulated:
 *
 *   skid    Up to `skid` references of the thread pass before a sampled address
 *           is watched and the counters are read (uniform from 0 to skid). A reuse in
 *           between is missed, and intervals are measured too short. Overflows in
 *           between are lost.
 *   shadow  A reference that misses in a small cache (512 lines of 64 bytes, direct
 *           mapped) takes long; the `shadow` references after it cannot be sampled.
 *           An overflow among them samples the first after them instead.
 *
 * Without a given period it adapts: it starts at 1 and doubles after every
 * PERIOD_SAMPLES samples, so any trace gives between PERIOD_SAMPLES samples and that
 * times its logarithm, and its second half at least PERIOD_SAMPLES / 2.
 */
#ifndef RSC_FEATHERLIGHT_SIMULATED_PMU_H
#define RSC_FEATHERLIGHT_SIMULATED_PMU_H

#include <reusescope/trace.h>

#include "featherlight/featherlight.h"

struct rsc_pmu_options {
    uint64_t period;    /* references of a kind per sample; 0: adapts */
    uint32_t registers; /* 1 to RSC_WATCH_SLOTS_MAX */
    uint32_t skid, shadow;
    int fixed; /* exactly `period` apart, from a random start; else at random (geometric), `period` on average */
    enum rsc_watch_replacement replacement;
    struct rsc_featherlight_options estimate; /* by and sampling are set here */
};

/* pmu_parameters.c: "period=5M,registers=4" and so on; NULL: all defaults. RSC_EINVAL with a message. */
int rsc_pmu_parse(struct rsc_pmu_options *options, const char *text, struct rsc_error *error);

/* The engine's name with its non-default parameters, for made.by. */
void rsc_pmu_name(const struct rsc_pmu_options *options, char *text, size_t bytes);

struct rsc_simulated_pmu;

int rsc_simulated_pmu_new(struct rsc_simulated_pmu **out, const struct rsc_pmu_options *options,
                          struct rsc_error *error);
int rsc_simulated_pmu_push(struct rsc_simulated_pmu *pmu, const struct rsc_batch *batch, struct rsc_error *error);

/* *out as from rsc_featherlight_finish(), with the trace's mappings. */
int rsc_simulated_pmu_finish(struct rsc_simulated_pmu *pmu, struct rsc_profile **out, struct rsc_error *error);
void rsc_simulated_pmu_free(struct rsc_simulated_pmu *pmu); /* NULL is allowed */

/* Its estimate so far, for tests and benchmarks. */
const struct rsc_featherlight *rsc_simulated_pmu_feather(const struct rsc_simulated_pmu *pmu);

#endif
