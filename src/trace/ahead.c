/*
 * ahead.c - decode-ahead.
 *
 * One pool task pulls batches from the inner source into a small ring. A batch is
 * passed on without a copy when the inner source keeps it long enough (`keeps`).
 * The thread table is always copied: the inner source may move it.
 */
#include "trace/ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pool.h"

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
    struct rsc_pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock: */
    uint64_t made, taken; /* batches */
    int reading;          /* the last one taken is still being read */
    int stop;
    int status; /* 1 while there is more, then what next returned */
    struct rsc_error error;
    struct rsc_trace_info before; /* what the inner source knew when decoding began */
    /* Each slot belongs to the decoder until made, then to the reader until given back. */
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

static int fill_slot(struct ahead_source *ahead, struct slot *slot, struct rsc_error *error) {
    int status = ahead->inner->ops->next(ahead->inner, &slot->batch, error);
    if (status <= 0) return status;
    if (copy_threads(slot) < 0 || (ahead->inner->keeps < DEPTH && copy_columns(slot) < 0))
        return rsc_fail_memory(error, "decode-ahead");
    return 1;
}

static void decode(void *argument) {
    struct ahead_source *ahead = argument;
    pthread_mutex_lock(&ahead->lock);
    while (ahead->status > 0) {
        while (!ahead->stop && ahead->made - ahead->taken + (uint64_t)ahead->reading >= DEPTH)
            pthread_cond_wait(&ahead->changed, &ahead->lock);
        if (ahead->stop) break;
        struct slot *slot = &ahead->slots[ahead->made % DEPTH];
        struct rsc_error error;
        pthread_mutex_unlock(&ahead->lock);
        int status = fill_slot(ahead, slot, &error);
        pthread_mutex_lock(&ahead->lock);
        if (status > 0) ahead->made++;
        else ahead->status = status;
        if (status < 0) ahead->error = error;
        pthread_cond_broadcast(&ahead->changed);
    }
    pthread_mutex_unlock(&ahead->lock);
}

static int ahead_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct ahead_source *ahead = (struct ahead_source *)source;
    int status = 1;
    pthread_mutex_lock(&ahead->lock);
    ahead->reading = 0;
    pthread_cond_broadcast(&ahead->changed);
    while (ahead->taken == ahead->made && ahead->status > 0) pthread_cond_wait(&ahead->changed, &ahead->lock);
    if (ahead->taken < ahead->made) {
        *batch = ahead->slots[ahead->taken++ % DEPTH].batch;
        ahead->reading = 1;
    } else {
        status = ahead->status;
        if (status < 0 && error) *error = ahead->error;
    }
    pthread_mutex_unlock(&ahead->lock);
    return status;
}

static void stop_decoding(struct ahead_source *ahead) {
    pthread_mutex_lock(&ahead->lock);
    ahead->stop = 1;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    rsc_pool_free(ahead->pool);
    ahead->pool = NULL;
}

/* The inner source's totals change while decoding: until it has ended, report the values from before. */
static void ahead_info(struct rsc_source *source, struct rsc_trace_info *info) {
    struct ahead_source *ahead = (struct ahead_source *)source;
    pthread_mutex_lock(&ahead->lock);
    int ended = ahead->status <= 0;
    pthread_mutex_unlock(&ahead->lock);
    if (ended && ahead->inner->ops->info) ahead->inner->ops->info(ahead->inner, info);
    else if (ahead->inner->ops->info) {
        struct rsc_trace_info outer = *info;
        *info = ahead->before;
        info->format = outer.format;
        info->compression = outer.compression;
        info->file_bytes = outer.file_bytes;
    }
}

static void ahead_close(struct rsc_source *source) {
    struct ahead_source *ahead = (struct ahead_source *)source;
    if (ahead->pool) stop_decoding(ahead);
    ahead->inner->ops->close(ahead->inner);
    for (uint32_t i = 0; i < DEPTH; i++) {
        free(ahead->slots[i].columns);
        free(ahead->slots[i].events);
        free(ahead->slots[i].event_data);
        free(ahead->slots[i].threads);
    }
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}

static const struct rsc_source_ops ahead_ops = {.next = ahead_next, .info = ahead_info, .close = ahead_close};

int rsc_ahead_open(struct rsc_source **out, struct rsc_source *inner, struct rsc_error *error) {
    struct ahead_source *ahead = calloc(1, sizeof *ahead);
    if (!ahead) return rsc_fail_memory(error, "decode-ahead");
    ahead->source.ops = &ahead_ops;
    ahead->inner = inner;
    ahead->status = 1;
    ahead->before = (struct rsc_trace_info){.source = "",
                                            .command = "",
                                            .filter = "",
                                            .accesses = RSC_UNKNOWN,
                                            .instructions = RSC_UNKNOWN,
                                            .full_accesses = RSC_UNKNOWN,
                                            .full_instructions = RSC_UNKNOWN};
    if (inner->ops->info) inner->ops->info(inner, &ahead->before);
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    int status = rsc_pool_new(&ahead->pool, 1, error);
    if (status < 0) {
        pthread_cond_destroy(&ahead->changed);
        pthread_mutex_destroy(&ahead->lock);
        free(ahead);
        return status;
    }
    rsc_pool_submit(ahead->pool, decode, ahead);
    *out = &ahead->source;
    return 0;
}
