/*
 * engine_sampled_exact.c - see engine_sampled_exact.h: line_filter.h finds the references to sampled
 * lines, each becomes a separate access, and sampled_exact.h gets the number of its thread's
 * references skipped before it. With `run --sample lines:RATE` the program itself delivers this;
 * here it comes from a trace.
 */
#include "distance/shards/engine_sampled_exact.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "distance/count/accumulate.h"
#include "distance/shards/line_filter.h"
#include "distance/shards/sampled_exact.h"

#define KEPT 2048u

struct thread_state {
    uint64_t references;
    uint64_t last_kept; /* which of them was, from 1; 0: none yet */
    uint64_t pid, tid;
};

struct sampled_exact_engine {
    struct rsc_sampled_exact *sampled;
    struct rsc_line_filter filter;
    struct thread_state *threads; /* by number; owned */
    uint32_t thread_count, thread_room;
    uint64_t accesses;
    struct rsc_kept kept;
    uint64_t line[KEPT], hash[KEPT], time[KEPT];
    uint32_t from[KEPT];
    uint64_t addr[KEPT], meta[KEPT], skipped[KEPT]; /* of the kept ones, as sampled_exact.h takes them */
};

static void sampled_destroy(void *state) {
    struct sampled_exact_engine *engine = state;
    if (!engine) return;
    rsc_sampled_exact_free(engine->sampled);
    free(engine->threads);
    free(engine);
}

int rsc_sampled_exact_create(void **state, const struct rsc_engine_options *options, double rate,
                             struct rsc_error *error) {
    struct rsc_engine_options inner = *options;
    struct rsc_line_choice choice;
    struct sampled_exact_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "sample of lines");
    inner.attribute = 2; /* kept references have no pc */
    rsc_line_choose(&choice, rate, options->seed);
    int status = rsc_sampled_exact_new(&engine->sampled, &inner, &choice, "", error);
    if (status < 0) {
        free(engine);
        return status;
    }
    rsc_line_filter_init(&engine->filter, rsc_simd_best(), (uint32_t)__builtin_ctz(options->line_bytes), options->seed,
                         choice.limit);
    engine->kept = (struct rsc_kept){
        .line = engine->line, .hash = engine->hash, .time = engine->time, .from = engine->from, .room = KEPT};
    *state = engine;
    return 0;
}

/* ---- references ---- */

static int know_thread(struct sampled_exact_engine *engine, const struct rsc_batch *batch, uint32_t number) {
    if (RSC_GROW(engine->threads, engine->thread_room, number + 1ull)) return RSC_ENOMEM;
    for (; engine->thread_count <= number; engine->thread_count++)
        engine->threads[engine->thread_count] = (struct thread_state){.tid = engine->thread_count};
    if (batch->threads && number < batch->thread_count) {
        engine->threads[number].pid = batch->threads[number].pid;
        engine->threads[number].tid = batch->threads[number].tid;
    }
    return 0;
}

/* Turns the references of access `access` to kept lines, from number *next of the kept ones on, into accesses. */
static void cut_access(struct sampled_exact_engine *engine, const struct rsc_batch *batch, uint32_t access,
                       uint64_t end, struct thread_state *thread, uint32_t *next) {
    uint32_t shift = engine->filter.line_shift;
    uint64_t meta = batch->meta[access], addr = batch->addr[access], first = addr >> shift;
    for (; *next < engine->kept.count && engine->from[*next] == access; ++*next) {
        uint64_t line = engine->line[*next], number = thread->references + (line - first) + 1;
        uint64_t begin = line == first ? addr : line << shift, last = line << shift | ((1ull << shift) - 1);
        if (last > end) last = end;
        assert(number > thread->last_kept);
        engine->addr[*next] = begin;
        engine->meta[*next] = rsc_meta((uint32_t)(last - begin + 1), rsc_meta_kind(meta), rsc_meta_thread(meta));
        engine->skipped[*next] = number - thread->last_kept - 1;
        thread->last_kept = number;
    }
}

/*
 * Counts the references of accesses `first` to `stop` - 1 by thread, and cuts the kept
 * ones from them; also those of access `stop`, whose lines may not be complete yet: it
 * is counted later.
 */
static int count_references(struct sampled_exact_engine *engine, const struct rsc_batch *batch, uint32_t first,
                            uint32_t stop) {
    uint32_t shift = engine->filter.line_shift, number = UINT32_MAX, next = 0;
    struct thread_state *thread = NULL;
    for (uint32_t i = first; i < stop || next < engine->kept.count; i++) {
        uint64_t meta = batch->meta[i], addr = batch->addr[i], size = rsc_meta_size(meta);
        uint64_t end = addr + (size ? size - 1 : 0);
        if (end < addr) end = UINT64_MAX;
        if (rsc_meta_thread(meta) != number) {
            number = rsc_meta_thread(meta);
            if (know_thread(engine, batch, number) < 0) return RSC_ENOMEM;
            thread = &engine->threads[number];
        }
        if (next < engine->kept.count) cut_access(engine, batch, i, end, thread, &next);
        if (i < stop) thread->references += (end >> shift) - (addr >> shift) + 1;
    }
    return 0;
}

static int sampled_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct sampled_exact_engine *engine = state;
    for (uint32_t at = 0, counted = 0; at < batch->count; counted = at) {
        engine->kept.count = 0;
        at = rsc_line_filter_run(&engine->filter, batch->addr, batch->meta, at, batch->count, &engine->kept);
        if (count_references(engine, batch, counted, at) < 0) return rsc_fail_memory(error, "sample of lines");
        struct rsc_batch kept = {.count = engine->kept.count,
                                 .addr = engine->addr,
                                 .meta = engine->meta,
                                 .threads = batch->threads,
                                 .thread_count = batch->thread_count,
                                 .instructions = RSC_UNKNOWN};
        int status = rsc_sampled_exact_push(engine->sampled, &kept, engine->skipped, error);
        if (status < 0) return status;
    }
    engine->accesses += batch->count;
    return 0;
}

/* ---- the end ---- */

static uint64_t thread_references(const void *context, uint32_t number) {
    const struct sampled_exact_engine *engine = context;
    return number < engine->thread_count ? engine->threads[number].references : 0;
}

static struct rsc_sampled_whole whole_of(const struct sampled_exact_engine *engine) {
    return (struct rsc_sampled_whole){.accesses = engine->accesses,
                                      .references = engine->filter.references,
                                      .thread_references = thread_references,
                                      .context = engine,
                                      .thread_count = engine->thread_count < RSC_THREAD_ROWS_MAX ? engine->thread_count
                                                                                                 : RSC_THREAD_ROWS_MAX};
}

static int sampled_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct sampled_exact_engine *engine = state;
    struct rsc_sampled_whole whole = whole_of(engine);
    int status = rsc_sampled_exact_finish(engine->sampled, &whole, out, error);
    if (status < 0) return status;
    (*out)->made.threads = engine->thread_count;
    for (uint32_t i = 0; i < (*out)->thread_count; i++) {
        (*out)->threads[i].pid = engine->threads[i].pid;
        (*out)->threads[i].tid = engine->threads[i].tid;
    }
    return 0;
}

static void sampled_so_far(const void *state, struct rsc_so_far *so_far) {
    const struct sampled_exact_engine *engine = state;
    struct rsc_sampled_whole whole = whole_of(engine);
    so_far->references = whole.references;
    so_far->samples = rsc_sampled_exact_lines(engine->sampled);
    so_far->sampled = "lines";
    so_far->error = rsc_sampled_exact_error(engine->sampled, &whole);
}

const struct rsc_engine_kind rsc_engine_sampled_exact = {
    .name = "sampled",
    .push = sampled_push,
    .finish = sampled_finish,
    .destroy = sampled_destroy,
    .so_far = sampled_so_far,
};
