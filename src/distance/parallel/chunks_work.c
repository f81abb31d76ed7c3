/*
 * chunks_work.c - chunks of the parallel engine: how long they are, and what a worker does with one;
 * engine_chunks.c has the idea.
 */
#include "distance/parallel/chunks_state.h"
#include "distance/parallel/engine_parallel.h"

/*
 * References in a chunk, at least. Short chunks share few lines with the ones before them, and most of their lines
 * then go through the carried state, one chunk at a time. Once the end is known, what is left is shared out evenly; 64 K
 * take some 2 ms, much more than handing them out does.
 *
 * These numbers and the growth in chunk_length() were chosen by simulating this file's schedule for uniform references to
 * 1 M lines, 20 to 400 references a line, 2, 8 and 16 workers, with assumed costs of each step.
 */
#define CHUNK_LEAST (512u << 10)
#define CHUNK_LEAST_AT_END (64u << 10)
/* Nothing is taken before so many wait, plus as many times CHUNK_LEAST_AT_END as there are workers: a trace that is
 * shorter is shared out evenly when its end is known. */
#define START_AT (1u << 20)
/* Chunks need not be longer than this times their distinct lines. With 6, two workers used 1.53 and 1.73 times the
 * processor time of the serial engine on 40 M uniform references to 100 K and 400 K lines; with 32, 1.35 and 1.61. */
#define CHUNK_LINES 32u

static void fail(struct chunks_engine *engine, int status) {
    pthread_mutex_lock(&engine->lock);
    if (!engine->status) {
        engine->status = status;
        rsc_parallel_failure(&engine->error, status, engine->workers, "chunks", engine->longest);
    }
    atomic_store(&engine->stop, 1);
    pthread_cond_broadcast(&engine->progressed);
    pthread_cond_broadcast(&engine->freed);
    pthread_mutex_unlock(&engine->lock);
}

/* ---- chunks; the lock is held ---- */

/* A chunk need not be longer than `enough`, nor shorter than `least`, and may not be longer than `longest`. */
static uint64_t within(const struct chunks_engine *engine, uint64_t length, uint64_t least) {
    if (length > engine->enough) length = engine->enough;
    if (length < least) length = least;
    return length < engine->longest ? length : engine->longest;
}

/* What is done is reason enough for a chunk of this length; what waits may make it longer. */
static uint64_t chunk_length_by_done(const struct chunks_engine *engine) {
    if (engine->fixed_chunk) return engine->fixed_chunk < engine->longest ? engine->fixed_chunk : engine->longest;
    return within(engine, engine->taken / engine->workers, CHUNK_LEAST);
}

static uint64_t chunk_length(const struct chunks_engine *engine) {
    uint64_t by_done = chunk_length_by_done(engine), by_waiting = (engine->filled - engine->taken) / engine->workers;
    if (engine->fixed_chunk) return by_done;
    if (engine->ended)
        return within(engine, (engine->left_at_end + engine->workers - 1) / engine->workers, CHUNK_LEAST_AT_END);
    return by_waiting > by_done ? within(engine, by_waiting, CHUNK_LEAST) : by_done;
}

/*
 * Segments that may be in use: enough for all workers to have a chunk and for two to wait. (At first all workers
 * finish at about the same time, but the pushing thread follows them closely: it fills what they are done with.)
 * Outcomes stay until they are attributed, after the whole chunk and all before it.
 */
uint32_t rsc_chunks_in_flight(const struct chunks_engine *engine) {
    uint64_t chunks = engine->tags.late ? 2 * engine->workers : engine->workers + 2;
    uint64_t wanted = (chunks * chunk_length_by_done(engine) >> engine->ring.shift) + 2;
    return wanted < engine->ring.segments ? (uint32_t)wanted : engine->ring.segments;
}

static int can_take(const struct chunks_engine *engine) {
    uint64_t waiting = engine->filled - engine->taken;
    if (atomic_load(&engine->stop) || !waiting) return 0;
    if (engine->ended) return 1;
    if (!engine->taken && !engine->fixed_chunk) {
        uint64_t start = START_AT + (uint64_t)engine->workers * CHUNK_LEAST_AT_END;
        if (waiting < start && waiting <= rsc_ring_references(&engine->ring) / 2) return 0;
    }
    return waiting >= chunk_length(engine);
}

/* A chunk much longer than its lines are many says how long is long enough; a shorter one only that more may do. */
static void learn_length(struct chunks_engine *engine, const struct rsc_chunk *chunk, uint64_t distinct) {
    uint64_t enough = distinct * CHUNK_LINES;
    if (enough < chunk->end - chunk->begin || enough > engine->enough) engine->enough = enough;
}

int rsc_chunks_wants_worker(struct chunks_engine *engine) {
    if (engine->running == engine->workers || !can_take(engine)) return 0;
    engine->running++;
    return 1;
}

static uint64_t take_chunk(struct chunks_engine *engine) {
    uint64_t number = engine->chunks++, length = chunk_length(engine), waiting = engine->filled - engine->taken;
    struct chunks_slot *slot = slot_of(engine, number);
    slot->progress = 0;
    slot->chunk.begin = engine->taken;
    slot->chunk.end = engine->taken += waiting < length ? waiting : length;
    slot->chunk.ring = &engine->ring;
    slot->chunk.threads = engine->threads;
    slot->chunk.kinds = engine->kinds;
    slot->chunk.by_who = engine->by_who;
    return number;
}

/* ---- one chunk, step by step ---- */

static void advance(struct chunks_engine *engine, uint64_t number, uint32_t progress) {
    pthread_mutex_lock(&engine->lock);
    slot_of(engine, number)->progress = progress;
    pthread_cond_broadcast(&engine->progressed);
    pthread_mutex_unlock(&engine->lock);
}

/* Waits for the chunk before `number`. Returns 0 when all is to stop. */
static int wait_for(struct chunks_engine *engine, uint64_t number, uint32_t progress) {
    if (number == 0) return !atomic_load(&engine->stop);
    const struct chunks_slot *before = slot_of(engine, number - 1);
    pthread_mutex_lock(&engine->lock);
    while (before->progress < progress && !atomic_load(&engine->stop))
        pthread_cond_wait(&engine->progressed, &engine->lock);
    pthread_mutex_unlock(&engine->lock);
    return !atomic_load(&engine->stop);
}

/* The chunk has been run: others may replay into it. */
static void chunk_was_run(struct chunks_engine *engine, uint64_t number, uint64_t distinct) {
    pthread_mutex_lock(&engine->lock);
    slot_of(engine, number)->progress = 1;
    learn_length(engine, &slot_of(engine, number)->chunk, distinct);
    pthread_cond_broadcast(&engine->progressed);
    pthread_mutex_unlock(&engine->lock);
}

static void release_segment(void *user, uint64_t n) {
    struct chunks_engine *engine = user;
    pthread_mutex_lock(&engine->lock);
    rsc_ring_release(&engine->ring, n);
    pthread_cond_signal(&engine->freed);
    pthread_mutex_unlock(&engine->lock);
}

static int run_chunk(struct chunks_engine *engine, struct rsc_split_worker *worker, uint64_t number) {
    struct chunks_slot *slot = slot_of(engine, number);
    if (slot->used) rsc_exact_empty(&slot->chunk.state);
    slot->used = 1;
    int status = rsc_split_run(worker, &slot->chunk, engine->grid.cells ? &engine->grid : NULL, release_segment, engine,
                               &engine->stop);
    if (status == 0 && !atomic_load(&engine->stop)) chunk_was_run(engine, number, worker->first_count);
    return status;
}

/* Replays through the window, then, when the chunk's turn has come, into the carried state. */
static int replay_chunk(struct chunks_engine *engine, struct rsc_split_worker *worker, uint64_t number) {
    struct rsc_chunk *chunk = &slot_of(engine, number)->chunk, *leaving = NULL;
    for (uint32_t step = 1; step <= engine->window && step <= number; step++) {
        struct rsc_chunk *older = &slot_of(engine, number - step)->chunk;
        if (!wait_for(engine, number, step)) return 0;
        rsc_split_replay(worker, chunk, &older->state, older->begin);
        advance(engine, number, step + 1);
        leaving = step == engine->window ? older : NULL;
    }
    advance(engine, number, engine->window + 1);

    int status = leaving ? rsc_split_list(worker, leaving) : 0;
    if (status < 0 || !wait_for(engine, number, engine->window + 2)) return status;
    rsc_split_replay(worker, chunk, &engine->carried, 0);
    if (leaving) status = rsc_exact_put(&engine->carried, worker->held, worker->held_count);
    if (engine->grid.cells) rsc_phase_grid_add(&engine->grid, &worker->phases);
    return status;
}

/* Attributes what is complete, one worker at a time; the lock is held before and after, not meanwhile. */
static int attribute_completed(struct chunks_engine *engine) {
    int status = 0;
    if (engine->attributing) return 0;
    engine->attributing = 1;
    while (engine->attributed < engine->completed && !status) {
        uint64_t first = engine->attributed, part = engine->completed - first;
        if (part > rsc_ring_run(&engine->ring, first)) part = rsc_ring_run(&engine->ring, first);
        if (part > PUBLISH) part = PUBLISH;
        const uint64_t *outcomes = engine->ring.line + rsc_ring_index(&engine->ring, first);
        pthread_mutex_unlock(&engine->lock);
        if (!atomic_load(&engine->stop)) status = rsc_late_attribution_count(engine->tags.late, outcomes, part);
        pthread_mutex_lock(&engine->lock);
        engine->attributed += part;
        if (!rsc_ring_done(&engine->ring, first, (uint32_t)part)) continue;
        rsc_ring_release(&engine->ring, first);
        pthread_cond_signal(&engine->freed);
    }
    engine->attributing = 0;
    return status;
}

static int complete_chunk(struct chunks_engine *engine, uint64_t number) {
    int status = 0;
    pthread_mutex_lock(&engine->lock);
    slot_of(engine, number)->progress = engine->window + 2;
    engine->completed = slot_of(engine, number)->chunk.end;
    pthread_cond_broadcast(&engine->progressed);
    if (engine->tags.late) status = attribute_completed(engine);
    pthread_mutex_unlock(&engine->lock);
    return status;
}

/* A worker: chunk after chunk while there are any. */
static void work(void *argument) {
    struct chunks_engine *engine = argument;
    pthread_mutex_lock(&engine->lock);
    uint32_t self = engine->idle[--engine->idle_count];
    while (can_take(engine)) {
        uint64_t number = take_chunk(engine);
        int more = rsc_chunks_wants_worker(engine);
        pthread_mutex_unlock(&engine->lock);
        if (more) rsc_chunks_submit_worker(engine);
        int status = run_chunk(engine, &engine->worker[self], number);
        if (!status && !atomic_load(&engine->stop)) status = replay_chunk(engine, &engine->worker[self], number);
        if (!status && !atomic_load(&engine->stop)) status = complete_chunk(engine, number);
        if (status < 0) fail(engine, status);
        pthread_mutex_lock(&engine->lock);
    }
    engine->idle[engine->idle_count++] = self;
    engine->running--;
    pthread_cond_broadcast(&engine->freed);
    pthread_mutex_unlock(&engine->lock);
}

void rsc_chunks_submit_worker(struct chunks_engine *engine) { rsc_pool_submit(engine->pool, work, engine); }
