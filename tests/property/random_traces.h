/*
 * random_traces.h - small random traces of all shapes, for property tests.
 *
 * A shape is drawn from the seed: runs, cycles, skew, strides, random walks,
 * several threads, accesses that straddle lines, none and one access.
 */
#ifndef RSC_TESTS_RANDOM_TRACES_H
#define RSC_TESTS_RANDOM_TRACES_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <reusescope/trace.h>

#include "base/rng.h"

struct random_trace {
    uint32_t count;
    uint32_t threads;
    uint64_t *addr, *meta;
};

/* How many traces to try, and from which seed; prints the seed, so that a failure can be repeated. */
static inline unsigned long property_traces(unsigned long usual) {
    const char *wanted = getenv("RSC_PROPERTY_TRACES");
    return wanted ? strtoul(wanted, NULL, 10) : usual;
}
static inline uint64_t property_seed(void) {
    const char *wanted = getenv("RSC_PROPERTY_SEED");
    uint64_t seed = wanted ? strtoull(wanted, NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu (repeat with RSC_PROPERTY_SEED)\n", (unsigned long long)seed);
    return seed;
}

static inline uint32_t random_count(struct rsc_rng *rng, uint32_t most) {
    switch (rsc_rng_below(rng, 12)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return 2;
    case 3: return most;
    default: return (uint32_t)rsc_rng_below(rng, most + 1);
    }
}

static inline uint64_t random_line(struct rsc_rng *rng, unsigned shape, uint64_t *at, uint64_t lines, uint64_t i) {
    switch (shape) {
    case 0: return rsc_rng_below(rng, lines);                                 /* uniform */
    case 1: return i % lines;                                                 /* cycle */
    case 2: return *at = rsc_rng_below(rng, 8) ? *at : rsc_rng_below(rng, lines); /* runs */
    case 3: { /* skew */ uint64_t draw = rsc_rng_below(rng, lines) + 1; return lines / draw % lines;
    }
    case 4: return *at = (*at + rsc_rng_below(rng, 5) + lines - 2) % lines; /* walk */
    case 5: return i % (2 * lines) < lines ? i % lines : lines - 1 - i % lines; /* back and forth */
    case 6: return (i * 7919) % lines;                                          /* stride */
    default: return rsc_rng_below(rng, 4) ? rsc_rng_below(rng, lines / 16 + 1) : rsc_rng_below(rng, lines);
    }
}

static inline void random_trace_make(struct random_trace *trace, struct rsc_rng *rng, uint32_t most) {
    static const uint64_t bases[] = {0, 0x400000, 0x7fff00000000, UINT64_MAX - (1 << 20), 1};
    uint64_t base = bases[rsc_rng_below(rng, 5)], at = 0, lines = 1 + rsc_rng_below(rng, 1 + rsc_rng_below(rng, 3000));
    unsigned shape = (unsigned)rsc_rng_below(rng, 8), sizes = (unsigned)rsc_rng_below(rng, 4);
    trace->count = random_count(rng, most);
    trace->threads = rsc_rng_below(rng, 2) ? 1 : 1 + (uint32_t)rsc_rng_below(rng, 9);
    trace->addr = malloc((trace->count + 1) * sizeof *trace->addr);
    trace->meta = malloc((trace->count + 1) * sizeof *trace->meta);
    uint32_t thread = 0;
    for (uint32_t i = 0; i < trace->count; i++) {
        static const uint32_t straddling[] = {1, 8, 64, 100, 0, 4096, 17, 63};
        uint32_t size = sizes == 0 ? 1 : sizes == 1 ? 8 : straddling[rsc_rng_below(rng, sizes == 2 ? 2 : 8)];
        if (rsc_rng_below(rng, 4) == 0) thread = (uint32_t)rsc_rng_below(rng, trace->threads);
        trace->addr[i] = base + random_line(rng, shape, &at, lines, i) * 64 + (sizes > 1 ? rsc_rng_below(rng, 64) : 0);
        trace->meta[i] = rsc_meta(size, (enum rsc_kind)rsc_rng_below(rng, 3), thread);
    }
}

/* Other kinds: often one alone for a while or to the end, or such as have no name. */
static inline void random_trace_kinds(struct random_trace *trace, struct rsc_rng *rng) {
    uint32_t alone = (uint32_t)rsc_rng_below(rng, trace->count + 1ull), names = rsc_rng_below(rng, 2) ? 3 : 256;
    uint32_t first = (uint32_t)rsc_rng_below(rng, names), second = (uint32_t)rsc_rng_below(rng, names);
    unsigned shape = (unsigned)rsc_rng_below(rng, 4);
    for (uint32_t i = 0; shape && i < trace->count; i++) {
        uint32_t kind = shape == 1   ? first
                        : i < alone  ? first
                        : shape == 2 ? second
                                     : (uint32_t)rsc_rng_below(rng, names);
        trace->meta[i] = (trace->meta[i] & ~(0xffull << 32)) | (uint64_t)kind << 32;
    }
}

static inline void random_trace_free(struct random_trace *trace) {
    free(trace->addr);
    free(trace->meta);
}

#endif
