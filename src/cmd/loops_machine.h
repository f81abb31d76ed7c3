/*
 * loops_machine.h - `loops --machine`: what the set-associative caches of a named machine make of a loop.
 *
 * Levels above the last are one per thread, kept coherent, and the last is shared, unless the machine's file says how
 * many threads share a cache. Regions of up to REPLAYED_MOST references are simulated in a drawn order of their
 * threads; larger ones are estimated from the curves (loops/model/set_associative.h).
 */
#ifndef RSC_CMD_LOOPS_MACHINE_H
#define RSC_CMD_LOOPS_MACHINE_H

#include "loops/model/loops_model.h"
#include "simulate/cache/cache_config.h"

/* Reads the data caches of a machine, which must have the same block size: *line_bytes. */
int rsc_loops_machine_read(struct rsc_sim_config *config, const char *name, uint64_t *line_bytes,
                           struct rsc_error *error);

/* Fills result->level. */
int rsc_loops_machine_answer(const struct rsc_sim_config *config, struct rsc_loops_analysis *analysis,
                             const struct rsc_interleave *interleave, const struct rsc_loops_options *options,
                             struct rsc_loops_result *result, struct rsc_error *error);

#endif
