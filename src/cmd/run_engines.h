/*
 * run_engines.h - the engines of `run`: those of the analysis, or one that takes what the program has chosen itself
 * (engine/engine_live.h), as the options and the collector allow.
 */
#ifndef RSC_CMD_RUN_ENGINES_H
#define RSC_CMD_RUN_ENGINES_H

#include "cmd/analysis.h"
#include "collect/collector.h"

/* --sample, --rate, and what is recorded beside. */
struct rsc_run_asked {
    int sample_given;
    const char *lines; /* rate of --sample lines:RATE; NULL: not that */
    uint64_t period;   /* of --sample 1/N; 0: not that */
    uint64_t rate; /* of --rate; 0: not given */
    const char *trace_path;
    int only_record;
};

/* --sample's value: none, lines:RATE or 1/N. Returns -1, or the exit status after a message. */
int rsc_run_sample_option(struct rsc_run_asked *asked, const struct rsc_option_parser *parser);

/* Makes the engines, and says in request->wanted what they need. Call with the collector chosen. */
int rsc_run_engines_open(struct rsc_analysis *analysis, struct rsc_run_asked *asked,
                         const struct rsc_collector_kind *kind, struct rsc_collect_request *request,
                         struct rsc_error *error);

#endif
