/*
 * watch_drain.h - turns the streams of a program that watches its own reuses
 * (runtime/ring/watch_ring.h) into plain records (runtime/watch/watch_records.h).
 *
 * Positions count accesses; records count references, in words of 8 bytes. A piece of
 * code holds how many words its accesses touch: between two records of a thread, words
 * per access are interpolated linearly. This is exact if no access is larger than 8
 * bytes or crosses two words.
 */
#ifndef RSC_COLLECT_PERF_WATCH_DRAIN_H
#define RSC_COLLECT_PERF_WATCH_DRAIN_H

#include <reusescope/error.h>

#include "runtime/ring/ring.h"
#include "runtime/watch/watch_records.h"

struct rsc_profile;

struct rsc_watch_stats {
    uint64_t threads, accesses, samples, hits;
    uint64_t own_hits;  /* traps that the runtime itself caused, and continued from */
    uint64_t inserted;  /* watches that ended in code that cc inserted: censored */
    uint64_t late_hits; /* while SIGTRAP was blocked: dropped */
    uint64_t dropped;   /* records dropped for lack of room */
    uint64_t void_samples;
    uint64_t busy_ns;
    uint64_t corrupt; /* records that no program can have made: left out */
};

struct rsc_watch_drain;
int rsc_watch_drain_new(struct rsc_watch_drain **out, struct rsc_ring *ring, struct rsc_error *error);
void rsc_watch_drain_free(struct rsc_watch_drain *drain);

/*
 * Takes what is available; `ended`: the program has ended, and all the rest is taken. *records is valid until the
 * next call.
 */
int rsc_watch_drain_take(struct rsc_watch_drain *drain, int ended, const struct rsc_watch_record **records,
                         size_t *count, struct rsc_error *error);

/* Living threads of recorded processes, without daemons. */
unsigned rsc_watch_drain_living(const struct rsc_watch_drain *drain);

void rsc_watch_drain_stats(const struct rsc_watch_drain *drain, struct rsc_watch_stats *stats);

/*
 * Puts the call paths that records refer to, and the file mappings, into a profile that is not sealed yet. Returns 0
 * or RSC_ENOMEM.
 */
int rsc_watch_drain_fill(const struct rsc_watch_drain *drain, struct rsc_profile *profile);

#endif
