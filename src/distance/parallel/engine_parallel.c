/*
 * engine_parallel.c - the exact engine on several cores, in one of two ways.
 *
 * Stages (engine_stages.c): one thread looks lines up, another answers. No work is duplicated and memory is that of the
 * serial engine, but it only scales to two threads. Rounds (engine_rounds.c): the table of lines is cut by hash and the
 * stack by time, over any number of workers; intermediate results go through memory, which costs up to three times the
 * serial engine's processor time.
 *
 * So two to four workers use stages, more use rounds. Fewer use rounds too where stages do not help: with attribution
 * to code and objects, and where most references are to lines used just before (which the serial engine answers without
 * either half). The first accesses show both. `bench_parallel` measures the choice.
 */
#include "distance/parallel/engine_parallel.h"

#include <assert.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/pool.h"
#include "distance/engine_kind.h"
#include "distance/exact/exact_state.h"
#include "trace/references.h"

/* From this many workers on, always in rounds. 16 cores, 40 M references, M/s in two runs: two workers in stages had 47
 * and 58 over 2 M uniform lines, 57 and 71 over 100 K, 26 and 30 over zipf 0.99; four in rounds 35 and 39, 40 and 46, 27
 * and 30; six in rounds 49, 58, 41 (one run). */
#define ROUNDS_WORKERS 5u

/* References examined to choose. */
#define PROBED 16384u

struct parallel_engine {
    struct rsc_engine_options options;
    struct rsc_distance_watch watch;
    const struct rsc_engine_kind *way; /* NULL: not known yet */
    void *state;
};

static void parallel_destroy(void *state) {
    struct parallel_engine *engine = state;
    if (!engine) return;
    if (engine->way) engine->way->destroy(engine->state);
    free(engine);
}

static int parallel_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                           struct rsc_error *error) {
    (void)parameters;
    struct parallel_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "parallel engine");
    engine->options = *options;
    if (!engine->options.workers) engine->options.workers = rsc_pool_cpu_count();
    *state = engine;
    return 0;
}

/*
 * Whether most references of the batch are to lines used just before, as in programs. Stages compute such
 * distances in one thread, without splitting the block.
 */
static int is_local(const struct parallel_engine *engine, const struct rsc_batch *batch) {
    struct rsc_exact *exact = malloc(sizeof *exact);
    uint32_t rd[RSC_EXACT_BLOCK], from[RSC_EXACT_BLOCK], count, seen = 0, near = 0;
    uint64_t lines[RSC_EXACT_BLOCK];
    struct rsc_reference_cursor cursor;
    if (!exact || rsc_exact_init(exact, rsc_simd_best(), 0) < 0) {
        free(exact);
        return 0;
    }
    rsc_exact_leave_out_ri(exact);
    rsc_references_start(&cursor, batch, (uint32_t)__builtin_ctz(engine->options.line_bytes));
    while (seen < PROBED && (count = rsc_references_fill(&cursor, lines, from, RSC_EXACT_BLOCK)) > 0) {
        if (rsc_exact_run(exact, lines, count, rd, NULL) < 0) break;
        for (uint32_t i = 0; i < count; i++) near += rd[i] < RSC_RECENT_LANES;
        seen += count;
    }
    rsc_exact_free(exact);
    free(exact);
    return near > seen / 2;
}

/* Chooses from the first batch; NULL: there was none. */
static const struct rsc_engine_kind *way_of(const struct parallel_engine *engine, const struct rsc_batch *batch) {
    const struct rsc_engine_options *options = &engine->options;
    if (options->workers >= ROUNDS_WORKERS || options->workers == 1 || options->attribute == 1)
        return &rsc_parallel_rounds;
    if (!batch) return &rsc_parallel_stages;
    /* a recording that begins with events has code */
    if (options->attribute == 0 && (batch->pc || !batch->count)) return &rsc_parallel_rounds;
    return is_local(engine, batch) ? &rsc_parallel_rounds : &rsc_parallel_stages;
}

static int choose_way(struct parallel_engine *engine, const struct rsc_batch *batch, struct rsc_error *error) {
    const struct rsc_engine_kind *way = way_of(engine, batch);
    int status = way->create(&engine->state, &engine->options, NULL, error);
    if (status < 0) return status;
    engine->way = way;
    if (engine->watch.block) way->watch(engine->state, &engine->watch);
    return 0;
}

static int parallel_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct parallel_engine *engine = state;
    if (!engine->way && !batch->count && !batch->event_count) return 0;
    int status = engine->way ? 0 : choose_way(engine, batch, error);
    return status < 0 ? status : engine->way->push(engine->state, batch, error);
}

static int parallel_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct parallel_engine *engine = state;
    int status = engine->way ? 0 : choose_way(engine, NULL, error);
    return status < 0 ? status : engine->way->finish(engine->state, out, error);
}

void rsc_parallel_failure(struct rsc_error *error, int status, uint32_t workers, const char *stretches,
                          uint64_t references) {
    if (status == RSC_ELIMIT) rsc_fail(error, status, "parallel engine: too many distinct lines; take a larger --line");
    else
        rsc_fail(error, status, "out of memory (parallel engine, %u workers, %s of up to %llu references)", workers,
                 stretches, (unsigned long long)references);
}

/* Before the first access. */
static void parallel_watch(void *state, const struct rsc_distance_watch *watch) {
    struct parallel_engine *engine = state;
    assert(!engine->way);
    engine->watch = *watch;
}

/* An assumption, not measured: workers hold lines twice, in addition to shared memory. */
static uint64_t parallel_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines) {
    return 4 * rsc_exact_memory(options, parameters, lines);
}

const struct rsc_engine_kind rsc_engine_parallel = {
    .name = "parallel",
    .what = "every distance, bit for bit; several cores",
    .can = RSC_CAN_PHASES | RSC_CAN_CAP | RSC_CAN_BINS | RSC_CAN_ATTRIBUTE | RSC_CAN_WORKERS | RSC_CAN_NO_RI |
           RSC_WANTS_WORKERS,
    .memory = parallel_memory,
    .create = parallel_create,
    .push = parallel_push,
    .finish = parallel_finish,
    .destroy = parallel_destroy,
    .watch = parallel_watch,
};
