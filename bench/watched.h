/* watched.h - watches a program to its end without analysis, for the collectors' benchmarks. */
#ifndef RSC_BENCH_WATCHED_H
#define RSC_BENCH_WATCHED_H

#include "bench/measure.h"
#include "collect/collector.h"

/* Reads and discards every batch. Returns the program's processor time in seconds. */
static inline double watch_to_end(const struct rsc_collector_kind *kind, const struct rsc_collect_request *request,
                                  struct rsc_run_facts *facts) {
    struct rsc_collector collector;
    struct rsc_batch batch;
    struct rsc_batch_columns columns;
    struct rsc_error error;
    int status;
    rsc_collector_init(&collector, kind, request);
    need(rsc_collector_start(&collector, &error), "launch");
    while ((status = kind->next(&collector, &batch, &columns, &error)) != RSC_COLLECT_ENDED) need(status, "drain");
    kind->describe(&collector, facts);
    double cpu = rsc_collector_cpu_seconds(&collector);
    rsc_collector_close(&collector);
    return cpu;
}

static inline double cpu_of(const struct rusage *usage) {
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

#endif
