/*
 * engine_gpu.c - exact distances on a GPU: accesses are cut into lines, where a trace is
 * decoded (gpu_part.h) or on their way to the device (gpu_feed.h); the plugin does the rest.
 *
 * The device sums up one stack over all references. From the second thread or kind of
 * access on it also counts rows of these. Where that is not enough, because phases, a
 * second binning or code are wanted or there are very many threads, it gives back every
 * distance, and gpu_count.h counts them. Either begins with the first such reference.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/key_values.h"
#include "distance/count/accumulate.h"
#include "distance/engine_kind.h"
#include "distance/gpu/gpu_count.h"
#include "distance/gpu/gpu_engine.h"
#include "distance/gpu/gpu_feed.h"
#include "distance/gpu/gpu_part.h"
#include "trace/source.h"

struct gpu_parameters {
    uint32_t device;
};

struct gpu_engine {
    struct rsc_engine_options options;
    struct rsc_gpu_feed feed;
    struct rsc_part_kind parts;
    struct rsc_accumulator sum; /* accesses and threads; everything else at the end */
    struct rsc_gpu_count count;
    enum detail { SUMS, ROWS, OUTCOMES } detail; /* OUTCOMES: every distance comes back, and `count` has begun */
    struct rsc_gpu_part *own; /* of batches, and what parts kept: up to a block that is not yet sent */
};

static void gpu_destroy(void *state) {
    struct gpu_engine *engine = state;
    if (!engine) return;
    rsc_gpu_feed_close(&engine->feed);
    rsc_gpu_part_free(engine->own);
    rsc_gpu_count_free(&engine->count);
    rsc_accumulator_free(&engine->sum);
    free(engine);
}

int rsc_gpu_parse(void *parameters, const char *text, struct rsc_error *error) {
    static const struct rsc_key keys[] = {
        {"device", NULL, offsetof(struct gpu_parameters, device), 4, 0, 1023, NULL, NULL},
        {.name = NULL},
    };
    return rsc_key_values_parse(parameters, keys, "engine 'gpu'", text, error);
}

uint32_t rsc_gpu_device(const void *parameters) { return ((const struct gpu_parameters *)parameters)->device; }

static int gpu_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                      struct rsc_error *error) {
    struct gpu_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "gpu engine");
    engine->options = *options;
    engine->count.tags = (struct rsc_late_tags){.attribute = options->attribute,
                                                .line_shift = (uint32_t)__builtin_ctz(options->line_bytes),
                                                .rd_cap = options->max_distance};
    struct rsc_gpu_options wanted = {.struct_bytes = sizeof wanted,
                                     .device = rsc_gpu_device(parameters),
                                     .stack_count = 1,
                                     .rd_cap = options->max_distance,
                                     .no_ri = options->no_ri};
    int status = 0;
    if (rsc_accumulator_init(&engine->sum, options->phases, options->max_distance, options->bins_per_octave) < 0 ||
        !(engine->own = rsc_gpu_part_new(&engine->feed)))
        status = rsc_fail_memory(error, "gpu engine");
    if (!status) status = rsc_gpu_feed_open(&engine->feed, &wanted, options->line_bytes, error);
    if (status < 0) {
        gpu_destroy(engine);
        return status;
    }
    *state = engine;
    return 0;
}

/* ---- rows, and every distance ---- */

/* What references of these threads and kinds, which are pushed next, need. */
static enum detail detail_for(const struct gpu_engine *engine, uint64_t threads, uint32_t kinds) {
    kinds |= engine->sum.kinds_seen;
    if (rsc_gpu_count_wanted(&engine->options) || engine->count.tags.late || threads > RSC_GPU_ROW_THREADS)
        return OUTCOMES;
    return threads > 1 || (kinds & (kinds - 1)) ? ROWS : SUMS;
}

/* Moves the device's counts into the accumulator. */
static void take_result(struct rsc_accumulator *sum, const struct rsc_gpu_result *result) {
    sum->references = result->references;
    sum->cold = result->distinct;
    sum->rd_capped = result->rd_capped;
    memcpy(sum->rd.count, result->rd, sizeof result->rd);
    memcpy(sum->ri.count, result->ri, sizeof result->ri);
}

/* Adds the device's rows to those of the accumulator, which are there: they are made before references are pushed. */
static int take_rows(struct gpu_engine *engine, struct rsc_error *error) {
    struct rsc_accumulator *sum = &engine->sum;
    struct rsc_gpu_rows *rows = malloc(sizeof *rows);
    int status = rows ? rsc_gpu_feed_rows(&engine->feed, rows, error) : rsc_fail_memory(error, "gpu engine");
    for (uint32_t k = 0; !status && k < RSC_GPU_KINDS && rsc_accumulator_by_kind(sum); k++) {
        if (!sum->kinds[k].rd.count) continue;
        sum->kinds[k].cold += rows->kinds[k].cold;
        for (uint32_t bin = 0; bin < RSC_GPU_FINE_BINS; bin++) sum->kinds[k].rd.count[bin] += rows->kinds[k].rd[bin];
    }
    for (uint32_t t = 0; !status && sum->thread_count > 1 && t < sum->thread_count && t < RSC_GPU_ROW_THREADS; t++) {
        struct rsc_thread_counts *row = &sum->threads[t];
        row->cold += rows->threads[t].cold;
        row->references += rows->threads[t].cold;
        for (uint32_t bin = 0; bin < RSC_GPU_COARSE_BINS; bin++) {
            row->rd.count[bin] += rows->threads[t].rd[bin];
            row->references += rows->threads[t].rd[bin];
        }
    }
    free(rows);
    return status;
}

static int begin(struct gpu_engine *engine, enum detail detail, struct rsc_error *error) {
    struct rsc_gpu_watch outcomes = {.tags = engine->count.tags.late != NULL,
                                     .intervals = engine->options.bins_per_octave && !engine->options.no_ri,
                                     .take = rsc_gpu_count_take,
                                     .context = &engine->count};
    struct rsc_gpu_watch rows = {.rows = 1};
    struct rsc_gpu_result *so_far = malloc(sizeof *so_far);
    if (!so_far) return rsc_fail_memory(error, "gpu engine");
    int status = engine->detail == ROWS ? take_rows(engine, error) : 0;
    if (!status) status = rsc_gpu_feed_watch(&engine->feed, detail == ROWS ? &rows : &outcomes, so_far, error);
    if (!status) take_result(&engine->sum, so_far);
    if (!status && detail == OUTCOMES)
        status = rsc_gpu_count_init(&engine->count, &engine->sum, &engine->options, error);
    if (!status) engine->detail = detail;
    free(so_far);
    return status;
}

/* Before references of these threads and kinds are pushed. */
static int expect(struct gpu_engine *engine, uint64_t threads, uint32_t kinds, struct rsc_error *error) {
    if (engine->detail == OUTCOMES) return 0;
    enum detail needed = detail_for(engine, threads, kinds);
    return needed > engine->detail ? begin(engine, needed, error) : 0;
}

/* Sends a block, and keeps what is needed to count the outcomes of its references. */
static int send_block(struct gpu_engine *engine, struct rsc_gpu_filled *filled, struct rsc_error *error) {
    if (engine->detail != SUMS) rsc_gpu_filled_mix(filled);
    if (engine->detail == OUTCOMES && rsc_gpu_count_expect(&engine->count, filled->block->who, filled->count) < 0)
        return rsc_fail_memory(error, "gpu engine");
    return rsc_gpu_feed_send(&engine->feed, filled->block, filled->count, error);
}

/* ---- batches ---- */

/* Sends the blocks of the engine's own part. */
static int send_own(struct gpu_engine *engine, struct rsc_error *error) {
    struct rsc_gpu_part *own = engine->own;
    int status = 0;
    for (size_t i = 0; !status && i < own->filled_count; i++) status = send_block(engine, &own->filled[i], error);
    own->filled_count = 0;
    return status;
}

/* Cuts a batch, and sends full blocks. */
static int cut_batch(struct gpu_engine *engine, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_gpu_part *own = engine->own;
    struct rsc_gpu_cut cut;
    int status = rsc_gpu_part_start(own, &cut, batch, engine->count.tags.late ? engine->count.tags.tag : NULL, error);
    if (!status && batch->count) status = expect(engine, own->threads_seen, own->kinds_seen, error);
    if (!status && rsc_accumulator_see_threads(&engine->sum, batch) < 0) status = rsc_fail_memory(error, "thread rows");
    if (status < 0 || !batch->count) return status; /* blocks with tags are there once they are expected */
    while ((status = rsc_gpu_part_fill(own, &cut, error)) > 0)
        if ((status = send_own(engine, error)) < 0) return status;
    return status;
}

static int gpu_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct gpu_engine *engine = state;
    int status = rsc_late_tags_give(&engine->count.tags, batch, engine->sum.accesses > 0, error);
    if (!status) status = cut_batch(engine, batch, error);
    engine->sum.accesses += batch->count;
    return status;
}

/* ---- parts, made where a trace is decoded ---- */

static void *part_create(const void *context) {
    const struct gpu_engine *engine = context;
    return rsc_gpu_part_new(&engine->feed);
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
    struct rsc_gpu_part *part = made;
    const struct rsc_batch names = {.threads = batch->threads, .thread_count = batch->thread_count};
    const struct rsc_batch late = rsc_gpu_part_late(part);
    int status = send_own(engine, error); /* what the piece before kept */
    if (!status && part->filled_count) status = expect(engine, part->threads_seen, part->kinds_seen, error);
    if (status < 0) return status;
    if (rsc_accumulator_need_rows(&engine->sum, part->threads_seen, part->kinds_seen) < 0 ||
        rsc_accumulator_see_threads(&engine->sum, &names) < 0)
        return rsc_fail_memory(error, "thread rows");
    for (size_t i = 0; !status && i < part->filled_count; i++) status = send_block(engine, &part->filled[i], error);
    if (!status && late.count) status = cut_batch(engine, &late, error);
    engine->sum.accesses += batch->count;
    return status;
}

/* ---- the end ---- */

/*
 * Lines are in the device's memory, which the session looks after; blocks that decoders fill are for reading (gpu_part.h).
 * Where outcomes come back, a reference of a chunk takes 52 bytes: two times distance, tag and interval, what attribution
 * reads, and who made it and those of the next chunk. A chunk grows with the lines, up to 64 Mi (gpu/session_state.h).
 */
static uint64_t gpu_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines) {
    (void)parameters;
    return rsc_gpu_count_wanted(options) || options->attribute != 2 ? rsc_gpu_outcomes_memory(lines, 52) : 0;
}

uint64_t rsc_gpu_outcomes_memory(uint64_t lines, uint64_t each) {
    const uint64_t least = 8ull << 20, most = 64ull << 20;
    const uint64_t chunk = lines < most ? (4u << 20) + lines + lines / 4 : most;
    return each * (chunk < least ? least : chunk > most ? most : chunk);
}

static int gpu_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct gpu_engine *engine = state;
    struct rsc_accumulator *sum = &engine->sum;
    struct rsc_gpu_result *result = malloc(sizeof *result);
    if (!result) return rsc_fail_memory(error, "gpu engine");
    int status = send_own(engine, error);
    if (!status) status = rsc_gpu_feed_finish(&engine->feed, result, NULL, error);
    if (!status && engine->detail == ROWS) status = take_rows(engine, error);
    if (!status && engine->detail == OUTCOMES && rsc_gpu_count_end(&engine->count) < 0)
        status = rsc_fail_memory(error, "gpu engine");
    if (!status) {
        assert(engine->detail != OUTCOMES ||
               (sum->references == result->references && sum->cold == result->distinct &&
                sum->rd_capped == result->rd_capped && !memcmp(sum->rd.count, result->rd, sizeof result->rd)));
        take_result(sum, result);
        status = rsc_late_profile(sum, &engine->count.tags, "gpu", engine->options.log, out, error);
    }
    free(result);
    return status;
}

const struct rsc_engine_kind rsc_engine_gpu = {
    .name = "gpu",
    .parameter = "[:device=N]",
    .what = "every distance, bit for bit; on a GPU",
    .can = RSC_CAN_PHASES | RSC_CAN_CAP | RSC_CAN_BINS | RSC_CAN_ATTRIBUTE | RSC_CAN_NO_RI,
    .parse = rsc_gpu_parse,
    .memory = gpu_memory,
    .create = gpu_create,
    .push = gpu_push,
    .parts = gpu_parts,
    .push_part = gpu_push_part,
    .finish = gpu_finish,
    .destroy = gpu_destroy,
};
