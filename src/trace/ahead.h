/* ahead.h - decodes in a separate thread, a few batches ahead of the reader. */
#ifndef RSC_TRACE_AHEAD_H
#define RSC_TRACE_AHEAD_H

#include "trace/source.h"

/* A source that yields the batches of `inner`, which it owns and closes. */
int rsc_ahead_open(struct rsc_source **out, struct rsc_source *inner, struct rsc_error *error);

#endif
