/*
 * ahead.c - decode-ahead.
 *
 * A thread pulls batches from the inner source into a small ring. A batch is
 * passed on without a copy when the inner source keeps it long enough (`keeps`).
 * The thread table is always copied: the inner source may move it.
 */
#include "trace/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/fill_ahead.h"

#define DEPTH 3u /* batches decoded and waiting, or being read */

struct slot {
    struct rsc_batch batch;
    uint64_t *columns; /* addr, meta, pc, when copied */
    size_t column_room;
    struct rsc_event *events;
    uint8_t *event_data;
    size_t event_room, event_data_room;
    struct rsc_thread *threads;
    size_t thread_room;
};

struct ahead_source {
    struct rsc_source source;
    struct rsc_source *inner;
    struct rsc_trace_info before; /* what the inner source knew when decoding began */
    struct rsc_fill_ahead ahead;
    struct slot slots[DEPTH];
};

static int grow(void **block, size_t *room, size_t bytes) {
    if (bytes <= *room) return 0;
    free(*block);
    *block = malloc(bytes);
    *room = *block ? bytes : 0;
    return *block ? 0 : RSC_ENOMEM;
}

static int copy_events(struct slot *slot) {
    struct rsc_batch *batch = &slot->batch;
    size_t bytes = batch->event_count * sizeof *slot->events, data_bytes = 0;
    for (uint32_t i = 0; i < batch->event_count; i++) data_bytes += batch->events[i].data_bytes;
    if (!bytes) return 0;
    if (grow((void **)&slot->events, &slot->event_room, bytes) < 0 ||
        grow((void **)&slot->event_data, &slot->event_data_room, data_bytes) < 0)
        return RSC_ENOMEM;
    memcpy(slot->events, batch->events, bytes);
    uint8_t *to = slot->event_data;
    for (uint32_t i = 0; i < batch->event_count; i++) {
        if (!slot->events[i].data_bytes) continue;
        memcpy(to, slot->events[i].data, slot->events[i].data_bytes);
        slot->events[i].data = to;
        to += slot->events[i].data_bytes;
    }
    batch->events = slot->events;
    return 0;
}

static int copy_columns(struct slot *slot) {
    struct rsc_batch *batch = &slot->batch;
    size_t bytes = batch->count * sizeof(uint64_t);
    if (!bytes) return copy_events(slot);
    if (grow((void **)&slot->columns, &slot->column_room, 3 * bytes) < 0) return RSC_ENOMEM;
    memcpy(slot->columns, batch->addr, bytes);
    memcpy(slot->columns + batch->count, batch->meta, bytes);
    if (batch->pc) batch->pc = memcpy(slot->columns + 2 * (size_t)batch->count, batch->pc, bytes);
    batch->addr = slot->columns;
    batch->meta = slot->columns + batch->count;
    return copy_events(slot);
}

static int copy_threads(struct slot *slot) {
    struct rsc_batch *batch = &slot->batch;
    size_t bytes = batch->thread_count * sizeof *slot->threads;
    if (!batch->threads || !bytes) return 0;
    if (grow((void **)&slot->threads, &slot->thread_room, bytes) < 0) return RSC_ENOMEM;
    batch->threads = memcpy(slot->threads, batch->threads, bytes);
    return 0;
}

static int fill_slot(void *context, uint64_t number, struct rsc_error *error) {
    struct ahead_source *ahead = context;
    struct slot *slot = &ahead->slots[number % DEPTH];
    int status = ahead->inner->ops->next(ahead->inner, &slot->batch, error);
    if (status <= 0) return status;
    if (copy_threads(slot) < 0 || (ahead->inner->keeps < DEPTH && copy_columns(slot) < 0))
        return rsc_fail_memory(error, "decode-ahead");
    return 1;
}

static int ahead_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct ahead_source *ahead = (struct ahead_source *)source;
    uint32_t slot;
    int status = rsc_fill_ahead_next(&ahead->ahead, &slot, error);
    if (status > 0) *batch = ahead->slots[slot].batch;
    return status;
}

void rsc_info_of(struct rsc_source *source, struct rsc_trace_info *info) {
    *info = (struct rsc_trace_info){.source = "",
                                    .command = "",
                                    .filter = "",
                                    .accesses = RSC_UNKNOWN,
                                    .instructions = RSC_UNKNOWN,
                                    .full_accesses = RSC_UNKNOWN,
                                    .full_instructions = RSC_UNKNOWN};
    if (source->ops->info) source->ops->info(source, info);
}

void rsc_info_from_before(struct rsc_trace_info *info, const struct rsc_trace_info *before) {
    struct rsc_trace_info outer = *info;
    *info = *before;
    info->format = outer.format;
    info->compression = outer.compression;
    info->file_bytes = outer.file_bytes;
}

/* The inner source's totals change while decoding: until it has ended, report the values from before. */
static void ahead_info(struct rsc_source *source, struct rsc_trace_info *info) {
    struct ahead_source *ahead = (struct ahead_source *)source;
    if (rsc_fill_ahead_ended(&ahead->ahead) && ahead->inner->ops->info) ahead->inner->ops->info(ahead->inner, info);
    else if (ahead->inner->ops->info) rsc_info_from_before(info, &ahead->before);
}

static void ahead_close(struct rsc_source *source) {
    struct ahead_source *ahead = (struct ahead_source *)source;
    rsc_fill_ahead_stop(&ahead->ahead);
    ahead->inner->ops->close(ahead->inner);
    for (uint32_t i = 0; i < DEPTH; i++) {
        free(ahead->slots[i].columns);
        free(ahead->slots[i].events);
        free(ahead->slots[i].event_data);
        free(ahead->slots[i].threads);
    }
    free(ahead);
}

static const struct rsc_source_ops ahead_ops = {.next = ahead_next, .info = ahead_info, .close = ahead_close};

int rsc_ahead_open(struct rsc_source **out, struct rsc_source *inner, struct rsc_error *error) {
    struct ahead_source *ahead = calloc(1, sizeof *ahead);
    if (!ahead) return rsc_fail_memory(error, "decode-ahead");
    ahead->source.ops = &ahead_ops;
    ahead->inner = inner;
    rsc_info_of(inner, &ahead->before);
    int status = rsc_fill_ahead_start(&ahead->ahead, DEPTH, 1, fill_slot, NULL, ahead, error);
    if (status < 0) free(ahead);
    else *out = &ahead->source;
    return status;
}
