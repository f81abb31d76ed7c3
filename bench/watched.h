/* watched.h - a program watched to its end while nobody analyses: what the collectors' benchmarks measure. */
#ifndef RSC_BENCH_WATCHED_H
#define RSC_BENCH_WATCHED_H

#include "bench/measure.h"
#include "collect/drain/drain.h"
#include "collect/launch/launch.h"

static inline double cpu_of(const struct rusage *usage) {
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* Takes every block and throws it away. Returns the program's processor time, and in *wall how long it ran, in seconds. */
static inline double watch_to_end(const struct rsc_target *target, char **argv,
                                  const struct rsc_launch_options *options, struct rsc_drain_stats *stats,
                                  double *wall) {
    struct rsc_launch launch;
    struct rsc_drain *drain;
    struct rsc_batch batch;
    struct rsc_error error;
    int ended = 0, status;
    need(rsc_launch_start(&launch, target, argv, options, &error), "launch");
    need(rsc_drain_new(&drain, launch.ring, &error), "drain");
    for (;;) {
        while ((status = rsc_drain_next(drain, ended, &batch, &error)) > 0) {
        }
        need(status, "drain");
        if (ended) break;
        ended = rsc_launch_poll(&launch);
        if (!ended) rsc_drain_wait(drain, 20);
    }
    rsc_drain_get_stats(drain, stats);
    *wall = launch.seconds;
    double cpu = cpu_of(&launch.usage);
    rsc_drain_free(drain);
    rsc_launch_close(&launch);
    return cpu;
}

#endif
