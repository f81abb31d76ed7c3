/* What the support file of a benchmark suite does: aligned allocation, a cache flush, timers. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
#include <assert.h>
#include <time.h>
#include <sys/time.h>
#include <sys/resource.h>
#include <sched.h>
#include <math.h>
#include <omp.h>
#include "benchmark_support.h"
#ifndef CACHE_KB
#define CACHE_KB 32770
#endif
static double start_time, stop_time;
static unsigned long long c_start, c_end;
static unsigned long long int read_tsc(void) {
    unsigned long long int low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return low + (high << 32);
}
static double wall(void) {
    struct timeval tv;
    int bad = gettimeofday(&tv, NULL);
    if (bad != 0) printf("clock: %d", bad);
    return (double)tv.tv_sec + (double)tv.tv_usec * 1.0e-6;
}
void bench_flush_cache(void) {
    int cells = CACHE_KB * 1024 / sizeof(double);
    double *flush = (double *)calloc(cells, sizeof(double));
    int i;
    double sum = 0.0;
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum) private(i)
#endif
    for (i = 0; i < cells; i++) sum += flush[i];
    assert(sum <= 10.0);
    free(flush);
}
void bench_fifo(void) {
    struct sched_param p;
    p.sched_priority = sched_get_priority_max(SCHED_FIFO);
    sched_setscheduler(0, SCHED_FIFO, &p);
}
void bench_timer_start(void) { bench_flush_cache(); start_time = wall(); c_start = read_tsc(); }
void bench_timer_stop(void) { stop_time = wall(); c_end = read_tsc(); }
void bench_timer_print(void) { printf("%0.6f %llu\n", stop_time - start_time, c_end - c_start); }
static void *aligned(size_t bytes) {
    void *got = NULL;
    int bad = posix_memalign(&got, 4096, bytes);
    if (!got || bad) { fprintf(stderr, "no memory"); exit(1); }
    return got;
}
void *bench_alloc(size_t n, size_t bytes) { return aligned(n * bytes); }
