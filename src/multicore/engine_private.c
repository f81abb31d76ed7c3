/*
 * engine_private.c - the exact engine of model "private": the stack of each thread or
 * group turns lines into distances, which are counted like those of a single stack
 * (counting.h). As long as there is only one stack, lone_stack.h does the same in less time;
 * and where the same batches go to the exact engine as well, for model "shared", its numbers
 * are the numbers here: this engine leans on it, and goes on from a copy of its counts when
 * a second stack comes.
 *
 * Assumptions: references take effect one at a time, in the order of the batches; a
 * write takes its line from every other stack at once; caches are fully associative
 * with LRU replacement and write-allocate.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "distance/count/counting.h"
#include "distance/engine_kind.h"
#include "distance/exact/engine_exact.h"
#include "multicore/coherent_stacks.h"
#include "multicore/lone_stack.h"
#include "multicore/multicore_engines.h"
#include "multicore/thread_stacks.h"

#define BLOCK RSC_COUNTING_BLOCK
_Static_assert(BLOCK <= RSC_PRIVATE_BLOCK, "a block is one run of the stacks");

struct private_engine {
    struct rsc_coherent_stacks stacks;
    struct rsc_lone_stack *lone; /* in place of the first, until there is a second; owned */
    struct rsc_exact_engine *leans_on; /* NULL: none, or no more */
    struct rsc_thread_stacks threads;
    struct rsc_counting counting;
    uint64_t bytes[BLOCK]; /* the bytes of its line that each reference of the block touches */
    uint32_t who[BLOCK];
};

static void drop_lone(struct private_engine *engine) {
    if (engine->lone) rsc_lone_stack_free(engine->lone);
    free(engine->lone);
    engine->lone = NULL;
}

static void private_destroy(void *state) {
    struct private_engine *engine = state;
    if (!engine) return;
    drop_lone(engine);
    rsc_coherent_stacks_free(&engine->stacks);
    rsc_thread_stacks_free(&engine->threads);
    rsc_counting_free(&engine->counting);
    free(engine);
}

static int private_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                          struct rsc_error *error) {
    (void)parameters;
    struct private_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "private stacks");
    int status = rsc_thread_stacks_init(&engine->threads, options->cores, error);
    if (status < 0) goto fail;
    engine->lone = calloc(1, sizeof *engine->lone);
    if (!engine->lone || rsc_lone_stack_init(engine->lone, rsc_simd_best(), options->no_ri != 0, 0) < 0 ||
        rsc_coherent_stacks_init(&engine->stacks, rsc_simd_best(), options->no_ri != 0, 0) < 0 ||
        rsc_counting_init(&engine->counting, options, 1) < 0) {
        status = rsc_fail_memory(error, "private stacks");
        goto fail;
    }
    *state = engine;
    return 0;
fail:
    private_destroy(engine);
    return status;
}

/* ---- which stack ---- */

/* Whether all accesses of a batch are of the same thread. */
static int is_one_thread(const struct rsc_batch *batch) {
    uint64_t apart = 0;
    for (uint32_t i = 0; i < batch->count; i++) apart |= batch->meta[i] ^ batch->meta[0];
    return !(apart >> 40);
}

/* Makes stacks for all threads of a batch. */
static int assign_stacks(struct private_engine *engine, const struct rsc_batch *batch) {
    const uint32_t count = batch->count && is_one_thread(batch) ? 1 : batch->count;
    struct rsc_thread_stacks *threads = &engine->threads;
    uint64_t last = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t thread = batch->meta[i] >> 40;
        if (thread == last) continue;
        last = thread;
        if (rsc_thread_stacks_of(threads, (uint32_t)thread) != RSC_NO_STACK) continue;
        int added = rsc_thread_stacks_add(threads, batch, (uint32_t)thread);
        if (added < 0 || (added && rsc_coherent_stacks_add(&engine->stacks) == UINT32_MAX)) return RSC_ENOMEM;
    }
    return 0;
}

/* Finds the stack of each reference of the block, and the bytes it touches. */
static void say_who(struct private_engine *engine) {
    struct rsc_counting *counting = &engine->counting;
    const struct rsc_batch *batch = counting->batch;
    const uint32_t *from = counting->block->from, *stack_of_thread = engine->threads.of_thread;
    const uint32_t count = counting->block->count;
    struct rsc_private_columns columns = {batch->addr, batch->meta, from};
    engine->stacks.bytes_of(&columns, counting->lines, engine->bytes, count, counting->line_shift);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t meta = batch->meta[from[i]];
        counting->stack[i] = stack_of_thread[rsc_meta_thread(meta)];
        engine->who[i] = counting->stack[i] | (rsc_meta_kind(meta) == RSC_WRITE ? RSC_PRIVATE_WRITES : 0);
    }
}

/* ---- one stack, or several ---- */

static uint64_t distinct(const struct private_engine *engine) {
    return engine->lone ? rsc_exact_distinct(engine->lone->exact) : engine->stacks.copies.lines;
}

static uint64_t bytes_held(const struct private_engine *engine) {
    return rsc_coherent_stacks_bytes(&engine->stacks) + (engine->lone ? rsc_lone_stack_bytes(engine->lone) : 0);
}

static int explain(const struct private_engine *engine, int status, struct rsc_error *error) {
    if (status == RSC_ELIMIT)
        return rsc_fail(error, status, "private stacks: too many distinct lines; take a larger --line");
    return rsc_fail(error, status, "out of memory (private stacks: %u of them, %llu distinct lines, %llu MiB)",
                    (unsigned)engine->stacks.count, (unsigned long long)distinct(engine),
                    (unsigned long long)(bytes_held(engine) >> 20));
}

/* A second stack has come. */
static int end_lone(struct private_engine *engine) {
    int status = rsc_lone_stack_hand_over(engine->lone, &engine->stacks);
    if (!status) drop_lone(engine);
    return status;
}

/* ---- leaning on another engine ---- */

void rsc_private_lean_on(void *state, void *exact_state) {
    struct private_engine *engine = state;
    engine->leans_on = exact_state;
    rsc_lone_stack_lean_on(engine->lone, &engine->leans_on->exact);
}

/* Takes a copy of the counts. */
static int stand_up(struct private_engine *engine) {
    int status = rsc_counting_go_on_from(&engine->counting, &engine->leans_on->counting);
    if (!status) engine->leans_on = NULL;
    return status;
}

int rsc_private_stand(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct private_engine *engine = state;
    if (!engine->leans_on) return 0;
    int status = assign_stacks(engine, batch);
    if (!status && engine->stacks.count > 1) {
        status = stand_up(engine);
        if (!status) status = end_lone(engine); /* before the other engine goes on */
    }
    return status < 0 ? explain(engine, status, error) : engine->leans_on != NULL;
}

/* ---- batches ---- */

static int private_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct private_engine *engine = state;
    struct rsc_counting *counting = &engine->counting;
    int status = engine->leans_on ? 0 : rsc_counting_begin(counting, batch, error);
    if (status < 0) return status;
    if (!engine->leans_on && assign_stacks(engine, batch) < 0) return explain(engine, RSC_ENOMEM, error);
    if (engine->lone && engine->stacks.count > 1 && (status = end_lone(engine)) < 0)
        return explain(engine, status, error);
    if (engine->lone && rsc_lone_stack_note(engine->lone, batch, counting->line_shift) < 0)
        return explain(engine, RSC_ENOMEM, error);
    if (engine->leans_on) return 0;
    while (!status && rsc_counting_next(counting) > 0) {
        struct rsc_counting_block *block = counting->block;
        int tagged = rsc_counting_tagged(counting);
        if (!engine->lone) say_who(engine); /* a lone stack is 0, as is counting->stack at first */
        struct rsc_private_references references = {counting->lines, engine->who, engine->bytes,
                                                    tagged ? block->tag : NULL, block->count};
        uint64_t *ri = counting->no_ri ? NULL : block->ri;
        uint32_t *last_tag = tagged ? block->last_tag : NULL;
        status = engine->lone ? rsc_lone_stack_run(engine->lone, &references, block->rd, ri, last_tag)
                              : rsc_coherent_stacks_run(&engine->stacks, &references, block->rd, ri, last_tag);
        if (status < 0) return explain(engine, status, error);
        status = rsc_counting_take(counting, error);
        if (!status) rsc_sharing_name(&engine->stacks.sharing, rsc_counting_objects(counting));
    }
    return status;
}

/* ---- the profile ---- */

static void name_stack(void *owner, uint32_t stack, uint64_t *pid, uint64_t *tid) {
    const struct private_engine *engine = owner;
    *pid = engine->threads.stacks[stack].pid;
    *tid = engine->threads.stacks[stack].tid;
}

static uint64_t pc_of(void *owner, uint32_t tag) {
    const struct private_engine *engine = owner;
    return rsc_attribution_pc(engine->counting.tags.attribution, tag);
}

static int fill_sharing(struct private_engine *engine, struct rsc_profile *profile) {
    const struct rsc_attribution *attribution = engine->counting.tags.attribution;
    uint64_t objects[RSC_SHARING_LINES_KEPT];
    struct rsc_sharing_names names = {engine, name_stack, attribution ? pc_of : NULL, engine->counting.line_shift};
    int status = rsc_sharing_fill(&engine->stacks.sharing, &names, profile, objects);
    return status || !attribution ? status : rsc_attribution_name_false_sharing(attribution, profile, objects);
}

static int private_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct private_engine *engine = state;
    struct rsc_counting *counting = &engine->counting;
    if (engine->leans_on && stand_up(engine) < 0) return explain(engine, RSC_ENOMEM, error);
    *out = rsc_counting_profile(counting, distinct(engine));
    if (!*out || rsc_profile_set_text(&(*out)->made.by, "exact") < 0 || fill_sharing(engine, *out) < 0 ||
        rsc_counting_fill_code(counting, *out) < 0)
        return rsc_fail_memory(error, "profile");
    rsc_log_line(counting->log, RSC_LOG_INFO, "private stacks (%s): %u of them, %.1f MiB at the end",
                 rsc_simd_name(rsc_simd_best()), (unsigned)engine->stacks.count,
                 (double)bytes_held(engine) / (1 << 20));
    rsc_core_groups_warn(&engine->threads.groups, counting->sum.threads_seen, counting->log);
    return 0;
}

static void private_so_far(const void *state, struct rsc_so_far *so_far) {
    const struct private_engine *engine = state;
    so_far->references = engine->leans_on ? engine->leans_on->counting.references : engine->counting.sum.references;
    so_far->error = 0;
}

/* Unit, record, member and bitmap of a line that one thread uses; each further thread needs as much again
 * (line_copies.h). */
static uint64_t private_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines) {
    return 2 * rsc_exact_memory(options, parameters, lines);
}

static void private_watch(void *state, const struct rsc_distance_watch *watch) {
    ((struct private_engine *)state)->counting.watch = *watch;
}

const struct rsc_engine_kind rsc_engine_private = {
    .name = "exact",
    .what = "every distance of private stacks, bit for bit; one core",
    .can = RSC_CAN_PHASES | RSC_CAN_CAP | RSC_CAN_BINS | RSC_CAN_ATTRIBUTE | RSC_CAN_NO_RI | RSC_CAN_TOP_LINES |
           RSC_CAN_PRIVATE,
    .memory = private_memory,
    .create = private_create,
    .push = private_push,
    .finish = private_finish,
    .destroy = private_destroy,
    .so_far = private_so_far,
    .watch = private_watch,
};
