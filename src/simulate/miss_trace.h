/*
 * miss_trace.h - what passes the last level, as a native trace (--miss-trace).
 *
 * Blocks read are reads or fetches of the size of a block; write-backs are writes. The
 * header's filter says so ("misses of l1i=32K,8,64,lru ..."), and `sim` takes the writes
 * of such a trace for write-backs: levels below then count as they would have. Behind a
 * write-through level the writes are the program's own ("misses and writes of ...").
 * Where an index depends on the process, a block is that of one process: a record is then by a thread of the
 * process whose block it is, whoever evicted it, and the filter ends with "(by process)".
 * Batches keep the instructions of the whole trace, and the file its totals.
 */
#ifndef RSC_SIMULATE_MISS_TRACE_H
#define RSC_SIMULATE_MISS_TRACE_H

#include <reusescope/reusescope.h>

#include "simulate/simulator.h"

struct rsc_miss_trace {
    const char *path; /* NULL: not wanted */
    struct rsc_trace_writer *writer;
    uint64_t *addr, *meta, *pc; /* owned: of the batch being pushed */
    struct rsc_event *events;   /* owned */
    uint32_t count, room, event_count, event_room, next_event;
    uint64_t accesses, instructions; /* of the whole trace */
    int status, instructions_known;
};

/* Whether the caches can have one: says why not. */
int rsc_miss_trace_check(const struct rsc_sim_config *config, struct rsc_error *error);

/* `info` is of the trace that is read. */
int rsc_miss_trace_open(struct rsc_miss_trace *misses, const struct rsc_sim_config *config,
                        const struct rsc_trace_info *info, struct rsc_error *error);

/* A request past the last level, as rsc_sim_options.past_last. */
void rsc_miss_trace_request(struct rsc_miss_trace *misses, const struct rsc_sim *sim, const struct rsc_batch *batch,
                            const struct rsc_request *request);

/* After the push of a batch: writes what it left. */
int rsc_miss_trace_push(struct rsc_miss_trace *misses, const struct rsc_batch *batch, struct rsc_error *error);
int rsc_miss_trace_finish(struct rsc_miss_trace *misses, struct rsc_error *error);
void rsc_miss_trace_close(struct rsc_miss_trace *misses);

/* What a trace's filter says of it: 0 no miss stream, 1 one whose writes are write-backs, 2 one whose writes are not. */
int rsc_miss_trace_kind(const char *filter);

/* What its writes are: enum rsc_stream_writes. */
int rsc_miss_trace_writes(const char *filter);

/* Whether the caches can be simulated with a stream that tells processes apart: says why not. */
int rsc_miss_trace_usable(const char *filter, const struct rsc_sim_config *config, struct rsc_error *error);

#endif
