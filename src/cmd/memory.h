/*
 * memory.h - will an analysis fit in memory? Said beforehand where the trace can be
 * looked at first, and while it runs everywhere: never left to the kernel to end it.
 */
#ifndef RSC_CMD_MEMORY_H
#define RSC_CMD_MEMORY_H

#include "cmd/analysis.h"

/* Sets what the analysis may take: --max-memory, or 80 % of what is available. Call before the engines are made. */
void rsc_memory_start(struct rsc_analysis *analysis);

/*
 * Looks at a trace in a file before it is analysed: where as many lines as it has
 * accesses would not fit, its lines are counted first, from a sample. Returns 0, or
 * RSC_ENOMEM with a line that says what is needed and which engine fits.
 */
int rsc_memory_plan(struct rsc_analysis *analysis, const char *path, struct rsc_error *error);

/* While it runs: 0, or RSC_ENOMEM when the next growth might be too much. */
int rsc_memory_check(struct rsc_analysis *analysis, struct rsc_error *error);

#endif
