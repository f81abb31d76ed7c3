/* measure.h - timing for benchmarks: best of several, side by side, ratios. */
#ifndef RSC_BENCH_MEASURE_H
#define RSC_BENCH_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static inline double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Processor time of this thread: for single-threaded work on a shared machine. */
static inline double cpu_seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Most memory the process has held, in MiB. */
static inline double peak_mib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

static inline void need(int status, const char *what) {
    if (status >= 0) return;
    fprintf(stderr, "bench: %s failed\n", what);
    exit(1);
}

#endif
