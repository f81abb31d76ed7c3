/*
 * engine_shards.c - reuse distances from a sample of lines chosen by hash
 * (SHARDS), at a fixed rate or with a fixed number of lines.
 *
 *   shards:RATE       a line is kept if its hash is below RATE * 2^64
 *   shards-max:LINES  all lines are kept at first; whenever there are more than
 *                     LINES, the line with the greatest hash goes and the limit
 *                     falls to it. What was counted keeps the weight of the rate
 *                     in force then, which is the same as scaling all earlier
 *                     counts down at each fall.
 *
 * line_filter.h finds the references to kept lines; every other reference is
 * only counted. sampled_stack.h gives distances among kept lines, sample_sum.h
 * makes a profile of the whole stream from them. At rate 1 that is the exact one.
 *
 * Threads' references are counted exactly, their distances come from the sample.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/statistics.h"
#include "distance/engine_kind.h"
#include "distance/line_filter.h"
#include "distance/sample_sum.h"

#define CHUNK 4096u /* accesses filtered at a time: their columns are then still in L1 */
#define KEPT 1024u
#define PREFETCH 8u
#define LINES_LEAST 64u
#define LINES_MOST (1u << 28)

struct heap_entry {
    uint64_t hash;
    uint32_t node;
};

struct shards_engine {
    struct rsc_line_filter filter;
    struct rsc_sampled_stack stack;
    struct rsc_sample_sum sum;
    struct rsc_engine_options options;
    uint64_t accesses;
    double rate, weight; /* weight = 1/rate */
    char by[64];

    uint32_t lines_most;     /* shards-max: 0 for shards */
    struct heap_entry *heap; /* shards-max: lines held, greatest hash first */

    struct rsc_kept kept;
    uint64_t kept_line[KEPT], kept_hash[KEPT], kept_time[KEPT];
    uint32_t kept_from[KEPT];
};

static void shards_destroy(void *state) {
    struct shards_engine *engine = state;
    if (!engine) return;
    rsc_sampled_stack_free(&engine->stack);
    rsc_sample_sum_free(&engine->sum);
    free(engine->heap);
    free(engine);
}

/* ---- parameters ---- */

/* 0.01, 1/100 or 1%. Returns 0, or -1 unless 0 < rate <= 1. */
static int parse_rate(const char *text, double *rate) {
    size_t length = strlen(text);
    const char *slash = strchr(text, '/');
    double over = 1;
    if (slash) {
        if (rsc_parse_fraction(text, (size_t)(slash - text), rate) < 0 ||
            rsc_parse_fraction(slash + 1, strlen(slash + 1), &over) < 0)
            return -1;
    } else {
        if (length && text[length - 1] == '%') {
            over = 100;
            length--;
        }
        if (rsc_parse_fraction(text, length, rate) < 0) return -1;
    }
    if (!(over > 0)) return -1;
    *rate /= over;
    /* below this not one hash in the 2^64 there are is kept for sure */
    return *rate >= 1e-15 && *rate <= 1 ? 0 : -1;
}

/* The limit falls (or is set): from here on lines up to this hash are kept. */
static void set_limit(struct shards_engine *engine, uint64_t limit) {
    engine->filter.limit = limit;
    engine->rate = limit == UINT64_MAX ? 1 : ((double)limit + 1) * 0x1p-64;
    engine->weight = 1 / engine->rate;
}

static int create(void **state, const struct rsc_engine_options *options, double rate, uint32_t lines_most,
                  struct rsc_error *error) {
    struct shards_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "shards engine");
    engine->options = *options;
    engine->lines_most = lines_most;
    if (rsc_sampled_stack_init(&engine->stack) < 0 ||
        rsc_sample_sum_init(&engine->sum, options->max_distance, options->seed) < 0 ||
        (lines_most && !(engine->heap = malloc((lines_most + 1ull) * sizeof *engine->heap)))) {
        shards_destroy(engine);
        return rsc_fail_memory(error, "shards engine");
    }
    uint64_t limit = rate < 1 ? (uint64_t)(rate * 0x1p64) - 1 : UINT64_MAX;
    rsc_line_filter_init(&engine->filter, rsc_simd_best(), (uint32_t)__builtin_ctz(options->line_bytes), options->seed,
                         limit);
    set_limit(engine, limit);
    engine->kept = (struct rsc_kept){.line = engine->kept_line, .hash = engine->kept_hash, .time = engine->kept_time,
                                     .from = engine->kept_from, .room = KEPT};
    if (lines_most) snprintf(engine->by, sizeof engine->by, "shards-max:%u", lines_most);
    else snprintf(engine->by, sizeof engine->by, "shards:%.15g", rate);
    *state = engine;
    return 0;
}

static int shards_create(void **state, const struct rsc_engine_options *options, const char *parameter,
                         struct rsc_error *error) {
    double rate;
    if (!parameter)
        return rsc_fail(error, RSC_EINVAL, "engine 'shards': a rate is missing, such as shards:0.01");
    if (parse_rate(parameter, &rate) < 0)
        return rsc_fail(error, RSC_EINVAL, "engine 'shards:%.40s': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%%",
                        parameter);
    return create(state, options, rate, 0, error);
}

static int shards_max_create(void **state, const struct rsc_engine_options *options, const char *parameter,
                             struct rsc_error *error) {
    uint64_t lines;
    if (!parameter)
        return rsc_fail(error, RSC_EINVAL, "engine 'shards-max': a number of lines is missing, such as shards-max:8K");
    if (rsc_parse_u64(parameter, strlen(parameter), &lines) < 0 || lines < LINES_LEAST || lines > LINES_MOST)
        return rsc_fail(error, RSC_EINVAL, "engine 'shards-max:%.40s': not a number of lines from %u to %u", parameter,
                        LINES_LEAST, LINES_MOST);
    return create(state, options, 1, (uint32_t)lines, error);
}

/* ---- shards-max: the line with the greatest hash ---- */

static void heap_add(struct shards_engine *engine, uint32_t count, struct heap_entry entry) {
    struct heap_entry *heap = engine->heap;
    uint32_t at = count;
    while (at && heap[(at - 1) / 2].hash < entry.hash) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = entry;
}

/* Drops the first of `count` entries. */
static void heap_drop(struct shards_engine *engine, uint32_t count) {
    struct heap_entry *heap = engine->heap, last = heap[count - 1];
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < count - 1) {
        if (child + 1 < count - 1 && heap[child + 1].hash > heap[child].hash) child++;
        if (heap[child].hash <= last.hash) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

/* Takes note of a new line, and lets the one with the greatest hash go if there are too many. */
static void bound_lines(struct shards_engine *engine, uint64_t hash, uint32_t node) {
    uint32_t count = engine->stack.lines;
    heap_add(engine, count - 1, (struct heap_entry){hash, node});
    if (count <= engine->lines_most) return;
    struct heap_entry first = engine->heap[0];
    heap_drop(engine, count);
    rsc_sampled_stack_remove(&engine->stack, first.node);
    set_limit(engine, first.hash ? first.hash - 1 : 0);
}

/* ---- references ---- */

static int explain(const struct shards_engine *engine, int status, struct rsc_error *error) {
    if (status == RSC_ELIMIT)
        return rsc_fail(error, status, "%s: more than %u lines in the sample; take a lower rate", engine->by,
                        engine->stack.lines);
    return rsc_fail(error, status, "out of memory (%s, %u lines in the sample)", engine->by, engine->stack.lines);
}

static int take_kept(struct shards_engine *engine, const struct rsc_batch *batch) {
    struct rsc_sampled_stack *stack = &engine->stack;
    struct rsc_sample_sum *sum = &engine->sum;
    const struct rsc_kept *kept = &engine->kept;
    const int rows = sum->threads_seen > 1;
    for (uint32_t i = 0; i < kept->count; i++) {
        if (i + PREFETCH < kept->count) rsc_sampled_stack_prefetch(stack, kept->hash[i + PREFETCH]);
        uint64_t line = kept->line[i], hash = kept->hash[i], time = kept->time[i];
        if (hash > engine->filter.limit) continue; /* the limit has fallen since it was kept */
        uint32_t node = rsc_sampled_stack_find(stack, line, hash);
        uint32_t group = rsc_hash_group(hash, RSC_STACK_GROUPS);
        struct rsc_sample_row *row = NULL;
        double weight = engine->weight;
        if (rows) {
            uint32_t number = rsc_meta_thread(batch->meta[kept->from[i]]);
            row = number < sum->thread_count ? &sum->threads[number] : NULL;
        }
        if (node == RSC_NO_NODE) {
            int status = rsc_sampled_stack_add(stack, line, hash, time, &node);
            if (status < 0) return status;
            sum->cold += weight;
            sum->group_cold[group] += weight;
            if (row) row->cold += weight;
            if (engine->lines_most) bound_lines(engine, hash, node);
            continue;
        }
        uint32_t above = rsc_sampled_stack_above(stack, node);
        uint64_t distance = rsc_sample_reuse(sum, above, time - stack->nodes[node].time, weight, group);
        if (row) row->rd[rsc_bin_of_coarse(distance)] += weight;
        if (above) rsc_sample_audit(sum, stack, node, distance);
        int status = rsc_sampled_stack_use(stack, node, time);
        if (status < 0) return status;
    }
    return 0;
}

/* References of each thread, one access after the other: for stretches in which threads alternate. */
static void count_threads(struct shards_engine *engine, const struct rsc_batch *batch, uint32_t first, uint32_t stop) {
    uint32_t shift = engine->filter.line_shift;
    for (uint32_t i = first; i < stop; i++) {
        uint32_t number = rsc_meta_thread(batch->meta[i]), size = rsc_meta_size(batch->meta[i]);
        uint64_t addr = batch->addr[i], end = addr + (size ? size - 1 : 0);
        if (end < addr) end = UINT64_MAX;
        if (number < engine->sum.thread_count)
            engine->sum.threads[number].references += (end >> shift) - (addr >> shift) + 1;
    }
}

/* Makes rows for the threads of a stretch. Returns 1 if it has one thread only, 0 if several, or RSC_ENOMEM. */
static int see_threads(struct shards_engine *engine, const struct rsc_batch *batch, uint32_t first, uint32_t stop) {
    uint64_t any = 0, all = UINT64_MAX, greatest = 0;
    for (uint32_t i = first; i < stop; i++) {
        any |= batch->meta[i];
        all &= batch->meta[i];
    }
    if (any >> 40 == all >> 40) return rsc_sample_see_thread(&engine->sum, any >> 40) < 0 ? RSC_ENOMEM : 1;
    for (uint32_t i = first; i < stop; i++)
        if (batch->meta[i] >> 40 > greatest) greatest = batch->meta[i] >> 40;
    return rsc_sample_see_thread(&engine->sum, greatest);
}

static int shards_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct shards_engine *engine = state;
    struct rsc_sample_sum *sum = &engine->sum;
    for (uint32_t first = 0; first < batch->count;) {
        uint32_t stop = batch->count - first < CHUNK ? batch->count : first + CHUNK, at = first;
        uint64_t before = engine->filter.references, threads_before = sum->threads_seen;
        int alone = see_threads(engine, batch, first, stop);
        if (alone < 0) return rsc_fail_memory(error, "thread rows");
        /* the first thread's distances were not counted apart while it was the only one */
        if (threads_before == 1 && sum->threads_seen > 1) rsc_sample_split_threads(sum);
        while (at < stop) {
            engine->kept.count = 0;
            at = rsc_line_filter_run(&engine->filter, batch->addr, batch->meta, at, stop, &engine->kept);
            int status = take_kept(engine, batch);
            if (status < 0) return explain(engine, status, error);
        }
        uint32_t number = rsc_meta_thread(batch->meta[first]);
        if (!alone) count_threads(engine, batch, first, stop);
        else if (number < sum->thread_count) sum->threads[number].references += engine->filter.references - before;
        first = stop;
    }
    for (uint32_t i = 0; batch->threads && i < batch->thread_count && i < sum->thread_count; i++) {
        sum->threads[i].pid = batch->threads[i].pid;
        sum->threads[i].tid = batch->threads[i].tid;
    }
    engine->accesses += batch->count;
    return 0;
}

/* ---- the end ---- */

/* "lines by hash, ..." with what is uncertain about the number of lines. */
static void describe(const struct shards_engine *engine, const struct rsc_profile *profile, char *text, size_t room) {
    double lines = engine->stack.lines, spread = 0;
    if (lines > 0)
        spread = rsc_normal_quantile(0.5 + engine->options.confidence / 200) * (double)profile->distinct *
                 sqrt((1 - engine->rate) / lines);
    double low = (double)profile->distinct - spread, high = (double)profile->distinct + spread;
    snprintf(text, room, "lines by hash, rate %.6g%s, seed %llu: %u lines kept, distinct and cold %.0f to %.0f, bars %g %%",
             engine->rate, engine->lines_most ? " at the end" : "", (unsigned long long)engine->options.seed,
             engine->stack.lines, low > lines ? low : lines, high, engine->options.confidence);
}

static int shards_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct shards_engine *engine = state;
    struct rsc_sample_whole whole = {engine->accesses, engine->filter.references, engine->rate,
                                     engine->options.confidence, engine->options.line_bytes};
    char sampling[256];
    uint64_t bytes = engine->stack.peak_bytes + (engine->lines_most + 1ull) * sizeof *engine->heap;
    *out = rsc_sample_profile(&engine->sum, &whole);
    if (!*out) return rsc_fail_memory(error, "profile");
    describe(engine, *out, sampling, sizeof sampling);
    if (rsc_profile_set_text(&(*out)->made.by, engine->by) < 0 ||
        (engine->rate < 1 && rsc_profile_set_text(&(*out)->made.sampling, sampling) < 0))
        return rsc_fail_memory(error, "profile");
    rsc_log_line(engine->options.log, RSC_LOG_INFO, "%s (%s): %u lines kept, %.2f MiB at most", engine->by,
                 rsc_simd_name(rsc_simd_best()), engine->stack.lines, (double)bytes / (1 << 20));
    if (engine->sum.threads_seen > engine->sum.thread_count)
        rsc_log_line(engine->options.log, RSC_LOG_WARNING, "%llu threads; only the first %u have rows of their own",
                     (unsigned long long)engine->sum.threads_seen, engine->sum.thread_count);
    return 0;
}

const struct rsc_engine_kind rsc_engine_shards = {
    .name = "shards",
    .parameter = "RATE",
    .what = "a sample of lines, this share of them; with error bars",
    .can = RSC_CAN_CAP,
    .create = shards_create,
    .push = shards_push,
    .finish = shards_finish,
    .destroy = shards_destroy,
};

const struct rsc_engine_kind rsc_engine_shards_max = {
    .name = "shards-max",
    .parameter = "LINES",
    .what = "a sample of at most so many lines, in bounded memory; with error bars",
    .can = RSC_CAN_CAP,
    .create = shards_max_create,
    .push = shards_push,
    .finish = shards_finish,
    .destroy = shards_destroy,
};
