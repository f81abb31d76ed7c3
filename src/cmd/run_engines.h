/*
 * run_engines.h - chooses the engines of `run` from the options and the collector: those of the analysis, or one that
 * takes samples chosen inside the program (engine/engine_live.h).
 */
#ifndef RSC_CMD_RUN_ENGINES_H
#define RSC_CMD_RUN_ENGINES_H

#include "cmd/run_options.h"

/*
 * Chooses the engine "sampled" where --sample asks for it, or by default: `kind` does that, and no option needs every
 * reference. Call before the models are chosen.
 */
int rsc_run_choose_sample(struct rsc_analysis *analysis, const struct rsc_run_asked *asked,
                          const struct rsc_collector_kind *kind, struct rsc_error *error);

/* Makes the engines and sets asked->request.wanted to what they need. Call after choosing the collector. */
int rsc_run_engines_open(struct rsc_analysis *analysis, struct rsc_run_asked *asked,
                         const struct rsc_collector_kind *kind, struct rsc_error *error);

#endif
