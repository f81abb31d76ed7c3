/* ahead.h - decodes in a separate thread, a few batches ahead of the reader. */
#ifndef RSC_TRACE_AHEAD_H
#define RSC_TRACE_AHEAD_H

#include "trace/source.h"

/* A source that yields the batches of `inner`, which it owns and closes. */
int rsc_ahead_open(struct rsc_source **out, struct rsc_source *inner, struct rsc_error *error);

/* What a source knows now, over the defaults. */
void rsc_info_of(struct rsc_source *source, struct rsc_trace_info *info);

/* Replaces *info, but for its format and its file, by what was known before decoding began in other threads. */
void rsc_info_from_before(struct rsc_trace_info *info, const struct rsc_trace_info *before);

#endif
