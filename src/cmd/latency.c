/*
 * latency.c - see latency.h.
 *
 * A chain of pointers, one in each line of a buffer, in one cycle through all of them in
 * random order: each load waits for the one before, and no prefetcher knows the next. A
 * buffer that a cache holds, and the one before does not, shows what that cache takes.
 * Cycles come from the time of a chain of additions, which take one each: the processor's
 * clock while it works, whatever it is.
 */
#include "cmd/latency.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "base/fail.h"
#include "base/rng.h"

#define LINE 64u
#define STEPS 2000000u
#define ROUNDS 3 /* the least counts: others use the machine too */
#define BYTES_MOST (1ull << 30)

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Nanoseconds of an addition that waits for the one before. */
static double cycle_ns(void) {
    double least = 1e9;
    for (int round = 0; round < 5; round++) {
        uint64_t sum = 1, count = 1 << 20;
        double before = now_ns();
        for (uint64_t i = 0; i < count; i++)
            for (int k = 0; k < 16; k++) {
                sum += i;
                __asm__ volatile("" : "+r"(sum)); /* not all at once */
            }
        __asm__ volatile("" : : "r"(sum));
        double took = (now_ns() - before) / (16.0 * (double)count);
        if (took < least) least = took;
    }
    return least;
}

/* One cycle through all lines (Sattolo's shuffle). */
static void link_lines(char *buffer, uint32_t *order, uint32_t lines) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 1, 0);
    for (uint32_t i = 0; i < lines; i++) order[i] = i;
    for (uint32_t i = lines - 1; i > 0; i--) {
        uint32_t other = (uint32_t)rsc_rng_below(&rng, i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (uint32_t i = 0; i < lines; i++)
        *(void **)(buffer + (size_t)order[i] * LINE) = buffer + (size_t)order[(i + 1) % lines] * LINE;
}

/* Nanoseconds per load of a chain through that many bytes; negative: out of memory. */
static double load_ns(uint64_t bytes) {
    uint32_t lines = (uint32_t)(bytes / LINE);
    char *buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *order = malloc((size_t)lines * sizeof *order);
    double least = -1;
    if (buffer != MAP_FAILED && order) {
        madvise(buffer, bytes, MADV_HUGEPAGE); /* the time of the page tables is another matter */
        link_lines(buffer, order, lines);
        void **at = (void **)buffer;
        for (uint32_t i = 0; i < lines && i < STEPS; i++) at = *at; /* warms it */
        for (int round = 0; round < ROUNDS; round++) {
            double before = now_ns();
            for (uint32_t i = 0; i < STEPS; i++) at = *at;
            __asm__ volatile("" : : "r"(at));
            double took = (now_ns() - before) / STEPS;
            if (least < 0 || took < least) least = took;
        }
    }
    free(order);
    if (buffer != MAP_FAILED) munmap(buffer, bytes);
    return least;
}

/* Between two caches: their geometric mean is too near to either where they are close; three quarters of the larger. */
static uint64_t bytes_for(const struct rsc_machine *machine, size_t level) {
    if (level == machine->level_count) {
        uint64_t largest = machine->levels[level - 1].size_bytes;
        return largest < BYTES_MOST / 4 ? 4 * largest : BYTES_MOST;
    }
    uint64_t size = machine->levels[level].size_bytes, below = level ? machine->levels[level - 1].size_bytes : 0;
    uint64_t bytes = level ? (size / 2 > 2 * below ? 4 * below : size / 4 * 3) : size / 2;
    return bytes < BYTES_MOST ? bytes : BYTES_MOST;
}

int rsc_latency_measure(struct rsc_machine *machine, struct rsc_error *error) {
    if (!machine->level_count)
        return rsc_fail(error, RSC_EUNSUPPORTED, "--latency: the caches of this machine are not known");
    double cycle = cycle_ns(), before = 1;
    for (size_t i = 0; i <= machine->level_count; i++) {
        double took = load_ns(bytes_for(machine, i));
        if (took < 0) return rsc_fail_memory(error, "--latency");
        double cycles = took / cycle;
        if (cycles < before) cycles = before; /* a larger cache is not faster: noise */
        if (i < machine->level_count) machine->levels[i].cycles = cycles;
        else machine->memory_cycles = cycles;
        before = cycles;
    }
    machine->latencies = RSC_LATENCIES_MEASURED;
    return 0;
}
