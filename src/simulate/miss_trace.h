/*
 * miss_trace.h - the requests past the last level, as a native trace (--miss-trace).
 *
 * Block reads are reads or fetches of the size of a block; write-backs are writes. The
 * header's filter records this ("misses of l1i=32K,8,64,lru ..."), and `sim` treats the
 * writes of such a trace as write-backs, so levels below get the same counts. After a
 * write-through level the writes are the program's own ("misses and writes of ...").
 * If an index depends on the process, a record is by a thread of the process that owns
 * the block, whichever thread evicted it, and the filter ends with "(by process)".
 * Batches keep the instructions of the whole trace, and the file its totals.
 */
#ifndef RSC_SIMULATE_MISS_TRACE_H
#define RSC_SIMULATE_MISS_TRACE_H

#include <reusescope/reusescope.h>

#include "simulate/simulator.h"

struct rsc_miss_trace {
    const char *path; /* NULL: no miss trace */
    struct rsc_trace_writer *writer;
    uint64_t *addr, *meta, *pc; /* owned: of the batch being pushed */
    struct rsc_event *events;   /* owned */
    uint32_t count, room, event_count, event_room, next_event;
    uint64_t accesses, instructions; /* of the whole trace */
    int status, instructions_known;
};

/* Checks that the caches allow a miss trace. */
int rsc_miss_trace_check(const struct rsc_sim_config *config, struct rsc_error *error);

/* `info` is of the trace that is read. */
int rsc_miss_trace_open(struct rsc_miss_trace *misses, const struct rsc_sim_config *config,
                        const struct rsc_trace_info *info, struct rsc_error *error);

/* A request past the last level, as rsc_sim_options.past_last. */
void rsc_miss_trace_request(struct rsc_miss_trace *misses, const struct rsc_sim *sim, const struct rsc_batch *batch,
                            const struct rsc_request *request);

/* Call after the push of a batch: writes its misses. */
int rsc_miss_trace_push(struct rsc_miss_trace *misses, const struct rsc_batch *batch, struct rsc_error *error);
int rsc_miss_trace_finish(struct rsc_miss_trace *misses, struct rsc_error *error);
void rsc_miss_trace_close(struct rsc_miss_trace *misses);

/* The kind of a trace by its filter: 0 not a miss stream, 1 with writes that are write-backs, 2 with other writes. */
int rsc_miss_trace_kind(const char *filter);

/* The meaning of its writes: enum rsc_stream_writes. */
int rsc_miss_trace_writes(const char *filter);

/* Checks that the caches can be simulated with a stream by process. */
int rsc_miss_trace_usable(const char *filter, const struct rsc_sim_config *config, struct rsc_error *error);

#endif
