/* run_says.h - messages of `run`: progress, and at the end what was recorded and the slowdown. */
#ifndef RSC_CMD_RUN_SAYS_H
#define RSC_CMD_RUN_SAYS_H

#include "cmd/analysis.h"
#include "collect/collector.h"

/* Prints the progress line if one is due. native_seconds: processor time unwatched; 0: not measured. */
void rsc_run_progress(struct rsc_analysis *analysis, const struct rsc_collector *collector, double native_seconds);

/* Prints the slowdown, the collector's description and the sample, and adds them to the profiles' `made`. */
void rsc_run_say(struct rsc_analysis *analysis, const struct rsc_collector *collector,
                 const struct rsc_run_facts *facts, const struct rsc_whole_run *whole, double native_seconds);

/* Our exit status: the program's, or 128 + its signal, which is printed. */
int rsc_run_exit_status(const struct rsc_collector *collector);

#endif
