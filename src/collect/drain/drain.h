/*
 * drain.h - the parent's side of the ring: blocks of all threads become batches in
 * one order.
 *
 * Threads are merged by time. Each block says when it began and ended; in between,
 * records are taken to be evenly spread, and blocks that overlap are interleaved
 * in turns of RSC_RING_TURN records. A block waits until no running thread can still publish
 * an older one, but at most 20 ms (counted as `late`).
 */
#ifndef RSC_COLLECT_DRAIN_DRAIN_H
#define RSC_COLLECT_DRAIN_DRAIN_H

#include <reusescope/trace.h>

#include "collect/drain/roi.h"
#include "runtime/ring/ring.h"
#include "trace/batch_columns.h"

struct rsc_drain_stats {
    uint64_t accesses, calls, blocks, instructions, unrecorded_instructions;
    uint64_t waits, waited_ns; /* of the program for us */
    uint64_t late;             /* blocks that came after a later one had been taken */
    uint64_t threads;
    uint64_t notes_lost;
    int processes_mixed; /* there were more than can be told apart: the last ones share their addresses */
    uint64_t left; /* threads of children in sessions of their own, still running */
    uint64_t unknown; /* words of rebuilt programs that no table explains */
    uint64_t references; /* only where a sample is taken in the program: all, sampled or not */
    /* Where it samples references: */
    uint64_t analysed, begun;
    double begun_weight;
};

struct rsc_drain;

int rsc_drain_new(struct rsc_drain **out, struct rsc_ring *ring, struct rsc_error *error);
void rsc_drain_free(struct rsc_drain *drain);

/* Only what is done in the region is to be given: of rebuilt programs, before the first batch. The caller keeps it. */
void rsc_drain_set_region(struct rsc_drain *drain, struct rsc_roi *roi);

/* Of rebuilt programs: no more than so many accesses; then they are told to run on unrecorded. */
void rsc_drain_set_most(struct rsc_drain *drain, uint64_t accesses);

/*
 * The next batch of what is there. `ended` says that nobody writes any more: then
 * everything left is taken, blocks never published too. Returns 1 and a batch
 * (valid until the next call), 0 when nothing can be taken now, or negative.
 */
int rsc_drain_next(struct rsc_drain *drain, int ended, struct rsc_batch *batch, struct rsc_error *error);

/* What the last batch carries where a rebuilt program keeps lines of a sample or samples references (ring.h). */
void rsc_drain_columns(const struct rsc_drain *drain, struct rsc_batch_columns *columns);

/* Of all that was taken. Counts of threads stay the drain's, as they are then. */
void rsc_drain_get_whole(const struct rsc_drain *drain, struct rsc_whole_run *whole);

/*
 * How many threads that were being recorded still run, in our session: daemons,
 * which have one of their own, are not waited for. Those that ended without a word
 * (killed, or their process replaced) are known from then on: what they left is
 * taken and their slots are freed.
 */
unsigned rsc_drain_living(struct rsc_drain *drain);

/* Sleeps until something is published, at most so long. */
void rsc_drain_wait(struct rsc_drain *drain, unsigned milliseconds);

void rsc_drain_get_stats(const struct rsc_drain *drain, struct rsc_drain_stats *stats);

#endif
