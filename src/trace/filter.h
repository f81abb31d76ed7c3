/* filter.h - keeping some accesses of a trace: a source over another source. */
#ifndef RSC_TRACE_FILTER_H
#define RSC_TRACE_FILTER_H

#include "trace/source.h"

/* Whether the filter keeps everything. */
int rsc_filter_is_all(const struct rsc_filter *filter);

/* Writes the filter in words ("kinds=RW every=16"), for headers and people. Returns its length. */
size_t rsc_filter_text(const struct rsc_filter *filter, char *text, size_t room);

/*
 * A source of what `filter` (copied) keeps of `inner`, which it takes over and
 * closes. Instruction counts stay those of the unfiltered batches, but for a
 * window, which counts its own part. It seeks where `inner` can, in accesses of
 * `inner`; `every` counts anew from there.
 */
int rsc_filter_open(struct rsc_source **out, struct rsc_source *inner, const struct rsc_filter *filter,
                    struct rsc_error *error);

#endif
