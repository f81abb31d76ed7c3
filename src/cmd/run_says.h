/* run_says.h - what `run` tells people: how far it has got, and at the end what was seen at which cost. */
#ifndef RSC_CMD_RUN_SAYS_H
#define RSC_CMD_RUN_SAYS_H

#include "cmd/analysis.h"
#include "collect/collector.h"

/* A line of progress, where one is due. native_seconds: processor time without us; 0: not measured. */
void rsc_run_progress(struct rsc_analysis *analysis, const struct rsc_collector *collector, double native_seconds);

/* Slowdown, the collector's description, and whether it was a sample; also into the profiles' `made`. */
void rsc_run_say(struct rsc_analysis *analysis, const struct rsc_collector *collector,
                 const struct rsc_run_facts *facts, const struct rsc_whole_run *whole, double native_seconds);

/* How the program ended is how we end: its status, or 128 + its signal, which is said. */
int rsc_run_exit_status(const struct rsc_collector *collector);

#endif
