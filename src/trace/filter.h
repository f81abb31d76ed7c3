/* filter.h - keeps some accesses of a trace: a source over another source. */
#ifndef RSC_TRACE_FILTER_H
#define RSC_TRACE_FILTER_H

#include "trace/source.h"

/* Whether the filter keeps everything. */
int rsc_filter_is_all(const struct rsc_filter *filter);

/* Writes the filter as text ("kinds=RW every=16"), for headers and messages. Returns its length. */
size_t rsc_filter_text(const struct rsc_filter *filter, char *text, size_t room);

/*
 * A source of the accesses of `inner` that `filter` (copied) keeps; it owns and
 * closes `inner`. Instruction counts are those of the unfiltered batches, except
 * that a window counts only its own share. It can seek if `inner` can, in accesses
 * of `inner`; `every` restarts its count there.
 */
int rsc_filter_open(struct rsc_source **out, struct rsc_source *inner, const struct rsc_filter *filter,
                    struct rsc_error *error);

#endif
