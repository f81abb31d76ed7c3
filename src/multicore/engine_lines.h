/* engine_lines.h - private stacks over a sample of lines, for engine_sampled.c. */
#ifndef RSC_MULTICORE_ENGINE_LINES_H
#define RSC_MULTICORE_ENGINE_LINES_H

#include "distance/engine_kind.h"

/* Made by rsc_lines_create(), not by .create. rate above 0 and up to 1. */
extern const struct rsc_engine_kind rsc_private_lines;
int rsc_lines_create(void **state, const struct rsc_engine_options *options, double rate, struct rsc_error *error);

#endif
