/*
 * engine_parallel.c - the exact engine on several cores, in one of two ways.
 *
 * engine_chunks.c cuts the trace in time: each worker runs a chunk through a stack of its own, and first uses are replayed into
 * the chunks before. Nothing is dearer for it where lines are few for the length, but each chunk has all lines again, and what
 * is old passes one worker at a time. engine_rounds.c cuts the table of lines by hash and the stack by time, and does
 * nothing twice; but it writes down and reads what the serial engine has at hand. So the first is for few workers, the
 * second for many: docs/parallel.md has the measurements.
 */
#include "distance/engine_parallel.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/pool.h"
#include "distance/engine_kind.h"

/* From so many workers on: rounds. */
#define ROUNDS_WORKERS 8u

struct parallel_engine {
    const struct rsc_engine_kind *way;
    void *state;
};

static void parallel_destroy(void *state) {
    struct parallel_engine *engine = state;
    if (!engine) return;
    engine->way->destroy(engine->state);
    free(engine);
}

static int parallel_create(void **state, const struct rsc_engine_options *options, const char *parameter,
                           struct rsc_error *error) {
    uint32_t workers = options->workers ? options->workers : rsc_pool_cpu_count();
    struct parallel_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "parallel engine");
    engine->way = workers < ROUNDS_WORKERS ? &rsc_parallel_chunks : &rsc_parallel_rounds;
    int status = engine->way->create(&engine->state, options, parameter, error);
    if (status < 0) {
        free(engine);
        return status;
    }
    *state = engine;
    return 0;
}

static int parallel_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct parallel_engine *engine = state;
    return engine->way->push(engine->state, batch, error);
}

static int parallel_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct parallel_engine *engine = state;
    return engine->way->finish(engine->state, out, error);
}

void rsc_parallel_failure(struct rsc_error *error, int status, uint32_t workers, const char *stretches, uint64_t references) {
    if (status == RSC_ELIMIT)
        rsc_fail(error, status, "parallel engine: too many distinct lines; take a larger --line");
    else
        rsc_fail(error, status, "out of memory (parallel engine, %u workers, %s of up to %llu references)", workers, stretches,
                 (unsigned long long)references);
}

int rsc_parallel_profile(struct rsc_accumulator *sum, struct rsc_late_tags *tags, const struct rsc_log *log,
                         struct rsc_profile **out, struct rsc_error *error) {
    *out = rsc_accumulator_profile(sum, sum->cold);
    if (!*out || rsc_profile_set_text(&(*out)->made.by, "parallel") < 0 ||
        rsc_profile_set_text(&(*out)->made.model, "single") < 0 || (tags->late && rsc_late_attribution_fill(tags->late, *out) < 0))
        return rsc_fail_memory(error, "profile");
    if (sum->threads_seen > sum->thread_count)
        rsc_log_line(log, RSC_LOG_WARNING, "%llu threads; only the first %u have rows of their own",
                     (unsigned long long)sum->threads_seen, sum->thread_count);
    return 0;
}

const struct rsc_engine_kind rsc_engine_parallel = {
    .name = "parallel",
    .what = "every distance, bit for bit; several cores",
    .can = RSC_CAN_PHASES | RSC_CAN_CAP | RSC_CAN_BINS | RSC_CAN_ATTRIBUTE | RSC_CAN_WORKERS | RSC_CAN_NO_RI,
    .create = parallel_create,
    .push = parallel_push,
    .finish = parallel_finish,
    .destroy = parallel_destroy,
};
