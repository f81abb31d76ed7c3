/*
 * line_filter.h - finds the references to lines of the sample, directly from a
 * batch's columns.
 *
 * References to lines that are not chosen (line_choice.h) are only counted: they are
 * never written anywhere.
 *
 * The kernel (line_filter_kernel.c) processes 64 accesses at a time and is compiled
 * per width; all give the same results. An access is cut into lines as in
 * trace/references.h.
 */
#ifndef RSC_DISTANCE_SHARDS_LINE_FILTER_H
#define RSC_DISTANCE_SHARDS_LINE_FILTER_H

#include <stdint.h>

#include "base/cpu.h"
#include "distance/shards/line_choice.h"
#include "trace/references.h"

#define RSC_FILTER_BLOCK 64u

/* References kept, in order; arrays of `room`. */
struct rsc_kept {
    uint64_t *line, *hash;
    uint64_t *time; /* number of the reference in the whole stream, from 0 */
    uint32_t *from; /* access of the batch it comes from */
    uint32_t count, room;
};

struct rsc_line_filter {
    uint64_t limit;      /* greatest hash kept */
    uint64_t offset;     /* from the seed */
    uint64_t references; /* seen so far */
    uint32_t line_shift; /* log2 of the line size */
    uint32_t inside;     /* the access in which the last run stopped is partly done */
    uint64_t next_line;  /* and continues here */
    uint64_t
        wide_references; /* of accesses of a MiB and more (trace/references.h); past the limit these are left out */
    uint64_t meta_any, meta_all; /* all meta seen since the caller set these to 0 and ~0, ored and anded */
    uint32_t (*run)(struct rsc_line_filter *, const uint64_t *, const uint64_t *, uint32_t, uint32_t,
                    struct rsc_kept *);
};

void rsc_line_filter_init(struct rsc_line_filter *filter, enum rsc_simd simd, uint32_t line_shift, uint64_t seed,
                          uint64_t limit);

/*
 * Filters accesses `first` to `count` - 1 of the columns and appends the kept
 * references. Returns the access to continue with: `count`, or less if `kept` has no
 * room for another block.
 */
static inline uint32_t rsc_line_filter_run(struct rsc_line_filter *filter, const uint64_t *addr, const uint64_t *meta,
                                           uint32_t first, uint32_t count, struct rsc_kept *kept) {
    return filter->run(filter, addr, meta, first, count, kept);
}

/* Whether an access was left out: then the analysis must be refused, by rsc_references_refuse(). */
static inline int rsc_line_filter_left_out(const struct rsc_line_filter *filter) {
    return filter->wide_references > RSC_WIDE_REFERENCES_MOST;
}

/* Room that `kept` needs for a run to make progress. */
#define RSC_KEPT_ROOM_LEAST (2 * RSC_FILTER_BLOCK)

/* One access line by line: the slow path. Returns 1 when done, 0 when kept is full (call again). */
int rsc_line_filter_access(struct rsc_line_filter *filter, uint64_t addr, uint64_t meta, uint32_t from,
                           struct rsc_kept *kept);

typedef uint32_t rsc_line_filter_run_fn(struct rsc_line_filter *, const uint64_t *, const uint64_t *, uint32_t,
                                        uint32_t, struct rsc_kept *);
RSC_WIDE_DECLARE(rsc_line_filter_run_fn, rsc_line_filter_run);

#endif
