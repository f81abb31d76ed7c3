/*
 * memory.h - checks that an analysis fits in memory: before it starts if the trace is a
 * file, and always while it runs, so that the kernel never has to kill it.
 */
#ifndef RSC_CMD_MEMORY_H
#define RSC_CMD_MEMORY_H

#include "cmd/analysis.h"

/* Sets the memory limit: --max-memory, or 80 % of available memory. Call before the engines are made. */
void rsc_memory_start(struct rsc_analysis *analysis);

/*
 * Checks a trace in a file before it is analysed. If one line per access would not
 * fit, estimates the number of lines from a sample. Returns 0, or RSC_ENOMEM with a
 * message that gives the memory needed and an engine that fits.
 */
int rsc_memory_plan(struct rsc_analysis *analysis, const char *path, struct rsc_error *error);

/* While it runs: returns 0, or RSC_ENOMEM if the next growth might exceed the limit. */
int rsc_memory_check(struct rsc_analysis *analysis, struct rsc_error *error);

/* The same before every batch; only some of them are checked. */
int rsc_memory_check_batch(struct rsc_analysis *analysis, struct rsc_error *error);

#endif
