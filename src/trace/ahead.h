/* ahead.h - decoding in a thread of its own, a few batches ahead of who reads. */
#ifndef RSC_TRACE_AHEAD_H
#define RSC_TRACE_AHEAD_H

#include "trace/source.h"

/* A source of what `inner` yields; takes it over and closes it. */
int rsc_ahead_open(struct rsc_source **out, struct rsc_source *inner, struct rsc_error *error);

#endif
