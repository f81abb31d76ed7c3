/*
 * patterns.h - traces for benchmarks, in memory: files, generators' specs, and
 * patterns that approximations find hard.
 */
#ifndef RSC_BENCH_PATTERNS_H
#define RSC_BENCH_PATTERNS_H

#include <string.h>
#include <unistd.h>

#include <reusescope/reusescope.h>

#include "base/rng.h"
#include "bench/measure.h"
#include "trace/generate/generate.h"

static uint64_t *addresses, *metas;
static uint64_t access_count, access_most = 20000000;

/* ---- traces ---- */

static void add_line(uint64_t line) {
    if (access_count == access_most) return;
    addresses[access_count] = line * 64;
    metas[access_count++] = rsc_meta(8, RSC_READ, 0);
}

/* A hot loop for half of the time, a large one for the other: what holds for the mean holds for neither. */
static void two_phases(void) {
    for (uint64_t i = 0; i < access_most; i++) add_line(i < access_most / 2 ? i % 16 : 16 + i % 50000);
}

/* The same, changing every 1000 references between a loop and random places. */
static void alternating(void) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 7, 0);
    for (uint64_t i = 0; i < access_most; i++) add_line(i / 1000 % 2 ? 1000 + rsc_rng_below(&rng, 1000000) : i % 200);
}

/* Every line twice in a row, in random order. */
static void twice(void) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 8, 0);
    for (uint64_t i = 0; i < access_most; i += 2) {
        uint64_t line = rsc_rng_below(&rng, 100000);
        add_line(line);
        add_line(line);
    }
}

/* There and back again: intervals of neighbours are as correlated as can be. */
static void back_and_forth(void) {
    for (uint64_t i = 0; i < access_most; i++) add_line(i / 30000 % 2 ? 29999 - i % 30000 : i % 30000);
}

/* A working set of 20,000 lines that moves on by one line every 100 references. */
static void drifting(void) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 9, 0);
    for (uint64_t i = 0; i < access_most; i++) add_line(i / 100 + rsc_rng_below(&rng, 20000));
}

/* Matrix product, 8-byte elements, rows by columns. */
static void product(void) {
    for (uint64_t n = 300, i = 0; access_count < access_most; i = (i + 1) % n)
        for (uint64_t j = 0; j < n; j++)
            for (uint64_t k = 0; k < n; k++) {
                add_line((i * n + k) / 8);
                add_line(20000 + (k * n + j) / 8);
                add_line(40000 + (i * n + j) / 8);
            }
}

/* A large working set, at random, until the last third: then a loop of 300 lines, which few samples hold. */
static void late_loop(void) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 10, 0);
    for (uint64_t i = 0; i < access_most; i++)
        add_line(i < access_most / 3 * 2 ? 1000 + rsc_rng_below(&rng, 400000) : i % 300);
}

/* A loop over an array that grows all the time. */
static void growing(void) {
    for (uint64_t length = 1000; access_count < access_most; length += length / 8)
        for (uint64_t i = 0; i < length && access_count < access_most; i++) add_line(i);
}

static const struct {
    const char *name;
    void (*make)(void);
} patterns[] = {
    {"two-phases", two_phases},         {"alternating", alternating}, {"twice", twice},
    {"back-and-forth", back_and_forth}, {"drifting", drifting},       {"product", product},
    {"late-loop", late_loop},           {"growing", growing},
};

static int add_batch(const struct rsc_batch *batch) {
    for (uint32_t i = 0; i < batch->count && access_count < access_most; i++) {
        addresses[access_count] = batch->addr[i];
        metas[access_count++] = batch->meta[i];
    }
    return access_count < access_most;
}

/* Fills the columns, with the generator's seed where it is a spec. */
static void make_trace(const char *name, uint64_t seed) {
    struct rsc_source *source;
    struct rsc_batch batch;
    struct rsc_error error;
    access_count = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (strcmp(patterns[i].name, name)) continue;
        patterns[i].make();
        return;
    }
    if (access(name, R_OK) == 0) {
        const struct rsc_filter data_only = {
            RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE), 0, NULL, 0, UINT64_MAX, 0, 0, 0, UINT64_MAX, 1};
        struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &data_only};
        struct rsc_trace *trace;
        const struct rsc_batch *next;
        need(rsc_trace_open(&trace, name, &options, &error), name);
        while (rsc_trace_next(trace, &next, &error) > 0 && add_batch(next)) {
        }
        rsc_trace_close(trace);
        return;
    }
    need(rsc_generator_open(&source, name, access_most, seed, &error), name);
    while (source->ops->next(source, &batch, &error) > 0 && add_batch(&batch)) {
    }
    source->ops->close(source);
}

#endif
