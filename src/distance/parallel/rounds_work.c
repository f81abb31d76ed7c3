/*
 * rounds_work.c - a round of the parallel engine, step by step, each on all workers; engine_rounds.c explains the
 * method.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/seconds.h"
#include "distance/parallel/engine_parallel.h"
#include "distance/parallel/rounds_state.h"

/* Places of the bitmap until compaction: this many per line, and this many rounds more. */
#define PLACES_PER_LINE 4u
#define PLACES_ROUNDS 6u

void rsc_rounds_fail(struct rounds_engine *engine, int status) {
    pthread_mutex_lock(&engine->lock);
    if (!engine->status) {
        engine->status = status;
        rsc_parallel_failure(&engine->error, status, engine->workers, "rounds", rounds_length(engine));
    }
    atomic_store(&engine->stop, 1);
    pthread_cond_broadcast(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
}

void rsc_rounds_show(struct rounds_engine *engine, const uint32_t *rd, uint32_t count) {
    const struct rsc_distance_block seen = {.rd = rd, .count = count};
    if (!engine->watch.block) return;
    pthread_mutex_lock(&engine->lock);
    int status = engine->watch.block(engine->watch.context, &seen);
    pthread_mutex_unlock(&engine->lock);
    if (status < 0) rsc_rounds_fail(engine, status);
}

static int stopped(const struct rounds_engine *engine) {
    return atomic_load_explicit(&engine->stop, memory_order_relaxed);
}

/* ---- memory ---- */

static uint64_t pieces_most(const struct rounds_engine *engine) {
    return (uint64_t)engine->workers * engine->slice_pieces;
}

/* Words of the bitmap for consecutive references: 8 for 448. */
static uint64_t words_of(uint64_t references) {
    return (references + RSC_RANK_LINE_SLOTS - 1) / RSC_RANK_LINE_SLOTS * 8;
}

int rsc_rounds_make_round(struct rounds_engine *engine) {
    struct rounds_stays *stays = &engine->stays;
    uint64_t most = rounds_length(engine), slice_most = most / engine->workers;
    stays->key = rsc_pages_new(most * sizeof *stays->key);
    stays->use = rsc_pages_new(most * sizeof *stays->use);
    stays->at = rsc_pages_new(most * sizeof *stays->at);
    stays->left = rsc_pages_new(most * sizeof *stays->left);
    stays->above = rsc_pages_new(most * sizeof *stays->above);
    engine->piece = calloc(pieces_most(engine), sizeof *engine->piece);
    if (!stays->key || !stays->use || !stays->at || !stays->left || !stays->above || !engine->piece) return RSC_ENOMEM;
    for (uint32_t s = 0; s < engine->workers; s++) {
        struct rounds_slice *slice = &engine->slice[s];
        slice->own_words = words_of(slice_most);
        slice->own = rsc_pages_new(slice->own_words * sizeof *slice->own);
        slice->taken_room = (uint32_t)(slice_most / RSC_TAKEN_BLOCK) + RSC_RANGES_MOST + 2;
        slice->taken = rsc_pages_new(slice->taken_room * sizeof *slice->taken);
        if (!slice->own || !slice->taken) return RSC_ENOMEM;
    }
    return 0;
}

void rsc_rounds_free_round(struct rounds_engine *engine) {
    struct rounds_stays *stays = &engine->stays;
    uint64_t most = rounds_length(engine);
    rsc_pages_free(stays->key, most * sizeof *stays->key);
    rsc_pages_free(stays->use, most * sizeof *stays->use);
    rsc_pages_free(stays->last_tag, most * sizeof *stays->last_tag);
    rsc_pages_free(stays->at, most * sizeof *stays->at);
    rsc_pages_free(stays->left, most * sizeof *stays->left);
    rsc_pages_free(stays->above, most * sizeof *stays->above);
    free(engine->piece);
    for (uint32_t s = 0; engine->slice && s < engine->workers; s++) {
        struct rounds_slice *slice = &engine->slice[s];
        rsc_rank_free(&slice->rank);
        rsc_pages_free(slice->own, slice->own_words * sizeof *slice->own);
        rsc_pages_free(slice->taken, slice->taken_room * sizeof *slice->taken);
    }
    rsc_pages_free(engine->base, words_of(engine->places) * sizeof *engine->base);
    rsc_pages_free(engine->old_time, engine->old_time_bytes);
    rsc_pages_free(engine->new_time, engine->new_time_bytes);
}

/* ---- places ---- */

static uint64_t distinct_lines(const struct rounds_engine *engine) {
    uint64_t distinct = 0;
    for (uint32_t p = 0; p < RSC_PARTS; p++) distinct += engine->part[p].distinct;
    return distinct;
}

/* Allocates a larger bitmap, empty, for the stack and for that of each slice. */
static int make_bitmaps(struct rounds_engine *engine, uint64_t places) {
    rsc_pages_free(engine->base, words_of(engine->places) * sizeof *engine->base);
    engine->places = 0;
    engine->base = rsc_pages_new(words_of(places) * sizeof *engine->base);
    if (!engine->base) return RSC_ENOMEM;
    engine->places = places;
    for (uint32_t s = 0; s < engine->workers; s++) {
        rsc_rank_free(&engine->slice[s].rank);
        int status = rsc_rank_init(&engine->slice[s].rank, places);
        if (status < 0) return status;
    }
    return 0;
}

static void renumber_part(void *argument, size_t part) {
    struct rounds_engine *engine = argument;
    engine->renumber(engine, (uint32_t)part, engine->new_time);
}

/* Gives the lines places 0, 1, 2... in order of last use. */
static int compact(struct rounds_engine *engine) {
    uint64_t live = distinct_lines(engine), words = words_of(engine->next_place);
    uint64_t places = live * PLACES_PER_LINE + PLACES_ROUNDS * rounds_length(engine);
    uint64_t time_bytes = engine->no_ri ? 0 : (live + 1) * sizeof *engine->new_time;
    if (places > RSC_RANK_PLACES_MAX) places = RSC_RANK_PLACES_MAX;
    if (places < live + 2 * rounds_length(engine)) return RSC_ELIMIT;
    if (live) {
        struct rsc_rank_bitmap *rank = &engine->slice[0].rank;
        if (time_bytes > engine->new_time_bytes) {
            rsc_pages_free(engine->new_time, engine->new_time_bytes);
            engine->new_time_bytes = time_bytes + time_bytes / 4;
            if (!(engine->new_time = rsc_pages_new(engine->new_time_bytes))) return RSC_ENOMEM;
        }
        memcpy(rank->lines, engine->base, words * sizeof *engine->base);
        engine->count_lines(rank, (uint32_t)(words / 8));
        rsc_pool_for(engine->pool, RSC_PARTS, renumber_part, engine);
        uint64_t *times = engine->old_time, bytes = engine->old_time_bytes;
        engine->old_time = engine->new_time;
        engine->old_time_bytes = engine->new_time_bytes;
        engine->new_time = times;
        engine->new_time_bytes = bytes;
        memset(engine->base, 0, words * sizeof *engine->base);
        engine->compactions++;
    }
    if (places > engine->places) {
        /* a quarter more, so that it does not grow every time */
        int status =
            make_bitmaps(engine, live && places + places / 4 < RSC_RANK_PLACES_MAX ? places + places / 4 : places);
        if (status < 0) return status;
    }
    for (uint64_t place = 0; place < live; place += 64) {
        uint64_t left = live - place;
        engine->base[rsc_rank_slot((uint32_t)place) >> 6] = left < 64 ? (1ull << left) - 1 : ~0ull;
    }
    engine->compacted_slot = rsc_rank_slot((uint32_t)live);
    engine->next_place = (live + RSC_RANK_LINE_SLOTS - 1) / RSC_RANK_LINE_SLOTS * RSC_RANK_LINE_SLOTS;
    engine->time_of_place = engine->round->first - engine->next_place;
    return 0;
}

/* Sets places for the references of the round; its pieces, slices and ranges. */
static int begin_round(struct rounds_engine *engine) {
    uint64_t length = engine->piece_length, count = engine->round->count;
    uint64_t most = (count + RSC_RANK_LINE_SLOTS - 1) / RSC_RANK_LINE_SLOTS * RSC_RANK_LINE_SLOTS;
    if (engine->next_place + most > engine->places) {
        int status = compact(engine);
        if (status < 0) return status;
    }
    engine->first_place = engine->next_place;
    engine->next_place += most;
    assert(engine->first_place % RSC_RANK_LINE_SLOTS == 0 && engine->next_place <= engine->places);
    engine->piece_count = (uint32_t)((count + length - 1) / length);
    for (uint32_t p = 0; p < engine->piece_count; p++)
        engine->piece[p].count = (uint32_t)(count - p * length < length ? count - p * length : length);
    engine->slice_count = engine->workers < engine->piece_count ? engine->workers : engine->piece_count;
    for (uint32_t s = 0; s < engine->slice_count; s++) {
        struct rounds_slice *slice = &engine->slice[s];
        slice->first_piece = (uint32_t)((uint64_t)engine->piece_count * s / engine->slice_count);
        slice->end_piece = (uint32_t)((uint64_t)engine->piece_count * (s + 1) / engine->slice_count);
        slice->first_slot = rsc_rank_slot((uint32_t)(engine->first_place + slice->first_piece * length));
    }
    uint32_t last = rsc_rank_slot((uint32_t)(engine->next_place - 1));
    for (engine->range_shift = 9; last >> engine->range_shift >= RSC_RANGES_MOST;) engine->range_shift++;
    engine->range_count = (last >> engine->range_shift) + 1;
    for (uint32_t p = 0; engine->round->tag && p < RSC_PARTS; p++)
        if (!engine->part[p].map.extra && rsc_line_map_add_extra(&engine->part[p].map) < 0) return RSC_ENOMEM;
    if (engine->round->tag && !engine->stays.last_tag &&
        !(engine->stays.last_tag = rsc_pages_new(rounds_length(engine) * sizeof *engine->stays.last_tag)))
        return RSC_ENOMEM;
    return 0;
}

/* ---- workers ---- */

/* Gets a worker to count in, for references first to end - 1 of the round. */
static struct rounds_worker *begin_work(struct rounds_engine *engine, uint64_t first, uint64_t end) {
    pthread_mutex_lock(&engine->lock);
    struct rounds_worker *worker = engine->idle[--engine->idle_count];
    pthread_mutex_unlock(&engine->lock);
    int status = rsc_accumulator_need_rows(&worker->sum, engine->threads, engine->kinds);
    if (!status && engine->grid.cells)
        status = rsc_phase_part_start(&worker->phases, &engine->grid, engine->round->first + first,
                                      engine->round->first + end);
    if (status < 0) rsc_rounds_fail(engine, status);
    return worker;
}

static void end_work(struct rounds_engine *engine, struct rounds_worker *worker) {
    pthread_mutex_lock(&engine->lock);
    if (engine->grid.cells && !stopped(engine)) rsc_phase_grid_add(&engine->grid, &worker->phases);
    engine->idle[engine->idle_count++] = worker;
    pthread_mutex_unlock(&engine->lock);
}

/* ---- the steps ---- */

static void gather_piece(void *argument, size_t index) {
    struct rounds_engine *engine = argument;
    uint64_t first = index * engine->piece_length;
    struct rounds_worker *worker = begin_work(engine, first, first + engine->piece[index].count);
    if (!stopped(engine)) engine->gather(engine, worker, (uint32_t)index);
    end_work(engine, worker);
}

static void look_up_part(void *argument, size_t part) {
    struct rounds_engine *engine = argument;
    int status = stopped(engine) ? 0 : engine->look_up(engine, (uint32_t)part);
    if (status < 0) rsc_rounds_fail(engine, status);
}

static void begin_taken(struct rounds_slice *slice, uint32_t range) {
    uint32_t number = slice->taken_count++;
    slice->taken[number].next = slice->taken_in[range];
    slice->taken[number].count = 0;
    slice->taken_in[range] = number;
}

/* Predicts a slice's changes: bits it sets, which may be cleared again, and bits it clears. */
static void foresee_slice(void *argument, size_t index) {
    struct rounds_engine *engine = argument;
    struct rounds_slice *slice = &engine->slice[index];
    uint32_t shift = engine->range_shift;
    if (stopped(engine)) return;
    memset(slice->own, 0, slice->own_words * sizeof *slice->own);
    memset(slice->taken_in, 0, sizeof slice->taken_in);
    slice->taken_count = 1;
    for (uint32_t range = 0; range <= RSC_RANGE_NONE; range++) begin_taken(slice, range);
    for (uint32_t p = slice->first_piece; p < slice->end_piece; p++) {
        uint64_t base = (uint64_t)p * engine->piece_length;
        const uint64_t *key = engine->stays.key + base;
        const struct rounds_use *use = engine->stays.use + base;
        uint32_t own_slot = rsc_rank_slot((uint32_t)(engine->first_place + base)) - slice->first_slot;
        for (uint32_t i = 0; i < engine->piece[p].stays; i++) {
            uint32_t held = (uint32_t)key[i], slot = own_slot + rsc_rank_slot(use[i].last);
            uint32_t range = held ? (held - 1) >> shift : RSC_RANGE_NONE;
            struct rounds_taken *block = &slice->taken[slice->taken_in[range]];
            block->slot[block->count++] = held - 1;
            if (__builtin_expect(block->count == RSC_TAKEN_BLOCK, 0)) begin_taken(slice, range);
            slice->own[slot >> 6] |= 1ull << (slot & 63);
        }
    }
}

/* Updates a range of the stack to the end of the round; each slice gets a copy in the state at its beginning. */
static void build_range(void *argument, size_t range) {
    struct rounds_engine *engine = argument;
    uint64_t begin = (uint64_t)range << engine->range_shift >> 6,
             end = (uint64_t)(range + 1) << engine->range_shift >> 6;
    if (stopped(engine)) return;
    if (end > words_of(engine->next_place)) end = words_of(engine->next_place);
    for (uint32_t s = 0; s < engine->slice_count; s++) {
        struct rounds_slice *slice = &engine->slice[s];
        uint64_t own_begin = slice->first_slot >> 6, own_end, copied = end < own_begin ? end : own_begin;
        own_end = s + 1 < engine->slice_count ? engine->slice[s + 1].first_slot >> 6 : words_of(engine->next_place);
        if (begin < copied)
            memcpy(slice->rank.lines + begin, engine->base + begin, (copied - begin) * sizeof *engine->base);
        if (own_begin < begin) own_begin = begin;
        if (own_end > end) own_end = end;
        if (own_begin < own_end)
            memcpy(engine->base + own_begin, slice->own + (own_begin - (slice->first_slot >> 6)),
                   (own_end - own_begin) * sizeof *engine->base);
        for (uint32_t number = slice->taken_in[range]; number; number = slice->taken[number].next) {
            const struct rounds_taken *block = &slice->taken[number];
            for (uint32_t i = 0; i < block->count; i++)
                engine->base[block->slot[i] >> 6] &= ~(1ull << (block->slot[i] & 63));
        }
    }
}

static void answer_slice(void *argument, size_t index) {
    struct rounds_engine *engine = argument;
    struct rounds_slice *slice = &engine->slice[index];
    uint64_t first = (uint64_t)slice->first_piece * engine->piece_length,
             end = (uint64_t)slice->end_piece * engine->piece_length;
    if (end > engine->round->count) end = engine->round->count;
    struct rounds_worker *worker = begin_work(engine, first, end);
    if (!stopped(engine)) {
        memset(slice->rank.lines + (slice->first_slot >> 6), 0, words_of(end - first) * sizeof *slice->rank.lines);
        engine->count_lines(&slice->rank, slice->first_slot >> 9);
        engine->answer(engine, worker, slice);
    }
    end_work(engine, worker);
}

/* ---- attribution, in order, beside the next round ---- */

static void attribute_round(void *argument) {
    struct rounds_engine *engine = argument;
    struct rounds_columns *columns = engine->attributing;
    int status =
        stopped(engine) ? 0 : rsc_late_attribution_count(engine->tags.late, columns->line, columns->count, NULL);
    if (status < 0) rsc_rounds_fail(engine, status);
    pthread_mutex_lock(&engine->lock);
    engine->attributing = NULL;
    pthread_cond_broadcast(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
}

/* ---- a round ---- */

struct step {
    struct rounds_engine *engine;
    void (*body)(void *engine, size_t index);
    enum rounds_step number;
};

static void do_timed(void *argument, size_t index) {
    const struct step *step = argument;
    const uint64_t start = rsc_thread_ns();
    step->body(step->engine, index);
    atomic_fetch_add_explicit(&step->engine->step_ns[step->number], rsc_thread_ns() - start, memory_order_relaxed);
}

static void do_step(struct rounds_engine *engine, enum rounds_step number, size_t count, void (*body)(void *, size_t)) {
    struct step step = {engine, body, number};
    rsc_pool_for(engine->pool, count, do_timed, &step);
}

void rsc_rounds_round(void *argument) {
    struct rounds_engine *engine = argument;
    int status = stopped(engine) ? 0 : begin_round(engine), attribute;
    if (status < 0) rsc_rounds_fail(engine, status);
    if (!stopped(engine)) {
        do_step(engine, ROUNDS_GATHER, engine->piece_count, gather_piece);
        do_step(engine, ROUNDS_LOOK_UP, RSC_PARTS, look_up_part);
        do_step(engine, ROUNDS_FORESEE, engine->slice_count, foresee_slice);
        do_step(engine, ROUNDS_BUILD, engine->range_count, build_range);
        do_step(engine, ROUNDS_ANSWER, engine->slice_count, answer_slice);
    }
    pthread_mutex_lock(&engine->lock);
    /* The round before is still being attributed, by a task that began before this one on another thread. */
    while (engine->attributing) pthread_cond_wait(&engine->changed, &engine->lock);
    attribute = engine->round->tag && !stopped(engine);
    if (attribute) engine->attributing = engine->round;
    pthread_mutex_unlock(&engine->lock);
    if (attribute) rsc_pool_submit(engine->pool, attribute_round, engine);
    pthread_mutex_lock(&engine->lock);
    engine->rounds++;
    engine->busy = 0;
    pthread_cond_broadcast(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
}
