/* rebuilt_launch.h - starting a program that was built with `reusescope cc`, or that a library of ours is loaded into. */
#ifndef RSC_COLLECT_LAUNCH_REBUILT_LAUNCH_H
#define RSC_COLLECT_LAUNCH_REBUILT_LAUNCH_H

#include "collect/collector.h"
#include "collect/perf/perf_probe.h"

/* The program as it stands: the ring and its environment tell the runtime inside what is wanted. */
int rsc_rebuilt_launch(struct rsc_launch *launch, const struct rsc_collect_request *request, struct rsc_error *error);

/* One that was not rebuilt, with the library that samples with a PMU loaded into it. */
int rsc_plain_launch(struct rsc_launch *launch, const struct rsc_collect_request *request,
                     const struct rsc_perf_pmu *pmu, struct rsc_error *error);

/* The share of its processor time that it spent in code that is recorded; NAN when samples are too few to say. */
double rsc_rebuilt_coverage(const struct rsc_ring *ring);

#endif
