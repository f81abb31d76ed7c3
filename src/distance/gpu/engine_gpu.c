/*
 * engine_gpu.c - exact distances on a GPU: accesses are cut into lines, where a trace is
 * decoded (gpu_part.h) or on their way to the device (gpu_feed.h); the plugin does the rest.
 *
 * The device counts one stack over all threads and keeps only histograms. So a
 * profile has a thread row if there is one thread; with several, only their number.
 * Kinds of access are not counted separately.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/key_values.h"
#include "distance/count/accumulate.h"
#include "distance/engine_kind.h"
#include "distance/gpu/gpu_feed.h"
#include "distance/gpu/gpu_part.h"
#include "trace/source.h"

struct gpu_parameters {
    uint32_t device;
};

struct gpu_engine {
    struct rsc_gpu_feed feed;
    struct rsc_part_kind parts;
    const struct rsc_log *log;
    struct rsc_accumulator sum; /* accesses and threads; everything else at the end */
};

static void gpu_destroy(void *state) {
    struct gpu_engine *engine = state;
    if (!engine) return;
    rsc_gpu_feed_close(&engine->feed);
    rsc_accumulator_free(&engine->sum);
    free(engine);
}

static int gpu_parse(void *parameters, const char *text, struct rsc_error *error) {
    static const struct rsc_key keys[] = {
        {"device", NULL, offsetof(struct gpu_parameters, device), 4, 0, 1023, NULL, NULL},
        {.name = NULL},
    };
    return rsc_key_values_parse(parameters, keys, "engine 'gpu'", text, error);
}

static int gpu_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                      struct rsc_error *error) {
    const struct gpu_parameters *asked = parameters;
    struct gpu_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "gpu engine");
    engine->log = options->log;
    struct rsc_gpu_options wanted = {.struct_bytes = sizeof wanted,
                                     .device = asked->device,
                                     .stack_count = 1,
                                     .rd_cap = options->max_distance,
                                     .no_ri = options->no_ri};
    int status = 0;
    if (rsc_accumulator_init(&engine->sum, 0, options->max_distance, 0) < 0)
        status = rsc_fail_memory(error, "gpu engine");
    if (!status) status = rsc_gpu_feed_open(&engine->feed, &wanted, options->line_bytes, error);
    if (status < 0) {
        gpu_destroy(engine);
        return status;
    }
    *state = engine;
    return 0;
}

static int gpu_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct gpu_engine *engine = state;
    if (rsc_accumulator_see_threads(&engine->sum, batch) < 0) return rsc_fail_memory(error, "thread rows");
    engine->sum.accesses += batch->count;
    return rsc_gpu_feed_push(&engine->feed, batch, error);
}

/* ---- parts, made where a trace is decoded ---- */

static void *part_create(const void *context) {
    const struct gpu_engine *engine = context;
    return rsc_gpu_part_new(engine->feed.line_shift);
}

static void part_begin(void *part) { rsc_gpu_part_begin(part); }

static int part_take(void *part, const struct rsc_batch *batch, struct rsc_error *error) {
    return rsc_gpu_part_take(part, batch, error);
}

static void part_destroy(void *part) { rsc_gpu_part_free(part); }

static const struct rsc_part_kind *gpu_parts(void *state) {
    struct gpu_engine *engine = state;
    engine->parts = (struct rsc_part_kind){engine, part_create, part_begin, part_take, part_destroy};
    return &engine->parts;
}

static int gpu_push_part(void *state, void *made, const struct rsc_batch *batch, struct rsc_error *error) {
    struct gpu_engine *engine = state;
    const struct rsc_gpu_part *part = made;
    const struct rsc_batch names = {.threads = batch->threads, .thread_count = batch->thread_count};
    if (rsc_accumulator_need_rows(&engine->sum, part->threads_seen, 0) < 0 ||
        rsc_accumulator_see_threads(&engine->sum, &names) < 0)
        return rsc_fail_memory(error, "thread rows");
    engine->sum.accesses += batch->count;
    return rsc_gpu_feed_push_lines(&engine->feed, part->lines, part->count, error);
}

/* ---- the end ---- */

/* Moves the device's counts into the accumulator. */
static void take_result(struct gpu_engine *engine, const struct rsc_gpu_result *result) {
    struct rsc_accumulator *sum = &engine->sum;
    sum->references = result->references;
    sum->cold = result->distinct;
    sum->rd_capped = result->rd_capped;
    memcpy(sum->rd.count, result->rd, sizeof result->rd);
    memcpy(sum->ri.count, result->ri, sizeof result->ri);
    if (sum->threads_seen > 1) sum->thread_count = 0;
}

static int gpu_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct gpu_engine *engine = state;
    struct rsc_gpu_result *result = malloc(sizeof *result);
    if (!result) return rsc_fail_memory(error, "gpu engine");
    uint32_t rows = engine->sum.thread_count;
    int status = rsc_gpu_feed_finish(&engine->feed, result, NULL, error);
    if (status == 0) {
        take_result(engine, result);
        *out = rsc_accumulator_profile(&engine->sum, result->distinct);
        engine->sum.thread_count = rows; /* to be freed */
        if (!*out || rsc_profile_set_text(&(*out)->made.by, "gpu") < 0) status = rsc_fail_memory(error, "profile");
        else if (engine->sum.threads_seen > 1)
            rsc_log_line(engine->log, RSC_LOG_INFO, "gpu engine: no rows of threads");
    }
    free(result);
    return status;
}

const struct rsc_engine_kind rsc_engine_gpu = {
    .name = "gpu",
    .parameter = "[:device=N]",
    .what = "every distance, bit for bit; on a GPU",
    .can = RSC_CAN_CAP | RSC_CAN_NO_RI,
    .parse = gpu_parse,
    .memory = rsc_exact_memory,
    .create = gpu_create,
    .push = gpu_push,
    .parts = gpu_parts,
    .push_part = gpu_push_part,
    .finish = gpu_finish,
    .destroy = gpu_destroy,
};
