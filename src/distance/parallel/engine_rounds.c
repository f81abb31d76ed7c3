/*
 * engine_rounds.c - the exact engine on many cores (engine_parallel.c): lines are divided by hash, the stack by time.
 *
 * The distance of a reference is the number of bits after its line's last use in a bitmap over time (exact_state.h).
 * Two things make that serial: every reference changes the table of last uses and the bitmap. Here the table is divided
 * by lines and the bitmap by time. push() cuts accesses into lines and collects a *round* of them; then all workers
 * process it, in steps, while the next one is pushed:
 *   gather   Each *piece* of the round goes through a recent filter (recent.h), which answers what it can. The rest is
 *            distributed to *parts*, by hash of the line.
 *   look up  Each part has its own table. For each line, in order, it returns the place of its last use, and stores the
 *            new one.
 *   foresee  The round is cut into *slices*, one per worker. The places now determine how a slice will change the
 *            bitmap: which earlier bits it clears, and which of its own remain.
 *   build    Range by range of the bitmap, every slice gets a copy in the state at the slice's beginning.
 *   answer   Each slice then computes its distances independently.
 * No reference is processed twice because of several workers, and there is one table for any number of them.
 *
 * Places advance with time, as in exact_state.h; when they are used up, the lines get new ones, part by part.
 */
#include "distance/parallel/engine_parallel.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/fail.h"
#include "base/pages.h"
#include "base/seconds.h"
#include "distance/engine_kind.h"
#include "distance/parallel/rounds_state.h"
#include "trace/references.h"

/* ---- the engine ---- */

static void free_columns(struct rounds_engine *engine, struct rounds_columns *columns) {
    uint64_t most = rounds_length(engine);
    rsc_pages_free(columns->line, most * sizeof *columns->line);
    rsc_pages_free(columns->who, most * sizeof *columns->who);
    rsc_pages_free(columns->tag, most * sizeof *columns->tag);
}

static void free_worker(struct rounds_worker *worker) {
    rsc_accumulator_free(&worker->sum);
    rsc_phase_part_free(&worker->phases);
    free(worker);
}

static void rounds_destroy(void *state) {
    struct rounds_engine *engine = state;
    if (!engine) return;
    atomic_store(&engine->stop, 1);
    rsc_pool_free(engine->pool); /* waits for the round */
    for (uint32_t i = 0; i < engine->idle_count; i++) free_worker(engine->idle[i]);
    for (uint32_t i = 0; i < 3; i++) free_columns(engine, &engine->columns[i]);
    for (uint32_t p = 0; p < RSC_PARTS; p++) rsc_line_map_free(&engine->part[p].map);
    rsc_rounds_free_round(engine);
    free(engine->slice);
    free(engine->idle);
    rsc_accumulator_free(&engine->sum);
    rsc_phase_grid_free(&engine->grid);
    rsc_late_tags_free(&engine->tags);
    pthread_cond_destroy(&engine->changed);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

static void choose_kernels(struct rounds_engine *engine) {
    enum rsc_simd simd = rsc_simd_best();
    engine->gather = RSC_WIDE_PICK(simd, rsc_rounds_gather);
    engine->look_up = RSC_WIDE_PICK(simd, rsc_rounds_look_up);
    engine->answer = RSC_WIDE_PICK(simd, rsc_rounds_answer);
    engine->count_lines = RSC_WIDE_PICK(simd, rsc_rounds_count_lines);
    engine->renumber = RSC_WIDE_PICK(simd, rsc_rounds_renumber);
}

static int make_workers(struct rounds_engine *engine, const struct rsc_engine_options *options) {
    engine->slice = calloc(engine->workers, sizeof *engine->slice);
    engine->idle = calloc(engine->workers, sizeof *engine->idle);
    if (!engine->slice || !engine->idle ||
        rsc_accumulator_init(&engine->sum, options->phases, options->max_distance, options->bins_per_octave) < 0 ||
        rsc_phase_grid_init(&engine->grid, &engine->sum) < 0)
        return RSC_ENOMEM;
    for (uint32_t p = 0; p < RSC_PARTS; p++)
        if (rsc_line_map_init(&engine->part[p].map) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < engine->workers; i++) {
        struct rounds_worker *worker = engine->idle[i] = calloc(1, sizeof *worker);
        if (!worker) return RSC_ENOMEM;
        engine->idle_count++;
        if (rsc_accumulator_init(&worker->sum, 0, options->max_distance, options->bins_per_octave) < 0)
            return RSC_ENOMEM;
    }
    return 0;
}

static int rounds_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                         struct rsc_error *error) {
    (void)parameters;
    struct rounds_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "parallel engine");
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->changed, NULL);
    engine->log = options->log;
    engine->tags = (struct rsc_late_tags){.attribute = options->attribute,
                                          .line_shift = (uint32_t)__builtin_ctz(options->line_bytes),
                                          .rd_cap = options->max_distance};
    engine->no_ri = options->no_ri != 0;
    engine->piece_length = RSC_PIECE_MOST;
    engine->slice_pieces = RSC_SLICE_PIECES;
    if (getrandom(&engine->part_multiplier, sizeof engine->part_multiplier, 0) !=
        (ssize_t)sizeof engine->part_multiplier)
        engine->part_multiplier = (uint64_t)(uintptr_t)engine * 0xD1342543DE82EF95ull;
    engine->part_multiplier |= 1;
    choose_kernels(engine);
    int status = rsc_pool_new(&engine->pool, options->workers, error);
    if (!status) {
        engine->workers = rsc_pool_workers(engine->pool);
        if (make_workers(engine, options) < 0) status = rsc_fail_memory(error, "parallel engine");
    }
    if (status < 0) {
        rounds_destroy(engine);
        return status;
    }
    *state = engine;
    return 0;
}

void rsc_rounds_set_slice(void *state, uint32_t references) {
    struct rounds_engine *engine = state;
    uint32_t lines = (references + RSC_RANK_LINE_SLOTS - 1) / RSC_RANK_LINE_SLOTS,
             most = RSC_PIECE_MOST / RSC_RANK_LINE_SLOTS;
    engine->slice_pieces = (lines + most - 1) / most;
    engine->piece_length = (lines + engine->slice_pieces - 1) / engine->slice_pieces * RSC_RANK_LINE_SLOTS;
}

/* ---- pushing ---- */

static struct rounds_columns *filling(struct rounds_engine *engine) { return &engine->columns[engine->filling]; }

static uint32_t *new_column(const struct rounds_engine *engine) {
    return rsc_pages_new(rounds_length(engine) * sizeof(uint32_t));
}

/* The columns in use. */
static int make_columns(struct rounds_engine *engine) {
    const struct rsc_accumulator *sum = &engine->sum;
    struct rounds_columns *columns = filling(engine);
    if (!engine->piece && rsc_rounds_make_round(engine) < 0) return RSC_ENOMEM;
    if (!columns->line && !(columns->line = rsc_pages_new(rounds_length(engine) * sizeof *columns->line)))
        return RSC_ENOMEM;
    if (engine->tags.late && !columns->tag && !(columns->tag = new_column(engine))) return RSC_ENOMEM;
    if (sum->thread_count <= 1 && !rsc_accumulator_by_kind(sum)) {
        engine->first_kind = (uint32_t)__builtin_ctz(sum->kinds_seen);
        return 0;
    }
    if (columns->who) return 0;
    if (!(columns->who = new_column(engine))) return RSC_ENOMEM;
    /* Earlier references were all of thread 0 and one kind. */
    for (uint64_t i = 0; i < columns->count; i++) columns->who[i] = engine->first_kind;
    return 0;
}

/* Passes the round to the workers, when they are done with the one before. Returns 0 when stopping. */
static int hand_over(struct rounds_engine *engine) {
    struct rounds_columns *round = filling(engine);
    pthread_mutex_lock(&engine->lock);
    while (engine->busy) pthread_cond_wait(&engine->changed, &engine->lock);
    engine->busy = 1;
    engine->round = round;
    engine->threads = engine->sum.threads_seen;
    engine->kinds = engine->sum.kinds_seen;
    pthread_mutex_unlock(&engine->lock);
    rsc_pool_submit(engine->pool, rsc_rounds_round, engine);
    engine->filling = (engine->filling + 1) % (engine->tags.late ? 3 : 2);
    filling(engine)->first = round->first + round->count;
    filling(engine)->count = 0;
    return !atomic_load(&engine->stop);
}

static void fill_columns(struct rounds_engine *engine, const struct rsc_batch *batch, uint64_t index, uint32_t count) {
    const struct rounds_columns *columns = filling(engine);
    for (uint32_t i = 0; columns->tag && i < count; i++) columns->tag[index + i] = engine->tags.tag[engine->from[i]];
    for (uint32_t i = 0; columns->who && i < count; i++)
        columns->who[index + i] = rsc_meta_who(batch->meta[engine->from[i]]);
}

static int rounds_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rounds_engine *engine = state;
    struct rsc_reference_cursor cursor;
    uint64_t most = rounds_length(engine), start = rsc_thread_ns();
    int status = rsc_late_tags_give(&engine->tags, batch, filling(engine)->first + filling(engine)->count > 0, error);
    if (status < 0) return status;
    if (rsc_accumulator_see_threads(&engine->sum, batch) < 0) return rsc_fail_memory(error, "thread rows");
    engine->sum.accesses += batch->count;
    rsc_references_start(&cursor, batch, engine->tags.line_shift);
    while (cursor.next < batch->count) {
        if (make_columns(engine) < 0) {
            rsc_rounds_fail(engine, RSC_ENOMEM);
            break;
        }
        struct rounds_columns *columns = filling(engine);
        uint64_t room = most - columns->count;
        if (room > RSC_ROUNDS_BLOCK) room = RSC_ROUNDS_BLOCK;
        uint32_t count = rsc_references_fill(&cursor, columns->line + columns->count, engine->from, (uint32_t)room);
        fill_columns(engine, batch, columns->count, count);
        columns->count += count;
        if (columns->count == most && !hand_over(engine)) break;
    }
    atomic_fetch_add_explicit(&engine->step_ns[ROUNDS_CUT], rsc_thread_ns() - start, memory_order_relaxed);
    if (!atomic_load(&engine->stop)) return 0;
    pthread_mutex_lock(&engine->lock);
    if (error) *error = engine->error;
    status = engine->status;
    pthread_mutex_unlock(&engine->lock);
    return status;
}

/* Processor time per reference, in ns. */
static double step_ns(const struct rounds_engine *engine, enum rounds_step step, uint64_t references) {
    return references ? (double)atomic_load(&engine->step_ns[step]) / (double)references : 0;
}

static int rounds_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct rounds_engine *engine = state;
    struct rsc_accumulator *sum = &engine->sum;
    uint64_t references = filling(engine)->first + filling(engine)->count;
    if (filling(engine)->count) hand_over(engine);
    rsc_pool_wait(engine->pool);
    if (engine->status < 0) {
        if (error) *error = engine->error;
        return engine->status;
    }
    for (uint32_t i = 0; i < engine->idle_count; i++)
        if (rsc_accumulator_merge(sum, &engine->idle[i]->sum) < 0) return rsc_fail_memory(error, "profile");
    if (rsc_phase_grid_end(&engine->grid, sum) < 0) return rsc_fail_memory(error, "phases");
    rsc_log_line(engine->log, RSC_LOG_INFO,
                 "parallel engine (%s): %u workers, %llu references in %llu rounds, %llu compactions",
                 rsc_simd_name(rsc_simd_best()), engine->workers, (unsigned long long)references,
                 (unsigned long long)engine->rounds, (unsigned long long)engine->compactions);
    rsc_log_line(
        engine->log, RSC_LOG_INFO,
        "its processor time, ns per reference: cut %.1f, gather %.1f, look up %.1f, foresee %.1f, build %.1f, answer %.1f",
        step_ns(engine, ROUNDS_CUT, references), step_ns(engine, ROUNDS_GATHER, references),
        step_ns(engine, ROUNDS_LOOK_UP, references), step_ns(engine, ROUNDS_FORESEE, references),
        step_ns(engine, ROUNDS_BUILD, references), step_ns(engine, ROUNDS_ANSWER, references));
    return rsc_late_profile(sum, &engine->tags, "parallel", engine->log, out, error);
}

static void rounds_watch(void *state, const struct rsc_distance_watch *watch) {
    ((struct rounds_engine *)state)->watch = *watch;
}

const struct rsc_engine_kind rsc_parallel_rounds = {
    .name = "parallel",
    .create = rounds_create,
    .push = rounds_push,
    .finish = rounds_finish,
    .destroy = rounds_destroy,
    .watch = rounds_watch,
};
