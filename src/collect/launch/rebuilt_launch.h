/* rebuilt_launch.h - starts a program that was built with `reusescope cc`, or one with our library preloaded. */
#ifndef RSC_COLLECT_LAUNCH_REBUILT_LAUNCH_H
#define RSC_COLLECT_LAUNCH_REBUILT_LAUNCH_H

#include "collect/collector.h"
#include "collect/perf/perf_probe.h"

/* Writes to the ring what the runtime is to do. Before the next two. */
void rsc_rebuilt_prepare(struct rsc_launch *launch, const struct rsc_collect_request *request);

/* Starts the program unchanged: the ring and its environment configure the runtime inside it. */
int rsc_rebuilt_launch(struct rsc_launch *launch, const struct rsc_collect_request *request, struct rsc_error *error);

/* Starts a program that was not rebuilt, with the PMU sampling library preloaded. */
int rsc_plain_launch(struct rsc_launch *launch, const struct rsc_collect_request *request,
                     const struct rsc_perf_pmu *pmu, struct rsc_error *error);

/* The share of its processor time spent in recorded code; NAN if there are too few samples. */
double rsc_rebuilt_coverage(const struct rsc_ring *ring);

#endif
