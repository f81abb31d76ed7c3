/* sampled_references.h - a sample of a trace's references, for engine_sampled.c. */
#ifndef RSC_MULTICORE_SAMPLED_REFERENCES_H
#define RSC_MULTICORE_SAMPLED_REFERENCES_H

#include "distance/engine_kind.h"
#include "multicore/sampled_options.h"

/* Made by rsc_sampled_references_create(), not by .create. */
extern const struct rsc_engine_kind rsc_sampled_references;
int rsc_sampled_references_create(void **state, const struct rsc_engine_options *options,
                                  const struct rsc_sampled_options *wanted, struct rsc_error *error);

#endif
