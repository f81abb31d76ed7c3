/*
 * engine_live.h - engines of a running program that does a part of the analysis itself, and what they want of whoever
 * collects: the references to a sample of its lines, samples of references that it finishes, or watched pairs.
 */
#ifndef RSC_ENGINE_ENGINE_LIVE_H
#define RSC_ENGINE_ENGINE_LIVE_H

#include <reusescope/engine.h>

#include "distance/shards/sampled_exact.h"
#include "engine/engine_spec.h"
#include "multicore/sampled_options.h"

/* What a collector gives. */
enum rsc_taken {
    RSC_TAKES_ACCESSES, /* every one: any engine, and traces */
    RSC_TAKES_LINES,    /* references to a sample of lines, and how many are skipped */
    RSC_TAKES_SAMPLES,  /* finished samples of references */
    RSC_TAKES_PAIRS,    /* watched pairs */
    RSC_TAKES_KINDS,
};

/* What is wanted of it. All zeros: every access. */
struct rsc_wanted {
    enum rsc_taken what;
    uint32_t line_bytes; /* of lines and samples */
    struct rsc_line_choice lines;
    const char *rate_text; /* of lines, as it was asked for */
    struct {
        struct rsc_sampler_options sampler;
        int locks;            /* locks are synchronisation too */
        uint64_t doubles_at;  /* samples after which the period doubles; 0: never */
        uint64_t first_doubles_at; /* the same of the first period */
    } samples;
    struct {
        uint64_t period, rate; /* accesses of a thread per sample; or samples a second, where that is 0 */
        uint32_t registers;
        int whole_lines; /* parts of lines of 64 bytes, not words */
        int call_paths;  /* of uses and reuses */
    } pairs;
};

/* What an engine takes of a program, where the collector gives it. */
enum rsc_taken rsc_live_taken(const struct rsc_engine_spec *spec);

/*
 * Each makes an engine that takes the columns (trace/batch_columns.h) of one kind, and says in *wanted what they must be.
 * `spec` and `options` as for rsc_engine_open(), of one model.
 */
int rsc_live_lines_new(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                       const struct rsc_engine_options *options, const char *rate, struct rsc_wanted *wanted,
                       struct rsc_error *error);

/* `both`: the program finishes samples of both models, of which this engine takes those of options->model. */
int rsc_live_samples_new(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                         const struct rsc_engine_options *options, int both, struct rsc_wanted *wanted,
                         struct rsc_error *error);

/* `rate`: of --rate; 0: not given. line_bytes: 8, or 64 as a model; 0: 8. */
int rsc_live_pairs_new(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                       const struct rsc_engine_options *options, uint64_t rate, struct rsc_wanted *wanted,
                       struct rsc_error *error);

#endif
