/*
 * drain.h - the parent's side of the ring: merges the blocks of all threads into batches in
 * one order.
 *
 * Threads are merged by time. Blocks are divided by marks (ring.h), whose times are known;
 * records in between are assumed to be evenly spread, and those of threads that overlap in
 * time are interleaved one by one (drain_order.c). A record waits until no running thread can
 * still publish an older one, but at most 20 ms (counted as `late`).
 */
#ifndef RSC_COLLECT_DRAIN_DRAIN_H
#define RSC_COLLECT_DRAIN_DRAIN_H

#include <reusescope/trace.h>

#include "collect/drain/roi.h"
#include "profile/order_bounds.h"
#include "runtime/ring/ring.h"
#include "trace/batch_columns.h"

#define RSC_VALGRIND_THREADS 4096u /* that Valgrind allows at once: --max-threads */

struct rsc_drain_stats {
    uint64_t accesses, calls, blocks, instructions, unrecorded_instructions;
    uint64_t waits, waited_ns; /* time the program waited for us */
    uint64_t late;             /* blocks that arrived after a later one had been taken */
    uint64_t threads;
    struct rsc_order_bounds order; /* how well the order of threads is known */
    uint64_t maps_lost; /* reports of what the program mapped */
    int processes_mixed; /* more processes than can be distinguished: the last ones share their addresses */
    uint64_t left; /* threads of children in sessions of their own, still running */
    int overwritten; /* the program wrote over the ring: recording ended then */
    uint64_t calls_lost; /* of rebuilt programs, too deep to follow */
    uint64_t unknown; /* words of rebuilt programs that match no table */
    uint64_t references; /* only if the program samples: all references, sampled or not */
    /* If it samples references: */
    uint64_t analysed, begun;
    double begun_weight;
};

struct rsc_drain;

/* What the ring says about itself is read here, once: call it before the program runs, which can overwrite it. */
int rsc_drain_new(struct rsc_drain **out, struct rsc_ring *ring, struct rsc_error *error);
void rsc_drain_free(struct rsc_drain *drain);

/* Restricts the output to the region. For rebuilt programs; call before the first batch. The caller keeps ownership. */
void rsc_drain_set_region(struct rsc_drain *drain, struct rsc_roi *roi);

/* For Valgrind's tool: what is recorded, in instructions. All zeros: everything. */
struct rsc_drain_window {
    uint64_t skip, length; /* length 0: to the end */
    int marked; /* only between reusescope_begin() and reusescope_end() */
    int function; /* only while the function runs that the tool was given */
    uint64_t quantum; /* threads take turns of this many accesses; 0: in the order in which they ran */
    int fine; /* turns end with a write to a line that other threads use too */
};
void rsc_drain_set_window(struct rsc_drain *drain, const struct rsc_drain_window *window);

/* Children are not recorded: a program that replaces the one that was started goes on as its first thread. */
void rsc_drain_set_one_process(struct rsc_drain *drain);

/* For rebuilt programs: limits the number of accesses; after that, they run on unrecorded. */
void rsc_drain_set_most(struct rsc_drain *drain, uint64_t accesses);

/*
 * The next batch of available records. `ended`: no more writers, so everything left is
 * taken, including blocks never published. Returns 1 and a batch (valid until the next
 * call), 0 when nothing can be taken now, or negative.
 */
int rsc_drain_next(struct rsc_drain *drain, int ended, struct rsc_batch *batch, struct rsc_error *error);

/* What the last batch carries if a rebuilt program samples lines or references (ring.h). */
void rsc_drain_columns(const struct rsc_drain *drain, struct rsc_batch_columns *columns);

/* Totals of all that was taken. The drain still owns the per-thread counts. */
void rsc_drain_get_whole(const struct rsc_drain *drain, struct rsc_whole_run *whole);

/*
 * Counts recorded threads that still run in our session; daemons have their own session
 * and are not waited for. Threads that ended without a report (killed, or replaced by
 * exec) are detected here: their remaining data is taken and their slots are freed.
 */
unsigned rsc_drain_living(struct rsc_drain *drain);

/* Sleeps until something is published, or until the timeout. */
void rsc_drain_wait(struct rsc_drain *drain, unsigned milliseconds);

void rsc_drain_get_stats(const struct rsc_drain *drain, struct rsc_drain_stats *stats);

#endif
