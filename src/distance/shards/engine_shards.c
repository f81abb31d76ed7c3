/*
 * engine_shards.c - reuse distances from a sample of lines chosen by hash
 * (SHARDS), at a fixed rate or with a fixed number of lines.
 *
 *   shards:RATE       a line is kept if its hash is below RATE * 2^64
 *   shards-max:LINES  all lines are kept at first; whenever there are more than
 *                     LINES, the line with the greatest hash is dropped and the limit
 *                     falls to its hash. Counts keep the weight of the rate at their
 *                     time, which is equivalent to scaling all earlier counts down at
 *                     each fall.
 *
 * line_filter.h finds the references to kept lines; every other reference is only
 * counted. sampled_stack.h computes distances among kept lines; kept_sum.h makes a
 * profile of the whole stream from them. At rate 1 it is exact.
 *
 * Threads' references are counted exactly, their distances come from the sample.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/line_hash.h"
#include "base/numbers.h"
#include "base/pool.h"
#include "distance/engine_kind.h"
#include "distance/shards/engine_shards.h"
#include "distance/shards/shards_part.h"
#include "trace/references.h"
#include "trace/source.h"

#define CHUNK 4096u /* accesses filtered at a time: their columns stay in L1 */
#define LINES_LEAST 64u
#define LINES_MOST (1u << 28)

struct shards_engine {
    struct rsc_shards shards;
    struct rsc_engine_options options;
    uint64_t accesses;
    uint64_t before; /* references that came before those counted ... */
    uint64_t held;   /* ... and the lines in them */
    struct rsc_part_kind parts;
    struct rsc_line_filter parts_filter; /* that of a part at its beginning; read by threads that decode */
    struct rsc_pool *counter; /* of one thread, which counts what this one found in a part; NULL: none yet */
    struct rsc_shards_found found[2];
    const struct rsc_shards_found *counting;
    uint32_t next_found;
    char by[64]; /* as in the profile */
};

/* Waits for the counts. */
static void wait_for_counts(const struct shards_engine *engine) {
    if (engine->counter) rsc_pool_wait(engine->counter);
}

static void shards_destroy(void *state) {
    struct shards_engine *engine = state;
    if (!engine) return;
    rsc_pool_free(engine->counter);
    for (uint32_t i = 0; i < 2; i++) {
        free(engine->found[i].distance);
        free(engine->found[i].interval);
        free(engine->found[i].group);
        free(engine->found[i].thread);
    }
    rsc_shards_free(&engine->shards);
    free(engine);
}

/* ---- parameters ---- */

static int create(void **state, const struct rsc_engine_options *options, double rate, uint32_t lines_most,
                  struct rsc_error *error) {
    struct shards_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "shards engine");
    engine->options = *options;
    struct rsc_line_choice choice;
    rsc_line_choose(&choice, rate, options->seed);
    if (rsc_shards_init(&engine->shards, rsc_simd_best(), (uint32_t)__builtin_ctz(options->line_bytes), options->seed,
                        choice.limit, lines_most, options->max_distance) < 0) {
        free(engine);
        return rsc_fail_memory(error, "shards engine");
    }
    if (lines_most) snprintf(engine->by, sizeof engine->by, "shards-max:%u", lines_most);
    else snprintf(engine->by, sizeof engine->by, "shards:%.15g", rate);
    *state = engine;
    return 0;
}

static int parse_rate(void *parameters, const char *text, struct rsc_error *error) {
    struct rsc_shards_parameters *wanted = parameters;
    if (!text) return rsc_fail(error, RSC_EINVAL, "engine 'shards': a rate is missing, such as shards:0.01");
    if (rsc_parse_rate(text, strlen(text), &wanted->rate) < 0)
        return rsc_fail(error, RSC_EINVAL,
                        "engine 'shards:%.40s': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%%", text);
    return 0;
}

static int parse_lines(void *parameters, const char *text, struct rsc_error *error) {
    struct rsc_shards_parameters *wanted = parameters;
    uint64_t lines;
    if (!text)
        return rsc_fail(error, RSC_EINVAL, "engine 'shards-max': a number of lines is missing, such as shards-max:8K");
    if (rsc_parse_u64(text, strlen(text), &lines) < 0 || lines < LINES_LEAST || lines > LINES_MOST)
        return rsc_fail(error, RSC_EINVAL, "engine 'shards-max:%.40s': not a number of lines from %u to %u", text,
                        LINES_LEAST, LINES_MOST);
    *wanted = (struct rsc_shards_parameters){.rate = 1, .lines_most = (uint32_t)lines};
    return 0;
}

static int shards_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                         struct rsc_error *error) {
    const struct rsc_shards_parameters *wanted = parameters;
    return create(state, options, wanted->rate, wanted->lines_most, error);
}

/* ---- after an exact beginning ---- */

/* A line of the exact state that the sample keeps. */
struct held_line {
    uint64_t line, time, hash;
};

struct held_lines {
    const struct rsc_line_filter *filter;
    struct held_line *list;
    size_t count, room;
    int failed;
};

static void hold(struct held_lines *held, uint64_t line, uint64_t hash, uint64_t time) {
    held->failed |= rsc_grow(&held->list, &held->room, held->count + 1, sizeof *held->list) < 0;
    if (!held->failed) held->list[held->count++] = (struct held_line){line, time, hash};
}

static void hold_chosen(void *context, uint64_t line, const struct rsc_exact *exact, uint32_t slot) {
    struct held_lines *held = context;
    uint64_t hash = rsc_line_hash(line, held->filter->offset);
    if (hash <= held->filter->limit) hold(held, line, hash, rsc_exact_time(exact, slot));
}

static int by_time(const void *a, const void *b) {
    uint64_t x = ((const struct held_line *)a)->time, y = ((const struct held_line *)b)->time;
    return x < y ? -1 : x > y;
}

/* Lines of the exact state that the sample keeps, least recently used first. */
static void list_lines(struct held_lines *held, const struct rsc_exact *exact) {
    const struct rsc_recent *recent = &exact->recent;
    rsc_exact_visit(exact, hold_chosen, held);
    for (uint32_t lane = 0; lane < recent->count; lane++) {
        uint64_t hash = rsc_line_hash(recent->line[lane], held->filter->offset);
        if (hash <= held->filter->limit) hold(held, recent->line[lane], hash, recent->time[lane]);
    }
    if (held->count) qsort(held->list, held->count, sizeof *held->list, by_time);
}

int rsc_shards_engine_follow(void **state, const struct rsc_engine_options *options, double rate, uint32_t lines_most,
                             const struct rsc_exact *exact, struct rsc_error *error) {
    int status = create(state, options, rate, lines_most, error);
    if (status < 0) return status;
    struct shards_engine *engine = *state;
    struct rsc_shards *shards = &engine->shards;
    struct held_lines held = {.filter = &shards->filter};
    list_lines(&held, exact);
    if (held.failed) status = RSC_ENOMEM;
    for (size_t i = 0; !status && i < held.count; i++) {
        uint32_t node;
        if (held.list[i].hash > shards->filter.limit) continue; /* the rate has fallen meanwhile */
        status = rsc_sampled_stack_add(&shards->stack, held.list[i].line, held.list[i].hash, held.list[i].time, &node);
        if (!status && lines_most) rsc_shards_bound(shards, held.list[i].hash, node);
    }
    free(held.list);
    shards->filter.references = engine->before = exact->now;
    engine->held = rsc_exact_distinct(exact);
    if (!status) return 0;
    shards_destroy(engine);
    *state = NULL;
    return rsc_fail_memory(error, "sample");
}

uint64_t rsc_shards_engine_references(const void *state) {
    const struct shards_engine *engine = state;
    return engine->shards.filter.references - engine->before;
}

/* ---- references ---- */

static int explain(const struct shards_engine *engine, int status, struct rsc_error *error) {
    if (status == RSC_ELIMIT)
        return rsc_fail(error, status, "%s: more than %u lines in the sample; take a lower rate", engine->by,
                        engine->shards.stack.lines);
    return rsc_fail(error, status, "out of memory (%s, %u lines in the sample)", engine->by,
                    engine->shards.stack.lines);
}

/* Counts the references per thread, access by access: for ranges in which threads alternate. */
static void count_threads(struct shards_engine *engine, const struct rsc_batch *batch, uint32_t first, uint32_t stop) {
    uint32_t shift = engine->shards.filter.line_shift;
    for (uint32_t i = first; i < stop; i++) {
        uint32_t number = rsc_meta_thread(batch->meta[i]), size = rsc_meta_size(batch->meta[i]);
        uint64_t addr = batch->addr[i], end = addr + (size ? size - 1 : 0);
        if (end < addr) end = UINT64_MAX;
        if (number < engine->shards.sum.thread_count)
            engine->shards.sum.threads[number].references += (end >> shift) - (addr >> shift) + 1;
    }
}

/* Whether all accesses since the stretch began were one thread's. */
static int is_one_thread(const struct rsc_line_filter *filter) {
    return filter->meta_any >> 40 == filter->meta_all >> 40;
}

/* Makes rows for the threads that the stretch had so far, accesses `first` to `last`. */
static int see_threads(struct shards_engine *engine, const struct rsc_batch *batch, uint32_t first, uint32_t last) {
    struct rsc_kept_sum *sum = &engine->shards.sum;
    uint64_t greatest = 0;
    if (is_one_thread(&engine->shards.filter)) greatest = engine->shards.filter.meta_any >> 40;
    else
        for (uint32_t i = first; i <= last; i++)
            if (batch->meta[i] >> 40 > greatest) greatest = batch->meta[i] >> 40;
    return rsc_kept_see_thread(sum, greatest);
}

static int take_kept(struct shards_engine *engine, const struct rsc_batch *batch, struct rsc_error *error) {
    int status = rsc_shards_take(&engine->shards, batch->meta);
    engine->shards.kept.count = 0;
    return status < 0 ? explain(engine, status, error) : 0;
}

static void name_threads(struct rsc_kept_sum *sum, const struct rsc_batch *batch) {
    for (uint32_t i = 0; batch->threads && i < batch->thread_count && i < sum->thread_count; i++) {
        sum->threads[i].pid = batch->threads[i].pid;
        sum->threads[i].tid = batch->threads[i].tid;
    }
}

/*
 * Kept references are collected over the whole batch, as far as there is room, before
 * they are counted: many at a time hide memory latency.
 */
static int shards_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct shards_engine *engine = state;
    struct rsc_line_filter *filter = &engine->shards.filter;
    struct rsc_kept_sum *sum = &engine->shards.sum;
    int status = 0;
    wait_for_counts(engine);
    for (uint32_t first = 0; first < batch->count;) {
        uint32_t stop = batch->count - first < CHUNK ? batch->count : first + CHUNK, at = first;
        uint64_t before = filter->references;
        filter->meta_any = 0;
        filter->meta_all = UINT64_MAX;
        while (at < stop) {
            at = rsc_line_filter_run(filter, batch->addr, batch->meta, at, stop, &engine->shards.kept);
            if (see_threads(engine, batch, first, at < stop ? at : stop - 1) < 0)
                return rsc_fail_memory(error, "thread rows");
            if (at < stop && (status = take_kept(engine, batch, error)) < 0) return status;
        }
        uint32_t number = rsc_meta_thread(batch->meta[first]);
        if (!is_one_thread(filter)) count_threads(engine, batch, first, stop);
        else if (number < sum->thread_count) sum->threads[number].references += filter->references - before;
        if (rsc_line_filter_left_out(filter)) return rsc_references_refuse(error);
        first = stop;
    }
    status = take_kept(engine, batch, error);
    if (status < 0) return status;
    name_threads(sum, batch);
    engine->accesses += batch->count;
    return 0;
}

/* ---- references that a program chose ---- */

/* Facts about the whole run, with the last batch. */
static void take_whole(struct shards_engine *engine, const struct rsc_whole_run *whole) {
    struct rsc_kept_sum *sum = &engine->shards.sum;
    for (uint32_t i = 0; i < whole->thread_count && i < sum->thread_count; i++)
        sum->threads[i].references = whole->thread_references[i];
    engine->shards.filter.references = engine->before + whole->references;
    engine->accesses = whole->accesses;
}

static int shards_push_columns(void *state, const struct rsc_batch *batch, const struct rsc_batch_columns *columns,
                               struct rsc_error *error) {
    struct shards_engine *engine = state;
    struct rsc_kept *kept = &engine->shards.kept;
    struct rsc_line_filter *filter = &engine->shards.filter;
    wait_for_counts(engine);
    if (columns->whole) take_whole(engine, columns->whole);
    if (!columns->passed) return shards_push(state, batch, error);
    /* Also those without a reference to a sampled line. */
    if (batch->thread_count && rsc_kept_see_thread(&engine->shards.sum, batch->thread_count - 1) < 0)
        return rsc_fail_memory(error, "thread rows");
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint64_t line = batch->addr[i] >> filter->line_shift;
        kept->line[kept->count] = line;
        kept->hash[kept->count] = rsc_line_hash(line, filter->offset);
        kept->time[kept->count] = engine->before + columns->passed[i];
        kept->from[kept->count++] = i;
        int status = kept->count == kept->room ? take_kept(engine, batch, error) : 0;
        if (status < 0) return status;
        filter->references = engine->before + columns->passed[i] + 1;
    }
    name_threads(&engine->shards.sum, batch);
    return take_kept(engine, batch, error);
}

/* ---- parts, made where a trace is decoded ---- */

static void *part_create(const void *context) {
    const struct shards_engine *engine = context;
    return rsc_shards_part_new(&engine->parts_filter);
}

static void part_begin(void *part) { rsc_shards_part_begin(part); }

static int part_take(void *part, const struct rsc_batch *batch, struct rsc_error *error) {
    int status = rsc_shards_part_take(part, batch);
    return status == RSC_ELIMIT ? rsc_references_refuse(error) : status < 0 ? rsc_fail_memory(error, "sample") : 0;
}

static void part_destroy(void *part) { rsc_shards_part_free(part); }

static const struct rsc_part_kind *shards_parts(void *state) {
    struct shards_engine *engine = state;
    engine->parts = (struct rsc_part_kind){engine, part_create, part_begin, part_take, part_destroy};
    engine->parts_filter = engine->shards.filter;
    return &engine->parts;
}

static int make_room(struct rsc_shards_found *found, uint32_t count) {
    size_t rooms[3] = {found->room, found->room, found->room};
    return RSC_GROW(found->distance, rooms[0], count) || RSC_GROW(found->interval, rooms[1], count) ||
                   RSC_GROW(found->group, rooms[2], count) || RSC_GROW(found->thread, found->room, count)
               ? RSC_ENOMEM
               : 0;
}

static void count_found(void *argument) {
    struct shards_engine *engine = argument;
    rsc_shards_count(&engine->shards, engine->counting);
}

/*
 * Finds the distances of a part's references, while another thread counts those of the part before: this thread is what
 * limits a small sample where many decode.
 */
static int take_part(struct shards_engine *engine, const struct rsc_kept *kept, struct rsc_error *error) {
    struct rsc_shards_found *found = &engine->found[engine->next_found++ % 2];
    int status = engine->counter ? 0 : rsc_pool_new(&engine->counter, 1, error);
    if (status < 0) return status;
    if (make_room(found, kept->count) < 0) return rsc_fail_memory(error, "sample");
    if (kept->count) memcpy(found->thread, kept->from, kept->count * sizeof *found->thread);
    found->count = kept->count;
    status = rsc_shards_place(&engine->shards, kept, engine->shards.filter.references, found);
    if (status < 0) return explain(engine, status, error);
    wait_for_counts(engine);
    engine->counting = found;
    rsc_pool_submit(engine->counter, count_found, engine);
    return 0;
}

static int shards_push_part(void *state, void *made, const struct rsc_batch *batch, struct rsc_error *error) {
    struct shards_engine *engine = state;
    struct rsc_kept_sum *sum = &engine->shards.sum;
    const struct rsc_shards_part *part = made;
    if (part->threads_seen > sum->thread_count) wait_for_counts(engine); /* their rows may move */
    if (part->threads_seen && rsc_kept_see_thread(sum, part->threads_seen - 1) < 0)
        return rsc_fail_memory(error, "thread rows");
    int status = take_part(engine, &part->kept, error);
    if (status < 0) return status;
    engine->shards.filter.references += part->filter.references;
    for (uint32_t i = 0; i < part->thread_count && i < sum->thread_count; i++)
        sum->threads[i].references += part->threads[i];
    name_threads(sum, batch);
    engine->accesses += batch->count;
    return 0;
}

/* ---- the end ---- */

static struct rsc_kept_whole whole_of(const struct shards_engine *engine) {
    return (struct rsc_kept_whole){.accesses = engine->accesses,
                                   .references = rsc_shards_engine_references(engine),
                                   .rate = engine->shards.rate,
                                   .confidence = engine->options.confidence,
                                   .line_bytes = engine->options.line_bytes,
                                   .held = engine->held};
}

static int shards_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct shards_engine *engine = state;
    struct rsc_kept_whole whole = whole_of(engine);
    struct rsc_kept_sum *sum = &engine->shards.sum;
    wait_for_counts(engine);
    if (sum->thread_count > 1 && !sum->by_thread) rsc_kept_split_threads(sum); /* others had no line of the sample */
    *out = rsc_kept_profile(&engine->shards.sum, &whole);
    if (!*out || rsc_profile_set_text(&(*out)->made.by, engine->by) < 0 ||
        rsc_kept_describe(*out, &whole, engine->shards.stack.lines, engine->options.seed) < 0)
        return rsc_fail_memory(error, "profile");
    rsc_log_line(engine->options.log, RSC_LOG_INFO, "%s (%s): %u lines kept, %.2f MiB at most", engine->by,
                 rsc_simd_name(rsc_simd_best()), engine->shards.stack.lines,
                 (double)rsc_shards_peak_bytes(&engine->shards) / (1 << 20));
    if (engine->shards.sum.threads_seen > engine->shards.sum.thread_count)
        rsc_log_line(engine->options.log, RSC_LOG_WARNING, "%llu threads; only the first %u have rows of their own",
                     (unsigned long long)engine->shards.sum.threads_seen, engine->shards.sum.thread_count);
    return 0;
}

static uint64_t shards_bytes(const void *state) {
    return rsc_shards_peak_bytes(&((const struct shards_engine *)state)->shards);
}

static void shards_so_far(const void *state, struct rsc_so_far *so_far) {
    const struct shards_engine *engine = state;
    struct rsc_kept_whole whole = whole_of(engine);
    wait_for_counts(engine);
    so_far->references = whole.references;
    so_far->samples = engine->shards.stack.lines;
    so_far->sampled = "lines";
    so_far->error = rsc_kept_error(&engine->shards.sum, &whole);
}

const struct rsc_engine_kind rsc_engine_shards = {
    .name = "shards",
    .parameter = ":RATE",
    .what = "a sample of lines, this share of them; with error bars",
    .can = RSC_CAN_CAP | RSC_REFUSES_WIDE,
    .parse = parse_rate,
    .create = shards_create,
    .push = shards_push,
    .push_columns = shards_push_columns,
    .parts = shards_parts,
    .push_part = shards_push_part,
    .finish = shards_finish,
    .destroy = shards_destroy,
    .so_far = shards_so_far,
    .bytes = shards_bytes,
};

const struct rsc_engine_kind rsc_engine_shards_max = {
    .name = "shards-max",
    .parameter = ":LINES",
    .what = "a sample of at most this many lines, in bounded memory; with error bars",
    .can = RSC_CAN_CAP | RSC_MEMORY_IS_BOUNDED | RSC_REFUSES_WIDE,
    .parse = parse_lines,
    .create = shards_create,
    .push = shards_push,
    .finish = shards_finish,
    .destroy = shards_destroy,
    .so_far = shards_so_far,
};
