/*
 * engine_private.c - the exact engine of model "private": accesses are cut into
 * lines, each thread's or group's stack turns them into distances, the accumulator
 * and the attribution count them as they do for one stack.
 *
 * Assumptions: references take effect one at a time, in the order of the batches; a
 * write takes its line from every other stack at once; caches are fully associative
 * with LRU replacement and write-allocate.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "distance/count/accumulate.h"
#include "distance/count/attribution.h"
#include "distance/engine_kind.h"
#include "distance/count/top_lines.h"
#include "multicore/core_groups.h"
#include "multicore/multicore_engines.h"
#include "multicore/private_stacks.h"
#include "trace/references.h"

#define BLOCK RSC_PRIVATE_BLOCK
#define NO_STACK UINT32_MAX

struct private_engine {
    struct rsc_private_stacks stacks;
    struct rsc_core_groups groups;
    uint32_t *stack_of_group;  /* or NO_STACK; owned */
    uint32_t *stack_of_thread; /* the same; owned */
    uint32_t thread_room;
    struct rsc_accumulator sum;
    uint32_t line_shift;
    const struct rsc_log *log;
    uint32_t attribute; /* as in the options; 1 or 2 once decided */
    struct rsc_attribution *attribution;
    struct rsc_top_lines top; /* wanted 0: none */
    uint64_t rd_cap;
    int no_ri;
    uint32_t *tags; /* by access of the batch */
    uint32_t tag_room;
    uint64_t lines[BLOCK], bytes[BLOCK], ri[BLOCK], objects[BLOCK];
    uint32_t who[BLOCK], rd[BLOCK], from[BLOCK], line_tags[BLOCK], last_tag[BLOCK];
};

static void private_destroy(void *state) {
    struct private_engine *engine = state;
    if (!engine) return;
    rsc_private_stacks_free(&engine->stacks);
    rsc_core_groups_free(&engine->groups);
    rsc_accumulator_free(&engine->sum);
    rsc_attribution_free(engine->attribution);
    rsc_top_lines_free(&engine->top);
    free(engine->stack_of_group);
    free(engine->stack_of_thread);
    free(engine->tags);
    free(engine);
}

static int private_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                          struct rsc_error *error) {
    (void)parameters;
    struct private_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "private stacks");
    engine->line_shift = (uint32_t)__builtin_ctz(options->line_bytes);
    engine->log = options->log;
    engine->attribute = options->attribute;
    engine->rd_cap = options->max_distance;
    engine->no_ri = options->no_ri != 0;
    int status = rsc_core_groups_parse(&engine->groups, options->cores, error);
    if (status < 0) goto fail;
    engine->stack_of_group = malloc((engine->groups.group_count + 1ull) * sizeof *engine->stack_of_group);
    if (!engine->stack_of_group || rsc_private_stacks_init(&engine->stacks, rsc_simd_best(), engine->no_ri, 0) < 0 ||
        rsc_accumulator_init(&engine->sum, options->phases, options->max_distance, options->bins_per_octave) < 0 ||
        (options->top_lines && rsc_top_lines_init(&engine->top, options->top_lines, options->top_lines_bytes,
                                                  engine->line_shift, options->max_distance) < 0)) {
        status = rsc_fail_memory(error, "private stacks");
        goto fail;
    }
    for (uint32_t i = 0; i < engine->groups.group_count; i++) engine->stack_of_group[i] = NO_STACK;
    *state = engine;
    return 0;
fail:
    private_destroy(engine);
    return status;
}

/* ---- which stack ---- */

/* The stack of a thread that has none yet. Returns 0 or RSC_ENOMEM. */
static int assign_stack(struct private_engine *engine, const struct rsc_batch *batch, uint32_t thread) {
    uint32_t group = rsc_core_groups_of(&engine->groups, thread);
    uint32_t *of_group = group == RSC_NO_GROUP ? NULL : &engine->stack_of_group[group];
    if (!of_group || *of_group == NO_STACK) {
        struct rsc_thread who = {.tid = thread};
        if (batch->threads && thread < batch->thread_count) who = batch->threads[thread];
        uint32_t stack = rsc_private_stacks_add(&engine->stacks, thread, who.pid, who.tid);
        if (stack == UINT32_MAX) return RSC_ENOMEM;
        if (of_group) *of_group = stack;
        engine->stack_of_thread[thread] = stack;
        return 0;
    }
    engine->stack_of_thread[thread] = *of_group;
    return 0;
}

/* Stacks for all threads of a batch. */
static int assign_stacks(struct private_engine *engine, const struct rsc_batch *batch) {
    uint64_t last = UINT64_MAX;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t thread = batch->meta[i] >> 40;
        if (thread == last) continue;
        last = thread;
        if (thread >= engine->thread_room) {
            uint32_t room = engine->thread_room ? engine->thread_room : 64;
            while (room <= thread) room *= 2;
            uint32_t *more = realloc(engine->stack_of_thread, room * sizeof *more);
            if (!more) return RSC_ENOMEM;
            for (uint32_t t = engine->thread_room; t < room; t++) more[t] = NO_STACK;
            engine->stack_of_thread = more;
            engine->thread_room = room;
        }
        if (engine->stack_of_thread[thread] == NO_STACK && assign_stack(engine, batch, (uint32_t)thread) < 0)
            return RSC_ENOMEM;
    }
    return 0;
}

static void say_who(struct private_engine *engine, const struct rsc_batch *batch, uint32_t count) {
    const uint32_t *from = engine->from, *stack_of_thread = engine->stack_of_thread;
    struct rsc_private_columns columns = {batch->addr, batch->meta, from};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t meta = batch->meta[from[i]];
        engine->who[i] =
            stack_of_thread[rsc_meta_thread(meta)] | (rsc_meta_kind(meta) == RSC_WRITE ? RSC_PRIVATE_WRITES : 0);
    }
    engine->stacks.bytes_of(&columns, engine->lines, engine->bytes, count, engine->line_shift);
}

/* ---- batches ---- */

static int explain(const struct private_engine *engine, int status, struct rsc_error *error) {
    if (status == RSC_ELIMIT)
        return rsc_fail(error, status, "private stacks: too many distinct lines; take a larger --line");
    return rsc_fail(error, status, "out of memory (private stacks: %u of them, %llu distinct lines, %llu MiB)",
                    (unsigned)engine->stacks.count, (unsigned long long)engine->stacks.copies.lines,
                    (unsigned long long)(rsc_private_stacks_bytes(&engine->stacks) >> 20));
}

/* Makes or drops the attribution, as wanted, and gives the batch's accesses their tags. */
static int attribute(struct private_engine *engine, const struct rsc_batch *batch, struct rsc_error *error) {
    if (engine->attribute == 0 && batch->count) engine->attribute = batch->pc ? 1 : 2;
    if (engine->attribute == 2) {
        rsc_attribution_free(engine->attribution);
        engine->attribution = NULL;
        return 0;
    }
    if (!engine->attribution) {
        struct rsc_attribution_options options = {.rd_cap = engine->rd_cap};
        int status = rsc_attribution_new(&engine->attribution, &options, error);
        if (status < 0) return status;
        rsc_attribution_keep_objects(engine->attribution, engine->objects);
    }
    if (batch->count > engine->tag_room) {
        free(engine->tags);
        engine->tags = malloc(batch->count * sizeof *engine->tags);
        engine->tag_room = engine->tags ? batch->count : 0;
        if (!engine->tags) return rsc_fail_memory(error, "tags");
    }
    if (rsc_attribution_tags(engine->attribution, batch, engine->tags) < 0) return rsc_fail_memory(error, "tags");
    return 0;
}

/* Counts a block of references whose distances are known. */
static int count(struct private_engine *engine, const struct rsc_batch *batch, uint32_t references,
                 struct rsc_error *error) {
    if (rsc_accumulate(&engine->sum, batch, engine->from, engine->rd, engine->no_ri ? NULL : engine->ri, references) <
        0)
        return rsc_fail_memory(error, "phases");
    if (engine->attribution && rsc_attribution_count(engine->attribution, batch, engine->from, engine->tags, engine->rd,
                                                     engine->last_tag, references) < 0)
        return rsc_fail_memory(error, "attribution");
    rsc_sharing_name(&engine->stacks.sharing, engine->attribution ? engine->objects : NULL);
    if (engine->top.wanted)
        rsc_top_lines_count(&engine->top, engine->lines, engine->rd, engine->attribution ? engine->objects : NULL,
                            references);
    return 0;
}

static int private_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct private_engine *engine = state;
    struct rsc_reference_cursor cursor;
    uint32_t references;
    int status = attribute(engine, batch, error);
    if (status < 0) return status;
    if (rsc_accumulator_see_threads(&engine->sum, batch) < 0) return rsc_fail_memory(error, "thread rows");
    if (assign_stacks(engine, batch) < 0) return explain(engine, RSC_ENOMEM, error);
    engine->sum.accesses += batch->count;
    rsc_references_start(&cursor, batch, engine->line_shift);
    while ((references = rsc_references_fill(&cursor, engine->lines, engine->from, BLOCK)) > 0) {
        say_who(engine, batch, references);
        int tagged = engine->attribution != NULL;
        for (uint32_t i = 0; tagged && i < references; i++) engine->line_tags[i] = engine->tags[engine->from[i]];
        struct rsc_private_references block = {engine->lines, engine->who, engine->bytes,
                                               tagged ? engine->line_tags : NULL, references};
        status = rsc_private_stacks_run(&engine->stacks, &block, engine->rd, engine->no_ri ? NULL : engine->ri,
                                        tagged ? engine->last_tag : NULL);
        if (status < 0) return explain(engine, status, error);
        if ((status = count(engine, batch, references, error)) < 0) return status;
    }
    return 0;
}

/* ---- the profile ---- */

static void name_stack(void *owner, uint32_t stack, uint64_t *pid, uint64_t *tid) {
    const struct private_engine *engine = owner;
    *pid = engine->stacks.stacks[stack]->pid;
    *tid = engine->stacks.stacks[stack]->tid;
}

static uint64_t pc_of(void *owner, uint32_t tag) {
    const struct private_engine *engine = owner;
    return rsc_attribution_pc(engine->attribution, tag);
}

static int fill_lines(struct private_engine *engine, struct rsc_profile *profile) {
    uint64_t objects[RSC_TOP_LINES_MAX];
    if (!engine->top.wanted) return 0;
    int status = rsc_top_lines_fill(&engine->top, profile, objects);
    return status || !engine->attribution ? status : rsc_attribution_name_lines(engine->attribution, profile, objects);
}

static int fill_sharing(struct private_engine *engine, struct rsc_profile *profile) {
    uint64_t objects[RSC_SHARING_LINES_KEPT];
    struct rsc_sharing_names names = {engine, name_stack, engine->attribution ? pc_of : NULL, engine->line_shift};
    int status = rsc_sharing_fill(&engine->stacks.sharing, &names, profile, objects);
    return status || !engine->attribution ? status
                                          : rsc_attribution_name_false_sharing(engine->attribution, profile, objects);
}

static int private_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct private_engine *engine = state;
    *out = rsc_accumulator_profile(&engine->sum, engine->stacks.copies.lines);
    if (!*out || rsc_profile_set_text(&(*out)->made.by, "exact") < 0 || fill_lines(engine, *out) < 0 ||
        fill_sharing(engine, *out) < 0 || (engine->attribution && rsc_attribution_fill(engine->attribution, *out) < 0))
        return rsc_fail_memory(error, "profile");
    rsc_log_line(engine->log, RSC_LOG_INFO, "private stacks (%s): %u of them, %.1f MiB at the end",
                 rsc_simd_name(rsc_simd_best()), (unsigned)engine->stacks.count,
                 (double)rsc_private_stacks_bytes(&engine->stacks) / (1 << 20));
    rsc_core_groups_warn(&engine->groups, engine->sum.threads_seen, engine->log);
    if (engine->sum.threads_seen > engine->sum.thread_count)
        rsc_log_line(engine->log, RSC_LOG_WARNING, "%llu threads; only the first %u have rows of their own",
                     (unsigned long long)engine->sum.threads_seen, engine->sum.thread_count);
    return 0;
}

static void private_so_far(const void *state, struct rsc_so_far *so_far) {
    so_far->references = ((const struct private_engine *)state)->sum.references;
    so_far->error = 0;
}

/* Unit, record, member and bitmap of a line that one thread uses; each more that does takes as much again (line_copies.h). */
static uint64_t private_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines) {
    return 2 * rsc_exact_memory(options, parameters, lines);
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
};
