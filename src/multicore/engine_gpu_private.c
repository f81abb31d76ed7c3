/*
 * engine_gpu_private.c - the gpu engine of model "private". The device finds the distance of every reference, and what writes
 * take from other stacks (gpu/private_stacks.cuh). The host counts: distances as the gpu engine counts outcomes
 * (gpu_count.h), on all cores; lost lines in order (sharing.h), as the exact engine does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "distance/count/late_attribution.h"
#include "distance/gpu/gpu_count.h"
#include "distance/gpu/gpu_engine.h"
#include "distance/gpu/gpu_part.h"
#include "multicore/coherent_stacks.h"
#include "multicore/gpu_losses.h"
#include "multicore/multicore_engines.h"
#include "multicore/thread_stacks.h"

struct gpu_private_engine {
    struct rsc_engine_options options;
    struct rsc_gpu_feed feed;
    struct rsc_accumulator sum; /* accesses and threads; everything else at the end */
    struct rsc_gpu_count count;
    struct rsc_gpu_part *own; /* of batches, up to a block's worth that is not yet sent */
    struct rsc_thread_stacks threads;
    struct rsc_sharing sharing;
    int begun;
};

static void gpu_private_destroy(void *state) {
    struct gpu_private_engine *engine = state;
    if (!engine) return;
    rsc_gpu_feed_close(&engine->feed);
    rsc_gpu_part_free(engine->own);
    rsc_gpu_count_free(&engine->count);
    rsc_accumulator_free(&engine->sum);
    rsc_thread_stacks_free(&engine->threads);
    rsc_sharing_free(&engine->sharing);
    free(engine);
}

static void find_bytes(const struct rsc_batch *batch, const uint32_t *from, const uint64_t *lines, uint64_t *bytes,
                       uint32_t count, uint32_t line_shift) {
    const struct rsc_private_columns columns = {batch->addr, batch->meta, from};
    RSC_WIDE_PICK(rsc_simd_best(), rsc_private_bytes)(&columns, lines, bytes, count, line_shift);
}

static int gpu_private_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                              struct rsc_error *error) {
    struct gpu_private_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "gpu engine");
    engine->options = *options;
    engine->count.tags = (struct rsc_late_tags){.attribute = options->attribute,
                                                .line_shift = (uint32_t)__builtin_ctz(options->line_bytes),
                                                .rd_cap = options->max_distance};
    engine->count.keep_objects = 1;
    struct rsc_gpu_options wanted = {.struct_bytes = sizeof wanted,
                                     .device = rsc_gpu_device(parameters),
                                     .stack_count = 1,
                                     .no_ri = options->no_ri,
                                     .private_stacks = 1};
    int status = rsc_thread_stacks_init(&engine->threads, options->cores, error);
    if (!status &&
        (rsc_sharing_init(&engine->sharing) < 0 ||
         rsc_accumulator_init(&engine->sum, options->phases, options->max_distance, options->bins_per_octave) < 0 ||
         !(engine->own = rsc_gpu_part_new(&engine->feed))))
        status = rsc_fail_memory(error, "gpu engine");
    if (!status) status = rsc_gpu_feed_open(&engine->feed, &wanted, options->line_bytes, error);
    engine->feed.bytes_of = find_bytes;
    if (status < 0) {
        gpu_private_destroy(engine);
        return status;
    }
    *state = engine;
    return 0;
}

/* ---- outcomes ---- */

static int take_outcomes(void *context, const struct rsc_gpu_outcomes *outcomes) {
    struct gpu_private_engine *engine = context;
    const uint64_t *objects = NULL;
    int status = rsc_gpu_count_take(&engine->count, outcomes);
    if (!status && outcomes->taken_count) status = rsc_gpu_count_objects(&engine->count, &objects);
    if (!status) rsc_gpu_count_losses(&engine->sharing, outcomes, objects);
    return status;
}

/* Before the first references, when it is known whether they have tags. */
static int begin(struct gpu_private_engine *engine, struct rsc_error *error) {
    const struct rsc_gpu_watch watch = {.tags = engine->count.tags.late != NULL,
                                        .intervals = !engine->options.no_ri,
                                        .take = take_outcomes,
                                        .context = engine};
    if (engine->begun) return 0;
    struct rsc_gpu_result *so_far = malloc(sizeof *so_far);
    if (!so_far) return rsc_fail_memory(error, "gpu engine");
    int status = rsc_gpu_feed_watch(&engine->feed, &watch, so_far, error);
    free(so_far);
    if (!status) status = rsc_gpu_count_init(&engine->count, &engine->sum, &engine->options, error);
    engine->begun = !status;
    return status;
}

/* ---- references ---- */

/* Makes stacks for all threads of a batch, which may name them. */
static int assign_stacks(struct gpu_private_engine *engine, const struct rsc_batch *batch) {
    uint64_t last = UINT64_MAX;
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint64_t thread = batch->meta[i] >> 40;
        if (thread == last) continue;
        last = thread;
        if (rsc_thread_stacks_of(&engine->threads, (uint32_t)thread) == RSC_NO_STACK &&
            rsc_thread_stacks_add(&engine->threads, batch, (uint32_t)thread) < 0)
            return RSC_ENOMEM;
    }
    return 0;
}

/* Sends a block. Its column of who, which is kept for counting, then has stacks. */
static int send_block(struct gpu_private_engine *engine, struct rsc_gpu_filled *filled, struct rsc_error *error) {
    const uint32_t *stack_of_thread = engine->threads.of_thread;
    uint32_t *who = filled->block->who;
    rsc_gpu_filled_mix(filled);
    if (rsc_gpu_count_expect(&engine->count, who, filled->count) < 0) return rsc_fail_memory(error, "gpu engine");
    for (size_t i = 0; i < filled->count; i++)
        who[i] = stack_of_thread[rsc_who_thread(who[i])] << 1 | ((who[i] & 0xff) == RSC_WRITE);
    return rsc_gpu_feed_send(&engine->feed, filled->block, filled->count, error);
}

/* Sends the blocks of the engine's own part. */
static int send_own(struct gpu_private_engine *engine, struct rsc_error *error) {
    struct rsc_gpu_part *own = engine->own;
    int status = 0;
    for (size_t i = 0; !status && i < own->filled_count; i++) status = send_block(engine, &own->filled[i], error);
    own->filled_count = 0;
    return status;
}

static int gpu_private_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct gpu_private_engine *engine = state;
    const struct rsc_late_tags *tags = &engine->count.tags;
    struct rsc_gpu_cut cut;
    int status = rsc_late_tags_give(&engine->count.tags, batch, engine->sum.accesses > 0, error);
    if (!status && batch->count) status = begin(engine, error);
    if (!status) status = rsc_gpu_part_start(engine->own, &cut, batch, tags->late ? tags->tag : NULL, error);
    if (status < 0) return status;
    if (assign_stacks(engine, batch) < 0) return rsc_fail_memory(error, "private stacks");
    if (rsc_accumulator_see_threads(&engine->sum, batch) < 0) return rsc_fail_memory(error, "thread rows");
    engine->sum.accesses += batch->count;
    while (batch->count && (status = rsc_gpu_part_fill(engine->own, &cut, error)) > 0)
        if ((status = send_own(engine, error)) < 0) return status;
    return status;
}

/* As engine_gpu.c has it, and the object of each reference. */
static uint64_t gpu_private_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines) {
    (void)options;
    (void)parameters;
    return rsc_gpu_outcomes_memory(lines, 60);
}

/* ---- the profile ---- */

static void name_stack(void *owner, uint32_t stack, uint64_t *pid, uint64_t *tid) {
    const struct gpu_private_engine *engine = owner;
    *pid = engine->threads.stacks[stack].pid;
    *tid = engine->threads.stacks[stack].tid;
}

static uint64_t pc_of(void *owner, uint32_t tag) {
    const struct gpu_private_engine *engine = owner;
    return rsc_attribution_pc(rsc_late_attribution_of(engine->count.tags.late), tag);
}

static int fill_profile(struct gpu_private_engine *engine, uint64_t distinct, struct rsc_profile **out) {
    const struct rsc_late_tags *tags = &engine->count.tags;
    const struct rsc_sharing_names names = {engine, name_stack, tags->late ? pc_of : NULL, tags->line_shift};
    uint64_t objects[RSC_SHARING_LINES_KEPT];
    *out = rsc_accumulator_profile(&engine->sum, distinct);
    if (!*out || rsc_profile_set_text(&(*out)->made.by, "gpu") < 0 ||
        rsc_sharing_fill(&engine->sharing, &names, *out, objects) < 0)
        return RSC_ENOMEM;
    if (!tags->late) return 0;
    return rsc_attribution_name_false_sharing(rsc_late_attribution_of(tags->late), *out, objects) < 0
               ? RSC_ENOMEM
               : rsc_late_fill(tags->late, *out);
}

static int gpu_private_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct gpu_private_engine *engine = state;
    struct rsc_gpu_result *result = malloc(sizeof *result);
    if (!result) return rsc_fail_memory(error, "gpu engine");
    int status = send_own(engine, error);
    if (!status) status = rsc_gpu_feed_finish(&engine->feed, result, NULL, error);
    if (!status && engine->begun && rsc_gpu_count_end(&engine->count) < 0)
        status = rsc_fail_memory(error, "gpu engine");
    if (!status && fill_profile(engine, result->distinct, out) < 0) status = rsc_fail_memory(error, "profile");
    free(result);
    if (status < 0) return status;
    rsc_accumulator_warn(&engine->sum, engine->options.log);
    rsc_core_groups_warn(&engine->threads.groups, engine->sum.threads_seen, engine->options.log);
    return 0;
}

const struct rsc_engine_kind rsc_engine_gpu_private = {
    .name = "gpu",
    .parameter = "[:device=N]",
    .what = "every distance of private stacks, bit for bit; on a GPU",
    .can = RSC_CAN_PHASES | RSC_CAN_CAP | RSC_CAN_BINS | RSC_CAN_ATTRIBUTE | RSC_CAN_NO_RI | RSC_CAN_PRIVATE,
    .parse = rsc_gpu_parse,
    .memory = gpu_private_memory,
    .create = gpu_private_create,
    .push = gpu_private_push,
    .finish = gpu_private_finish,
    .destroy = gpu_private_destroy,
};
