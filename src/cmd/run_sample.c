/* run_sample.c - see run_sample.h. */
#include "cmd/run_sample.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "multicore/multicore_engines.h"

#define DEFAULT_RATE "1/64"
#define KEPT_FEW \
    256u /* lines: with fewer, a single one moves the curve by as much as the bars of most programs are wide */

/*
 * While samples are active every thread is analysed, so that a program is to have few of
 * them, however long it runs: the period begins here, and doubles as planned.
 */
#define LIVE_PERIOD 8192.0
/*
 * Over twelve programs 6,000 samples spread evenly tell 97.4 % of private histograms (10 bins
 * an octave), 4,500 tell 97.0 %. The first period has most of them, which costs little: early on
 * most is analysed at any rate. Then each doubling has 2,223 (1.75 % a bin at 90 %), so that the whole
 * is always known as well as by 5,500 to 7,000 spread evenly.
 */
#define LIVE_FIRST 5500u
#define LIVE_ERROR 0.0175
#define LIVE_ACTIVE 4096u

/* ---- options ---- */

int rsc_run_sample_option(struct rsc_run_sample *sample, const struct rsc_option_parser *parser) {
    sample->rate = NULL;
    sample->period = 0;
    sample->given = 1;
    if (!strcmp(parser->value, "none")) return -1;
    if (strncmp(parser->value, "lines:", 6)) {
        const char *value = parser->value;
        if (strncmp(value, "1/", 2) || rsc_parse_u64(value + 2, strlen(value + 2), &sample->period) < 0 ||
            !sample->period || sample->period > 1ull << 52)
            return rsc_option_refuse(parser,
                                     "not one reference in so many, as 1/1000, nor a part of all lines, as lines:1/64");
        return -1;
    }
    if (rsc_subset_choose(&sample->choice, parser->value + 6, 0) < 0)
        return rsc_option_refuse(parser, "not a rate of lines above 0 and below 1, such as lines:1/64");
    sample->rate = parser->value + 6;
    return -1;
}

/* --sample 1/N is the period of --engine sampled, which it implies. */
static int settle_period(const struct rsc_run_sample *sample, struct rsc_analysis *analysis, struct rsc_error *error) {
    if (!sample->period) return 0;
    if (!analysis->engine.engine) rsc_engine_spec_parse(&analysis->spec, rsc_engine_sampled.name, NULL);
    struct rsc_sampled_options *wanted = rsc_engine_spec_of(&analysis->spec, &rsc_engine_sampled);
    if (!wanted || analysis->requests)
        return rsc_fail(error, RSC_EINVAL, "--sample 1/N: only --engine sampled takes it");
    wanted->period = (double)sample->period;
    return 0;
}

/* Of a rebuilt program a sample of lines is analysed, where nothing was asked for that needs every reference. */
static void choose(struct rsc_run_sample *sample, const struct rsc_analysis *analysis,
                   const struct rsc_run_facts *facts) {
    const struct rsc_engine_options *engine = &analysis->engine;
    if (sample->given || !facts->rebuilt || facts->trace_path || facts->only_record || facts->by_function) return;
    if (engine->engine || engine->error > 0 || engine->top_lines || engine->max_distance || analysis->line_count != 1)
        return;
    rsc_subset_choose(&sample->choice, DEFAULT_RATE, engine->seed);
    sample->rate = DEFAULT_RATE;
}

/* ---- beginning ---- */

static int refuse(const char *what, const struct rsc_analysis *analysis, const struct rsc_run_facts *facts,
                  struct rsc_error *error) {
    if (facts->trace_path)
        return rsc_fail(error, RSC_EINVAL, "%s and --trace: a trace has every access (--sample none)", what);
    if (facts->by_function)
        return rsc_fail(error, RSC_EINVAL, "%s and --roi FUNCTION: needs every access (--sample none)", what);
    if (analysis->line_count != 1) return rsc_fail(error, RSC_EINVAL, "%s: one line size at a time", what);
    if (analysis->requests) return rsc_fail(error, RSC_EINVAL, "%s: not of requests", what);
    return 0;
}

static struct rsc_engine_options engine_options(const struct rsc_analysis *analysis) {
    struct rsc_engine_options options = analysis->engine;
    options.struct_bytes = sizeof options;
    options.line_bytes = analysis->line_bytes[0];
    options.log = &analysis->session->log;
    return options;
}

static int open_lines(struct rsc_run_sample *sample, struct rsc_analysis *analysis, struct rsc_launch_options *launch,
                      const struct rsc_run_facts *facts, struct rsc_error *error) {
    if (!facts->rebuilt)
        return rsc_fail(error, RSC_EINVAL,
                        "--sample lines: only of a program built with reusescope cc; with QEMU, --engine shards:%.20s",
                        sample->rate);
    int status = refuse("--sample lines", analysis, facts, error);
    if (status < 0) return status;
    if (!rsc_engine_spec_is_exact(&analysis->spec))
        return rsc_fail(error, RSC_EINVAL, "--sample lines and --engine %.40s: the sample is analysed exactly",
                        analysis->engine.engine);
    struct rsc_engine_options options = engine_options(analysis);
    launch->keep_lines = 1;
    launch->keep_limit = sample->choice.limit;
    launch->keep_offset = sample->choice.offset;
    launch->keep_shift = (uint32_t)__builtin_ctz(options.line_bytes);
    analysis->count = analysis->both ? RSC_MODELS_MAX : 1;
    for (size_t i = 0; i < analysis->count; i++) {
        if (analysis->both) options.model = i ? "shared" : "private";
        status = rsc_line_subset_new(&sample->subsets[i], &options, &sample->choice, sample->rate, error);
        if (status < 0) return status;
    }
    return 0;
}

/* How often to sample: as asked for, or as the error bound needs. */
static void plan(struct rsc_run_sample *sample, const struct rsc_analysis *analysis,
                 struct rsc_launch_options *launch) {
    struct rsc_error_bound *bound = &sample->wanted.bound;
    struct rsc_sampler_options *sampler = &sample->wanted.sampler;
    bound->error = analysis->engine.error > 0 ? analysis->engine.error : LIVE_ERROR;
    bound->confidence = analysis->engine.confidence > 0 ? analysis->engine.confidence : 90;
    sampler->period = sample->wanted.period > 0 ? sample->wanted.period : LIVE_PERIOD;
    launch->planned = sample->wanted.period > 0 ? 0 : rsc_plan_samples(bound);
    launch->planned_first = analysis->engine.error > 0 || launch->planned > LIVE_FIRST ? launch->planned : LIVE_FIRST;
}

static int open_references(struct rsc_run_sample *sample, struct rsc_analysis *analysis,
                           struct rsc_launch_options *launch, const struct rsc_run_facts *facts,
                           struct rsc_error *error) {
    struct rsc_sampler_options *sampler = &sample->wanted.sampler;
    int status = refuse("--engine sampled", analysis, facts, error);
    if (status < 0) return status;
    if (sample->wanted.line_rate > 0)
        return rsc_fail(error, RSC_EINVAL, "--engine sampled:lines=...: for a program, --sample lines:RATE");
    if (launch->follow) return rsc_fail(error, RSC_EINVAL, "--engine sampled and --follow: samples are of one process");
    if (launch->skip || launch->length || launch->roi)
        return rsc_fail(error, RSC_EINVAL, "--engine sampled: of the whole program, without --roi, --skip and --for");
    if (analysis->engine.cores)
        return rsc_fail(error, RSC_EINVAL,
                        "--engine sampled: in a program every thread has a stack of its own (no --cores)");
    if (!sample->wanted.ordering_given) sampler->order = RSC_ORDER_PARALLEL;
    if (sampler->samples_most > LIVE_ACTIVE) sampler->samples_most = LIVE_ACTIVE;
    plan(sample, analysis, launch);
    struct rsc_engine_options options = engine_options(analysis);
    int is_private = options.model && !strcmp(options.model, "private");
    sampler->seed = options.seed;
    sampler->models = analysis->both ? RSC_MODEL_PRIVATE | RSC_MODEL_SHARED
                      : is_private   ? RSC_MODEL_PRIVATE
                                     : RSC_MODEL_SHARED;
    analysis->count = analysis->both ? RSC_MODELS_MAX : 1;
    for (size_t i = 0; i < analysis->count; i++) {
        uint32_t model = analysis->both ? (i ? RSC_MODEL_SHARED : RSC_MODEL_PRIVATE) : sampler->models;
        status = rsc_live_samples_new(&sample->live[i], &options, sampler, model, error);
        if (status < 0) return status;
    }
    launch->sampled = sample->wanted.locks ? 2 : 1;
    launch->sampler = *sampler;
    launch->keep_shift = (uint32_t)__builtin_ctz(options.line_bytes);
    return 0;
}

int rsc_run_sample_open(struct rsc_run_sample *sample, struct rsc_analysis *analysis, struct rsc_launch_options *launch,
                        const struct rsc_run_facts *facts, struct rsc_error *error) {
    int status = settle_period(sample, analysis, error);
    if (status < 0) return status;
    choose(sample, analysis, facts);
    if (sample->rate) return open_lines(sample, analysis, launch, facts, error);
    const struct rsc_sampled_options *wanted = rsc_engine_spec_of(&analysis->spec, &rsc_engine_sampled);
    if (!wanted || !facts->rebuilt || facts->only_record || facts->trace_path) return 0;
    sample->wanted = *wanted;
    return open_references(sample, analysis, launch, facts, error);
}

/* ---- while it runs ---- */

int rsc_run_sample_push(struct rsc_run_sample *sample, const struct rsc_analysis *analysis,
                        const struct rsc_drain *drain, const struct rsc_batch *batch, struct rsc_error *error) {
    size_t count;
    const struct rsc_sample_record *samples = rsc_drain_samples(drain, &count);
    int status = 0;
    for (size_t i = 0; !status && i < analysis->count; i++) {
        if (sample->subsets[i])
            status = rsc_line_subset_push(sample->subsets[i], batch, rsc_drain_skipped(drain), error);
        else status = rsc_live_samples_push(sample->live[i], batch, samples, count, error);
    }
    return status;
}

/* ---- afterwards ---- */

static uint64_t thread_references(const void *drain, uint32_t number) {
    return rsc_drain_thread_references(drain, number);
}

int rsc_run_sample_finish(struct rsc_run_sample *sample, struct rsc_analysis *analysis, const struct rsc_drain *drain,
                          struct rsc_error *error) {
    struct rsc_drain_stats stats;
    int status = 0;
    rsc_drain_get_stats(drain, &stats);
    struct rsc_subset_whole lines = {stats.accesses, stats.references, thread_references, drain};
    struct rsc_live_whole live = {stats.references,   stats.analysed,    stats.begun,
                                  stats.begun_weight, thread_references, drain};
    for (size_t i = 0; !status && rsc_run_sample_taken(sample) && i < analysis->count; i++) {
        if (sample->subsets[i])
            status = rsc_line_subset_finish(sample->subsets[i], &lines, &analysis->profiles[i], error);
        else status = rsc_live_samples_finish(sample->live[i], &live, &analysis->profiles[i], error);
    }
    return status;
}

void rsc_run_sample_say(const struct rsc_run_sample *sample, const struct rsc_analysis *analysis,
                        const struct rsc_drain *drain) {
    const struct rsc_profile *profile = analysis->profiles[0];
    struct rsc_drain_stats stats;
    if (!rsc_run_sample_taken(sample) || !profile) return;
    rsc_drain_get_stats(drain, &stats);
    if (sample->live[0]) {
        fprintf(
            stderr,
            "reusescope: a sample: %llu references, 1 in %.0f on average; %.2f %% of all were analysed; %.2f %% of the samples pruned (--sample none: every reference, slower)\n",
            (unsigned long long)stats.begun, stats.begun ? (double)stats.references / (double)stats.begun : 0,
            stats.references ? 100 * (double)stats.analysed / (double)stats.references : 0,
            profile->references ? 100 * (double)profile->pruned / (double)profile->references : 0);
        return;
    }
    double kept = (double)profile->distinct * sample->choice.rate;
    fprintf(
        stderr,
        "reusescope: a sample: %s of all cache lines, chosen by hash, %.0f lines (--sample none: every reference, slower)\n",
        sample->rate, kept);
    if (kept < KEPT_FEW)
        fprintf(
            stderr,
            "reusescope: warning: %.0f lines are few: the error bars say how little is known; --sample none is exact\n",
            kept);
}

void rsc_run_sample_free(struct rsc_run_sample *sample) {
    for (size_t i = 0; i < RSC_MODELS_MAX; i++) {
        rsc_line_subset_free(sample->subsets[i]);
        rsc_live_samples_free(sample->live[i]);
    }
}
