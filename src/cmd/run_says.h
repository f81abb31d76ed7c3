/* run_says.h - messages of `run`: progress, and at the end what was recorded and the slowdown. */
#ifndef RSC_CMD_RUN_SAYS_H
#define RSC_CMD_RUN_SAYS_H

#include "cmd/analysis.h"
#include "collect/collector.h"

/* What the slowdown is relative to. */
struct rsc_run_base {
    int measured; /* --native */
    const char *binary; /* of --native=BINARY; NULL: the program itself */
    struct rsc_native_run run;
};

/* Prints the progress line if one is due. */
void rsc_run_progress(struct rsc_analysis *analysis, const struct rsc_collector *collector,
                      const struct rsc_run_base *base);

/* Prints the slowdown, the collector's description and the sample, and adds them to the profiles' `made`. */
void rsc_run_say(struct rsc_analysis *analysis, const struct rsc_collector *collector,
                 const struct rsc_run_facts *facts, const struct rsc_whole_run *whole, const struct rsc_run_base *base);

/* Our exit status: the program's, or 128 + its signal, which is printed. */
int rsc_run_exit_status(const struct rsc_collector *collector);

#endif
