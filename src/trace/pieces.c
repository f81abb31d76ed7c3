/* pieces.c - see pieces.h. */
#include "trace/pieces.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/fill_ahead.h"
#include "base/grow.h"
#include "base/pages.h"
#include "trace/ahead.h"
#include "trace/filter.h"

#define SLOTS_MORE 2u /* besides one per worker: one being read, one ready */

/* A piece, stored and then decoded. */
struct slot {
    void *piece, *part;
    struct rsc_columns columns; /* room for `room` accesses each; pc NULL: none had pcs */
    uint64_t room, count;
    struct rsc_piece_batch *batches;
    uint32_t batch_count, batch_room;
    struct rsc_event *events;
    uint64_t event_count, event_room;
    uint8_t *data; /* of events, whose `data` is an offset until they are handed over */
    uint64_t data_count, data_room;
    struct rsc_thread *threads;
    uint32_t thread_count, thread_room;
    int has_pc;
    int problem; /* why decoding ended early, after these batches; 0: it did not */
    struct rsc_error error;
    uint64_t index;                             /* of its first access; RSC_UNKNOWN */
    uint64_t full_accesses, full_instructions; /* before the filter */
    int full_known;
};

struct worker {
    void *decoder;
    struct rsc_columns scratch; /* for batches that are filtered or become parts; NULL: not needed yet */
    struct rsc_event *events;
    uint32_t event_room;
};

struct pieces_source {
    struct rsc_source source;
    struct rsc_source *reader;
    const struct rsc_piece_kind *kind;
    const struct rsc_part_kind *part;
    struct rsc_filter filter; /* tids is owned */
    int filtered;
    uint64_t window_end;
    int totals_at_hand; /* reading can stop at the end of a window */
    struct rsc_trace_info before; /* what the reader knew when decoding began */
    uint32_t worker_count, slot_count;
    struct worker *workers;
    struct slot *slots;
    int started, ended;
    _Atomic uint64_t bytes; /* of all slots' columns */
    struct rsc_fill_ahead ahead;
    /* the reader's side: */
    struct slot *now; /* NULL: none yet */
    uint32_t next_batch;
    uint64_t next_access, next_event;
    struct rsc_thread *threads; /* of all pieces so far */
    uint32_t thread_count, thread_room;
    uint64_t seen, full_instructions;
    int full_known;
};

/* ---- in the workers ---- */

static void free_columns(struct rsc_columns *columns, uint64_t room) {
    rsc_pages_free(columns->addr, room * sizeof(uint64_t));
    rsc_pages_free(columns->meta, room * sizeof(uint64_t));
    rsc_pages_free(columns->pc, room * sizeof(uint64_t));
    *columns = (struct rsc_columns){0};
}

/* Pages are made when they are first written: a column that stays empty costs nothing. */
static int widen(uint64_t **column, uint64_t room, uint64_t new_room) {
    uint64_t *larger = room ? rsc_pages_grow(*column, room * sizeof *larger, new_room * sizeof *larger)
                            : rsc_pages_new(new_room * sizeof *larger);
    if (larger) *column = larger;
    return larger ? 0 : RSC_ENOMEM;
}

static int make_columns(struct rsc_columns *columns, uint64_t room, uint64_t new_room) {
    return widen(&columns->addr, room, new_room) < 0 || widen(&columns->meta, room, new_room) < 0 ||
                   widen(&columns->pc, room, new_room) < 0
               ? RSC_ENOMEM
               : 0;
}

/* Room for another batch after the accesses that the slot has. */
static int make_room(struct pieces_source *pieces, struct slot *slot) {
    if (slot->room - slot->count >= RSC_BATCH_ACCESSES) return 0;
    uint64_t room = slot->room ? 2 * slot->room : 4 * RSC_BATCH_ACCESSES;
    if (make_columns(&slot->columns, slot->room, room) < 0) return RSC_ENOMEM;
    atomic_fetch_add_explicit(&pieces->bytes, (room - slot->room) * sizeof(struct rsc_columns), memory_order_relaxed);
    slot->room = room;
    return 0;
}

static int keep_events(struct slot *slot, const struct rsc_batch *batch) {
    if (RSC_GROW(slot->events, slot->event_room, slot->event_count + batch->event_count)) return RSC_ENOMEM;
    for (uint32_t i = 0; i < batch->event_count; i++) {
        struct rsc_event *event = &slot->events[slot->event_count++];
        *event = batch->events[i];
        if (!event->data_bytes) continue;
        if (RSC_GROW(slot->data, slot->data_room, slot->data_count + event->data_bytes)) return RSC_ENOMEM;
        memcpy(slot->data + slot->data_count, event->data, event->data_bytes);
        event->data = (const void *)(uintptr_t)slot->data_count;
        slot->data_count += event->data_bytes;
    }
    return 0;
}

/* Adds a batch to the slot; its columns are copied unless they are in place or last. */
static int keep_batch(const struct pieces_source *pieces, struct slot *slot, const struct rsc_batch *batch) {
    struct rsc_columns *to = &slot->columns;
    size_t bytes = batch->count * sizeof(uint64_t);
    const int in_place = batch->addr == to->addr + slot->count;
    const int stays = !in_place && pieces->kind->lasting && !pieces->filtered && !batch->pc;
    if (!in_place && !stays && bytes) {
        memcpy(to->addr + slot->count, batch->addr, bytes);
        memcpy(to->meta + slot->count, batch->meta, bytes);
        if (batch->pc) memcpy(to->pc + slot->count, batch->pc, bytes);
    }
    slot->has_pc |= batch->pc != NULL;
    if (RSC_GROW(slot->batches, slot->batch_room, slot->batch_count + 1) || keep_events(slot, batch) < 0)
        return RSC_ENOMEM;
    slot->batches[slot->batch_count++] = (struct rsc_piece_batch){
        batch->count, batch->event_count, batch->instructions, stays ? batch->addr : NULL, stays ? batch->meta : NULL};
    if (!stays) slot->count += batch->count;
    return 0;
}

/*
 * Counts a batch that goes into the part. A slot with a part has two batches, as `settle` may learn what those whose
 * instructions are not known have: the first is all of these, the second all others.
 */
static int keep_part(const struct pieces_source *pieces, struct slot *slot, const struct rsc_batch *batch,
                     struct rsc_error *error) {
    if (!slot->batch_count) {
        if (RSC_GROW(slot->batches, slot->batch_room, 2)) return rsc_fail_memory(error, "decoding");
        slot->batches[0] = slot->batches[1] = (struct rsc_piece_batch){0};
        slot->batch_count = 2;
    }
    struct rsc_piece_batch *all = &slot->batches[batch->instructions != RSC_UNKNOWN];
    slot->count += batch->count;
    all->count += batch->count;
    if (batch->instructions != RSC_UNKNOWN) all->instructions += batch->instructions;
    else if (batch->count) all->instructions = RSC_UNKNOWN;
    return pieces->part->take(slot->part, batch, error);
}

static int filter_batch(const struct pieces_source *pieces, struct worker *worker, struct rsc_batch *batch,
                        uint64_t index) {
    uint64_t low = 0, high = UINT64_MAX, passed = 0;
    if (RSC_GROW(worker->events, worker->event_room, batch->event_count)) return RSC_ENOMEM;
    if (index != RSC_UNKNOWN) {
        uint64_t first = pieces->filter.first;
        low = first > index ? first - index : 0;
        high = pieces->window_end > index ? pieces->window_end - index : 0;
    }
    const struct rsc_columns *scratch = &worker->scratch;
    const struct rsc_filter_room room = {scratch->addr, scratch->meta, scratch->pc, worker->events};
    rsc_filter_keep(&pieces->filter, &passed, batch, low, high, &room);
    return 0;
}

static int keep_threads(struct slot *slot, const struct rsc_batch *batch) {
    if (!batch->threads) return 0;
    if (RSC_GROW(slot->threads, slot->thread_room, batch->thread_count)) return RSC_ENOMEM;
    if (batch->thread_count) memcpy(slot->threads, batch->threads, batch->thread_count * sizeof *slot->threads);
    slot->thread_count = batch->thread_count;
    return 0;
}

/* Decodes the slot's piece, whose batches before a problem stay. */
static int decode(struct pieces_source *pieces, struct worker *worker, struct slot *slot, struct rsc_error *error) {
    const int direct = !pieces->filtered && !pieces->part;
    int status = pieces->kind->start(worker->decoder, slot->piece, error);
    while (status >= 0) {
        struct rsc_batch batch;
        uint64_t index;
        struct rsc_columns to = worker->scratch;
        if (!pieces->part && make_room(pieces, slot) < 0) return rsc_fail_memory(error, "decoding");
        if (direct)
            to = (struct rsc_columns){slot->columns.addr + slot->count, slot->columns.meta + slot->count,
                                      slot->columns.pc + slot->count};
        status = pieces->kind->next(worker->decoder, &to, &batch, &index, error);
        if (status <= 0) return status;
        if (slot->index == RSC_UNKNOWN) slot->index = index;
        slot->full_accesses += batch.count;
        if (batch.instructions == RSC_UNKNOWN) slot->full_known &= !batch.count;
        else slot->full_instructions += batch.instructions;
        if (pieces->filtered && filter_batch(pieces, worker, &batch, index) < 0)
            return rsc_fail_memory(error, "filter");
        if (keep_threads(slot, &batch) < 0) return rsc_fail_memory(error, "decoding");
        if (pieces->part) status = keep_part(pieces, slot, &batch, error);
        else if (keep_batch(pieces, slot, &batch) < 0) return rsc_fail_memory(error, "decoding");
    }
    return status;
}

static int take_piece(void *context, uint64_t number, struct rsc_error *error) {
    struct pieces_source *pieces = context;
    return pieces->kind->take(pieces->reader, pieces->slots[number % pieces->slot_count].piece, error);
}

static int make_piece(void *context, uint32_t number, uint64_t piece, struct rsc_error *error) {
    struct pieces_source *pieces = context;
    struct worker *worker = &pieces->workers[number];
    struct slot *slot = &pieces->slots[piece % pieces->slot_count];
    slot->count = slot->event_count = slot->data_count = slot->full_accesses = slot->full_instructions = 0;
    slot->batch_count = slot->thread_count = 0;
    slot->has_pc = 0;
    slot->full_known = 1;
    slot->index = RSC_UNKNOWN;
    if (!worker->decoder) {
        int status = pieces->kind->worker_new(&worker->decoder, pieces->reader, error);
        if (status < 0) return status;
    }
    if (pieces->part && !slot->part && !(slot->part = pieces->part->create(pieces->part->context)))
        return rsc_fail_memory(error, "decoding");
    if ((pieces->part || pieces->filtered) && !worker->scratch.addr &&
        make_columns(&worker->scratch, 0, RSC_BATCH_ACCESSES) < 0)
        return rsc_fail_memory(error, "decoding");
    if (pieces->part) pieces->part->begin(slot->part);
    slot->problem = decode(pieces, worker, slot, &slot->error);
    return 1;
}

/* ---- at the reader ---- */

static int start(struct pieces_source *pieces, struct rsc_error *error) {
    for (uint32_t i = 0; i < pieces->slot_count; i++)
        if (!pieces->slots[i].piece && !(pieces->slots[i].piece = calloc(1, pieces->kind->piece_bytes)))
            return rsc_fail_memory(error, "decoding");
    int status = rsc_fill_ahead_start(&pieces->ahead, pieces->slot_count, pieces->worker_count, take_piece, make_piece,
                                      pieces, error);
    pieces->started = !status;
    return status;
}

/* Threads of a piece are added to those of the pieces before it; what a worker does not know is (0, number). */
static int merge_threads(struct pieces_source *pieces, const struct slot *slot) {
    uint32_t before = pieces->thread_room;
    if (RSC_GROW(pieces->threads, pieces->thread_room, slot->thread_count)) return RSC_ENOMEM;
    for (uint32_t i = before; i < pieces->thread_room; i++) pieces->threads[i] = (struct rsc_thread){0, i};
    for (uint32_t i = 0; i < slot->thread_count; i++)
        if (slot->threads[i].pid || slot->threads[i].tid != i) pieces->threads[i] = slot->threads[i];
    if (slot->thread_count > pieces->thread_count) pieces->thread_count = slot->thread_count;
    return 0;
}

/* Does what depends on the pieces before. Returns 1 or negative. */
static int settle(struct pieces_source *pieces, struct slot *slot, struct rsc_error *error) {
    struct rsc_piece_view view = {.batches = slot->batches,
                                  .batch_count = slot->batch_count,
                                  .meta = slot->columns.meta,
                                  .pc = slot->has_pc ? slot->columns.pc : NULL,
                                  .count = slot->count,
                                  .full_known = &slot->full_known};
    int status = pieces->kind->settle ? pieces->kind->settle(pieces->reader, slot->piece, &view, error) : 0;
    if (status < 0) return status;
    if (view.threads && RSC_GROW(slot->threads, slot->thread_room, view.thread_count))
        return rsc_fail_memory(error, "threads");
    if (view.threads) {
        memcpy(slot->threads, view.threads, view.thread_count * sizeof *slot->threads);
        slot->thread_count = view.thread_count;
    }
    if (merge_threads(pieces, slot) < 0) return rsc_fail_memory(error, "threads");
    pieces->full_known &= slot->full_known;
    return 1;
}

/* Moves to the next piece. Returns 1, 0 at the end, or negative. */
static int next_piece(struct pieces_source *pieces, struct rsc_error *error) {
    uint32_t number;
    if (pieces->ended) return 0;
    int status = pieces->started ? 0 : start(pieces, error);
    if (status < 0) return status;
    if (pieces->now && pieces->now->problem) {
        *error = pieces->now->error;
        return pieces->now->problem;
    }
    if ((status = rsc_fill_ahead_next(&pieces->ahead, &number, error)) < 0) return status;
    if (!status) {
        pieces->ended = 1;
        return pieces->kind->finish ? pieces->kind->finish(pieces->reader, error) : 0;
    }
    struct slot *slot = pieces->now = &pieces->slots[number];
    pieces->next_batch = 0;
    pieces->next_access = pieces->next_event = 0;
    /* what follows a window need not be read, nor be in order */
    pieces->ended = pieces->filtered && pieces->totals_at_hand && slot->index != RSC_UNKNOWN &&
                    slot->index + slot->full_accesses >= pieces->window_end;
    pieces->seen += slot->full_accesses;
    pieces->full_instructions += slot->full_instructions;
    return settle(pieces, slot, error);
}

static void fill_threads(const struct pieces_source *pieces, struct rsc_batch *batch) {
    batch->threads = pieces->thread_count ? pieces->threads : NULL;
    batch->thread_count = pieces->thread_count;
}

static int pieces_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct pieces_source *pieces = (struct pieces_source *)source;
    while (!pieces->now || pieces->next_batch == pieces->now->batch_count) {
        int status = next_piece(pieces, error);
        if (status <= 0) return status;
    }
    struct slot *slot = pieces->now;
    const struct rsc_piece_batch *kept = &slot->batches[pieces->next_batch++];
    *batch = (struct rsc_batch){.count = kept->count,
                                .event_count = kept->event_count,
                                .addr = kept->addr ? kept->addr : slot->columns.addr + pieces->next_access,
                                .meta = kept->meta ? kept->meta : slot->columns.meta + pieces->next_access,
                                .pc = slot->has_pc ? slot->columns.pc + pieces->next_access : NULL,
                                .instructions = kept->instructions};
    struct rsc_event *events = slot->events ? slot->events + pieces->next_event : NULL;
    for (uint32_t i = 0; i < kept->event_count; i++)
        if (events[i].data_bytes) events[i].data = slot->data + (uintptr_t)events[i].data;
    batch->events = events;
    fill_threads(pieces, batch);
    if (!kept->addr) pieces->next_access += kept->count;
    pieces->next_event += kept->event_count;
    return 1;
}

int rsc_pieces_next_part(struct rsc_source *source, void **part, struct rsc_batch *batch, struct rsc_error *error) {
    struct pieces_source *pieces = (struct pieces_source *)source;
    int status;
    do { /* of a piece with a problem, everything is dropped */
        if ((status = next_piece(pieces, error)) <= 0) return status;
    } while ((pieces->now->problem && !pieces->ended) || !pieces->now->batch_count);
    const struct rsc_piece_batch *kept = pieces->now->batches;
    const int known = kept[0].instructions != RSC_UNKNOWN;
    *part = pieces->now->part;
    *batch = (struct rsc_batch){.count = (uint32_t)pieces->now->count,
                                .instructions = known ? kept[0].instructions + kept[1].instructions : RSC_UNKNOWN};
    fill_threads(pieces, batch);
    return 1;
}

uint64_t rsc_pieces_bytes(struct rsc_source *source) {
    return atomic_load_explicit(&((struct pieces_source *)source)->bytes, memory_order_relaxed);
}

void rsc_pieces_use_parts(struct rsc_source *source, const struct rsc_part_kind *kind) {
    struct pieces_source *pieces = (struct pieces_source *)source;
    assert(!pieces->started);
    pieces->part = kind;
}

void rsc_pieces_end_parts(struct rsc_source *source) {
    struct pieces_source *pieces = (struct pieces_source *)source;
    if (pieces->started) rsc_fill_ahead_stop(&pieces->ahead);
    pieces->started = 0;
    pieces->ended = 1;
    for (uint32_t i = 0; i < pieces->slot_count; i++) {
        if (pieces->slots[i].part) pieces->part->destroy(pieces->slots[i].part);
        pieces->slots[i].part = NULL;
    }
    pieces->part = NULL;
}

/* The reader's totals change while it is read: until all has been handed over, those from before. */
static void pieces_info(struct rsc_source *source, struct rsc_trace_info *info) {
    struct pieces_source *pieces = (struct pieces_source *)source;
    if (!pieces->started || rsc_fill_ahead_ended(&pieces->ahead)) {
        if (pieces->reader->ops->info) pieces->reader->ops->info(pieces->reader, info);
    } else {
        rsc_info_from_before(info, &pieces->before);
    }
    if (pieces->filtered)
        rsc_filter_info(&pieces->filter, pieces->seen, pieces->full_known ? pieces->full_instructions : RSC_UNKNOWN,
                        info);
}

static void pieces_close(struct rsc_source *source) {
    struct pieces_source *pieces = (struct pieces_source *)source;
    if (pieces->started) rsc_fill_ahead_stop(&pieces->ahead);
    for (uint32_t i = 0; pieces->workers && i < pieces->worker_count; i++) {
        if (pieces->workers[i].decoder) pieces->kind->worker_free(pieces->workers[i].decoder);
        free_columns(&pieces->workers[i].scratch, RSC_BATCH_ACCESSES);
        free(pieces->workers[i].events);
    }
    for (uint32_t i = 0; pieces->slots && i < pieces->slot_count; i++) {
        struct slot *slot = &pieces->slots[i];
        if (slot->piece) pieces->kind->piece_free(slot->piece);
        if (slot->part) pieces->part->destroy(slot->part);
        free(slot->piece);
        free_columns(&slot->columns, slot->room);
        free(slot->batches);
        free(slot->events);
        free(slot->data);
        free(slot->threads);
    }
    if (pieces->reader) pieces->reader->ops->close(pieces->reader);
    free(pieces->workers);
    free(pieces->slots);
    free(pieces->threads);
    free((void *)pieces->filter.tids);
    free(pieces);
}

static const struct rsc_source_ops pieces_ops = {.next = pieces_next, .info = pieces_info, .close = pieces_close};

int rsc_pieces_can_filter(const struct rsc_piece_kind *kind, const struct rsc_filter *filter) {
    if (filter->every > 1) return 0;
    return kind->indexed || (!filter->first && filter->count == UINT64_MAX);
}

int rsc_pieces_open(struct rsc_source **out, struct rsc_source *reader, const struct rsc_filter *filter,
                    uint32_t workers, struct rsc_error *error) {
    struct pieces_source *pieces = calloc(1, sizeof *pieces);
    *out = NULL;
    if (!pieces) return rsc_fail_memory(error, "decoding");
    pieces->source.ops = &pieces_ops;
    pieces->kind = reader->ops->pieces;
    pieces->worker_count = workers;
    pieces->slot_count = workers + SLOTS_MORE;
    pieces->full_known = 1;
    pieces->workers = calloc(pieces->worker_count, sizeof *pieces->workers);
    pieces->slots = calloc(pieces->slot_count, sizeof *pieces->slots);
    int status = pieces->workers && pieces->slots ? 0 : RSC_ENOMEM;
    if (!status && filter) {
        pieces->filtered = 1;
        pieces->window_end = filter->count > UINT64_MAX - filter->first ? UINT64_MAX : filter->first + filter->count;
        status = rsc_filter_copy(&pieces->filter, filter);
    }
    if (status < 0) {
        pieces_close(&pieces->source);
        return rsc_fail_memory(error, "decoding");
    }
    rsc_info_of(reader, &pieces->before);
    pieces->totals_at_hand = pieces->before.full_accesses != RSC_UNKNOWN;
    /* A window of a seekable trace starts with a seek; where that fails, reading from the start finds it too. */
    struct rsc_error ignored;
    if (filter && filter->first && reader->ops->seek) reader->ops->seek(reader, filter->first, &ignored);
    pieces->reader = reader;
    *out = &pieces->source;
    return 0;
}
