/* run_options.h - the options of `run`. */
#ifndef RSC_CMD_RUN_OPTIONS_H
#define RSC_CMD_RUN_OPTIONS_H

#include "cmd/analysis.h"
#include "collect/collector.h"

extern const struct rsc_option rsc_run_options[];

/* What the options ask for, apart from the analysis. */
struct rsc_run_asked {
    const struct rsc_collector_kind *with; /* NULL: auto */
    struct rsc_collect_request request;
    int model_given;
    int sample_given;
    const char *lines; /* rate of --sample lines:RATE; NULL: not given */
    uint64_t period;   /* N of --sample 1/N; 0: not given */
    uint64_t rate;     /* of --rate; 0: not given */
    const char *trace_path;
    int only_record;
    int native;
    const char *native_binary; /* of --native=BINARY; NULL: the program itself */
};

/*
 * Parses the options and rejects those that contradict each other for any program. They end at "--" or the first
 * operand; the rest is the program's command line. Returns -1, or the exit status after a message.
 */
int rsc_run_take_options(struct rsc_run_asked *asked, struct rsc_analysis *analysis, int argc, char **argv);

/* Watches what the options ask for, as both `run` and `attach` do. Returns the exit status. */
typedef int rsc_run_taker(struct rsc_run_asked *asked, struct rsc_analysis *analysis, int argc, char **argv);
int rsc_run_verb(const struct rsc_verb *verb, int argc, char **argv, rsc_run_taker *take);

#endif
