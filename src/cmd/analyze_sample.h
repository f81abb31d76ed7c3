/*
 * analyze_sample.h - --sample, --ordering and --error-kind of `analyze`: other ways to
 * write the parameter of --engine sampled, which they imply.
 */
#ifndef RSC_CMD_ANALYZE_SAMPLE_H
#define RSC_CMD_ANALYZE_SAMPLE_H

#include "cmd/analysis.h"

struct rsc_sample_request {
    const char *sample, *ordering, *error_kind; /* as given; NULL: not */
    char engine[400]; /* what analysis->engine.engine then points to */
};

/* Check a value; -1 when it is good, else the exit status after a message. */
int rsc_sample_option(struct rsc_sample_request *request, const struct rsc_option_parser *parser, const char **field);

/* Makes the engine of them; call after all options. Returns 0 or a negative code. */
int rsc_sample_settle(struct rsc_sample_request *request, struct rsc_analysis *analysis, struct rsc_error *error);

#endif
