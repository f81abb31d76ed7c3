/*
 * whole_trace.h - a trace in memory, to write, to read back and to compare.
 *
 * A test builds one access and one event at a time, writes it with
 * whole_write() in batches of any size, reads any trace with whole_read() and
 * compares two with assert_same_trace(). Include after cmocka.h.
 */
#ifndef RSC_TESTS_WHOLE_TRACE_H
#define RSC_TESTS_WHOLE_TRACE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/trace.h>

struct whole_event {
    uint64_t at; /* the access it stands before */
    uint16_t type, data_bytes;
    uint32_t thread;
    uint64_t a, b;
    uint8_t *data; /* owned */
};

struct whole_trace {
    uint64_t count, room;
    uint64_t *addr, *meta, *pc;
    int has_pc; /* written with pcs; read: some batch with accesses had them */
    struct whole_event *events;
    uint64_t event_count, event_room;
    struct rsc_thread *threads; /* by number */
    uint32_t thread_count;
    uint64_t instructions; /* of the whole trace, or RSC_UNKNOWN */
    /* What reading told: */
    uint32_t batches;
    int status; /* of the call that ended it: 0, or what failed */
    struct rsc_error error;
    struct rsc_trace_info before, after; /* their strings are not kept */
    char source[64], command[64], filter[64];
};

static inline void *whole_allocate(void *block, size_t count, size_t size) {
    block = realloc(block, (count ? count : 1) * size);
    assert_non_null(block);
    return block;
}

static inline void whole_free(struct whole_trace *trace) {
    for (uint64_t i = 0; i < trace->event_count; i++) free(trace->events[i].data);
    free(trace->events);
    free(trace->addr);
    free(trace->meta);
    free(trace->pc);
    free(trace->threads);
    memset(trace, 0, sizeof *trace);
}

static inline void whole_add(struct whole_trace *trace, uint64_t addr, uint64_t meta, uint64_t pc) {
    if (trace->count == trace->room) {
        trace->room = trace->room ? trace->room * 2 : 256;
        trace->addr = whole_allocate(trace->addr, trace->room, sizeof *trace->addr);
        trace->meta = whole_allocate(trace->meta, trace->room, sizeof *trace->meta);
        trace->pc = whole_allocate(trace->pc, trace->room, sizeof *trace->pc);
    }
    trace->addr[trace->count] = addr;
    trace->meta[trace->count] = meta;
    trace->pc[trace->count++] = pc;
}

/* An event where the trace now ends. Without `data` it is made up from its length. */
static inline struct whole_event *whole_add_event(struct whole_trace *trace, uint16_t type, uint32_t thread, uint64_t a,
                                                  uint64_t b, const void *data, uint16_t bytes) {
    if (trace->event_count == trace->event_room) {
        trace->event_room = trace->event_room ? trace->event_room * 2 : 64;
        trace->events = whole_allocate(trace->events, trace->event_room, sizeof *trace->events);
    }
    struct whole_event *event = &trace->events[trace->event_count++];
    *event =
        (struct whole_event){.at = trace->count, .type = type, .data_bytes = bytes, .thread = thread, .a = a, .b = b};
    if (bytes) event->data = whole_allocate(NULL, bytes, 1);
    for (uint32_t i = 0; i < bytes; i++) event->data[i] = data ? ((const uint8_t *)data)[i] : (uint8_t)(i * 7 + bytes);
    return event;
}

/* What thread `number` is; a trace without a table means tid `number` of pid 0. */
static inline struct rsc_thread whole_thread(const struct whole_trace *trace, uint32_t number) {
    return trace->threads && number < trace->thread_count ? trace->threads[number] : (struct rsc_thread){0, number};
}

/* ---- writing ---- */

static inline const struct rsc_event *whole_events(const struct whole_trace *trace, uint64_t from, uint64_t first,
                                                   uint64_t count) {
    struct rsc_event *events = calloc(count ? count : 1, sizeof *events);
    assert_non_null(events);
    for (uint64_t i = 0; i < count; i++) {
        const struct whole_event *event = &trace->events[first + i];
        events[i] = (struct rsc_event){.at = (uint32_t)(event->at - from),
                                       .type = event->type,
                                       .data_bytes = event->data_bytes,
                                       .thread = event->thread,
                                       .a = event->a,
                                       .b = event->b,
                                       .data = event->data};
    }
    return events;
}

/*
 * Pushes the trace in batches of `steps` accesses, in turn (NULL: all at once;
 * a step of 0 pushes the events that are due). Events between two batches go
 * with the first and with the second in turn. Stops when a push does not return
 * 0, and returns what it did.
 */
static inline int whole_push(const struct whole_trace *trace, struct rsc_trace_writer *writer, const uint32_t *steps,
                             uint32_t step_count, struct rsc_error *error) {
    uint64_t done = 0, event = 0;
    for (uint32_t turn = 0; turn == 0 || done < trace->count || event < trace->event_count; turn++) {
        uint64_t left = trace->count - done, step = steps ? steps[turn % step_count] : left, last_event = event;
        if (step > left) step = left;
        int at_end = done + step == trace->count;
        while (last_event < trace->event_count &&
               (at_end || trace->events[last_event].at < done + step + (turn % 2 ? 1 : 0)))
            last_event++;
        uint64_t share = RSC_UNKNOWN;
        if (trace->instructions != RSC_UNKNOWN) {
            unsigned __int128 all = trace->instructions, count = trace->count ? trace->count : 1;
            share = trace->count ? (uint64_t)(all * (done + step) / count) - (uint64_t)(all * done / count)
                    : turn       ? 0
                                 : trace->instructions;
        }
        const struct rsc_event *events = whole_events(trace, done, event, last_event - event);
        const struct rsc_batch batch = {.count = (uint32_t)step,
                                        .event_count = (uint32_t)(last_event - event),
                                        .addr = step ? trace->addr + done : NULL,
                                        .meta = step ? trace->meta + done : NULL,
                                        .pc = trace->has_pc && step ? trace->pc + done : NULL,
                                        .events = events,
                                        .threads = trace->threads,
                                        .thread_count = trace->thread_count,
                                        .instructions = share};
        int status = rsc_trace_writer_push(writer, &batch, error);
        free((void *)events);
        if (status) return status;
        done += step;
        event = last_event;
    }
    return 0;
}

static inline struct rsc_trace_writer_options whole_options(const char *format, uint32_t frame_accesses) {
    return (struct rsc_trace_writer_options){.struct_bytes = sizeof(struct rsc_trace_writer_options),
                                             .format = format,
                                             .pcs = 1,
                                             .frame_accesses = frame_accesses};
}

/* Writes the trace; all must go well. */
static inline void whole_write(const struct whole_trace *trace, const char *path,
                               const struct rsc_trace_writer_options *options, const uint32_t *steps,
                               uint32_t step_count) {
    struct rsc_trace_writer *writer;
    struct rsc_error error = {0};
    if (rsc_trace_writer_open(&writer, path, options, &error)) fail_msg("open: %s", error.message);
    if (whole_push(trace, writer, steps, step_count, &error)) fail_msg("push: %s", error.message);
    if (rsc_trace_writer_finish(writer, &error)) fail_msg("finish: %s", error.message);
    rsc_trace_writer_close(writer);
}

/* ---- reading ---- */

static inline void whole_take_batch(struct whole_trace *trace, const struct rsc_batch *batch) {
    for (uint32_t i = 0; i < batch->event_count; i++) {
        const struct rsc_event *event = &batch->events[i];
        assert_true(event->at <= batch->count);
        assert_true(i == 0 || event->at >= batch->events[i - 1].at);
        assert_true(!batch->threads || event->thread < batch->thread_count);
        whole_add_event(trace, event->type, event->thread, event->a, event->b, event->data, event->data_bytes)->at +=
            event->at;
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        assert_true(rsc_meta_kind(batch->meta[i]) <= RSC_FETCH);
        assert_true(!batch->threads || rsc_meta_thread(batch->meta[i]) < batch->thread_count);
        whole_add(trace, batch->addr[i], batch->meta[i], batch->pc ? batch->pc[i] : 0);
    }
    if (batch->count) trace->has_pc = trace->has_pc || batch->pc;
    if (batch->threads) {
        assert_true(batch->thread_count >= trace->thread_count);
        trace->threads = whole_allocate(trace->threads, batch->thread_count, sizeof *trace->threads);
        memcpy(trace->threads, batch->threads, batch->thread_count * sizeof *trace->threads);
        trace->thread_count = batch->thread_count;
    }
    if (batch->instructions == RSC_UNKNOWN || trace->instructions == RSC_UNKNOWN)
        trace->instructions = batch->count ? RSC_UNKNOWN : trace->instructions;
    else trace->instructions += batch->instructions;
    trace->batches++;
}

/* What is left of an open trace. */
static inline void whole_take(struct whole_trace *trace, struct rsc_trace *from) {
    const struct rsc_batch *batch;
    while ((trace->status = rsc_trace_next(from, &batch, &trace->error)) > 0) whole_take_batch(trace, batch);
    struct rsc_error again = {0}; /* an end is final, and so is an error */
    assert_int_equal(rsc_trace_next(from, &batch, &again), trace->status);
    if (trace->status < 0) assert_string_equal(again.message, trace->error.message);
    rsc_trace_get_info(from, &trace->after);
    snprintf(trace->source, sizeof trace->source, "%s", trace->after.source);
    snprintf(trace->command, sizeof trace->command, "%s", trace->after.command);
    snprintf(trace->filter, sizeof trace->filter, "%s", trace->after.filter);
}

/* Reads a trace to its end or its failure, which ->status tells. */
static inline void whole_read(struct whole_trace *trace, const char *path, const struct rsc_trace_options *options) {
    struct rsc_trace *from;
    memset(trace, 0, sizeof *trace);
    trace->status = rsc_trace_open(&from, path, options, &trace->error);
    if (trace->status < 0) {
        assert_null(from);
        return;
    }
    rsc_trace_get_info(from, &trace->before);
    whole_take(trace, from);
    rsc_trace_close(from);
}

/* ---- comparing ---- */

static inline void assert_same_accesses(const struct whole_trace *got, const struct whole_trace *wanted, uint64_t from,
                                        uint64_t to) {
    assert_int_equal(got->count, to - from);
    assert_int_equal(got->count && wanted->has_pc, got->has_pc);
    for (uint64_t i = 0; i < got->count; i++) {
        uint64_t j = from + i;
        int same = got->addr[i] == wanted->addr[j] && got->meta[i] == wanted->meta[j];
        if (wanted->has_pc) same = same && got->pc[i] == wanted->pc[j];
        struct rsc_thread one = whole_thread(got, rsc_meta_thread(got->meta[i]));
        struct rsc_thread two = whole_thread(wanted, rsc_meta_thread(wanted->meta[j]));
        if (!same || one.pid != two.pid || one.tid != two.tid)
            fail_msg("access %llu: %llx %llx pc %llx tid %llu, wanted %llx %llx pc %llx tid %llu",
                     (unsigned long long)j, (unsigned long long)got->addr[i], (unsigned long long)got->meta[i],
                     (unsigned long long)got->pc[i], (unsigned long long)one.tid, (unsigned long long)wanted->addr[j],
                     (unsigned long long)wanted->meta[j], (unsigned long long)wanted->pc[j],
                     (unsigned long long)two.tid);
    }
}

/* Events before accesses from..to-1, and at the end where `to` is that. */
static inline void assert_same_events(const struct whole_trace *got, const struct whole_trace *wanted, uint64_t from,
                                      uint64_t to) {
    uint64_t first = 0, n = 0;
    while (first < wanted->event_count && wanted->events[first].at < from) first++;
    for (uint64_t i = first; i < wanted->event_count; i++, n++) {
        const struct whole_event *one = &wanted->events[i], *two = &got->events[n];
        if (one->at >= to && to < wanted->count) break;
        assert_true(n < got->event_count);
        assert_int_equal(two->at, one->at - from);
        assert_int_equal(two->type, one->type);
        assert_int_equal(two->thread, one->thread);
        assert_true(two->a == one->a && two->b == one->b);
        assert_int_equal(two->data_bytes, one->data_bytes);
        if (one->data_bytes) assert_memory_equal(two->data, one->data, one->data_bytes);
        struct rsc_thread who = whole_thread(got, two->thread), whom = whole_thread(wanted, one->thread);
        assert_true(who.pid == whom.pid && who.tid == whom.tid);
    }
    assert_int_equal(got->event_count, n);
}

static inline void assert_same_trace(const struct whole_trace *got, const struct whole_trace *wanted) {
    if (got->status) fail_msg("reading: %s", got->error.message);
    assert_same_accesses(got, wanted, 0, wanted->count);
    assert_same_events(got, wanted, 0, wanted->count);
    if (wanted->count || (wanted->instructions && wanted->instructions != RSC_UNKNOWN))
        assert_true(got->instructions == wanted->instructions);
}

#endif
