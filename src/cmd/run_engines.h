/*
 * run_engines.h - chooses the engines of `run` from the options and the collector: those of the analysis, or one that
 * takes samples chosen inside the program (engine/engine_live.h).
 */
#ifndef RSC_CMD_RUN_ENGINES_H
#define RSC_CMD_RUN_ENGINES_H

#include "cmd/analysis.h"
#include "collect/collector.h"

/* --sample, --rate, and what is recorded. */
struct rsc_run_asked {
    int sample_given;
    const char *lines; /* rate of --sample lines:RATE; NULL: not given */
    uint64_t period;   /* N of --sample 1/N; 0: not given */
    uint64_t rate; /* of --rate; 0: not given */
    const char *trace_path;
    int only_record;
};

/* Parses --sample: none, lines:RATE or 1/N. Returns -1, or the exit status after a message. */
int rsc_run_sample_option(struct rsc_run_asked *asked, const struct rsc_option_parser *parser);

/*
 * Chooses the engine "sampled" where --sample asks for it, or by default: `kind` does that, and no option needs every
 * reference. Call before the models are chosen.
 */
int rsc_run_choose_sample(struct rsc_analysis *analysis, const struct rsc_run_asked *asked,
                          const struct rsc_collector_kind *kind, const struct rsc_collect_request *request,
                          struct rsc_error *error);

/* Makes the engines and sets request->wanted to what they need. Call after choosing the collector. */
int rsc_run_engines_open(struct rsc_analysis *analysis, struct rsc_run_asked *asked,
                         const struct rsc_collector_kind *kind, struct rsc_collect_request *request,
                         struct rsc_error *error);

#endif
