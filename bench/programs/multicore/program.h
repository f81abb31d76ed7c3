/*
 * program.h - what the programs of bench/multicore share: arguments, threads, checks.
 *
 *   PROGRAM [THREADS [SIZE]]
 *
 * Each is one kind of parallel program, small, with a result that is checked: "ok", or
 * exit status 1. SIZE 1 (the default) is some 0.2 s and 100 million references.
 */
#ifndef BENCH_MULTICORE_PROGRAM_H
#define BENCH_MULTICORE_PROGRAM_H

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int threads = 4;
static double size = 1;

static inline void arguments(int argc, char **argv) {
    if (argc > 1) threads = atoi(argv[1]);
    if (argc > 2) size = atof(argv[2]);
    if (threads < 1 || threads > 1024 || !(size > 0)) {
        fprintf(stderr, "usage: %s [THREADS [SIZE]]\n", argv[0]);
        exit(2);
    }
}

static inline void *memory(size_t bytes) {
    void *made = calloc(1, bytes);
    if (!made) exit(1);
    return made;
}

static inline uint64_t next_random(uint64_t *state) {
    uint64_t x = *state += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}
static inline double next_fraction(uint64_t *state) { return (double)(next_random(state) >> 11) * 0x1p-53; }

/* Runs work(number) in `threads` threads. */
static inline void in_threads(void *(*work)(void *)) {
    pthread_t *all = memory((size_t)threads * sizeof *all);
    for (intptr_t i = 0; i < threads; i++)
        if (pthread_create(&all[i], NULL, work, (void *)i) != 0) exit(1);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    free(all);
}

/* The part of 0..count that a thread has. */
static inline void share(long count, long number, long *from, long *to) {
    *from = count * number / threads;
    *to = count * (number + 1) / threads;
}

static inline int result(const char *name, int good, double value) {
    printf("%s: %s (%.6g)\n", name, good ? "ok" : "WRONG", value);
    return !good;
}

#endif
