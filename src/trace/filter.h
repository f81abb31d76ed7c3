/* filter.h - keeps some accesses of a trace: a source over another source. */
#ifndef RSC_TRACE_FILTER_H
#define RSC_TRACE_FILTER_H

#include "trace/source.h"

/* Whether the filter keeps everything. */
int rsc_filter_is_all(const struct rsc_filter *filter);

/* Writes the filter as text ("kinds=RW every=16"), for headers and messages. Returns its length. */
size_t rsc_filter_text(const struct rsc_filter *filter, char *text, size_t room);

/*
 * Whether `now` (NULL: no filter) or `then`, the filter in a trace's header, leaves out references of code whose
 * instructions are counted.
 */
int rsc_filter_thins(const struct rsc_filter *now, const char *then);

/* Columns that the kept accesses of a batch go to; they may be those of the batch. */
struct rsc_filter_room {
    uint64_t *addr, *meta, *pc;
    struct rsc_event *events;
};

/*
 * Keeps what the filter keeps of accesses low..high-1, the window (which may lie past the batch), in `room`, with the
 * events before them: an event belongs to the access that follows it, even one of the next batch. *passed counts for
 * `every`. The batch's instructions become the window's share.
 */
void rsc_filter_keep(const struct rsc_filter *filter, uint64_t *passed, struct rsc_batch *batch, uint64_t low,
                     uint64_t high, const struct rsc_filter_room *room);

/* Changes the info of an unfiltered source, of which `seen` accesses and `instructions` (or RSC_UNKNOWN) were read. */
void rsc_filter_info(const struct rsc_filter *filter, uint64_t seen, uint64_t instructions,
                     struct rsc_trace_info *info);

/* Copies a filter; the copy's tids are the caller's to free. */
int rsc_filter_copy(struct rsc_filter *to, const struct rsc_filter *from);

/*
 * A source of the accesses of `inner` that `filter` (copied) keeps; it owns and
 * closes `inner`. Instruction counts are those of the unfiltered batches, except
 * that a window counts only its own share. It can seek if `inner` can, in accesses
 * of `inner`; `every` restarts its count there.
 */
int rsc_filter_open(struct rsc_source **out, struct rsc_source *inner, const struct rsc_filter *filter,
                    struct rsc_error *error);

#endif
