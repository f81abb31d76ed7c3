/*
 * watch_drain.h - what a program that watches its own reuses leaves in its streams
 * (runtime/ring/watch_ring.h) becomes plain records (runtime/watch/watch_records.h).
 *
 * Positions count accesses; records count references, words of 8 bytes. A piece of
 * code says how many words its accesses touch: between two records of a thread, words
 * per access are taken to go evenly from the one's to the other's. Where no access is
 * larger than 8 bytes or lies across two words, that is exact.
 */
#ifndef RSC_COLLECT_PERF_WATCH_DRAIN_H
#define RSC_COLLECT_PERF_WATCH_DRAIN_H

#include <reusescope/error.h>

#include "runtime/ring/ring.h"
#include "runtime/watch/watch_records.h"

struct rsc_profile;

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
int rsc_watch_drain_new(struct rsc_watch_drain **out, struct rsc_ring *ring, struct rsc_error *error);
void rsc_watch_drain_free(struct rsc_watch_drain *drain);

/* Takes what there is; `ended`: the program has, and what is left is all. *records stay until the next call. */
int rsc_watch_drain_take(struct rsc_watch_drain *drain, int ended, const struct rsc_watch_record **records,
                         size_t *count, struct rsc_error *error);

/* Threads that live, of processes that are watched. */
unsigned rsc_watch_drain_living(const struct rsc_watch_drain *drain);

void rsc_watch_drain_stats(const struct rsc_watch_drain *drain, struct rsc_watch_stats *stats);

/* The call paths that records name by number, and where files were mapped: into a profile not sealed yet. Returns 0 or RSC_ENOMEM. */
int rsc_watch_drain_fill(const struct rsc_watch_drain *drain, struct rsc_profile *profile);

#endif
