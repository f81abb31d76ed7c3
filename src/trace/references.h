/*
 * references.h - from accesses to references: the lines they touch.
 *
 * An access that crosses a line boundary is one reference per line, in address
 * order. Every engine cuts accesses here, so all agree. A size of 0 counts as 1
 * byte; an access that would run past the end of the address space ends there.
 */
#ifndef RSC_TRACE_REFERENCES_H
#define RSC_TRACE_REFERENCES_H

#include <reusescope/error.h>
#include <reusescope/trace.h>

#include "base/cpu.h"

/*
 * The first of `count` accesses from `first` on, as long as none crosses a line: whole groups of RSC_REFERENCES_GROUP.
 * Returns how many; what is written after them must be ignored.
 */
#define RSC_REFERENCES_GROUP 32u
typedef uint32_t rsc_references_cut(const struct rsc_batch *batch, uint32_t line_shift, uint32_t first, uint32_t count,
                                    uint64_t *lines, uint32_t *from);
RSC_WIDE_DECLARE(rsc_references_cut, rsc_references_cut);

struct rsc_reference_cursor {
    const struct rsc_batch *batch;
    uint32_t line_shift;  /* log2 of the line size in bytes */
    uint32_t next;        /* access to cut next */
    uint64_t resume_line; /* of access `next`, when it was cut in the middle */
    int resuming;
    rsc_references_cut *cut;
};

void rsc_references_start(struct rsc_reference_cursor *cursor, const struct rsc_batch *batch, uint32_t line_shift);

/*
 * Writes the next references, `room` at most: lines[i] and the access it comes
 * from, from[i]. Returns how many; 0 when the batch is used up.
 */
uint32_t rsc_references_fill(struct rsc_reference_cursor *cursor, uint64_t *lines, uint32_t *from, uint32_t room);

/* Whether each of `count` references, at least one, is an access of its own: then from[i] is from[0] + i. */
static inline int rsc_references_are_accesses(const uint32_t *from, uint32_t count) {
    return from[count - 1] - from[0] == count - 1;
}

/*
 * No program makes accesses of a MiB and more: a small file of them could keep an analysis busy for days. Counts the
 * references of one access, if it is such, in *references, from 0; returns 0 when they are more than 2^30.
 */
#define RSC_WIDE_SHIFT 20 /* log2 of the bytes of a wide access */
#define RSC_WIDE_REFERENCES_MOST (1ull << 30)
static inline int rsc_references_allow(uint64_t *references, uint32_t bytes, uint32_t line_shift) {
    if (bytes >> RSC_WIDE_SHIFT) *references += (bytes >> line_shift) + 1;
    return *references <= RSC_WIDE_REFERENCES_MOST;
}

/* The error of too many. */
int rsc_references_refuse(struct rsc_error *error);

/* The same for a batch: 0 or RSC_ELIMIT. */
int rsc_references_limit(uint64_t *references, const struct rsc_batch *batch, uint32_t line_shift,
                         struct rsc_error *error);

#endif
