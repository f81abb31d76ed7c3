/*
 * shards_part.h - the references of a piece of a trace to the lines of a sample, found by
 * the thread that decodes it (trace/pieces.h).
 *
 * Finding them is nearly all the work of a small sample, and needs nothing of what came
 * before. Times count from the beginning of the piece.
 */
#ifndef RSC_DISTANCE_SHARDS_SHARDS_PART_H
#define RSC_DISTANCE_SHARDS_SHARDS_PART_H

#include <reusescope/trace.h>

#include "distance/shards/line_filter.h"

struct rsc_shards_part {
    struct rsc_line_filter filter; /* `references`: of the piece */
    struct rsc_kept kept;          /* owned; `from` is the number of the thread */
    uint64_t *threads;             /* owned: references by thread number, for those with a row */
    uint32_t thread_count, thread_room;
    uint64_t threads_seen; /* highest number, plus 1 */
};

/* A part of the sample that `filter` takes. NULL: out of memory. */
struct rsc_shards_part *rsc_shards_part_new(const struct rsc_line_filter *filter);
void rsc_shards_part_free(struct rsc_shards_part *part);

/* Empties it. */
void rsc_shards_part_begin(struct rsc_shards_part *part);

/* Adds the references of a batch. Returns 0, RSC_ENOMEM or, for accesses that make too many, RSC_ELIMIT. */
int rsc_shards_part_take(struct rsc_shards_part *part, const struct rsc_batch *batch);

#endif
