/*
 * engine_gpu.c - exact distances on a GPU: push() cuts accesses into lines straight
 * into page-locked memory, the plugin (gpu_plugin.h) does the rest. Copying and
 * computing go on while the next lines are cut.
 *
 * The device counts one stack over all threads and keeps no more than histograms.
 * So a profile has a row for its thread where there is one; with several, only
 * their number. Kinds of access are not told apart.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "distance/accumulate.h"
#include "distance/engine_kind.h"
#include "distance/gpu_load.h"
#include "trace/references.h"

#define BLOCK 4096u

struct gpu_engine {
    const struct rsc_gpu_plugin *plugin;
    void *session;
    uint32_t line_shift;
    const struct rsc_log *log;
    struct rsc_accumulator sum; /* accesses and threads; the rest at the end */
    uint64_t *words;            /* the plugin's buffer; NULL: none at present */
    size_t room, filled;
    uint32_t from[BLOCK];
    char message[RSC_GPU_MESSAGE_BYTES];
};

static int explain(const struct gpu_engine *engine, int status, struct rsc_error *error) {
    return rsc_fail(error, status, "%s", engine->message);
}

static void gpu_destroy(void *state) {
    struct gpu_engine *engine = state;
    if (!engine) return;
    if (engine->plugin) engine->plugin->close(engine->session);
    rsc_accumulator_free(&engine->sum);
    free(engine);
}

static int gpu_create(void **state, const struct rsc_engine_options *options, const char *parameter,
                      struct rsc_error *error) {
    (void)parameter;
    struct gpu_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "gpu engine");
    engine->line_shift = (uint32_t)__builtin_ctz(options->line_bytes);
    engine->log = options->log;
    /* words are line numbers: what was an access across two lines is two words already */
    struct rsc_gpu_options wanted = {.struct_bytes = sizeof wanted, .device = options->device, .stack_count = 1,
                                     .rd_cap = options->max_distance, .no_ri = options->no_ri};
    int status = rsc_gpu_load(&engine->plugin, error);
    if (status < 0) {
        engine->plugin = NULL;
    } else if (rsc_accumulator_init(&engine->sum, 0, options->max_distance, 0) < 0) {
        status = rsc_fail_memory(error, "gpu engine");
    } else {
        status = engine->plugin->open(&engine->session, &wanted, engine->message);
        if (status < 0) explain(engine, status, error);
    }
    if (status < 0) {
        gpu_destroy(engine);
        return status;
    }
    *state = engine;
    return 0;
}

/* Hands the buffer over. */
static int commit(struct gpu_engine *engine, struct rsc_error *error) {
    if (!engine->words) return 0;
    int status = engine->plugin->commit(engine->session, engine->filled, engine->message);
    engine->words = NULL;
    engine->filled = engine->room = 0;
    return status < 0 ? explain(engine, status, error) : 0;
}

static int gpu_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct gpu_engine *engine = state;
    struct rsc_reference_cursor cursor;
    if (rsc_accumulator_see_threads(&engine->sum, batch) < 0) return rsc_fail_memory(error, "thread rows");
    rsc_references_start(&cursor, batch, engine->line_shift);
    for (;;) {
        if (engine->filled == engine->room) {
            int status = commit(engine, error);
            if (status < 0) return status;
            status = engine->plugin->buffer(engine->session, &engine->words, &engine->room, engine->message);
            if (status < 0) return explain(engine, status, error);
        }
        size_t room = engine->room - engine->filled;
        uint32_t count = rsc_references_fill(&cursor, engine->words + engine->filled, engine->from,
                                             room < BLOCK ? (uint32_t)room : BLOCK);
        if (!count) break;
        engine->filled += count;
    }
    engine->sum.accesses += batch->count;
    return 0;
}

/* The device's counts go where the accumulator keeps its own. */
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
    int status = commit(engine, error);
    if (status == 0) {
        status = engine->plugin->finish(engine->session, result, engine->message);
        if (status < 0) explain(engine, status, error);
    }
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
    .what = "every distance, bit for bit; on a GPU (--device)",
    .can = RSC_CAN_CAP | RSC_CAN_NO_RI | RSC_CAN_DEVICE,
    .create = gpu_create,
    .push = gpu_push,
    .finish = gpu_finish,
    .destroy = gpu_destroy,
};
