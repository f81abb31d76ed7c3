/*
 * numbers.h - a benchmark's numbers for programs to read, beside the text for people.
 *
 * Where the environment variable BENCH_NUMBERS names a file, each number is appended to it as a
 * line "row <tab> column <tab> value". bench/evaluate reads them. BENCH_SEED is the first seed of
 * what a benchmark draws at random (1).
 */
#ifndef RSC_BENCH_NUMBERS_H
#define RSC_BENCH_NUMBERS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* `column` of the row named by `row` and what follows it, as in printf. */
__attribute__((format(printf, 3, 4))) static inline void put_number(const char *column, double value, const char *row,
                                                                    ...) {
    const char *path = getenv("BENCH_NUMBERS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    va_list arguments;
    va_start(arguments, row);
    vfprintf(file, row, arguments);
    va_end(arguments);
    fprintf(file, "\t%s\t%.10g\n", column, value);
    fclose(file);
}

static inline unsigned bench_seed(void) {
    const char *seed = getenv("BENCH_SEED");
    return seed ? (unsigned)strtoul(seed, NULL, 10) : 1;
}

#endif
