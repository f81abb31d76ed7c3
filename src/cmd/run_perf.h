/*
 * run_perf.h - `reusescope run --with perf`: sampled uses, and debug registers that catch
 * their reuses; the profile is featherlight's.
 */
#ifndef RSC_CMD_RUN_PERF_H
#define RSC_CMD_RUN_PERF_H

#include "cmd/analysis.h"
#include "collect/launch/launch.h"
#include "collect/perf/perf_probe.h"
#include "featherlight/simulated_pmu.h"

#define RSC_PERF_RATE 300u /* samples a second of each thread's processor time, unless asked otherwise */

struct rsc_run_perf {
    struct rsc_analysis *analysis; /* its options; gets the profile */
    const struct rsc_target *target;
    char **command;
    struct rsc_launch_options *options;
    struct rsc_launch *launch; /* filled; closed by the caller */
    uint64_t rate;             /* 0: RSC_PERF_RATE */
    double native_seconds;     /* 0: not measured */
    struct rsc_perf_pmu machine; /* of programs that were not rebuilt */
    struct rsc_pmu_options pmu; /* --engine featherlight:... */
};

/* Before anything is started: what the options ask for that sampling cannot give. Returns 0 or RSC_EINVAL. */
int rsc_run_perf_check(struct rsc_run_perf *run, struct rsc_error *error);

/* Starts the program, sees it through to its end and makes the profile. */
int rsc_run_perf(struct rsc_run_perf *run, struct rsc_error *error);

#endif
