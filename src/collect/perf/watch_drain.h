/*
 * watch_drain.h - what a program that watches its own reuses leaves in its streams
 * (runtime/ring/watch_ring.h) becomes samples and endings for src/featherlight.
 *
 * Positions count accesses; featherlight counts references, words of 8 bytes. A piece of
 * code says how many words its accesses touch: between two records of a thread, words
 * per access are taken to go evenly from the one's to the other's. Where no access is
 * larger than 8 bytes or lies across two words, that is exact.
 */
#ifndef RSC_COLLECT_PERF_WATCH_DRAIN_H
#define RSC_COLLECT_PERF_WATCH_DRAIN_H

#include <reusescope/error.h>

#include "featherlight/featherlight.h"
#include "runtime/ring/ring.h"

struct rsc_profile;

/* Where samples and endings go: rsc_featherlight_sample() and so on, or a test. Return 0 or a negative code. */
struct rsc_watch_sink {
    void *to;
    int (*sample)(void *to, uint32_t thread, const struct rsc_watch_sample *sample, struct rsc_error *error);
    int (*ending)(void *to, uint32_t thread, const struct rsc_watch_end *end, struct rsc_error *error);
    int (*thread)(void *to, uint32_t thread, uint64_t pid, uint64_t tid, uint64_t references, uint64_t accesses,
                  struct rsc_error *error);
};

struct rsc_watch_stats {
    uint64_t threads, accesses, samples, hits;
    uint64_t own_hits;  /* traps that the runtime itself caused, and went on from */
    uint64_t inserted;  /* watches that ended by code that cc inserted: censored */
    uint64_t late_hits; /* while SIGTRAP was blocked: dropped */
    uint64_t dropped;   /* records, for want of room */
    uint64_t void_samples;
    uint64_t busy_ns;
    uint32_t registers_least, registers_most; /* that threads got; 0, 0: no thread sampled */
};

struct rsc_watch_drain;
int rsc_watch_drain_new(struct rsc_watch_drain **out, struct rsc_ring *ring, const struct rsc_watch_sink *sink,
                        struct rsc_error *error);
void rsc_watch_drain_free(struct rsc_watch_drain *drain);

/* Takes what there is; `ended`: the program has, and what is left is all. */
int rsc_watch_drain_take(struct rsc_watch_drain *drain, int ended, struct rsc_error *error);

/* Threads that live, of processes that are watched. */
unsigned rsc_watch_drain_living(const struct rsc_watch_drain *drain);

void rsc_watch_drain_stats(const struct rsc_watch_drain *drain, struct rsc_watch_stats *stats);

/* The call paths that samples and endings name by number, and where files were mapped: into a profile not sealed yet. */
int rsc_watch_drain_fill(struct rsc_watch_drain *drain, struct rsc_profile *profile, struct rsc_error *error);

#endif
