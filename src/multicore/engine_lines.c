/*
 * engine_lines.c - private stacks over a part of the lines, chosen by hash: "sampled:lines=1/64"
 * of model "private". What the shards engine is for one stack.
 *
 * `run --sample lines:1/64` has distance/shards/line_subset.h, for any model and with code and data, since
 * only kept references ever leave the program; its bars come of eight more exact analyses of parts
 * of the sample, and are wider than those here: tried in place of this, they held the truth 99.8 %
 * of the time on a zipf trace (1.1, 8 threads). So both are there.
 *
 * line_filter.h finds the references to kept lines, private_stacks.h gives their exact
 * distances in kept lines and holes of their stack, and sample_sum.h makes a profile of
 * the whole of them, with the error bars of the shards engine. Invalidations
 * are seen exactly, of kept lines. At rate 1 it is the exact profile.
 *
 * sample_sum.h knows two things of a stack that private_stacks.h does not tell when it is
 * given kept references alone: how many references ago the line was used, and which groups
 * the lines above it are in. So each stack also has a table of when it last used a line,
 * in references of its own. And it is told which of the references that count as misses of
 * any cache were to lines that others took (sample_error.c says what for).
 */
#include "multicore/engine_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "estimate/statistics.h"
#include "base/u64_table.h"
#include "distance/count/accumulate.h"
#include "distance/shards/line_filter.h"
#include "distance/shards/sample_sum.h"
#include "multicore/core_groups.h"
#include "multicore/private_stacks.h"

#define KEPT RSC_PRIVATE_BLOCK
#define NO_STACK UINT32_MAX
#define AUDIT_CREDIT 4 /* entries of a table that may be looked at for each reuse */

struct thread_state {
    uint32_t stack;
    double invalidated;
};

struct stack_state {
    uint64_t references;        /* of the stack */
    struct rsc_u64_table times; /* line -> reference of its last use, from 1 */
};

struct lines_engine {
    struct rsc_engine_options options;
    double rate;
    struct rsc_line_filter filter;
    struct rsc_private_stacks stacks;
    struct rsc_core_groups groups;
    uint32_t *stack_of_group; /* owned */
    struct thread_state *threads; /* owned */
    uint32_t thread_room;
    struct stack_state *states; /* by stack; owned */
    uint32_t state_count;
    struct rsc_sample_sum sum;
    double invalidated;
    uint64_t accesses;
    struct rsc_kept kept;
    uint64_t kept_line[KEPT], kept_hash[KEPT], kept_time[KEPT], bytes[KEPT], own[KEPT];
    uint32_t kept_from[KEPT], who[KEPT], rd[KEPT];
};

static void lines_destroy(void *state) {
    struct lines_engine *engine = state;
    if (!engine) return;
    rsc_private_stacks_free(&engine->stacks);
    rsc_core_groups_free(&engine->groups);
    rsc_sample_sum_free(&engine->sum);
    for (uint32_t i = 0; i < engine->state_count; i++) rsc_u64_table_free(&engine->states[i].times);
    free(engine->states);
    free(engine->threads);
    free(engine->stack_of_group);
    free(engine);
}

int rsc_lines_create(void **state, const struct rsc_engine_options *options, double rate, struct rsc_error *error) {
    struct lines_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "sample of lines");
    engine->options = *options;
    uint64_t limit = rate < 1 ? (uint64_t)(rate * 0x1p64) - 1 : UINT64_MAX;
    engine->rate = rate;
    int status = rsc_core_groups_parse(&engine->groups, options->cores, error);
    if (status < 0) goto fail;
    engine->stack_of_group = malloc((engine->groups.group_count + 1ull) * sizeof *engine->stack_of_group);
    if (!engine->stack_of_group || rsc_private_stacks_init(&engine->stacks, rsc_simd_best(), 1, 0) < 0 ||
        rsc_sample_sum_init(&engine->sum, options->max_distance, options->seed) < 0) {
        status = rsc_fail_memory(error, "sample of lines");
        goto fail;
    }
    for (uint32_t i = 0; i < engine->groups.group_count; i++) engine->stack_of_group[i] = NO_STACK;
    for (uint32_t i = 0; i < KEPT; i++) engine->bytes[i] = UINT64_MAX; /* whole lines: nobody asks which bytes */
    rsc_line_filter_init(&engine->filter, rsc_simd_best(), (uint32_t)__builtin_ctz(options->line_bytes), options->seed,
                         limit);
    engine->kept = (struct rsc_kept){.line = engine->kept_line,
                                     .hash = engine->kept_hash,
                                     .time = engine->kept_time,
                                     .from = engine->kept_from,
                                     .room = KEPT};
    *state = engine;
    return 0;
fail:
    lines_destroy(engine);
    return status;
}

/* ---- threads and stacks ---- */

static int add_stack(struct lines_engine *engine, const struct rsc_batch *batch, uint32_t thread, uint32_t *stack) {
    struct rsc_thread who = {.tid = thread};
    if (batch->threads && thread < batch->thread_count) who = batch->threads[thread];
    *stack = rsc_private_stacks_add(&engine->stacks, thread, who.pid, who.tid);
    if (*stack == UINT32_MAX) return RSC_ENOMEM;
    struct stack_state *states = realloc(engine->states, (*stack + 1ull) * sizeof *states);
    if (!states) return RSC_ENOMEM;
    engine->states = states;
    states[*stack] = (struct stack_state){0};
    engine->state_count = *stack + 1;
    return rsc_u64_table_init(&states[*stack].times, 64);
}

static int know_thread(struct lines_engine *engine, const struct rsc_batch *batch, uint32_t thread) {
    if (rsc_sample_see_thread(&engine->sum, thread) < 0) return RSC_ENOMEM;
    if (thread >= engine->thread_room) {
        uint32_t room = engine->thread_room ? engine->thread_room : 64;
        while (room <= thread) room *= 2;
        struct thread_state *more = realloc(engine->threads, room * sizeof *more);
        if (!more) return RSC_ENOMEM;
        for (uint32_t t = engine->thread_room; t < room; t++) more[t] = (struct thread_state){NO_STACK, 0};
        engine->threads = more;
        engine->thread_room = room;
    }
    if (engine->threads[thread].stack != NO_STACK) return 0;
    uint32_t group = rsc_core_groups_of(&engine->groups, thread), stack = NO_STACK;
    if (group != RSC_NO_GROUP) stack = engine->stack_of_group[group];
    if (stack == NO_STACK && add_stack(engine, batch, thread, &stack) < 0) return RSC_ENOMEM;
    engine->threads[thread].stack = stack;
    if (group != RSC_NO_GROUP) engine->stack_of_group[group] = stack;
    return 0;
}

/* ---- references ---- */

static void note_kept(struct lines_engine *engine, const struct rsc_batch *batch, uint32_t access, uint32_t stack,
                      uint32_t *next) {
    uint64_t first = batch->addr[access] >> engine->filter.line_shift, before = engine->states[stack].references;
    for (; *next < engine->kept.count && engine->kept.from[*next] == access; ++*next) {
        engine->who[*next] = stack | (rsc_meta_kind(batch->meta[access]) == RSC_WRITE ? RSC_PRIVATE_WRITES : 0);
        engine->own[*next] = before + (engine->kept.line[*next] - first) + 1;
    }
}

/*
 * Counts the references of accesses `first` to `stop` - 1 by stack and thread, and notes
 * for each kept one from number *next on its stack, and which of the stack's it is; also
 * for those of access `stop`, whose lines may not all be here yet: it is counted then.
 */
static int count_references(struct lines_engine *engine, const struct rsc_batch *batch, uint32_t first, uint32_t stop,
                            uint32_t *next) {
    uint32_t shift = engine->filter.line_shift, thread = UINT32_MAX, stack = 0;
    for (uint32_t i = first; i < stop || (i == stop && *next < engine->kept.count); i++) {
        uint64_t meta = batch->meta[i], addr = batch->addr[i], size = rsc_meta_size(meta);
        uint64_t end = addr + (size ? size - 1 : 0), line = addr >> shift;
        if (end < addr) end = UINT64_MAX;
        if (rsc_meta_thread(meta) != thread) {
            thread = rsc_meta_thread(meta);
            if (know_thread(engine, batch, thread) < 0) return RSC_ENOMEM;
            stack = engine->threads[thread].stack;
        }
        uint64_t more = (end >> shift) - line + 1;
        note_kept(engine, batch, i, stack, next);
        if (i == stop) break;
        engine->states[stack].references += more;
        if (thread < engine->sum.thread_count) engine->sum.threads[thread].references += more;
    }
    return 0;
}

/* Which groups the lines are in that a stack used since `then`, if that can be afforded. */
static void audit(struct lines_engine *engine, const struct rsc_u64_table *times, uint64_t then, uint64_t distance) {
    struct rsc_sample_audit *found = &engine->sum.audits[rsc_sample_audit_of(distance)];
    found->credit += AUDIT_CREDIT;
    if (found->credit < 0) return;
    found->credit -= (int64_t)times->mask + 1;
    for (uint64_t i = 0; i <= times->mask; i++) {
        if (times->entries[i].value <= then) continue;
        uint64_t hash = rsc_line_hash(times->entries[i].key, engine->filter.offset);
        found->above[rsc_hash_group(hash, RSC_STACK_GROUPS)]++;
    }
    found->count++;
}

/* A kept reference whose distance is known. */
static int count_kept(struct lines_engine *engine, const struct rsc_batch *batch, uint32_t i) {
    double weight = 1 / engine->rate;
    struct rsc_u64_table *times = &engine->states[engine->who[i] & ~RSC_PRIVATE_WRITES].times;
    uint32_t group = rsc_hash_group(engine->kept.hash[i], RSC_STACK_GROUPS);
    uint32_t thread = rsc_meta_thread(batch->meta[engine->kept.from[i]]), rd = engine->rd[i];
    struct rsc_sample_row *row = thread < engine->sum.thread_count ? &engine->sum.threads[thread] : NULL;
    if (rsc_u64_table_needs_rebuild(times) && rsc_u64_table_rebuild(times) < 0) return RSC_ENOMEM;
    struct rsc_u64_entry *entry = rsc_u64_table_find(times, engine->kept.line[i]);
    uint64_t then = entry->value;
    if (!then) {
        entry->key = engine->kept.line[i];
        times->used++;
    }
    entry->value = engine->own[i];
    if (rd == UINT32_MAX || rd == RSC_RD_INVALIDATED) {
        engine->sum.cold += weight; /* misses of every cache; told apart at the end */
        engine->sum.group_cold[group] += weight;
        if (row) row->cold += weight;
        if (rd == UINT32_MAX) return 0;
        engine->invalidated += weight;
        engine->sum.group_invalidated[group] += weight;
        engine->threads[thread].invalidated += weight;
        return 0;
    }
    uint64_t distance = rsc_sample_reuse(&engine->sum, rd, engine->own[i] - then, weight, group);
    if (row) row->rd[rsc_bin_of_coarse(distance)] += weight;
    if (rd) audit(engine, times, then, distance);
    return 0;
}

/* Gives the kept references of the accesses counted so far to their stacks. */
static int take_kept(struct lines_engine *engine, const struct rsc_batch *batch) {
    struct rsc_private_references references = {engine->kept.line, engine->who, engine->bytes, NULL,
                                                engine->kept.count};
    if (!engine->kept.count) return 0;
    int status = rsc_private_stacks_run(&engine->stacks, &references, engine->rd, NULL, NULL);
    for (uint32_t i = 0; !status && i < engine->kept.count; i++) status = count_kept(engine, batch, i);
    engine->kept.count = 0;
    return status;
}

static int lines_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct lines_engine *engine = state;
    uint32_t counted = 0, next = 0;
    int status = 0;
    for (uint32_t at = 0; !status && at < batch->count;) {
        at = rsc_line_filter_run(&engine->filter, batch->addr, batch->meta, at, batch->count, &engine->kept);
        status = count_references(engine, batch, counted, at, &next);
        counted = at;
        if (!status) status = take_kept(engine, batch);
        next = 0;
    }
    for (uint32_t i = 0; batch->threads && i < batch->thread_count && i < engine->sum.thread_count; i++) {
        engine->sum.threads[i].pid = batch->threads[i].pid;
        engine->sum.threads[i].tid = batch->threads[i].tid;
    }
    engine->accesses += batch->count;
    if (status == RSC_ELIMIT) return rsc_fail(error, status, "too many lines in the sample; take a lower rate");
    return status < 0 ? rsc_fail_memory(error, "sample of lines") : 0;
}

/* ---- the end ---- */

static uint64_t round_within(double value, uint64_t most) {
    return value < (double)most ? (uint64_t)(value + 0.5) : most;
}

/* Cold references and invalidated ones were counted together; and lines are those of all stacks, not of each. */
static void settle(const struct lines_engine *engine, struct rsc_profile *profile) {
    profile->invalidated = round_within(engine->invalidated, profile->cold);
    profile->cold -= profile->invalidated;
    profile->distinct = round_within((double)engine->stacks.copies.lines / engine->rate, profile->cold + 1);
    if (!profile->distinct && profile->references) profile->distinct = 1;
    for (size_t i = 0; i < profile->thread_count; i++) {
        struct rsc_thread_row *row = &profile->threads[i];
        row->invalidated = i < engine->thread_room ? round_within(engine->threads[i].invalidated, row->cold) : 0;
        row->cold -= row->invalidated;
    }
    /* the curve was drawn as far as all of them together might reach */
    while (profile->mrc_count > 1 && profile->mrc[profile->mrc_count - 1].lines > profile->distinct)
        profile->mrc_count--;
}

static void describe(const struct lines_engine *engine, const struct rsc_profile *profile, char *text, size_t room) {
    double kept = (double)engine->stacks.copies.lines, distinct = (double)profile->distinct, spread = 0;
    if (kept > 0)
        spread =
            rsc_normal_quantile(0.5 + engine->options.confidence / 200) * distinct * sqrt((1 - engine->rate) / kept);
    snprintf(text, room, "lines by hash, rate %.6g, seed %llu, %.0f kept; %g %% bars; distinct %.0f to %.0f",
             engine->rate, (unsigned long long)engine->options.seed, kept, engine->options.confidence,
             fmax(kept, distinct - spread), distinct + spread);
}

static int lines_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct lines_engine *engine = state;
    struct rsc_sample_whole whole = {engine->accesses, engine->filter.references, engine->rate,
                                     engine->options.confidence, engine->options.line_bytes};
    char sampling[256], by[64];
    /* the first thread's row was counted from the start, as every other */
    int alone = engine->sum.thread_count == 1;
    if (alone) {
        memset(engine->sum.threads[0].rd, 0, rsc_bins_count(RSC_BINS_COARSE) * sizeof *engine->sum.threads[0].rd);
        engine->sum.threads[0].cold = 0;
    }
    double more = fmax(rsc_sample_taken_more(&engine->sum, &whole), -engine->invalidated);
    engine->invalidated += more;
    engine->sum.cold += more;
    *out = rsc_sample_profile(&engine->sum, &whole);
    if (!*out) return rsc_fail_memory(error, "profile");
    settle(engine, *out);
    describe(engine, *out, sampling, sizeof sampling);
    snprintf(by, sizeof by, "sampled:lines=%.15g", engine->rate);
    if (rsc_profile_set_text(&(*out)->made.by, by) < 0 ||
        (engine->rate < 1 && rsc_profile_set_text(&(*out)->made.sampling, sampling) < 0))
        return rsc_fail_memory(error, "profile");
    if (engine->sum.thread_count < RSC_THREAD_ROWS_MAX) /* else there may be more */
        rsc_core_groups_warn(&engine->groups, engine->sum.thread_count, engine->options.log);
    rsc_log_line(engine->options.log, RSC_LOG_INFO, "sampled lines: %llu kept, %u private stacks",
                 (unsigned long long)engine->stacks.copies.lines, engine->state_count);
    return 0;
}

static void lines_so_far(const void *state, struct rsc_so_far *so_far) {
    const struct lines_engine *engine = state;
    struct rsc_sample_whole whole = {engine->accesses, engine->filter.references, engine->rate,
                                     engine->options.confidence, engine->options.line_bytes};
    so_far->references = whole.references;
    so_far->samples = engine->stacks.copies.lines;
    so_far->sampled = "lines";
    so_far->error = rsc_sample_error(&engine->sum, &whole);
}

const struct rsc_engine_kind rsc_private_lines = {
    .name = "sampled",
    .push = lines_push,
    .finish = lines_finish,
    .destroy = lines_destroy,
    .so_far = lines_so_far,
};
