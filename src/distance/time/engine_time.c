/*
 * engine_time.c - an engine that only stores when lines were last used, with four models:
 * statstack, aet, hotl and shen.
 *
 * One pass gives reuse intervals and first uses; at the end the distances are modelled
 * from those (profile/ri_models.h; docs/measured/approximate.md has the accuracy). A
 * small sample of true distances (truth_sample.h), taken in the same pass, gives the
 * error bars; the curve itself is the model's.
 *
 *   time:aet        intervals are exact up to LINES_ALL lines. Then the table of all last
 *                   uses, which no longer fits in a cache, is replaced by a sample of
 *                   uses that are watched until the next (use_watch.h)
 *   time:aet:1      all intervals, for any number of lines
 *   time:aet:RATE   those of a sample of that rate, from the beginning
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/key_values.h"
#include "base/numbers.h"
#include "estimate/statistics.h"
#include "distance/count/accumulate.h"
#include "distance/engine_kind.h"
#include "distance/time/last_use.h"
#include "distance/time/truth_sample.h"
#include "distance/time/use_watch.h"
#include "profile/ri_models.h"
#include "trace/references.h"

#define BLOCK RSC_LAST_USE_RUN
/* A drawn use is compared with the rest of its block: half a block is a tenth faster than a whole one (bench_time). */
#define BLOCK_WATCHED 512u
/* For threads' intervals; their rows are coarser still. */
#define THREAD_BINS ((struct rsc_bins){64, 16})
#define LINES_ALL (1u << 17) /* lines whose uses are all known; more would not fit in the second level cache */
#define USES_WATCHED (1u << 14) /* at most, from then on */
#define GAP_FIRST 16 /* so that these are not yet reached */
#define LINE_BYTES 16u /* of the table, per line */
#define WATCH_BYTES (10u << 20) /* of the sample that replaces it */

struct time_parameters {
    enum rsc_ri_model_kind kind;
    double rate; /* 0: not given */
};

struct thread_intervals {
    uint64_t pid, tid;
    uint64_t references, cold;
    struct rsc_histogram ri; /* THREAD_BINS; not allocated before the second thread, like ... */
    struct rsc_histogram sampled; /* ... the sampled ones, not yet scaled */
};

struct time_engine {
    enum rsc_ri_model_kind kind;
    uint32_t line_shift;
    const struct rsc_log *log;
    double confidence;
    uint64_t seed;
    double rate; /* as given; 0: all lines, until there are too many */
    char by[64]; /* as in the profile */
    int watching; /* whether uses are watched; otherwise all are known */
    uint64_t exact_references, exact_distinct; /* before they were */
    struct rsc_last_use last;
    struct rsc_use_watch watch;
    struct rsc_truth_sample sample;
    struct rsc_histogram ri, first; /* RSC_BINS_FINE; first: when lines were first used, from 1 */
    double ri_sum; /* of the intervals in ri, as long as all are known */
    uint64_t accesses;
    struct thread_intervals *threads; /* by thread number */
    uint32_t thread_count, thread_room;
    uint64_t threads_seen; /* highest number seen, plus 1 */
    /* References wait for a block of them, so that the sample does not depend on where batches end. */
    uint32_t waiting;
    uint64_t lines[BLOCK];
    uint32_t thread[BLOCK]; /* numbers; all 0 before the second thread */
    uint32_t from[BLOCK];   /* accesses of the batch of those filled last */
    struct rsc_intervals found;
    struct rsc_watch_found seen;
};

static uint64_t references_of(const struct time_engine *engine) {
    return engine->watching ? engine->watch.now : engine->last.now;
}

static void time_destroy(void *state) {
    struct time_engine *engine = state;
    if (!engine) return;
    rsc_last_use_free(&engine->last);
    rsc_use_watch_free(&engine->watch);
    rsc_truth_sample_free(&engine->sample);
    rsc_histogram_free(&engine->ri);
    rsc_histogram_free(&engine->first);
    for (uint32_t i = 0; i < engine->thread_count; i++) {
        rsc_histogram_free(&engine->threads[i].ri);
        rsc_histogram_free(&engine->threads[i].sampled);
    }
    free(engine->threads);
    free(engine);
}

/* MODEL or MODEL:RATE. */
static int time_parse(void *parameters, const char *text, struct rsc_error *error) {
    struct time_parameters *asked = parameters;
    size_t length = text ? strcspn(text, ":") : 0;
    int kind = text ? rsc_find_word(text, length, rsc_ri_model_names) : -1;
    if (kind < 0)
        return rsc_fail(
            error, RSC_EINVAL,
            "engine 'time%s%.40s': not time:MODEL or time:MODEL:RATE with one of statstack, aet, hotl, shen",
            text ? ":" : "", text ? text : "");
    asked->kind = (enum rsc_ri_model_kind)kind;
    const char *rate = text[length] ? text + length + 1 : NULL;
    if (rate && rsc_parse_rate(rate, strlen(rate), &asked->rate) < 0)
        return rsc_fail(error, RSC_EINVAL,
                        "engine '%s:%.40s': not a rate above 0 and up to 1, such as 0.01, 1/100 or 1%%",
                        rsc_ri_model_names[kind], rate);
    return 0;
}

/* An assumption, not measured: isolated lines take more. */
static uint64_t time_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines) {
    const struct time_parameters *asked = parameters;
    (void)options;
    if (asked->rate > 0 && asked->rate < 1) return 0;
    if (asked->rate == 0 && lines > LINES_ALL) return LINES_ALL * LINE_BYTES + WATCH_BYTES;
    return lines * LINE_BYTES;
}

static int time_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                       struct rsc_error *error) {
    const struct time_parameters *asked = parameters;
    const char *name = rsc_ri_model_names[asked->kind];
    double rate = asked->rate;
    struct time_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, name);
    engine->kind = asked->kind;
    engine->rate = rate;
    engine->seed = options->seed;
    engine->watching = rate > 0 && rate < 1;
    if (rate > 0) snprintf(engine->by, sizeof engine->by, "%s:%.15g", name, rate);
    else snprintf(engine->by, sizeof engine->by, "%s", name);
    engine->line_shift = (uint32_t)__builtin_ctz(options->line_bytes);
    engine->log = options->log;
    engine->confidence = options->confidence;
    if (rsc_last_use_init(&engine->last, rsc_simd_best(), options->seed, 0) < 0 ||
        (engine->watching && rsc_use_watch_init(&engine->watch, rsc_simd_best(), options->seed, 1 / rate, 0) < 0) ||
        rsc_truth_sample_init(&engine->sample, options->seed) < 0 ||
        rsc_histogram_init(&engine->ri, RSC_BINS_FINE) < 0 || rsc_histogram_init(&engine->first, RSC_BINS_FINE) < 0) {
        time_destroy(engine);
        return rsc_fail_memory(error, name);
    }
    if (engine->watching) engine->sample.line.first_from = 1;
    *state = engine;
    return 0;
}

/* ---- threads ---- */

/* Rounds the watch's counts to whole references. Returns 0 or RSC_ENOMEM. */
static int add_sampled(const struct rsc_use_watch *watch, struct rsc_histogram *into) {
    struct rsc_histogram sampled;
    if (rsc_histogram_init(&sampled, RSC_BINS_FINE) < 0) return RSC_ENOMEM;
    for (uint32_t bin = 0; bin < sampled.bin_count; bin++)
        sampled.count[bin] = (uint64_t)(watch->weighted[bin] + (double)watch->ended[bin] * watch->gap + 0.5);
    rsc_histogram_merge(into, &sampled);
    rsc_histogram_free(&sampled);
    return 0;
}

/* Rows exist from the second thread on; the totals so far belong to the first. */
static int add_threads(struct time_engine *engine, uint64_t wanted) {
    if (wanted > RSC_THREAD_ROWS_MAX) wanted = RSC_THREAD_ROWS_MAX;
    if (RSC_GROW(engine->threads, engine->thread_room, wanted)) return RSC_ENOMEM;
    while (engine->thread_count < wanted) {
        struct thread_intervals *row = &engine->threads[engine->thread_count], *first = &engine->threads[0];
        *row = (struct thread_intervals){.tid = engine->thread_count};
        engine->thread_count++;
        if (engine->thread_count == 1) continue;
        if (rsc_histogram_init(&row->ri, THREAD_BINS) < 0 || rsc_histogram_init(&row->sampled, THREAD_BINS) < 0)
            return RSC_ENOMEM;
        if (first->ri.count) continue;
        if (rsc_histogram_init(&first->ri, THREAD_BINS) < 0 || rsc_histogram_init(&first->sampled, THREAD_BINS) < 0)
            return RSC_ENOMEM;
        rsc_histogram_merge(&first->ri, &engine->ri);
        if (engine->watching && add_sampled(&engine->watch, &first->sampled) < 0) return RSC_ENOMEM;
        first->references = references_of(engine);
        first->cold = engine->last.distinct;
    }
    return 0;
}

/* Makes rows for the threads of accesses `first` to `last`. */
static int see_threads(struct time_engine *engine, const struct rsc_batch *batch, uint32_t first, uint32_t last) {
    uint64_t highest = 0;
    uint64_t any = 0;
    for (uint32_t i = first; i <= last; i++) any |= batch->meta[i];
    for (uint32_t i = first; any >> 40 && i <= last; i++) {
        uint64_t thread = batch->meta[i] >> 40;
        if (thread > highest) highest = thread;
    }
    if (highest + 1 > engine->threads_seen) engine->threads_seen = highest + 1;
    return engine->threads_seen > engine->thread_count ? add_threads(engine, engine->threads_seen) : 0;
}

static void name_threads(struct time_engine *engine, const struct rsc_batch *batch) {
    for (uint32_t i = 0; batch->threads && i < batch->thread_count && i < engine->thread_count; i++) {
        engine->threads[i].pid = batch->threads[i].pid;
        engine->threads[i].tid = batch->threads[i].tid;
    }
}

static void count_threads(struct time_engine *engine, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = engine->thread[i];
        if (number >= engine->thread_count) continue;
        struct thread_intervals *row = &engine->threads[number];
        row->references++;
        if (engine->found.ri[i]) rsc_histogram_add(&row->ri, engine->found.ri[i], 1);
        else row->cold++;
    }
}

/* The same for a block with watched uses: repeats are known, and those that ended a watch represent others. */
static void count_threads_watched(struct time_engine *engine, uint32_t count) {
    const struct rsc_watch_found *seen = &engine->seen;
    const uint64_t weight = (uint64_t)(engine->watch.gap + 0.5);
    for (uint32_t i = 0, k = 0; i < count; i++) {
        uint32_t number = engine->thread[i];
        int listed = k < seen->listed_count && seen->index[k] == i;
        k += (uint32_t)listed;
        if (number >= engine->thread_count) continue;
        engine->threads[number].references++;
        if (!listed) rsc_histogram_add(&engine->threads[number].ri, 1, 1);
    }
    for (uint32_t i = 0; i < seen->ended_count; i++) {
        uint32_t number = engine->thread[seen->index[seen->ended[i]]];
        if (number < engine->thread_count)
            rsc_histogram_add(&engine->threads[number].sampled, seen->ended_ri[i], weight);
    }
}

/* Adds the samples of each thread, `reuses` in all, to its known counts. The rest of its references are cold. */
static int settle_threads(struct time_engine *engine, uint64_t reuses) {
    double sampled = 0;
    for (uint32_t i = 0; i < engine->thread_count; i++)
        sampled += (double)rsc_histogram_total(&engine->threads[i].sampled);
    for (uint32_t i = 0; i < engine->thread_count; i++) {
        struct thread_intervals *row = &engine->threads[i];
        double own = (double)rsc_histogram_total(&row->sampled);
        uint64_t left = row->references - rsc_histogram_total(&row->ri), scaled = 0;
        if (sampled > 0) scaled = (uint64_t)((double)reuses * (own / sampled) + 0.5);
        if (scaled > left) scaled = left;
        if (rsc_histogram_scale_to(&row->sampled, scaled) < 0) return RSC_ENOMEM;
        rsc_histogram_merge(&row->ri, &row->sampled);
        row->cold = row->references - rsc_histogram_total(&row->ri);
    }
    return 0;
}

static int fill_threads(struct time_engine *engine, const struct rsc_ri_model *model, struct rsc_profile *profile) {
    if (rsc_profile_set_threads(profile, engine->thread_count) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < engine->thread_count; i++) {
        struct rsc_thread_row *row = &profile->threads[i];
        row->pid = engine->threads[i].pid;
        row->tid = engine->threads[i].tid;
        int alone = engine->thread_count == 1;
        row->references = alone ? profile->references : engine->threads[i].references;
        row->cold = alone ? profile->cold : engine->threads[i].cold;
        if (alone) rsc_histogram_merge(&row->rd, &profile->rd);
        else if (rsc_ri_model_rd_of(model, &engine->threads[i].ri, &row->rd) < 0) return RSC_ENOMEM;
    }
    return 0;
}

/* ---- the pass ---- */

/* First uses have interval 0, which is otherwise unused: they are counted in its bin, without a branch. */
static void count_intervals(struct time_engine *engine, uint64_t before, int has_first) {
    const struct rsc_intervals *found = &engine->found;
    uint64_t *ri = engine->ri.count, *first = engine->first.count, sum = 0;
    for (uint32_t k = 0; k < found->listed_count; k++) {
        ri[rsc_bin_of_fine_any(found->listed_ri[k])]++;
        sum += found->listed_ri[k];
    }
    engine->ri_sum += (double)(sum + found->count - found->listed_count);
    ri[0] = 0;
    ri[1] += found->count - found->listed_count;
    if (!has_first) return;
    for (uint32_t k = 0; k < found->listed_count; k++)
        if (!found->listed_ri[k]) first[rsc_bin_of_fine(before + found->index[k] + 1)]++;
}

static int take_all(struct time_engine *engine, uint32_t count) {
    uint64_t before = engine->last.now, distinct_before = engine->last.distinct;
    int status = rsc_last_use_run(&engine->last, engine->lines, count, &engine->found);
    if (status == 0)
        status = rsc_truth_sample_take(&engine->sample, &engine->last, distinct_before, engine->lines, &engine->found);
    if (status == 0) count_intervals(engine, before, engine->last.distinct != distinct_before);
    return status;
}

static int take_watched(struct time_engine *engine, uint32_t count) {
    double distinct_before = rsc_use_watch_lines(&engine->watch);
    int status = rsc_use_watch_run(&engine->watch, engine->lines, count, &engine->seen);
    if (status == 0)
        status = rsc_truth_sample_take_watched(&engine->sample, &engine->watch, distinct_before, engine->lines, count,
                                               &engine->seen);
    engine->ri.count[1] += count - engine->seen.listed_count;
    return status;
}

/* Switches from all last uses to a sample of them. */
static int begin_to_watch(struct time_engine *engine) {
    int status = rsc_use_watch_init(&engine->watch, rsc_simd_best(), engine->seed, GAP_FIRST, USES_WATCHED);
    if (status == 0) status = rsc_use_watch_follow(&engine->watch, &engine->last);
    if (status < 0) return status;
    engine->watching = 1;
    engine->watch.rate_shift = engine->last.rate_shift;
    engine->exact_references = engine->last.now;
    engine->exact_distinct = engine->last.distinct;
    engine->sample.line.first_from = engine->last.now + 1;
    rsc_last_use_free(&engine->last);
    return 0;
}

/* Takes the references that wait. */
static int take_block(struct time_engine *engine, struct rsc_error *error) {
    const int was_watching = engine->watching;
    const uint32_t count = engine->waiting;
    engine->waiting = 0;
    int status = was_watching ? take_watched(engine, count) : take_all(engine, count);
    if (status == 0 && engine->thread_count > 1) {
        if (was_watching) count_threads_watched(engine, count);
        else count_threads(engine, count);
    }
    if (status == 0 && !was_watching && !engine->rate && engine->last.distinct > LINES_ALL)
        status = begin_to_watch(engine);
    if (status == 0) return 0;
    return rsc_fail(
        error, status, "out of memory (%s engine, %llu distinct lines)", rsc_ri_model_names[engine->kind],
        (unsigned long long)(was_watching ? rsc_use_watch_lines(&engine->watch) : (double)engine->last.distinct));
}

static int time_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct time_engine *engine = state;
    struct rsc_reference_cursor cursor;
    int status = 0;
    engine->accesses += batch->count;
    rsc_references_start(&cursor, batch, engine->line_shift);
    while (!status) {
        const uint32_t room = engine->watching ? BLOCK_WATCHED : BLOCK, waiting = engine->waiting;
        const uint32_t count = rsc_references_fill(&cursor, engine->lines + waiting, engine->from, room - waiting);
        if (!count) break;
        /* block by block, while the column is in the first level cache */
        if (see_threads(engine, batch, engine->from[0], engine->from[count - 1]) < 0)
            return rsc_fail_memory(error, "thread rows");
        for (uint32_t i = 0; engine->thread_count > 1 && i < count; i++)
            engine->thread[waiting + i] = rsc_meta_thread(batch->meta[engine->from[i]]);
        engine->waiting += count;
        if (engine->waiting == room) status = take_block(engine, error);
    }
    name_threads(engine, batch);
    return status;
}

/* ---- the end ---- */

/* The input of the models. */
struct outcome {
    struct rsc_histogram ri, first, last; /* last: how long before the end, from 1; for HOTL only */
    struct rsc_histogram sampled; /* the part of ri that is scaled up */
    uint64_t now, distinct;
    double sum; /* of intervals, first and last uses of a sample; 0: all are known */
    double last_sum;
    struct rsc_ri_model model, predictor;
};

static void outcome_free(struct outcome *outcome) {
    rsc_histogram_free(&outcome->ri);
    rsc_histogram_free(&outcome->first);
    rsc_histogram_free(&outcome->last);
    rsc_histogram_free(&outcome->sampled);
    rsc_ri_model_free(&outcome->model);
    rsc_ri_model_free(&outcome->predictor);
}

static void count_last_use(void *context, uint64_t line, uint64_t time) {
    struct outcome *outcome = context;
    (void)line;
    outcome->last.count[rsc_bin_of_fine(outcome->now - time + 1)]++;
    outcome->last_sum += (double)(outcome->now - time + 1);
}

/* The mean of a histogram's values, each taken at the middle of its bin. */
static double sum_of(const struct rsc_histogram *histogram) {
    double sum = 0;
    for (uint32_t bin = 0; bin < histogram->bin_count; bin++) {
        if (!histogram->count[bin]) continue;
        double lo = (double)rsc_bin_lo(histogram->bins, bin), hi = (double)rsc_bin_hi(histogram->bins, bin);
        sum += (double)histogram->count[bin] * (lo + hi) / 2;
    }
    return sum;
}

/*
 * Scales the sample to the whole: ended and unended watches together represent all
 * uses drawn from; the lines are those of before, and new ones. The line sample knows
 * when new lines were first used.
 */
static int scale_up(struct time_engine *engine, struct outcome *outcome) {
    const struct rsc_use_watch *watch = &engine->watch;
    struct rsc_histogram *new_lines = &outcome->last; /* temporarily */
    outcome->distinct = (uint64_t)(rsc_use_watch_lines(watch) + 0.5);
    if (outcome->distinct < engine->exact_distinct) outcome->distinct = engine->exact_distinct;
    if (outcome->distinct > watch->uses) outcome->distinct = watch->uses;
    if (add_sampled(watch, &outcome->sampled) < 0) return RSC_ENOMEM;
    uint64_t reuses = watch->uses - outcome->distinct;
    if (!rsc_histogram_total(&outcome->sampled)) outcome->distinct = watch->uses, reuses = 0;
    if (rsc_histogram_scale_to(&outcome->sampled, reuses) < 0) return RSC_ENOMEM;
    rsc_histogram_merge(&outcome->ri, &outcome->sampled);
    if (engine->thread_count > 1 && settle_threads(engine, reuses) < 0) return RSC_ENOMEM;

    memcpy(new_lines->count, engine->sample.line.first, new_lines->bin_count * sizeof *new_lines->count);
    if (!rsc_histogram_total(new_lines)) new_lines->count[rsc_bin_of_fine(engine->exact_references + 1)] = 1;
    if (rsc_histogram_scale_to(new_lines, outcome->distinct - engine->exact_distinct) < 0) return RSC_ENOMEM;
    rsc_histogram_merge(&outcome->first, new_lines);
    memset(new_lines->count, 0, new_lines->bin_count * sizeof *new_lines->count);
    rsc_use_watch_visit(watch, count_last_use, outcome);
    uint64_t repeats = outcome->now - engine->exact_references - (watch->uses - engine->exact_distinct);
    outcome->sum =
        engine->ri_sum + (double)repeats + (double)reuses * rsc_use_watch_mean(watch) + sum_of(&outcome->first);
    if (watch->watched) outcome->sum += outcome->last_sum * (double)outcome->distinct / (double)watch->watched;
    return rsc_histogram_scale_to(&outcome->last, outcome->distinct) < 0 ? RSC_ENOMEM : 0;
}

static int make_outcome(struct time_engine *engine, struct outcome *outcome) {
    outcome->now = references_of(engine);
    outcome->distinct = engine->last.distinct;
    if (rsc_histogram_init(&outcome->ri, RSC_BINS_FINE) < 0 || rsc_histogram_init(&outcome->first, RSC_BINS_FINE) < 0 ||
        rsc_histogram_init(&outcome->last, RSC_BINS_FINE) < 0 ||
        rsc_histogram_init(&outcome->sampled, RSC_BINS_FINE) < 0)
        return RSC_ENOMEM;
    rsc_histogram_merge(&outcome->ri, &engine->ri);
    rsc_histogram_merge(&outcome->first, &engine->first);
    if (engine->watching && scale_up(engine, outcome) < 0) return RSC_ENOMEM;
    if (!engine->watching && engine->kind == RSC_RI_HOTL) rsc_last_use_visit(&engine->last, count_last_use, outcome);
    struct rsc_ri_counts counts = {&outcome->ri,    outcome->distinct, outcome->distinct,
                                   &outcome->first, &outcome->last,    outcome->sum};
    if (rsc_ri_model_init(&outcome->model, engine->kind, &counts) < 0 ||
        rsc_ri_model_init(&outcome->predictor, RSC_RI_STATSTACK, &counts) < 0)
        return RSC_ENOMEM;
    return 0;
}

/* Describes the sampling of intervals, and the resulting number of lines. */
static void describe_intervals(const struct time_engine *engine, const struct outcome *outcome, double lines_error,
                               char *text, size_t room) {
    if (!engine->watching) {
        snprintf(text, room, "none");
        return;
    }
    double spread = rsc_normal_quantile(0.5 + engine->confidence / 200) * lines_error;
    double distinct = (double)outcome->distinct, known = (double)engine->exact_distinct;
    int from = snprintf(text, room, "intervals of uses at random, rate %.6g, seed %llu", 1 / engine->watch.gap,
                        (unsigned long long)engine->seed);
    if (engine->exact_references && from > 0 && (size_t)from < room)
        from += snprintf(text + from, room - (size_t)from, ", of all in the first %llu references",
                         (unsigned long long)engine->exact_references);
    if (from > 0 && (size_t)from < room)
        snprintf(text + from, room - (size_t)from, "; distinct %.0f to %.0f", fmax(known, distinct - spread),
                 distinct + spread);
}

static int fill_profile(struct time_engine *engine, struct outcome *outcome, struct rsc_profile *profile) {
    static const char *const papers[] = {"StatStack", "AET", "HOTL", "Shen"};
    char sampled[200], how[400];
    if (make_outcome(engine, outcome) < 0 || rsc_ri_model_rd(&outcome->model, &profile->rd) < 0) return RSC_ENOMEM;
    profile->accesses = engine->accesses;
    profile->references = outcome->now;
    profile->cold = profile->distinct = outcome->distinct;
    profile->made.threads = engine->threads_seen;
    profile->made.line_bytes = 1ull << engine->line_shift;
    rsc_histogram_merge(&profile->ri, &outcome->ri);
    struct rsc_interval_chance chance = {.uses = (double)engine->watch.uses,
                                         .cold_known = (double)engine->exact_distinct};
    if (engine->watching) {
        chance.variance = rsc_use_watch_variance(&engine->watch);
        rsc_use_watch_left(&engine->watch, &chance.left);
        chance.cold_error = sqrt(rsc_watch_left_covariance(&chance.left, 0));
    }
    describe_intervals(engine, outcome, chance.cold_error, sampled, sizeof sampled);
    snprintf(how, sizeof how,
             "%s; RD modelled from RI (%s); "
             "%g %% bars by true distances of %llu references and %u lines, widened to the model",
             sampled, papers[engine->kind], engine->confidence,
             (unsigned long long)(engine->sample.window.first + engine->sample.window.samples),
             engine->sample.line.count);
    if (rsc_profile_set_text(&profile->made.by, engine->by) < 0 ||
        rsc_profile_set_text(&profile->made.sampling, how) < 0 || fill_threads(engine, &outcome->model, profile) < 0 ||
        rsc_profile_derive_mrc(profile) < 0)
        return RSC_ENOMEM;
    rsc_truth_sample_bands(&engine->sample, &outcome->predictor, engine->watching ? &chance : NULL, engine->confidence,
                           profile);
    return 0;
}

static void say_memory(const struct time_engine *engine, const struct rsc_profile *profile) {
    uint64_t bytes = engine->watching ? rsc_use_watch_bytes(&engine->watch) : rsc_last_use_bytes(&engine->last);
    if (profile->distinct)
        rsc_log_line(engine->log, RSC_LOG_INFO, "%s engine: table of %.1f MiB, %.1f bytes per distinct line",
                     engine->by, (double)bytes / (1 << 20), (double)bytes / (double)profile->distinct);
}

static int time_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct time_engine *engine = state;
    struct outcome outcome = {0};
    int status = engine->waiting ? take_block(engine, error) : 0;
    *out = NULL;
    if (status < 0) return status;
    *out = rsc_profile_new();
    status = *out ? fill_profile(engine, &outcome, *out) : RSC_ENOMEM;
    outcome_free(&outcome);
    if (status < 0) {
        rsc_profile_free(*out);
        *out = NULL;
        return rsc_fail_memory(error, "profile");
    }
    say_memory(engine, *out);
    if (engine->threads_seen > engine->thread_count)
        rsc_log_line(engine->log, RSC_LOG_WARNING, "%llu threads; only the first %u have rows of their own",
                     (unsigned long long)engine->threads_seen, engine->thread_count);
    return 0;
}

static void time_so_far(const void *state, struct rsc_so_far *so_far) {
    const struct time_engine *engine = state;
    so_far->references = references_of(engine) + engine->waiting;
    so_far->samples = engine->sample.line.moves + engine->sample.line.repeats + engine->sample.window.samples;
    so_far->sampled = "true distances";
}

const struct rsc_engine_kind rsc_engine_time = {
    .name = "time",
    .parameter = ":MODEL[:RATE]",
    .what = "distances modelled from intervals by statstack, aet, hotl or shen; with error bars",
    .parse = time_parse,
    .memory = time_memory,
    .create = time_create,
    .push = time_push,
    .finish = time_finish,
    .destroy = time_destroy,
    .so_far = time_so_far,
};
