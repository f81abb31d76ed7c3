/* engine_live.c - see engine_live.h. */
#include "engine/engine_live.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/add_counts.h"
#include "base/fail.h"
#include "featherlight/simulated_pmu.h"
#include "multicore/multicore_engines.h"
#include "multicore/program_samples.h"
#include "profile/profile_model.h"

/* Totals known only at the end come with the last batch. */
static const struct rsc_whole_run nothing_known;

enum rsc_taken rsc_live_taken(const struct rsc_engine_spec *spec) {
    if (spec->kind == &rsc_engine_sampled) return RSC_TAKES_SAMPLES;
    return spec->kind->can & RSC_WATCHES_WORDS ? RSC_TAKES_PAIRS : RSC_TAKES_ACCESSES;
}

/* ---- a sample of lines ---- */

struct lines {
    struct rsc_sampled_exact *subset;
    const struct rsc_whole_run *whole;
    double rate;
};

static uint64_t thread_references(const void *context, uint32_t number) {
    const struct rsc_whole_run *whole = context;
    return number < whole->thread_count ? whole->thread_references[number] : 0;
}

static int push_lines(void *state, const struct rsc_batch *batch, const struct rsc_batch_columns *columns,
                      struct rsc_error *error) {
    struct lines *lines = state;
    if (columns->whole) lines->whole = columns->whole;
    return rsc_sampled_exact_push(lines->subset, batch, columns->skipped, error);
}

/* With fewer lines kept, the bars of any number reach from nothing to everything. */
#define KEPT_LEAST 32.0

static int finish_lines(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct lines *lines = state;
    struct rsc_sampled_whole whole = {lines->whole->accesses, lines->whole->references, thread_references, lines->whole,
                                      0};
    int status = rsc_sampled_exact_finish(lines->subset, &whole, out, error);
    double kept = status < 0 ? 0 : (double)(*out)->distinct * lines->rate;
    if (status < 0 || lines->rate >= 0.5 || kept >= KEPT_LEAST || !whole.references) return status;
    rsc_profile_free(*out);
    *out = NULL;
    return rsc_fail(error, RSC_EUNSUPPORTED,
                    "--sample lines: only %.0f of the program's lines were in the sample, too few to say anything: "
                    "without --sample its references are sampled; --sample none is exact",
                    kept);
}

static void destroy_lines(void *state) {
    struct lines *lines = state;
    rsc_sampled_exact_free(lines->subset);
    free(lines);
}

static const struct rsc_engine_kind kind_lines = {
    .name = "lines", .push_columns = push_lines, .finish = finish_lines, .destroy = destroy_lines};

int rsc_live_lines_new(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                       const struct rsc_engine_options *options, const char *rate, struct rsc_wanted *wanted,
                       struct rsc_error *error) {
    *out = NULL;
    if (!rsc_engine_spec_is_exact(spec))
        return rsc_fail(error, RSC_EINVAL, "--sample lines and --engine %.40s: the sample is analysed exactly",
                        options->engine);
    struct lines *lines = calloc(1, sizeof *lines);
    if (!lines) return rsc_fail_memory(error, "sample");
    lines->whole = &nothing_known;
    wanted->what = RSC_TAKES_LINES;
    wanted->line_bytes = options->line_bytes;
    wanted->rate_text = rate;
    if (rsc_line_choice_parse(&wanted->lines, rate, options->seed) < 0) {
        free(lines);
        return rsc_fail(error, RSC_EINVAL, "'%.40s' is not a rate of lines above 0 and below 1, such as 1/64", rate);
    }
    lines->rate = wanted->lines.rate;
    int status = rsc_sampled_exact_new(&lines->subset, options, &wanted->lines, rate, error);
    if (status < 0) {
        free(lines);
        return status;
    }
    return rsc_engine_around(out, &kind_lines, lines, options, error);
}

/* ---- samples of references ---- */

/*
 * While samples are active every thread is analysed, so a program should have few
 * samples, however long it runs: the period starts here, and doubles as planned. A short run
 * is sampled densely, which takes little time.
 */
#define LIVE_PERIOD 32.0
#define LIVE_ACTIVE 8192u
/*
 * While any sample waits, all references are analysed, so more samples at the same time cost next to nothing, and
 * improve the result. From 2 million references on they come in bursts of 128, each in one part of up to 128 of its
 * stretch, 64 bursts for each doubling of the period. While some sample waits all the time anyway, there are as many
 * samples in bursts of 16: programs that are analysed whole have histograms of 97.0 % accuracy with these, of 96.1 %
 * with bursts of 128, and of 97.2 % with single ones, which cost more (docs/measured/multicore.md). From a period of
 * 4096 on (33 million), one burst in 6 is waited for: what a run costs is the number of those times their wait. 20,000 samples spread evenly give histograms of 95 %
 * accuracy (10 bins per octave) even if distances are spread over all bins; runs of more than a million references have
 * as many.
 */
#define LIVE_BURSTS 64u
#define LIVE_BURST 128u
#define LIVE_BURST_PARTS 128u
#define LIVE_BURST_SHORT 16u
#define LIVE_BURST_ROUNDS 6u
#define LIVE_BURST_FROM 256.0
#define LIVE_DROP_FROM 4096.0

/* How often to sample: as given, or as the error bound needs. */
static void plan(struct rsc_sampled_options *asked, const struct rsc_engine_options *options,
                 struct rsc_wanted *wanted) {
    asked->bound.error = options->error;
    asked->bound.confidence = options->confidence > 0 ? options->confidence : 90;
    asked->sampler.period = asked->period > 0 ? asked->period : LIVE_PERIOD;
    if (asked->period > 0) return; /* spread as asked for */
    if (options->error > 0) {
        wanted->samples.doubles_at = rsc_plan_samples(&asked->bound);
        return;
    }
    asked->sampler.burst = LIVE_BURST;
    asked->sampler.burst_parts = LIVE_BURST_PARTS;
    asked->sampler.burst_rounds = LIVE_BURST_ROUNDS;
    asked->sampler.burst_short = LIVE_BURST_SHORT;
    asked->sampler.burst_from = LIVE_BURST_FROM;
    asked->sampler.drop_from = LIVE_DROP_FROM;
    wanted->samples.doubles_at = LIVE_BURSTS * LIVE_BURST;
}

int rsc_live_samples_new(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                         const struct rsc_engine_options *options, int both, struct rsc_wanted *wanted,
                         struct rsc_error *error) {
    struct rsc_sampled_options asked = *(const struct rsc_sampled_options *)spec->parameters;
    uint32_t model = options->model && !strcmp(options->model, "private") ? RSC_MODEL_PRIVATE : RSC_MODEL_SHARED;
    *out = NULL;
    assert(spec->kind == &rsc_engine_sampled);
    if (asked.line_rate > 0)
        return rsc_fail(error, RSC_EINVAL, "--engine sampled:lines=...: for a program, --sample lines:RATE");
    if (options->cores)
        return rsc_fail(error, RSC_EINVAL,
                        "--engine sampled: in a program every thread has its own stack (no --cores)");
    if (!asked.ordering_given) asked.sampler.order = RSC_ORDER_PARALLEL;
    if (asked.sampler.samples_most > LIVE_ACTIVE) asked.sampler.samples_most = LIVE_ACTIVE;
    plan(&asked, options, wanted);
    asked.sampler.seed = options->seed;
    /* the footprint of private stacks is that of all threads */
    asked.sampler.models = both || model == RSC_MODEL_PRIVATE ? RSC_MODEL_PRIVATE | RSC_MODEL_SHARED : model;
    asked.sampler.only_footprint = !both && model == RSC_MODEL_PRIVATE;
    wanted->what = RSC_TAKES_SAMPLES;
    wanted->line_bytes = options->line_bytes;
    wanted->samples.sampler = asked.sampler;
    void *samples;
    int status = rsc_program_samples_create(&samples, options, &asked.sampler, model, error);
    if (status < 0) return status;
    struct rsc_engine_options named = *options;
    named.model = model == RSC_MODEL_PRIVATE ? "private" : "shared";
    return rsc_engine_around(out, &rsc_program_samples, samples, &named, error);
}

/* ---- watched pairs ---- */

#define USUAL_RATE 300u /* samples per second of each thread's processor time, unless given */

struct pairs {
    struct rsc_featherlight *feather;
    const struct rsc_whole_run *whole;
};

static int push_pairs(void *state, const struct rsc_batch *batch, const struct rsc_batch_columns *columns,
                      struct rsc_error *error) {
    struct pairs *pairs = state;
    (void)batch;
    if (columns->whole) pairs->whole = columns->whole;
    return rsc_featherlight_take(pairs->feather, columns->watched, columns->watched_count, error);
}

static int finish_pairs(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct pairs *pairs = state;
    const struct rsc_whole_run *whole = pairs->whole;
    struct rsc_featherlight_totals totals;
    if (rsc_featherlight_set_sampling(pairs->feather, whole->sampling) < 0) return rsc_fail_memory(error, "profile");
    rsc_featherlight_totals(pairs->feather, &totals);
    int status = rsc_featherlight_finish(pairs->feather, out, error);
    if (status < 0) return status;
    (*out)->made.watching = (struct rsc_watch_costs){.is_known = 1,
                                                     .handler_seconds = whole->handler_seconds,
                                                     .samples = totals.samples,
                                                     .traps = whole->traps,
                                                     .dropped = rsc_add_counts(whole->dropped, totals.dropped),
                                                     .censored = totals.replaced};
    if (!whole->fill || whole->fill(whole->context, *out) == 0) return 0;
    rsc_profile_free(*out);
    *out = NULL;
    return rsc_fail_memory(error, "call paths");
}

static void destroy_pairs(void *state) {
    struct pairs *pairs = state;
    rsc_featherlight_free(pairs->feather);
    free(pairs);
}

static const struct rsc_engine_kind kind_pairs = {.name = "featherlight",
                                                  .can = RSC_WATCHES_WORDS,
                                                  .push_columns = push_pairs,
                                                  .finish = finish_pairs,
                                                  .destroy = destroy_pairs};

/* featherlight, or no engine named: parameters that need a simulated PMU are refused. */
static int settle_pmu(const struct rsc_engine_spec *spec, const struct rsc_engine_options *options,
                      struct rsc_pmu_options *pmu, struct rsc_error *error) {
    const struct rsc_pmu_options *asked = rsc_engine_spec_of(spec, &rsc_engine_featherlight);
    if (!asked && spec->kind != &rsc_engine_auto)
        return rsc_fail(error, RSC_EINVAL,
                        "--with perf samples: --engine %.40s needs every access (--with asm or qemu)", options->engine);
    if (asked) *pmu = *asked;
    else rsc_pmu_parse(pmu, NULL, NULL);
    if (pmu->skid || pmu->shadow || pmu->fixed || pmu->replacement != RSC_REPLACE_RESERVOIR)
        return rsc_fail(
            error, RSC_EINVAL,
            "--engine featherlight: skid, shadow, spacing and replacement are for traces: here the machine is real");
    return 0;
}

/* Options that need every access. */
static int refuse_for_pairs(const struct rsc_engine_options *options, struct rsc_error *error) {
    const struct {
        int given;
        const char *name;
    } whole[] = {
        {options->phases != 0, "--phases"},
        {options->max_distance != 0, "--max-distance"},
        {options->bins_per_octave != 0, "--bins"},
        {options->top_lines != 0, "--top-lines"},
        {options->no_ri != 0, "--no-ri"},
        {options->error > 0, "--error"},
        {options->model && strcmp(options->model, "shared") != 0, "--model"},
    };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (whole[i].given)
            return rsc_fail(error, RSC_EINVAL, "%s needs every access: --with asm, valgrind or qemu, not perf",
                            whole[i].name);
    if (options->line_bytes && options->line_bytes != RSC_FEATHERLIGHT_WORD &&
        options->line_bytes != RSC_FEATHERLIGHT_LINE)
        return rsc_fail(
            error, RSC_EINVAL,
            "--line: debug registers watch words of 8 bytes: --with perf can do --line 8, or 64 as a model");
    return 0;
}

int rsc_live_pairs_new(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                       const struct rsc_engine_options *options, uint64_t rate, struct rsc_wanted *wanted,
                       struct rsc_error *error) {
    struct rsc_pmu_options pmu;
    char by[100];
    *out = NULL;
    int status = refuse_for_pairs(options, error);
    if (!status) status = settle_pmu(spec, options, &pmu, error);
    if (status < 0) return status;
    if (pmu.period && rate) return rsc_fail(error, RSC_EINVAL, "--rate and period= exclude each other");
    pmu.estimate.line_bytes = options->line_bytes ? options->line_bytes : RSC_FEATHERLIGHT_WORD;
    if (pmu.estimate.line_bytes == RSC_FEATHERLIGHT_LINE && pmu.registers < RSC_REGISTERS_A_LINE)
        return rsc_fail(error, RSC_EINVAL, "--line 64: needs registers=4: two or four of them watch a part of a line");
    wanted->what = RSC_TAKES_PAIRS;
    wanted->pairs.period = pmu.period;
    wanted->pairs.rate = rate ? rate : USUAL_RATE;
    wanted->pairs.registers = pmu.registers;
    wanted->pairs.whole_lines = pmu.estimate.line_bytes == RSC_FEATHERLIGHT_LINE;
    wanted->pairs.call_paths = options->attribute != 2;
    rsc_pmu_name(&pmu, by, sizeof by);
    pmu.estimate.by = by;
    pmu.estimate.seed = options->seed;
    pmu.estimate.confidence = options->confidence;
    struct pairs *pairs = calloc(1, sizeof *pairs);
    if (!pairs) return rsc_fail_memory(error, "watched pairs");
    pairs->whole = &nothing_known;
    status = rsc_featherlight_new(&pairs->feather, &pmu.estimate, error);
    if (status < 0) {
        free(pairs);
        return status;
    }
    struct rsc_engine_options own = *options;
    own.line_bytes = pmu.estimate.line_bytes;
    own.workers = 1;
    return rsc_engine_around(out, &kind_pairs, pairs, &own, error);
}
