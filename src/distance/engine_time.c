/*
 * engine_time.c - four engines that keep only when each line was last used:
 * statstack, aet, hotl and shen.
 *
 * One pass gives exact reuse intervals and first uses; the distances are modelled
 * from those at the end (profile/ri_models.h says how, docs/approximate.md how
 * well). Beside the pass runs a small sample of true distances (truth_sample.h),
 * from which the error bars are made; the curve itself is the model's.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "distance/accumulate.h"
#include "distance/engine_kind.h"
#include "distance/last_use.h"
#include "distance/truth_sample.h"
#include "profile/ri_models.h"
#include "trace/references.h"

#define BLOCK RSC_LAST_USE_RUN
/* Of threads' intervals; their rows are coarser still. */
#define THREAD_BINS ((struct rsc_bins){64, 16})

struct thread_intervals {
    uint64_t pid, tid;
    uint64_t references, cold;
    struct rsc_histogram ri; /* THREAD_BINS; not allocated before the second thread */
};

struct time_engine {
    enum rsc_ri_model_kind kind;
    uint32_t line_shift;
    const struct rsc_log *log;
    double confidence;
    struct rsc_last_use last;
    struct rsc_truth_sample sample;
    struct rsc_histogram ri, first; /* RSC_BINS_FINE; first: when lines were first used, from 1 */
    uint64_t accesses;
    struct thread_intervals *threads; /* by thread number */
    uint32_t thread_count, thread_room;
    uint64_t threads_seen; /* highest number seen, plus 1 */
    uint64_t lines[BLOCK];
    uint32_t from[BLOCK];
    struct rsc_intervals found;
};

static void time_destroy(void *state) {
    struct time_engine *engine = state;
    if (!engine) return;
    rsc_last_use_free(&engine->last);
    rsc_truth_sample_free(&engine->sample);
    rsc_histogram_free(&engine->ri);
    rsc_histogram_free(&engine->first);
    for (uint32_t i = 0; i < engine->thread_count; i++) rsc_histogram_free(&engine->threads[i].ri);
    free(engine->threads);
    free(engine);
}

static int time_create(enum rsc_ri_model_kind kind, void **state, const struct rsc_engine_options *options,
                       struct rsc_error *error) {
    struct time_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, rsc_ri_model_name(kind));
    engine->kind = kind;
    engine->line_shift = (uint32_t)__builtin_ctz(options->line_bytes);
    engine->log = options->log;
    engine->confidence = options->confidence;
    if (rsc_last_use_init(&engine->last, rsc_simd_best(), options->seed, 0) < 0 ||
        rsc_truth_sample_init(&engine->sample, options->seed) < 0 ||
        rsc_histogram_init(&engine->ri, RSC_BINS_FINE) < 0 || rsc_histogram_init(&engine->first, RSC_BINS_FINE) < 0) {
        time_destroy(engine);
        return rsc_fail_memory(error, rsc_ri_model_name(kind));
    }
    *state = engine;
    return 0;
}

/* ---- threads ---- */

/* Rows exist from the second thread on; the first one's history is the totals so far. */
static int add_threads(struct time_engine *engine, uint64_t wanted) {
    if (wanted > RSC_THREAD_ROWS_MAX) wanted = RSC_THREAD_ROWS_MAX;
    if (wanted > engine->thread_room) {
        uint32_t room = engine->thread_room ? engine->thread_room : 4;
        while (room < wanted) room *= 2;
        struct thread_intervals *threads = realloc(engine->threads, room * sizeof *threads);
        if (!threads) return RSC_ENOMEM;
        engine->threads = threads;
        engine->thread_room = room;
    }
    while (engine->thread_count < wanted) {
        struct thread_intervals *row = &engine->threads[engine->thread_count], *first = &engine->threads[0];
        *row = (struct thread_intervals){.tid = engine->thread_count};
        engine->thread_count++;
        if (engine->thread_count == 1) continue;
        if (rsc_histogram_init(&row->ri, THREAD_BINS) < 0) return RSC_ENOMEM;
        if (first->ri.count) continue;
        if (rsc_histogram_init(&first->ri, THREAD_BINS) < 0) return RSC_ENOMEM;
        rsc_histogram_merge(&first->ri, &engine->ri);
        first->references = engine->last.now;
        first->cold = engine->last.distinct;
    }
    return 0;
}

static int see_threads(struct time_engine *engine, const struct rsc_batch *batch) {
    uint64_t highest = 0;
    uint64_t any = 0;
    for (uint32_t i = 0; i < batch->count; i++) any |= batch->meta[i];
    for (uint32_t i = 0; any >> 40 && i < batch->count; i++) {
        uint64_t thread = batch->meta[i] >> 40;
        if (thread > highest) highest = thread;
    }
    if (batch->count && highest + 1 > engine->threads_seen) engine->threads_seen = highest + 1;
    if (engine->threads_seen > engine->thread_count && add_threads(engine, engine->threads_seen) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; batch->threads && i < batch->thread_count && i < engine->thread_count; i++) {
        engine->threads[i].pid = batch->threads[i].pid;
        engine->threads[i].tid = batch->threads[i].tid;
    }
    return 0;
}

static void count_threads(struct time_engine *engine, const struct rsc_batch *batch, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = rsc_meta_thread(batch->meta[engine->from[i]]);
        if (number >= engine->thread_count) continue;
        struct thread_intervals *row = &engine->threads[number];
        row->references++;
        if (engine->found.ri[i]) rsc_histogram_add(&row->ri, engine->found.ri[i], 1);
        else row->cold++;
    }
}

static int fill_threads(struct time_engine *engine, const struct rsc_ri_model *model, struct rsc_profile *profile) {
    if (rsc_profile_set_threads(profile, engine->thread_count) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < engine->thread_count; i++) {
        struct rsc_thread_row *row = &profile->threads[i];
        row->pid = engine->threads[i].pid;
        row->tid = engine->threads[i].tid;
        int alone = engine->thread_count == 1;
        row->references = alone ? engine->last.now : engine->threads[i].references;
        row->cold = alone ? engine->last.distinct : engine->threads[i].cold;
        if (alone) rsc_histogram_merge(&row->rd, &profile->rd);
        else if (rsc_ri_model_rd_of(model, &engine->threads[i].ri, &row->rd) < 0) return RSC_ENOMEM;
    }
    return 0;
}

/* ---- the pass ---- */

/* First uses have interval 0, which is none: they are counted in its bin, so that there is no branch. */
static void count_intervals(struct time_engine *engine, uint64_t before, int has_first) {
    const struct rsc_intervals *found = &engine->found;
    uint64_t *ri = engine->ri.count, *first = engine->first.count;
    for (uint32_t k = 0; k < found->listed_count; k++) ri[rsc_bin_of_fine_any(found->listed_ri[k])]++;
    ri[0] = 0;
    ri[1] += found->count - found->listed_count;
    if (!has_first) return;
    for (uint32_t k = 0; k < found->listed_count; k++)
        if (!found->listed_ri[k]) first[rsc_bin_of_fine(before + found->index[k] + 1)]++;
}

static int time_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct time_engine *engine = state;
    struct rsc_reference_cursor cursor;
    uint32_t count;
    if (see_threads(engine, batch) < 0) return rsc_fail_memory(error, "thread rows");
    engine->accesses += batch->count;
    rsc_references_start(&cursor, batch, engine->line_shift);
    while ((count = rsc_references_fill(&cursor, engine->lines, engine->from, BLOCK)) > 0) {
        uint64_t before = engine->last.now, distinct_before = engine->last.distinct;
        int status = rsc_last_use_run(&engine->last, engine->lines, count, &engine->found);
        if (status == 0)
            status = rsc_truth_sample_take(&engine->sample, &engine->last, distinct_before, engine->lines, &engine->found);
        if (status < 0)
            return rsc_fail(error, status, "out of memory (%s engine, %llu distinct lines)",
                            rsc_ri_model_name(engine->kind), (unsigned long long)engine->last.distinct);
        count_intervals(engine, before, engine->last.distinct != distinct_before);
        if (engine->thread_count > 1) count_threads(engine, batch, count);
    }
    return 0;
}

/* ---- the end ---- */

struct last_uses {
    struct rsc_histogram back; /* how long before the end, from 1 */
    uint64_t now;
};

static void count_last_use(void *context, uint64_t time) {
    struct last_uses *uses = context;
    uses->back.count[rsc_bin_of_fine(uses->now - time + 1)]++;
}

static int fill_profile(struct time_engine *engine, struct rsc_profile *profile, struct last_uses *uses,
                        struct rsc_ri_model *model, struct rsc_ri_model *predictor) {
    static const char *const papers[] = {"StatStack", "AET", "HOTL", "Shen"};
    char how[200];
    struct rsc_ri_counts counts = {&engine->ri, engine->last.distinct, engine->last.distinct, &engine->first, &uses->back};
    uses->now = engine->last.now;
    if (rsc_histogram_init(&uses->back, RSC_BINS_FINE) < 0) return RSC_ENOMEM;
    if (engine->kind == RSC_RI_HOTL) rsc_last_use_visit(&engine->last, count_last_use, uses);
    if (rsc_ri_model_init(model, engine->kind, &counts) < 0 || rsc_ri_model_rd(model, &profile->rd) < 0 ||
        rsc_ri_model_init(predictor, RSC_RI_STATSTACK, &counts) < 0)
        return RSC_ENOMEM;
    profile->accesses = engine->accesses;
    profile->references = engine->last.now;
    profile->cold = profile->distinct = engine->last.distinct;
    profile->made.threads = engine->threads_seen;
    profile->made.line_bytes = 1ull << engine->line_shift;
    rsc_histogram_merge(&profile->ri, &engine->ri);
    snprintf(how, sizeof how, "none; RD modelled from RI (%s); %g %% bars by true distances of %llu references and %u lines, stretched to the model",
             papers[engine->kind], engine->confidence,
             (unsigned long long)(engine->sample.window.first + engine->sample.window.samples), engine->sample.line.count);
    if (rsc_profile_set_text(&profile->made.by, rsc_ri_model_name(engine->kind)) < 0 ||
        rsc_profile_set_text(&profile->made.sampling, how) < 0 || fill_threads(engine, model, profile) < 0 ||
        rsc_profile_derive_mrc(profile) < 0)
        return RSC_ENOMEM;
    rsc_truth_sample_bands(&engine->sample, predictor, engine->confidence, profile);
    return 0;
}

static int time_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct time_engine *engine = state;
    struct last_uses uses = {0};
    struct rsc_ri_model model = {0}, predictor = {0};
    *out = rsc_profile_new();
    int status = *out ? fill_profile(engine, *out, &uses, &model, &predictor) : RSC_ENOMEM;
    rsc_ri_model_free(&model);
    rsc_ri_model_free(&predictor);
    rsc_histogram_free(&uses.back);
    if (status < 0) {
        rsc_profile_free(*out);
        *out = NULL;
        return rsc_fail_memory(error, "profile");
    }
    if (engine->last.distinct)
        rsc_log_line(engine->log, RSC_LOG_INFO, "%s engine: table of %.1f MiB, %.1f bytes per distinct line",
                     rsc_ri_model_name(engine->kind), (double)rsc_last_use_bytes(&engine->last) / (1 << 20),
                     (double)rsc_last_use_bytes(&engine->last) / (double)engine->last.distinct);
    if (engine->threads_seen > engine->thread_count)
        rsc_log_line(engine->log, RSC_LOG_WARNING, "%llu threads; only the first %u have rows of their own",
                     (unsigned long long)engine->threads_seen, engine->thread_count);
    return 0;
}

static void time_so_far(const void *state, struct rsc_so_far *so_far) {
    const struct time_engine *engine = state;
    so_far->references = engine->last.now;
    so_far->samples = engine->sample.line.moves + engine->sample.line.repeats + engine->sample.window.samples;
    so_far->sampled = "true distances";
}

#define TIME_ENGINE(id, KIND, text)                                                                              \
    static int create_##id(void **state, const struct rsc_engine_options *options, const char *parameter,       \
                           struct rsc_error *error) {                                                            \
        (void)parameter;                                                                                         \
        return time_create(KIND, state, options, error);                                                         \
    }                                                                                                            \
    const struct rsc_engine_kind rsc_engine_##id = {                                                             \
        .name = #id,                                                                                             \
        .what = text,                                                                                            \
        .create = create_##id,                                                                                   \
        .push = time_push,                                                                                       \
        .finish = time_finish,                                                                                   \
        .destroy = time_destroy,                                                                                 \
        .so_far = time_so_far,                                                                                   \
    }

TIME_ENGINE(statstack, RSC_RI_STATSTACK, "distances modelled from intervals: expected lines between two uses");
TIME_ENGINE(aet, RSC_RI_AET, "distances modelled from intervals: average eviction time");
TIME_ENGINE(hotl, RSC_RI_HOTL, "distances modelled from intervals: mean footprint of windows");
TIME_ENGINE(shen, RSC_RI_SHEN, "distances modelled from intervals: binomial over the other lines");
