/*
 * program.h - what the programs of bench/programs/single share: their size, memory, random numbers.
 *
 *   PROGRAM [SIZE]
 *
 * Each is one kind of program with one thread, small, and prints a number that depends on all it did. Work grows in
 * proportion to SIZE; with 1 (the default) it is some tenths of a second.
 */
#ifndef BENCH_SINGLE_PROGRAM_H
#define BENCH_SINGLE_PROGRAM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SIZE times `usual`, at least 1. */
static inline long sized(int argc, char **argv, double usual) {
    double size = argc > 1 ? atof(argv[1]) : 1;
    if (!(size > 0)) {
        fprintf(stderr, "usage: %s [SIZE]\n", argv[0]);
        exit(2);
    }
    return usual * size < 1 ? 1 : (long)(usual * size);
}

static inline void *memory(size_t bytes) {
    void *made = calloc(1, bytes);
    if (!made) exit(1);
    return made;
}

static inline uint64_t any(void) {
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

#endif
