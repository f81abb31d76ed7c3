/*
 * run_sample.h - `run` of a rebuilt program that takes a sample itself: of lines
 * (--sample lines:RATE, distance/shards/line_subset.h) or of references (--engine sampled,
 * multicore/live_samples.h), in place of the analysis' engines.
 */
#ifndef RSC_CMD_RUN_SAMPLE_H
#define RSC_CMD_RUN_SAMPLE_H

#include "cmd/analysis.h"
#include "collect/drain/drain.h"
#include "collect/launch/launch.h"
#include "distance/shards/line_subset.h"
#include "multicore/live_samples.h"
#include "multicore/sampled_options.h"

struct rsc_run_sample {
    int given;        /* --sample was */
    const char *rate; /* of the lines kept, as it was asked for; NULL: none are */
    struct rsc_subset_choice choice;
    struct rsc_line_subset *subsets[RSC_MODELS_MAX];
    uint64_t period; /* of --sample 1/N; 0: it was not given */
    struct rsc_sampled_options wanted;
    struct rsc_live_samples *live[RSC_MODELS_MAX];
};

/* --sample's value: none, lines:RATE or 1/N. Returns -1, or the exit status after a message. */
int rsc_run_sample_option(struct rsc_run_sample *sample, const struct rsc_option_parser *parser);

/* What else was asked for. */
struct rsc_run_facts {
    int rebuilt, by_function, only_record;
    const char *trace_path;
};

/*
 * Call after the options, with the collector chosen. Where a sample is to be taken in
 * the program, says so in `launch` and makes what analyses it: then there are no
 * engines to open (rsc_run_sample_taken()).
 */
int rsc_run_sample_open(struct rsc_run_sample *sample, struct rsc_analysis *analysis, struct rsc_launch_options *launch,
                        const struct rsc_run_facts *facts, struct rsc_error *error);
static inline int rsc_run_sample_taken(const struct rsc_run_sample *sample) {
    return sample->subsets[0] || sample->live[0];
}

int rsc_run_sample_push(struct rsc_run_sample *sample, const struct rsc_analysis *analysis,
                        const struct rsc_drain *drain, const struct rsc_batch *batch, struct rsc_error *error);

/* Fills analysis->profiles. */
int rsc_run_sample_finish(struct rsc_run_sample *sample, struct rsc_analysis *analysis, const struct rsc_drain *drain,
                          struct rsc_error *error);

/* That it was a sample, on standard error. */
void rsc_run_sample_say(const struct rsc_run_sample *sample, const struct rsc_analysis *analysis,
                        const struct rsc_drain *drain);
void rsc_run_sample_free(struct rsc_run_sample *sample);

#endif
