/*
 * engine_mpi.c - exact distances by several ranks, each with a part of the trace.
 *
 * While a rank reads its part, every reuse within it is counted as in the serial engine;
 * first touches are kept. At the end these go from rank to rank until one knows their
 * last use (ranks_exchange.h), and the counts are added up towards rank 0
 * (ranks_sums.h), which makes the profile: identical to the serial engine's.
 *
 * Memory: the state of the distinct lines of the part, and 24 bytes for each of them.
 * Phases are not supported: their boundaries depend on the length of the whole trace,
 * which no rank knows while counting.
 */
#include "distance/ranks/engine_mpi.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "distance/count/accumulate.h"
#include "distance/ranks/ranks_exchange.h"
#include "distance/ranks/ranks_sums.h"
#include "trace/references.h"

#define BLOCK 2048u

struct ranked_engine {
    struct rsc_ranks *ranks;
    struct rsc_exact exact;
    struct rsc_accumulator sum;
    struct rsc_touch_queue touches; /* not on rank 0: there they are cold */
    struct rsc_exchange exchange;
    uint32_t line_shift;
    int no_ri;
    const struct rsc_log *log;
    struct timespec started;
    int has_started;

    struct rsc_thread_table threads; /* the thread of each number */
    /* Where ranks have their own traces, maps thread numbers of the batch to numbers in `threads`: */
    struct rsc_thread *seen; /* by number in the batch: the thread last time... */
    uint32_t *seen_number;   /* ...and its number here; UINT32_MAX: not looked up yet */
    uint32_t seen_count;
    uint64_t *meta;
    uint32_t meta_room;

    uint64_t lines[BLOCK];
    uint64_t ri[BLOCK];
    uint32_t rd[BLOCK];
    uint32_t from[BLOCK];
};

void rsc_ranked_destroy(void *state) {
    struct ranked_engine *engine = state;
    if (!engine) return;
    rsc_exact_free(&engine->exact);
    rsc_accumulator_free(&engine->sum);
    rsc_touch_queue_free(&engine->touches);
    rsc_exchange_free(&engine->exchange);
    rsc_thread_table_free(&engine->threads);
    free(engine->seen);
    free(engine->seen_number);
    free(engine->meta);
    free(engine);
}

int rsc_ranked_create(void **state, const struct rsc_engine_options *options, struct rsc_ranks *ranks,
                      struct rsc_error *error) {
    struct ranked_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "mpi engine");
    engine->ranks = ranks;
    engine->touches.per_block = ranks->touches_per_message ? ranks->touches_per_message : RSC_TOUCH_BLOCK;
    engine->line_shift = (uint32_t)__builtin_ctz(options->line_bytes);
    engine->log = options->log;
    if (rsc_exact_init(&engine->exact, rsc_simd_best(), 0) < 0 ||
        rsc_accumulator_init(&engine->sum, 0, options->max_distance, options->bins_per_octave) < 0) {
        rsc_ranked_destroy(engine);
        return rsc_fail_memory(error, "mpi engine");
    }
    engine->no_ri = options->no_ri != 0;
    if (engine->no_ri) rsc_exact_leave_out_ri(&engine->exact);
    *state = engine;
    return 0;
}

/* ---- a rank's own part ---- */

static double seconds_since(const struct timespec *then) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

static void start_clock(struct ranked_engine *engine) {
    if (!engine->has_started) clock_gettime(CLOCK_MONOTONIC, &engine->started);
    engine->has_started = 1;
}

/* Slices of one trace: numbers are common, but other ranks may know the thread's identity. */
static int note_threads(struct ranked_engine *engine, const struct rsc_batch *batch) {
    uint32_t count = batch->threads ? batch->thread_count : 0;
    if (count > RSC_THREAD_ROWS_MAX) count = RSC_THREAD_ROWS_MAX;
    if (count > engine->threads.count) {
        struct rsc_thread *larger = realloc(engine->threads.threads, count * sizeof *larger);
        if (!larger) return RSC_ENOMEM;
        engine->threads.threads = larger;
        engine->threads.count = count;
    }
    if (count) memcpy(engine->threads.threads, batch->threads, count * sizeof *batch->threads);
    return 0;
}

/* The number of thread `number` of the batch in our own table. */
static int64_t own_number(struct ranked_engine *engine, const struct rsc_batch *batch, uint32_t number) {
    struct rsc_thread who = {0, number};
    if (batch->threads && number < batch->thread_count) who = batch->threads[number];
    if (number >= engine->seen_count) {
        uint32_t count = number + 1 + number / 2;
        struct rsc_thread *seen = realloc(engine->seen, count * sizeof *seen);
        if (seen) engine->seen = seen;
        uint32_t *numbers = realloc(engine->seen_number, count * sizeof *numbers);
        if (numbers) engine->seen_number = numbers;
        if (!seen || !numbers) return RSC_ENOMEM;
        for (uint32_t i = engine->seen_count; i < count; i++) numbers[i] = UINT32_MAX;
        engine->seen_count = count;
    }
    if (engine->seen_number[number] != UINT32_MAX && engine->seen[number].pid == who.pid &&
        engine->seen[number].tid == who.tid)
        return engine->seen_number[number];
    int64_t found = rsc_thread_number(&engine->threads, who.pid, who.tid);
    if (found < 0) return found;
    engine->seen[number] = who;
    engine->seen_number[number] = (uint32_t)found;
    return found;
}

/* For a rank's own traces: the batch as if they were one trace. */
static int renumber_batch(struct ranked_engine *engine, struct rsc_batch *batch, struct rsc_error *error) {
    uint64_t last = UINT64_MAX;
    int64_t number = 0;
    if (batch->count > engine->meta_room) {
        free(engine->meta);
        engine->meta = malloc(batch->count * sizeof *engine->meta);
        engine->meta_room = engine->meta ? batch->count : 0;
        if (!engine->meta) return rsc_fail_memory(error, "threads");
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t meta = batch->meta[i], thread = meta >> 40;
        if (thread != last && (number = own_number(engine, batch, (uint32_t)thread)) < 0)
            return rsc_fail_memory(error, "threads");
        last = thread;
        engine->meta[i] = (meta & ((1ull << 40) - 1)) | (uint64_t)number << 40;
    }
    if (engine->threads.count > RSC_THREAD_ROWS_MAX)
        return rsc_fail(error, RSC_ELIMIT, "mpi engine: more than %u threads in the traces of one rank",
                        RSC_THREAD_ROWS_MAX);
    batch->meta = engine->meta;
    batch->threads = NULL;
    batch->thread_count = 0;
    return 0;
}

static int explain(const struct ranked_engine *engine, int status, struct rsc_error *error) {
    uint64_t lines = rsc_exact_distinct(&engine->exact);
    if (status == RSC_ELIMIT)
        return rsc_fail(error, status,
                        "mpi engine: more than %llu distinct lines in one part; take more ranks or a larger --line",
                        (unsigned long long)lines);
    return rsc_fail(error, status, "out of memory (mpi engine, %llu distinct lines in this part)",
                    (unsigned long long)lines);
}

/* Keeps the first touches among `count` references; the first of these is reference `first` of this part. */
static int keep_touches(struct ranked_engine *engine, const struct rsc_batch *batch, uint64_t first, uint64_t above,
                        uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (engine->rd[i] != RSC_RD_COLD) continue;
        uint32_t who = rsc_meta_who(batch->meta[engine->from[i]]);
        struct rsc_touch touch = {engine->lines[i], first + i,
                                  above++ | rsc_touch_who(rsc_who_thread(who), rsc_who_kind_slot(who))};
        if (rsc_touch_queue_add(&engine->touches, touch) < 0) return RSC_ENOMEM;
    }
    return 0;
}

int rsc_ranked_push(void *state, const struct rsc_batch *given, struct rsc_error *error) {
    struct ranked_engine *engine = state;
    struct rsc_reference_cursor cursor;
    struct rsc_batch batch = *given;
    uint32_t count;
    start_clock(engine);
    int status = engine->ranks->own_traces ? renumber_batch(engine, &batch, error) : note_threads(engine, &batch);
    if (status == RSC_ENOMEM) return rsc_fail_memory(error, "threads");
    if (status < 0) return status;
    if (rsc_accumulator_see_threads(&engine->sum, &batch) < 0) return rsc_fail_memory(error, "thread rows");
    engine->sum.accesses += batch.count;
    rsc_references_start(&cursor, &batch, engine->line_shift);
    while ((count = rsc_references_fill(&cursor, engine->lines, engine->from, BLOCK)) > 0) {
        uint64_t first = engine->sum.references, cold = engine->sum.cold;
        status = rsc_exact_run(&engine->exact, engine->lines, count, engine->rd, engine->ri);
        if (status < 0) return explain(engine, status, error);
        if (rsc_accumulate(&engine->sum, &batch, engine->from, engine->rd, engine->no_ri ? NULL : engine->ri, count) <
            0)
            return rsc_fail_memory(error, "counts");
        if (engine->ranks->rank && engine->sum.cold != cold && keep_touches(engine, &batch, first, cold, count) < 0)
            return rsc_fail_memory(error, "first touches");
    }
    return 0;
}

/* ---- all parts together ---- */

static int settle(void *user, uint32_t thread, uint32_t kind, uint64_t rd, uint64_t ri) {
    struct ranked_engine *engine = user;
    if (rd == RSC_RD_UNKNOWN) return rsc_sums_add_cold(&engine->sum, thread, kind);
    return rsc_sums_add_reuse(&engine->sum, thread, kind, rd, engine->no_ri ? 0 : ri);
}

static int common_threads(struct ranked_engine *engine, struct rsc_error *error) {
    uint32_t *map = NULL;
    if (!engine->ranks->own_traces) return 0;
    int status = rsc_sums_common_threads(engine->ranks, &engine->threads, &map, error);
    if (!status && rsc_sums_renumber(&engine->sum, map) < 0) status = rsc_fail_memory(error, "thread rows");
    if (!status) rsc_touch_queue_renumber(&engine->touches, map);
    free(map);
    return status;
}

static int exchange(struct ranked_engine *engine, struct rsc_rank_costs *costs, struct rsc_error *error) {
    struct timespec begun;
    costs->first_touches = engine->sum.cold;
    costs->slice_seconds = seconds_since(&engine->started);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    /* First touches are cold if rank 0 finds them so, and are then counted there. */
    if (engine->ranks->rank) {
        engine->sum.cold = 0;
        for (uint32_t i = 0; i < engine->sum.thread_count; i++) engine->sum.threads[i].cold = 0;
        for (uint32_t k = 0; k < RSC_KIND_SLOTS; k++) engine->sum.kinds[k].cold = 0;
    }
    engine->exchange = (struct rsc_exchange){.ranks = engine->ranks,
                                             .exact = &engine->exact,
                                             .references = engine->sum.references,
                                             .queue = &engine->touches,
                                             .settle = settle,
                                             .user = engine};
    int status = rsc_exact_settle(&engine->exact);
    if (status < 0) return explain(engine, status, error);
    status = rsc_exchange_run(&engine->exchange, error);
    costs->replayed = costs->replayed_most = engine->exchange.replayed;
    costs->sent_bytes = engine->exchange.sent_bytes;
    costs->exchange_seconds = seconds_since(&begun);
    return status;
}

static void say(const struct ranked_engine *engine, const struct rsc_rank_costs *costs) {
    rsc_log_line(
        engine->log, RSC_LOG_INFO,
        "mpi engine: %u ranks; slices took %.3f s, the exchange %.3f s; %llu first touches, %llu replayed (%llu by "
        "one rank), %llu bytes sent",
        engine->ranks->size, costs->slice_seconds, costs->exchange_seconds, (unsigned long long)costs->first_touches,
        (unsigned long long)costs->replayed, (unsigned long long)costs->replayed_most,
        (unsigned long long)costs->sent_bytes);
    if (engine->sum.threads_seen > engine->sum.thread_count)
        rsc_log_line(engine->log, RSC_LOG_WARNING, "%llu threads; only the first %u have rows of their own",
                     (unsigned long long)engine->sum.threads_seen, engine->sum.thread_count);
}

int rsc_ranked_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct ranked_engine *engine = state;
    struct rsc_rank_costs costs = {0};
    start_clock(engine);
    int status = common_threads(engine, error);
    if (!status) status = exchange(engine, &costs, error);
    if (!status) status = rsc_sums_hand_on(engine->ranks, &engine->sum, &engine->threads, &costs, error);
    if (status < 0) return status;
    for (uint32_t i = 0; i < engine->sum.thread_count && i < engine->threads.count; i++) {
        engine->sum.threads[i].pid = engine->threads.threads[i].pid;
        engine->sum.threads[i].tid = engine->threads.threads[i].tid;
    }
    *out = engine->ranks->rank ? rsc_profile_new() : rsc_accumulator_profile(&engine->sum, engine->sum.cold);
    if (!*out || rsc_profile_set_text(&(*out)->made.by, "mpi") < 0 ||
        rsc_profile_set_text(&(*out)->made.model, "single") < 0)
        return rsc_fail_memory(error, "profile");
    (*out)->made.workers = engine->ranks->size;
    if (!engine->ranks->rank) say(engine, &costs);
    return 0;
}

static int mpi_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                      struct rsc_error *error) {
    struct rsc_ranks *ranks;
    (void)parameters;
    int status = rsc_ranks_of_mpi(&ranks, error);
    return status < 0 ? status : rsc_ranked_create(state, options, ranks, error);
}

const struct rsc_engine_kind rsc_engine_mpi = {
    .name = "mpi",
    .what = "exact, by the processes of an MPI job, each with a part of the trace (mpirun)",
    .can = RSC_CAN_CAP | RSC_CAN_BINS | RSC_CAN_NO_RI | RSC_RUNS_ON_RANKS,
    .memory = rsc_exact_memory,
    .create = mpi_create,
    .push = rsc_ranked_push,
    .finish = rsc_ranked_finish,
    .destroy = rsc_ranked_destroy,
};
