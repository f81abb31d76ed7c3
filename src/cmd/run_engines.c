/* run_engines.c - see run_engines.h. */
#include "cmd/run_engines.h"

#include "base/fail.h"
#include "cmd/memory.h"
#include "distance/shards/engine_shards.h"
#include "multicore/multicore_engines.h"

/* --sample 1/N sets the period of --engine sampled, and implies it. */
static int settle_period(const struct rsc_run_asked *asked, struct rsc_analysis *analysis, struct rsc_error *error) {
    if (!asked->period) return 0;
    if (!analysis->engine.engine) rsc_engine_spec_parse(&analysis->spec, rsc_engine_sampled.name, NULL);
    struct rsc_sampled_options *wanted = rsc_engine_spec_of(&analysis->spec, &rsc_engine_sampled);
    if (!wanted || analysis->requests) return rsc_fail(error, RSC_EINVAL, "--sample 1/N needs --engine sampled");
    wanted->period = (double)asked->period;
    return 0;
}

/* Whether an option needs every reference, or is for another engine. */
static int needs_all(const struct rsc_run_asked *asked, const struct rsc_analysis *analysis) {
    const struct rsc_collect_request *request = &asked->request;
    const struct rsc_engine_options *engine = &analysis->engine;
    if (asked->sample_given || asked->trace_path || asked->only_record || analysis->requests) return 1;
    if (rsc_collect_limited(request)) return 1;
    return engine->engine || engine->error > 0 || engine->top_lines || engine->phases || engine->cores ||
           analysis->line_count != 1 || analysis->max_memory;
}

int rsc_run_choose_sample(struct rsc_analysis *analysis, const struct rsc_run_asked *asked,
                          const struct rsc_collector_kind *kind, struct rsc_error *error) {
    int status = settle_period(asked, analysis, error);
    if (status < 0) return status;
    if (kind->samples_by_default && !needs_all(asked, analysis))
        rsc_engine_spec_parse(&analysis->spec, rsc_engine_sampled.name, NULL);
    if (asked->request.seed_given && kind->samples_by_default && !asked->lines &&
        rsc_engine_spec_is_exact(&analysis->spec))
        return rsc_fail(error, RSC_EINVAL,
                        "--seed: nothing is random in an exact analysis of a rebuilt program (an emulator seeds the "
                        "program's random bytes)");
    return 0;
}

/* Rejects options that need every access. */
static int refuse(const char *what, const struct rsc_analysis *analysis, const struct rsc_run_asked *asked,
                  struct rsc_error *error) {
    if (asked->trace_path)
        return rsc_fail(error, RSC_EINVAL, "%s and --trace: a trace needs every access (--sample none)", what);
    if (asked->request.roi_function)
        return rsc_fail(error, RSC_EINVAL, "%s and --roi FUNCTION: a region needs every access (--sample none)", what);
    if (analysis->line_count != 1) return rsc_fail(error, RSC_EINVAL, "%s takes only one line size", what);
    if (analysis->requests) return rsc_fail(error, RSC_EINVAL, "%s: not of requests", what);
    return 0;
}

/* The options of the engine for one of the models. */
static struct rsc_engine_options options_of(struct rsc_analysis *analysis, size_t model) {
    struct rsc_engine_options options = analysis->engine;
    options.struct_bytes = sizeof options;
    options.line_bytes = analysis->line_bytes[0];
    options.log = &analysis->session->log;
    if (analysis->both) options.model = model ? "shared" : "private";
    return options;
}

static int open_lines(struct rsc_analysis *analysis, struct rsc_run_asked *asked, const struct rsc_collector_kind *kind,
                      struct rsc_error *error) {
    if (!rsc_collector_gives(kind, RSC_TAKES_LINES))
        return rsc_fail(
            error, RSC_EINVAL,
            "--sample lines needs a program built with reusescope cc, or Valgrind; for others, use --engine shards:%.20s",
            asked->lines);
    int status = refuse("--sample lines", analysis, asked, error);
    for (size_t i = 0; !status && i < analysis->count; i++) {
        struct rsc_engine_options options = options_of(analysis, i);
        status = rsc_live_lines_new(&analysis->engines[i], &analysis->spec, &options, asked->lines,
                                    &asked->request.wanted, error);
    }
    return status;
}

static int open_samples(struct rsc_analysis *analysis, struct rsc_run_asked *asked, struct rsc_error *error) {
    const struct rsc_collect_request *request = &asked->request;
    int status = refuse("--engine sampled", analysis, asked, error);
    if (status < 0) return status;
    if (request->follow)
        return rsc_fail(error, RSC_EINVAL,
                        "--engine sampled samples only one process and cannot be used with --follow");
    if (request->skip || request->length || request->roi_marked)
        return rsc_fail(error, RSC_EINVAL,
                        "--engine sampled samples the whole program and cannot be used with --roi, --skip or --for");
    for (size_t i = 0; !status && i < analysis->count; i++) {
        struct rsc_engine_options options = options_of(analysis, i);
        status = rsc_live_samples_new(&analysis->engines[i], &analysis->spec, &options, analysis->both,
                                      &asked->request.wanted, error);
    }
    return status;
}

static int open_pairs(struct rsc_analysis *analysis, struct rsc_run_asked *asked, struct rsc_error *error) {
    struct rsc_engine_options options = options_of(analysis, 0);
    if (analysis->max_memory || analysis->both)
        return rsc_fail(error, RSC_EINVAL, "%s needs every access: --with asm, valgrind or qemu, not perf",
                        analysis->both ? "--model" : "--max-memory");
    if (!analysis->lines_given) options.line_bytes = 0;
    if (analysis->line_count != 1) options.line_bytes = 1; /* none that it has */
    return rsc_live_pairs_new(&analysis->engines[0], &analysis->spec, &options, asked->rate, &asked->request.wanted,
                              error);
}

/* Lines of a shards engine can be chosen where accesses are recorded. */
static void choose_lines_early(const struct rsc_analysis *analysis, struct rsc_run_asked *asked,
                               const struct rsc_collector_kind *kind) {
    const struct rsc_shards_parameters *shards = rsc_engine_spec_of(&analysis->spec, &rsc_engine_shards);
    if (!shards || !kind->knows_order || !rsc_collector_gives(kind, RSC_TAKES_LINES)) return;
    if (asked->trace_path || asked->only_record || analysis->requests || analysis->line_count != 1 ||
        rsc_collect_limited(&asked->request))
        return;
    asked->request.wanted = (struct rsc_wanted){.what = RSC_TAKES_LINES, .line_bytes = analysis->line_bytes[0]};
    rsc_line_choose(&asked->request.wanted.lines, shards->rate, analysis->engine.seed);
    asked->request.contexts = 0;
}

int rsc_run_engines_open(struct rsc_analysis *analysis, struct rsc_run_asked *asked,
                         const struct rsc_collector_kind *kind, struct rsc_error *error) {
    enum rsc_taken implied = rsc_live_taken(&analysis->spec);
    int samples = implied == RSC_TAKES_SAMPLES && rsc_collector_gives(kind, RSC_TAKES_SAMPLES) && !asked->only_record &&
                  !asked->trace_path;
    if (rsc_collector_gives(kind, RSC_TAKES_ACCESSES) && !asked->lines && !samples) {
        choose_lines_early(analysis, asked, kind);
        return rsc_analysis_open(analysis, error);
    }
    analysis->count = analysis->both ? RSC_MODELS_MAX : 1;
    rsc_memory_start(analysis);
    if (asked->lines) return open_lines(analysis, asked, kind, error);
    if (samples) return open_samples(analysis, asked, error);
    return open_pairs(analysis, asked, error);
}
