/*
 * engine_live.h - engines for a running program that does part of the analysis itself, and what they need from the
 * collector: the references to a sample of lines, samples of references that the program finishes, or watched pairs.
 */
#ifndef RSC_ENGINE_ENGINE_LIVE_H
#define RSC_ENGINE_ENGINE_LIVE_H

#include <reusescope/engine.h>

#include "distance/shards/sampled_exact.h"
#include "engine/engine_spec.h"
#include "multicore/sampled_options.h"

/* What a collector delivers. */
enum rsc_taken {
    RSC_TAKES_ACCESSES, /* every access: any engine, and traces */
    RSC_TAKES_LINES,    /* references to a sample of lines, and the number skipped */
    RSC_TAKES_SAMPLES,  /* finished samples of references */
    RSC_TAKES_PAIRS,    /* watched pairs */
    RSC_TAKES_KINDS,
};

/* What the engine needs from the collector. All zeros: every access. */
struct rsc_wanted {
    enum rsc_taken what;
    uint32_t line_bytes; /* of lines and samples */
    struct rsc_line_choice lines;
    const char *rate_text; /* of lines, as given */
    struct {
        struct rsc_sampler_options sampler;
        uint64_t doubles_at;  /* samples after which the period doubles; 0: never */
    } samples;
    struct {
        uint64_t period, rate; /* accesses of a thread per sample; 0: samples per second instead */
        uint32_t registers;
        int whole_lines; /* parts of lines of 64 bytes, not words */
        int call_paths;  /* of uses and reuses */
    } pairs;
};

/* Which of these an engine takes from a program, if the collector delivers it. */
enum rsc_taken rsc_live_taken(const struct rsc_engine_spec *spec);

/*
 * Each makes an engine that takes one kind of columns (trace/batch_columns.h), and sets *wanted to what the collector
 * must deliver. `spec` and `options` as for rsc_engine_open(), with one model.
 */
int rsc_live_lines_new(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                       const struct rsc_engine_options *options, const char *rate, struct rsc_wanted *wanted,
                       struct rsc_error *error);

/* `both`: the program finishes samples of both models; this engine takes those of options->model. */
int rsc_live_samples_new(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                         const struct rsc_engine_options *options, int both, struct rsc_wanted *wanted,
                         struct rsc_error *error);

/* `rate`: --rate, 0 if not given. line_bytes: 8, or 64 as a model; 0: 8. */
int rsc_live_pairs_new(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                       const struct rsc_engine_options *options, uint64_t rate, struct rsc_wanted *wanted,
                       struct rsc_error *error);

#endif
