/*
 * ring_run.h - a run whose accesses come through the ring (drain.h): shared by the collectors that record every
 * access.
 */
#ifndef RSC_COLLECT_DRAIN_RING_RUN_H
#define RSC_COLLECT_DRAIN_RING_RUN_H

#include "collect/collector.h"
#include "collect/drain/drain.h"

struct rsc_ring_run {
    struct rsc_drain *drain;
    struct rsc_roi roi; /* with --roi FUNCTION */
    int ended;
};

/* Makes collector->state; call once the program runs. */
int rsc_ring_run_start(struct rsc_collector *collector, struct rsc_error *error);
int rsc_ring_run_next(struct rsc_collector *collector, struct rsc_batch *batch, struct rsc_batch_columns *columns,
                      struct rsc_error *error);
int rsc_ring_run_finish(struct rsc_collector *collector, struct rsc_whole_run *whole, struct rsc_error *error);
void rsc_ring_run_close(struct rsc_collector *collector);

/* Fills in the numbers, the first line, then the warnings. _cpu: also what was not seen, where every instruction is. */
void rsc_ring_run_describe(const struct rsc_collector *collector, struct rsc_run_facts *facts,
                           struct rsc_drain_stats *stats);
void rsc_ring_run_describe_cpu(const struct rsc_collector *collector, struct rsc_run_facts *facts,
                               struct rsc_drain_stats *stats);

/* How many functions of the program have the name that --roi gives. */
size_t rsc_ring_run_roi(const struct rsc_collector *collector);

/* How long the program waited for the analysis, in words. */
struct rsc_ring_waited {
    char text[128];
};
struct rsc_ring_waited rsc_ring_run_waited(const struct rsc_collector *collector, const struct rsc_drain_stats *stats);

void rsc_ring_run_warn(const struct rsc_collector *collector, struct rsc_run_facts *facts,
                       const struct rsc_drain_stats *stats);

#endif
