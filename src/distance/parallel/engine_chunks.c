/*
 * engine_chunks.c - the exact engine on several cores (engine_parallel.c): the trace is cut in time.
 *
 * push() cuts accesses into lines and appends them to a ring (reference_ring.h). A worker that is free
 * takes the next stretch of it, a *chunk*, and
 *   runs    it through a state of its own (split.h),
 *   replays its first uses into the states of the `window` chunks before it, step
 *           by step, and at last into the *carried* state, which stands for
 *           everything older,
 *   carries what the oldest chunk of the window still holds over into that state,
 *           since the window moves on.
 * Chunk k may do step t when chunk k - 1 has done step t - 1, so that a state sees
 * its nearest successor first. Chunks are taken in order and take about the same
 * time, so there is little waiting. Nothing is ever done for all chunks at once,
 * and nothing but the carried state is passed from chunk to chunk.
 *
 * Only `workers` chunks are in work, and they are completed in order. So when chunk
 * k is taken, chunk k - workers is complete, and the state of the chunk that left
 * the window with it is free: workers + window states are enough.
 *
 * The cost beside running is replaying, about one look-up for each line of a chunk,
 * and what the window no longer holds going through the carried state, one chunk
 * after the other. Both are small when a chunk is several times as long as its lines
 * are many: chunks grow until they are, but to no more than an even share of what
 * waits in the ring or of what is done, so that short traces and the ends of long
 * ones are spread over all workers.
 */
#include "distance/parallel/engine_parallel.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/pages.h"
#include "distance/engine_kind.h"
#include "distance/parallel/chunks_state.h"
#include "trace/references.h"

/* The ring at most: 64 MiB a worker, from 256 MiB to 1 GiB, in references; chunks may be as long as half of it is for
 * all workers. How much of it is used is for rsc_chunks_in_flight() to say. With attribution every access is kept beside it, at
 * 24 bytes and more. A segment is a huge page of lines. */
#define RING_EACH (8ull << 20)
#define RING_LEAST (32ull << 20)
#define RING_MOST (128ull << 20)
#define RING_EACH_ATTRIBUTED (1ull << 20)
#define RING_MOST_ATTRIBUTED (32ull << 20)
#define SEGMENT_SHIFT 18u
/* Segments that get their memory from idle workers before they are used, and in one go. */
#define PREPARE_AHEAD 16u
#define PREPARE_ONCE 8u

/* ---- the engine ---- */

static void chunks_destroy(void *state) {
    struct chunks_engine *engine = state;
    if (!engine) return;
    pthread_mutex_lock(&engine->lock);
    atomic_store(&engine->stop, 1);
    pthread_cond_broadcast(&engine->progressed);
    pthread_mutex_unlock(&engine->lock);
    rsc_pool_free(engine->pool); /* waits for the workers */
    for (uint32_t i = 0; engine->worker && i < engine->workers; i++) rsc_split_worker_free(&engine->worker[i]);
    for (uint32_t i = 0; engine->slot && i < engine->workers + engine->window; i++)
        rsc_exact_free(&engine->slot[i].chunk.state);
    free(engine->worker);
    free(engine->slot);
    free(engine->idle);
    rsc_exact_free(&engine->carried);
    rsc_accumulator_free(&engine->sum);
    rsc_phase_grid_free(&engine->grid);
    rsc_late_tags_free(&engine->tags);
    rsc_ring_free(&engine->ring);
    pthread_cond_destroy(&engine->freed);
    pthread_cond_destroy(&engine->progressed);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

static int make_workers(struct chunks_engine *engine, const struct rsc_engine_options *options) {
    uint32_t slots = engine->workers + engine->window;
    engine->worker = calloc(engine->workers, sizeof *engine->worker);
    engine->slot = calloc(slots, sizeof *engine->slot);
    engine->idle = calloc(engine->workers, sizeof *engine->idle);
    if (!engine->worker || !engine->slot || !engine->idle || rsc_exact_init(&engine->carried, rsc_simd_best(), 0) < 0 ||
        rsc_accumulator_init(&engine->sum, options->phases, options->max_distance, options->bins_per_octave) < 0 ||
        rsc_phase_grid_init(&engine->grid, &engine->sum) < 0)
        return RSC_ENOMEM;
    if (engine->no_ri) rsc_exact_leave_out_ri(&engine->carried);
    for (uint32_t i = 0; i < slots; i++) {
        if (rsc_exact_init(&engine->slot[i].chunk.state, rsc_simd_best(), 0) < 0) return RSC_ENOMEM;
        if (engine->no_ri) rsc_exact_leave_out_ri(&engine->slot[i].chunk.state);
    }
    for (uint32_t i = 0; i < engine->workers; i++) {
        if (rsc_split_worker_init(&engine->worker[i], options->max_distance, options->bins_per_octave) < 0)
            return RSC_ENOMEM;
        engine->idle[engine->idle_count++] = i;
    }
    return 0;
}

static int chunks_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                         struct rsc_error *error) {
    (void)parameters;
    struct chunks_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "parallel engine");
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->progressed, NULL);
    pthread_cond_init(&engine->freed, NULL);
    engine->log = options->log;
    engine->tags = (struct rsc_late_tags){.attribute = options->attribute,
                                          .line_shift = (uint32_t)__builtin_ctz(options->line_bytes),
                                          .rd_cap = options->max_distance};
    engine->no_ri = options->no_ri != 0;
    engine->enough = UINT64_MAX; /* not known yet */
    int status = rsc_pool_new(&engine->pool, options->workers, error);
    if (!status) {
        engine->workers = rsc_pool_workers(engine->pool);
        engine->window = engine->workers / 2 + 1;
        if (make_workers(engine, options) < 0) status = rsc_fail_memory(error, "parallel engine");
    }
    if (status < 0) {
        chunks_destroy(engine);
        return status;
    }
    *state = engine;
    return 0;
}

void rsc_chunks_set_length(void *state, uint32_t references) {
    struct chunks_engine *engine = state;
    engine->fixed_chunk = references;
}

/* ---- pushing ---- */

static int make_ring(struct chunks_engine *engine) {
    uint64_t each = engine->tags.late ? RING_EACH_ATTRIBUTED : RING_EACH, least = engine->tags.late ? 8 : RING_LEAST;
    uint64_t most = engine->tags.late ? RING_MOST_ATTRIBUTED : RING_MOST, wanted = each * engine->workers;
    uint32_t bits = 3;
    if (wanted < least) wanted = least;
    if (engine->fixed_chunk) wanted = 2 * engine->fixed_chunk * engine->workers;
    while (1ull << bits < wanted && 1ull << bits < most) bits++;
    if (rsc_ring_init(&engine->ring, 1ull << bits, bits - 3 < SEGMENT_SHIFT ? bits - 3 : SEGMENT_SHIFT) < 0)
        return RSC_ENOMEM;
    engine->longest = rsc_ring_references(&engine->ring) / (2 * engine->workers);
    return 0;
}

/*
 * Who made each reference is kept from here on; those before were all thread 0's and of one kind. Chunks taken before
 * now do not look at it.
 */
static int make_who(struct chunks_engine *engine) {
    struct rsc_reference_ring *ring = &engine->ring;
    uint32_t kind = engine->kinds ? (uint32_t)__builtin_ctz(engine->kinds) : 0;
    ring->who = rsc_ring_new_column(ring);
    if (!ring->who) return RSC_ENOMEM;
    pthread_mutex_lock(&engine->lock); /* what waits shall not be taken meanwhile */
    for (uint64_t at = engine->taken; at < engine->pushed; at++) ring->who[rsc_ring_index(ring, at)] = kind;
    pthread_mutex_unlock(&engine->lock);
    return 0;
}

/* The columns that are needed now. */
static int make_columns(struct chunks_engine *engine) {
    const struct rsc_accumulator *sum = &engine->sum;
    int by_who = sum->thread_count > 1 || rsc_accumulator_by_kind(sum);
    if (!engine->ring.line && make_ring(engine) < 0) return RSC_ENOMEM;
    if (engine->tags.late && !engine->ring.tag && !(engine->ring.tag = rsc_ring_new_column(&engine->ring)))
        return RSC_ENOMEM;
    if (by_who && !engine->ring.who && make_who(engine) < 0) return RSC_ENOMEM;
    pthread_mutex_lock(&engine->lock);
    engine->threads = sum->threads_seen;
    engine->kinds = sum->kinds_seen;
    engine->by_who = by_who;
    pthread_mutex_unlock(&engine->lock);
    return 0;
}

/* Tells the workers of what was pushed. */
static void publish(struct chunks_engine *engine) {
    pthread_mutex_lock(&engine->lock);
    engine->filled = engine->pushed;
    int start = rsc_chunks_wants_worker(engine);
    pthread_mutex_unlock(&engine->lock);
    if (start) rsc_chunks_submit_worker(engine);
}

/* Idle workers give segments their memory: the pushing thread has no time for that. */
static void prepare(void *argument) {
    struct chunks_engine *engine = argument;
    pthread_mutex_lock(&engine->lock);
    for (uint32_t i = 0; i < PREPARE_ONCE && !atomic_load(&engine->stop); i++) {
        uint32_t segment = rsc_ring_next_to_prepare(&engine->ring, PREPARE_AHEAD);
        if (segment == RSC_RING_NOWHERE) break;
        pthread_mutex_unlock(&engine->lock);
        rsc_ring_prepare(&engine->ring, segment);
        pthread_mutex_lock(&engine->lock);
    }
    engine->preparing--;
    pthread_mutex_unlock(&engine->lock);
}

/* The lock is held: whether the caller is to have segments prepared; it counts as under way then. */
static int wants_prepared(struct chunks_engine *engine) {
    const struct rsc_reference_ring *ring = &engine->ring;
    if (ring->free_count || engine->running + engine->preparing >= engine->workers || engine->preparing >= 2) return 0;
    if (ring->prepared >= ring->fresh + PREPARE_AHEAD / 2 || ring->fresh >= rsc_chunks_in_flight(engine)) return 0;
    engine->preparing++;
    return 1;
}

/* Waits until the ring has another segment. Returns 0 when all is to stop. */
static int begin_segment(struct chunks_engine *engine) {
    publish(engine);
    pthread_mutex_lock(&engine->lock);
    while (!atomic_load(&engine->stop) && !rsc_ring_begin(&engine->ring, engine->pushed, rsc_chunks_in_flight(engine)))
        pthread_cond_wait(&engine->freed, &engine->lock);
    int more = wants_prepared(engine);
    pthread_mutex_unlock(&engine->lock);
    if (more) rsc_pool_submit(engine->pool, prepare, engine);
    return !atomic_load(&engine->stop);
}

static void fill_columns(struct chunks_engine *engine, const struct rsc_batch *batch, uint64_t index, uint32_t count) {
    const struct rsc_reference_ring *ring = &engine->ring;
    for (uint32_t i = 0; ring->tag && i < count; i++) ring->tag[index + i] = engine->tags.tag[engine->from[i]];
    for (uint32_t i = 0; ring->who && i < count; i++) ring->who[index + i] = rsc_meta_who(batch->meta[engine->from[i]]);
}

static int chunks_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct chunks_engine *engine = state;
    struct rsc_reference_cursor cursor;
    int status = rsc_late_tags_give(&engine->tags, batch, engine->pushed > 0, error);
    if (status < 0) return status;
    if (rsc_accumulator_see_threads(&engine->sum, batch) < 0) return rsc_fail_memory(error, "thread rows");
    engine->sum.accesses += batch->count;
    if (batch->count && make_columns(engine) < 0) return rsc_fail_memory(error, "references");
    rsc_references_start(&cursor, batch, engine->tags.line_shift);
    while (cursor.next < batch->count) {
        uint64_t room = rsc_ring_run(&engine->ring, engine->pushed);
        if (room == 1ull << engine->ring.shift && !begin_segment(engine)) break;
        uint64_t index = rsc_ring_index(&engine->ring, engine->pushed);
        if (room > RSC_SPLIT_BLOCK) room = RSC_SPLIT_BLOCK;
        uint32_t count = rsc_references_fill(&cursor, engine->ring.line + index, engine->from, (uint32_t)room);
        fill_columns(engine, batch, index, count);
        engine->pushed += count;
        if (engine->pushed % PUBLISH < count) publish(engine);
    }
    publish(engine);
    if (!atomic_load(&engine->stop)) return 0;
    pthread_mutex_lock(&engine->lock);
    if (error) *error = engine->error;
    status = engine->status;
    pthread_mutex_unlock(&engine->lock);
    return status;
}

static int wait_for_end(struct chunks_engine *engine, struct rsc_error *error) {
    pthread_mutex_lock(&engine->lock);
    engine->ended = 1;
    engine->left_at_end = engine->filled - engine->taken;
    int start = rsc_chunks_wants_worker(engine);
    pthread_mutex_unlock(&engine->lock);
    if (start) rsc_chunks_submit_worker(engine);
    pthread_mutex_lock(&engine->lock);
    while (engine->running) pthread_cond_wait(&engine->freed, &engine->lock);
    int status = engine->status;
    if (status < 0 && error) *error = engine->error;
    pthread_mutex_unlock(&engine->lock);
    return status;
}

static int chunks_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct chunks_engine *engine = state;
    struct rsc_accumulator *sum = &engine->sum;
    int status = wait_for_end(engine, error);
    if (status < 0) return status;
    for (uint32_t i = 0; i < engine->workers; i++)
        if (rsc_accumulator_merge(sum, &engine->worker[i].sum) < 0) return rsc_fail_memory(error, "profile");
    if (rsc_phase_grid_end(&engine->grid, sum) < 0) return rsc_fail_memory(error, "phases");
    rsc_log_line(engine->log, RSC_LOG_INFO,
                 "parallel engine (%s): %u workers, %llu chunks of %llu references on average",
                 rsc_simd_name(rsc_simd_best()), engine->workers, (unsigned long long)engine->chunks,
                 (unsigned long long)(engine->chunks ? engine->taken / engine->chunks : 0));
    return rsc_parallel_profile(sum, &engine->tags, engine->log, out, error);
}

const struct rsc_engine_kind rsc_parallel_chunks = {
    .name = "parallel",
    .create = chunks_create,
    .push = chunks_push,
    .finish = chunks_finish,
    .destroy = chunks_destroy,
};
