/*
 * engine_stages.c - the exact engine on two cores (engine_parallel.c): one thread looks lines up, the other answers.
 *
 * The lookup in the table of lines (when was this one used last?) and the count in the stack (how many lines are
 * above?) are two halves of the exact engine that take about equally long: exact_steps.h. The pushing thread cuts
 * accesses into lines and does the first half, block by block; a thread of the pool does the second, and counts. No
 * work is duplicated, and memory is that of the serial engine.
 *
 * Blocks where the recent filter pays are not split: the pushing thread also computes their distances, after all before
 * them are answered, and the other thread counts them. The pushing thread also does compaction, while the other waits.
 * Intervals only need the table's half: whichever thread is less busy computes them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/pool.h"
#include "distance/count/accumulate.h"
#include "distance/parallel/engine_parallel.h"
#include "distance/exact/exact_state.h"
#include "trace/references.h"

/* Blocks that the pushing thread may be ahead. */
#define JOBS 8u
/* This many blocks behind, the answering thread leaves the intervals to the other. */
#define BEHIND (JOBS / 2)
/* Checks of the other thread's progress before going to sleep: as in pool.c. */
#define LOOKS 4000

struct job {
    uint32_t count;
    uint64_t time;     /* references before it */
    int is_answered;   /* rd and ri are known */
    int is_ri_counted;
    int one_kind;      /* every reference is of the kind and thread of meta[0] */
    uint32_t slots[RSC_EXACT_BLOCK + RSC_EXACT_GROUP];
    uint32_t rd[RSC_EXACT_BLOCK];
    uint64_t ri[RSC_EXACT_BLOCK];
    uint64_t meta[RSC_EXACT_BLOCK]; /* of its access, for each reference */
};

struct stages_engine {
    uint32_t line_shift;
    int no_ri;
    const struct rsc_log *log;
    struct rsc_exact exact;
    uint64_t accesses;
    struct rsc_accumulator intervals; /* those that the pushing thread counted */
    uint64_t ri[RSC_EXACT_BLOCK];
    struct rsc_thread *threads; /* those of the last batch */
    uint32_t thread_count, thread_room;
    uint64_t lines[RSC_EXACT_BLOCK];
    uint32_t from[RSC_EXACT_BLOCK];

    struct rsc_accumulator sum; /* the answering thread's, like the exact state's bitmap */
    struct rsc_distance_watch watch;
    struct rsc_pool *pool;
    struct job *jobs;
    uint32_t each[RSC_EXACT_BLOCK]; /* 0, 1, 2... */
    atomic_uint_fast64_t queued, done; /* jobs, in all */
    uint64_t unanswered;               /* jobs up to which some were queued without answers */
    atomic_int answering;              /* a task of the pool is working */
    atomic_int sleeping;               /* the pushing thread waits for `progress` */
    atomic_int status;
    pthread_mutex_t lock;
    pthread_cond_t progress;
};

/* ---- the second half ---- */

static void answer_job(struct stages_engine *engine, struct job *job) {
    struct rsc_exact *exact = &engine->exact;
    const struct rsc_batch batch = {.count = job->one_kind ? 1 : job->count, .meta = job->meta};
    if (!job->is_answered) exact->kernel->answer(exact, job->slots, job->count, job->time, job->rd);
    if (!job->is_answered && !job->is_ri_counted)
        exact->kernel->intervals(exact, job->slots, job->count, job->time, job->ri);
    const struct rsc_distance_block seen = {.rd = job->rd, .count = job->count};
    if (atomic_load(&engine->status) < 0) return;
    if (rsc_accumulator_see_threads(&engine->sum, &batch) < 0 ||
        rsc_accumulate(&engine->sum, &batch, engine->each, job->rd, job->is_ri_counted ? NULL : job->ri, job->count) <
            0 ||
        (engine->watch.block && engine->watch.block(engine->watch.context, &seen) < 0))
        atomic_store(&engine->status, RSC_ENOMEM);
}

static void answer_jobs(void *arg) {
    struct stages_engine *engine = arg;
    do {
        for (uint32_t look = 0; look < LOOKS; look++) {
            uint64_t done = atomic_load(&engine->done);
            if (done == atomic_load(&engine->queued)) {
                rsc_cpu_pause();
                continue;
            }
            answer_job(engine, &engine->jobs[done % JOBS]);
            atomic_store(&engine->done, done + 1);
            if (atomic_load(&engine->sleeping)) {
                pthread_mutex_lock(&engine->lock);
                pthread_cond_signal(&engine->progress);
                pthread_mutex_unlock(&engine->lock);
            }
            look = 0;
        }
        atomic_store(&engine->answering, 0);
        /* a job queued just now found this thread busy, and relied on it */
    } while (atomic_load(&engine->done) != atomic_load(&engine->queued) && !atomic_exchange(&engine->answering, 1));
}

static void wait_until_done(struct stages_engine *engine, uint64_t jobs) {
    for (uint32_t look = 0; look < LOOKS; look++) {
        if (atomic_load(&engine->done) >= jobs) return;
        rsc_cpu_pause();
    }
    pthread_mutex_lock(&engine->lock);
    atomic_store(&engine->sleeping, 1);
    while (atomic_load(&engine->done) < jobs) pthread_cond_wait(&engine->progress, &engine->lock);
    atomic_store(&engine->sleeping, 0);
    pthread_mutex_unlock(&engine->lock);
}

/* ---- the first half ---- */

static int take_block(struct stages_engine *engine, struct job *job) {
    struct rsc_exact *exact = &engine->exact;
    job->time = exact->now;
    job->is_ri_counted = engine->no_ri;
    job->is_answered = !exact->kernel->in_steps(exact, engine->lines, job->count);
    if (job->is_answered) {
        wait_until_done(engine, engine->unanswered);
        return rsc_exact_run(exact, engine->lines, job->count, job->rd, job->ri);
    }
    if (!rsc_exact_has_room(exact, job->count)) {
        wait_until_done(engine, engine->unanswered);
        int status = rsc_exact_make_room(exact, job->count);
        if (status < 0) return status;
    }
    int status = rsc_exact_exchange(exact, engine->lines, job->count, job->slots);
    if (status < 0) return status;
    uint64_t queued = atomic_load(&engine->queued);
    engine->unanswered = queued + 1;
    if (job->is_ri_counted || queued - atomic_load(&engine->done) < BEHIND) return 0;
    exact->kernel->intervals(exact, job->slots, job->count, job->time, engine->ri);
    rsc_accumulate_intervals(&engine->intervals, engine->ri, job->count);
    job->is_ri_counted = 1;
    return 0;
}

static void tell_who(struct stages_engine *engine, struct job *job, const struct rsc_batch *batch, int one_kind) {
    if (one_kind && job->one_kind && rsc_meta_who(job->meta[0]) == rsc_meta_who(batch->meta[0])) return;
    /* sets all entries where one is needed: the next block reuses them */
    for (uint32_t i = 0; one_kind && i < RSC_EXACT_BLOCK; i++) job->meta[i] = batch->meta[0];
    for (uint32_t i = 0; !one_kind && i < job->count; i++) job->meta[i] = batch->meta[engine->from[i]];
    job->one_kind = one_kind;
}

static int is_of_one_kind(const struct rsc_batch *batch) {
    uint64_t differ = 0;
    for (uint32_t i = 0; i < batch->count; i++) differ |= batch->meta[i] ^ batch->meta[0];
    return differ >> 32 == 0;
}

static int keep_threads(struct stages_engine *engine, const struct rsc_batch *batch) {
    if (!batch->threads) return 0;
    if (RSC_GROW(engine->threads, engine->thread_room, batch->thread_count)) return RSC_ENOMEM;
    memcpy(engine->threads, batch->threads, batch->thread_count * sizeof *engine->threads);
    engine->thread_count = batch->thread_count;
    return 0;
}

static int fail(struct stages_engine *engine, int status, struct rsc_error *error) {
    rsc_parallel_failure(error, status, 2, "blocks", RSC_EXACT_BLOCK);
    atomic_store(&engine->status, status);
    return status;
}

static int stages_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct stages_engine *engine = state;
    struct rsc_reference_cursor cursor;
    int one_kind = is_of_one_kind(batch);
    if (keep_threads(engine, batch) < 0) return fail(engine, RSC_ENOMEM, error);
    engine->accesses += batch->count;
    rsc_references_start(&cursor, batch, engine->line_shift);
    while (cursor.next < batch->count) {
        uint64_t queued = atomic_load(&engine->queued);
        struct job *job = &engine->jobs[queued % JOBS];
        if (queued >= JOBS) wait_until_done(engine, queued - JOBS + 1);
        int status = atomic_load(&engine->status);
        job->count = rsc_references_fill(&cursor, engine->lines, engine->from, RSC_EXACT_BLOCK);
        if (!status) status = take_block(engine, job);
        if (status < 0) return fail(engine, status, error);
        tell_who(engine, job, batch, one_kind);
        atomic_store(&engine->queued, queued + 1);
        if (!atomic_exchange(&engine->answering, 1)) rsc_pool_submit(engine->pool, answer_jobs, engine);
    }
    return 0;
}

/* ---- the engine ---- */

static void stages_destroy(void *state) {
    struct stages_engine *engine = state;
    if (!engine) return;
    if (engine->pool) wait_until_done(engine, atomic_load(&engine->queued));
    rsc_pool_free(engine->pool);
    rsc_exact_free(&engine->exact);
    rsc_accumulator_free(&engine->sum);
    rsc_accumulator_free(&engine->intervals);
    free(engine->jobs);
    free(engine->threads);
    pthread_cond_destroy(&engine->progress);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

static int stages_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                         struct rsc_error *error) {
    (void)parameters;
    struct stages_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "parallel engine");
    engine->line_shift = (uint32_t)__builtin_ctz(options->line_bytes);
    engine->log = options->log;
    engine->no_ri = options->no_ri != 0;
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->progress, NULL);
    for (uint32_t i = 0; i < RSC_EXACT_BLOCK; i++) engine->each[i] = i;
    engine->jobs = calloc(JOBS, sizeof *engine->jobs);
    int status =
        engine->jobs && rsc_exact_init(&engine->exact, rsc_simd_best(), 0) == 0 &&
                rsc_accumulator_init(&engine->intervals, 0, options->max_distance, options->bins_per_octave) == 0 &&
                rsc_accumulator_init(&engine->sum, options->phases, options->max_distance, options->bins_per_octave) ==
                    0
            ? rsc_pool_new(&engine->pool, 1, error)
            : rsc_fail_memory(error, "parallel engine");
    if (status < 0) {
        stages_destroy(engine);
        return status;
    }
    if (engine->no_ri) rsc_exact_leave_out_ri(&engine->exact);
    *state = engine;
    return 0;
}

static int stages_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct stages_engine *engine = state;
    struct rsc_accumulator *sum = &engine->sum;
    struct rsc_late_tags no_tags = {0};
    wait_until_done(engine, atomic_load(&engine->queued));
    if (atomic_load(&engine->status) < 0) return fail(engine, atomic_load(&engine->status), error);
    if (rsc_accumulator_merge(sum, &engine->intervals) < 0) return rsc_fail_memory(error, "profile");
    sum->accesses = engine->accesses;
    for (uint32_t i = 0; i < engine->thread_count && i < sum->thread_count; i++) {
        sum->threads[i].pid = engine->threads[i].pid;
        sum->threads[i].tid = engine->threads[i].tid;
    }
    rsc_log_line(engine->log, RSC_LOG_INFO, "parallel engine (%s): in two stages, %llu blocks, %.1f MiB at most",
                 rsc_simd_name(rsc_simd_best()), (unsigned long long)atomic_load(&engine->queued),
                 (double)engine->exact.peak_bytes / (1 << 20));
    return rsc_late_profile(sum, &no_tags, "parallel", engine->log, out, error);
}

static void stages_watch(void *state, const struct rsc_distance_watch *watch) {
    ((struct stages_engine *)state)->watch = *watch;
}

const struct rsc_engine_kind rsc_parallel_stages = {
    .name = "parallel",
    .create = stages_create,
    .push = stages_push,
    .finish = stages_finish,
    .destroy = stages_destroy,
    .watch = stages_watch,
};
