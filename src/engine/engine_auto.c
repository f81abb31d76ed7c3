/*
 * engine_auto.c - chooses an engine.
 *
 * Without --error it is exact: parallel with three workers or more and no attribution
 * to code, else serial. The numbers are the same.
 *
 * With --error (the acceptable mean absolute error of the miss ratio curve):
 *
 *   exact     while there are few lines. Nothing is cheaper then, and short traces
 *             and small footprints stay exact to the end.
 *   preview   once there are enough lines for sampling to pay, the exact analysis
 *             continues, and for a while counts the references a sample would keep
 *             (auto_preview.h). This gives most of the sample's error on this trace,
 *             and about the bars it would state.
 *   sampled   if the error was below half of the requested one, and the bars narrow
 *             enough, the sample takes over its lines from the exact state, which is
 *             dropped. Otherwise there is another preview with twice the lines.
 *
 * If the length of the trace is known, it is not sampled from the second half on: that would not pay.
 *
 * auto_curve.h combines the distances: exact ones from before, long ones from sampled
 * lines, short ones from bursts. Whether the rest of the trace resembles the preview
 * is unknown; the final error bars cover the whole trace, and made.sampling reports
 * their width.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/rng.h"
#include "engine/auto_curve.h"
#include "engine/auto_preview.h"
#include "engine/engine_auto.h"
#include "engine/engine_table.h"
#include "distance/count/counting.h"
#include "distance/shards/engine_shards.h"
#include "profile/metrics.h"

#define WORKERS_LEAST 3u
#define KEPT_LEAST 2048u /* lines to sample, at any error */
#define RATE (1.0 / 16)  /* a kept reference takes about five times as long as an exact one, a skipped one a tenth */
#define PREVIEW_TIMES 4u /* references of a preview per line held */
#define PREVIEW_BLOCKS 4u /* of which one is counted: a preview must cost little, as the end may be exact */
#define MARGIN 2.0       /* the preview's error must be below the requested one by this factor */
#define KEEP_TIMES 16    /* lines the sample may have, per line of it now: as the trace may grow */
#define SMALL_LINES (uint64_t)(32 / RATE) /* up to half of this, bursts are better than the 32 lines kept */
/* Half widths of 90 % bars are 3.8 times the true error in the median of bench_auto's
 * cases (0.9 to 94), and at least 1.3 times where the request was missed: bars of
 * small samples are wide on purpose. */
#define STATED_TIMES 1.5

struct auto_engine {
    struct rsc_engine_options options;
    const struct rsc_engine_kind *kind; /* without an error: the engine picked; NULL before the first batch */
    void *picked;

    enum { EXACT, PREVIEW, SAMPLED } mode;
    struct rsc_exact exact; /* dropped when sampled */
    struct rsc_counting counting;
    int two_threads;   /* may be */
    uint64_t expected; /* references of the whole trace; UINT64_MAX: not known */
    uint64_t try_at; /* lines at which a preview begins */
    struct rsc_auto_preview preview;
    struct rsc_rng rng; /* chooses blocks of the preview */
    uint64_t preview_end; /* references at which it ends */
    uint64_t keep_most;   /* lines the sample may have */
    uint32_t previews;
    void *shards; /* of rsc_engine_shards; sampled */
    struct rsc_burst_sample burst;
    uint64_t peak_bytes;
};

static void auto_destroy(void *state) {
    struct auto_engine *engine = state;
    if (!engine) return;
    if (engine->kind) engine->kind->destroy(engine->picked);
    rsc_engine_shards.destroy(engine->shards);
    rsc_exact_free(&engine->exact);
    rsc_counting_free(&engine->counting);
    rsc_burst_sample_free(&engine->burst);
    rsc_auto_preview_free(&engine->preview);
    free(engine);
}

/* Unsupported options are refused even if the run would have stayed exact. */
static int check_options(const struct rsc_engine_options *options, struct rsc_error *error) {
    const char *what = options->phases            ? "phases"
                       : options->max_distance    ? "a largest distance"
                       : options->bins_per_octave ? "a second binning"
                       : options->attribute == 1  ? "attribution to code"
                       : options->no_ri           ? "leaving reuse intervals out"
                       : options->top_lines       ? "top lines"
                                                  : NULL;
    return what ? rsc_fail(error, RSC_EINVAL, "the auto engine with an error allowed cannot do %s", what) : 0;
}

static int auto_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                       struct rsc_error *error) {
    (void)parameters;
    if (options->error > 0 && check_options(options, error) < 0) return RSC_EINVAL;
    struct auto_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "engine");
    engine->options = *options;
    if (options->error > 0) engine->options.attribute = 2;
    rsc_rng_seed(&engine->rng, options->seed, 0);
    engine->expected = UINT64_MAX;
    if (options->error > 0) {
        /* errors fall with the square root of the lines; docs/measured/approximate.md has the measured ones */
        double kept = fmax(KEPT_LEAST, 0.5 / (options->error * options->error));
        engine->try_at = kept / RATE < 0x1p40 ? (uint64_t)(kept / RATE) : UINT64_MAX;
        if (rsc_exact_init(&engine->exact, rsc_simd_best(), 0) < 0 ||
            rsc_counting_init(&engine->counting, &engine->options, 0) < 0 ||
            rsc_auto_preview_init(&engine->preview, RATE, options->seed) < 0) {
            auto_destroy(engine);
            return rsc_fail_memory(error, "engine");
        }
    }
    *state = engine;
    return 0;
}

/* ---- exact ---- */

/* Opens an engine for the whole trace, from what the first batch shows. */
static int pick(struct auto_engine *engine, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_engine_options options = engine->options;
    /* a recording that begins with events has code */
    int attributes = options.attribute == 1 || (options.attribute == 0 && batch && (batch->pc || !batch->count));
    int parallel = options.workers >= WORKERS_LEAST && !attributes && !options.no_ri && !options.top_lines;
    const struct rsc_engine_kind *kind = parallel ? &rsc_engine_parallel : &rsc_engine_exact;
    if (!parallel) options.workers = engine->options.workers = 1;
    int status = kind->create(&engine->picked, &options, NULL, error);
    if (status == 0) engine->kind = kind;
    if (status == 0 && engine->two_threads && kind->two_threads) kind->two_threads(engine->picked);
    return status;
}

static int run_exact(struct auto_engine *engine, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_counting *counting = &engine->counting;
    uint32_t count;
    int status = rsc_counting_begin(counting, batch, error);
    while (!status && (count = rsc_counting_next(counting)) > 0) {
        struct rsc_counting_block *block = counting->block;
        int failed = rsc_exact_run(&engine->exact, counting->lines, count, block->rd, block->ri);
        if (failed < 0)
            return rsc_fail(error, failed, "out of memory (exact so far, %llu distinct lines)",
                            (unsigned long long)rsc_exact_distinct(&engine->exact));
        status = rsc_counting_take(counting, error);
        if (engine->mode == PREVIEW && rsc_rng_below(&engine->rng, PREVIEW_BLOCKS) == 0)
            rsc_auto_preview_take(&engine->preview, counting->lines, block->rd, count);
    }
    return status;
}

/* ---- sampled ---- */

static int run_sampled(struct auto_engine *engine, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_counting *counting = &engine->counting;
    struct rsc_reference_cursor cursor;
    uint64_t before = rsc_shards_engine_references(engine->shards);
    uint32_t count;
    int status = rsc_engine_shards.push(engine->shards, batch, error);
    if (status < 0) return status;
    if (rsc_burst_sample_skip(&engine->burst, rsc_shards_engine_references(engine->shards) - before)) return 0;
    rsc_references_start(&cursor, batch, counting->line_shift);
    while (!status && (count = rsc_references_fill(&cursor, counting->lines, counting->block->from, RSC_BURST_RUN)) > 0)
        if (!rsc_burst_sample_skip(&engine->burst, count))
            status = rsc_burst_sample_take(&engine->burst, counting->lines, count);
    return status < 0 ? rsc_fail_memory(error, "bursts") : 0;
}

/*
 * Taking over costs about an eighth of the exact analysis so far, and a sample at least a
 * third of the rest: it pays if at least half of the trace is left when the preview ends.
 */
static void start_preview(struct auto_engine *engine) {
    uint64_t distinct = rsc_exact_distinct(&engine->exact), length = PREVIEW_TIMES * distinct;
    if (length < engine->counting.sum.references / 4) length = engine->counting.sum.references / 4;
    engine->try_at = UINT64_MAX;
    if (engine->counting.sum.references + length > engine->expected / 2) return;
    rsc_auto_preview_restart(&engine->preview);
    engine->keep_most = (uint64_t)((double)distinct * RATE) * KEEP_TIMES;
    engine->preview_end = engine->counting.sum.references + length;
    engine->previews++;
    engine->mode = PREVIEW;
}

/* Samples lines from here on: passes the sample's lines on and drops the exact state. */
static int start_sample(struct auto_engine *engine, struct rsc_error *error) {
    uint64_t distinct = rsc_exact_distinct(&engine->exact);
    uint32_t lines_most = engine->keep_most < UINT32_MAX / 2 ? (uint32_t)engine->keep_most : UINT32_MAX / 2;
    int status = rsc_shards_engine_follow(&engine->shards, &engine->options, RATE, lines_most, &engine->exact, error);
    if (status < 0) return status;
    if (rsc_burst_sample_init(&engine->burst, engine->options.seed, SMALL_LINES) < 0)
        return rsc_fail_memory(error, "bursts");
    engine->peak_bytes = engine->exact.peak_bytes;
    rsc_exact_free(&engine->exact);
    engine->exact.distinct = distinct;
    engine->mode = SAMPLED;
    return 0;
}

static int end_preview(struct auto_engine *engine, struct rsc_error *error) {
    uint64_t distinct = rsc_exact_distinct(&engine->exact);
    struct rsc_auto_expected expected =
        rsc_auto_preview_expect(&engine->preview, SMALL_LINES, distinct, engine->options.confidence);
    int good =
        expected.error * MARGIN <= engine->options.error && expected.stated <= STATED_TIMES * engine->options.error;
    rsc_log_line(engine->options.log, RSC_LOG_INFO,
                 "auto: a sample of 1/%g of %llu lines would be off by %.4f and state %.4f: %s", 1 / RATE,
                 (unsigned long long)distinct, expected.error, expected.stated,
                 good ? "begins to sample" : "goes on exactly");
    if (good) return start_sample(engine, error);
    engine->try_at = distinct * 2;
    engine->mode = EXACT;
    return 0;
}

static int auto_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct auto_engine *engine = state;
    int status = 0;
    if (!(engine->options.error > 0)) {
        if (!engine->kind) status = pick(engine, batch, error);
        return status < 0 ? status : engine->kind->push(engine->picked, batch, error);
    }
    if (engine->mode != SAMPLED) status = run_exact(engine, batch, error);
    else status = run_sampled(engine, batch, error);
    if (status < 0) return status;
    if (engine->mode == EXACT && rsc_exact_distinct(&engine->exact) >= engine->try_at) start_preview(engine);
    else if (engine->mode == PREVIEW && engine->counting.sum.references >= engine->preview_end)
        return end_preview(engine, error);
    return 0;
}

/* ---- the end ---- */

int rsc_auto_kept_word(const struct rsc_profile *profile, double error) {
    return rsc_profile_stated_error(profile) <= STATED_TIMES * error;
}

static int add_sampled(struct auto_engine *engine, struct rsc_profile *profile, struct rsc_error *error) {
    struct rsc_profile *sampled = NULL;
    char text[400];
    if (!rsc_shards_engine_references(engine->shards))
        return rsc_profile_set_text(&profile->made.by, "exact") < 0 ? rsc_fail_memory(error, "profile") : 0;
    int status = rsc_engine_shards.finish(engine->shards, &sampled, error);
    if (status < 0) return status;
    struct rsc_burst_curve bursts = rsc_burst_curve_new(&engine->burst, SMALL_LINES);
    rsc_auto_mend(sampled, &bursts, engine->options.confidence);
    uint64_t known = profile->references;
    status = rsc_auto_append(profile, sampled);
    const char *how = sampled->made.sampling ? sampled->made.sampling : "";
    snprintf(text, sizeof text,
             "first %llu references exactly, then %.*s and %u bursts; %g %% bars, %.2f %% wide to each side on average",
             (unsigned long long)known, (int)strcspn(how, ";"), how, engine->burst.bursts, engine->options.confidence,
             100 * rsc_profile_stated_error(profile));
    if (status < 0 || rsc_profile_set_text(&profile->made.sampling, text) < 0 ||
        rsc_profile_set_text(&profile->made.by, "exact, then shards") < 0)
        status = rsc_fail_memory(error, "profile");
    rsc_profile_free(sampled);
    return status;
}

static int auto_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct auto_engine *engine = state;
    int status = 0;
    if (!(engine->options.error > 0)) {
        if (!engine->kind) status = pick(engine, NULL, error);
        if (!status) status = engine->kind->finish(engine->picked, out, error);
        if (!status && !(*out)->made.workers) (*out)->made.workers = engine->options.workers;
        return status;
    }
    *out = rsc_counting_profile(&engine->counting, rsc_exact_distinct(&engine->exact));
    if (!*out) return rsc_fail_memory(error, "profile");
    (*out)->made.line_bytes = engine->options.line_bytes;
    (*out)->made.workers = 1;
    if (engine->mode == SAMPLED) status = add_sampled(engine, *out, error);
    else if (rsc_profile_set_text(&(*out)->made.by, "exact") < 0) status = rsc_fail_memory(error, "profile");
    if (status < 0) return status;
    uint64_t peak = engine->exact.peak_bytes > engine->peak_bytes ? engine->exact.peak_bytes : engine->peak_bytes;
    rsc_log_line(engine->options.log, RSC_LOG_INFO, "auto engine: %s, %u previews; exact state %.1f MiB at most",
                 (*out)->made.by, engine->previews, (double)peak / (1 << 20));
    return 0;
}

/* For a sample after an exact beginning, the error is the sample's, scaled by its share of all references. */
static void auto_so_far(const void *state, struct rsc_so_far *so_far) {
    const struct auto_engine *engine = state;
    if (!(engine->options.error > 0)) {
        if (engine->kind && engine->kind->so_far) engine->kind->so_far(engine->picked, so_far);
        return;
    }
    if (engine->mode == SAMPLED) rsc_engine_shards.so_far(engine->shards, so_far);
    else so_far->error = 0;
    uint64_t sampled = so_far->references;
    so_far->references = engine->counting.sum.references + sampled;
    if (so_far->references) so_far->error *= (double)sampled / (double)so_far->references;
}

static void auto_two_threads(void *state) { ((struct auto_engine *)state)->two_threads = 1; }

static void auto_expect(void *state, uint64_t accesses) { ((struct auto_engine *)state)->expected = accesses; }

/* With --error, memory depends on the sample's size, which is not known in advance. */
static uint64_t auto_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines) {
    return options->error > 0 ? 0 : rsc_exact_memory(options, parameters, lines);
}

const struct rsc_engine_kind rsc_engine_auto = {
    .name = "auto",
    .what = "exact; with an error allowed, a sample where that is cheaper",
    .can = RSC_CAN_PHASES | RSC_CAN_CAP | RSC_CAN_BINS | RSC_CAN_ATTRIBUTE | RSC_CAN_WORKERS | RSC_CAN_NO_RI |
           RSC_CAN_TOP_LINES | RSC_CAN_ERROR,
    .memory = auto_memory,
    .create = auto_create,
    .push = auto_push,
    .finish = auto_finish,
    .destroy = auto_destroy,
    .so_far = auto_so_far,
    .expect = auto_expect,
    .two_threads = auto_two_threads,
};
