/*
 * gpu_part.h - the lines of batches and who used them, in blocks that the device copies from. Those of a trace are cut by
 * the threads that decode it (trace/pieces.h): the thread that feeds the device only sends them.
 *
 * In many pieces one thread makes one kind of access. Then `who` is one number, and the column of the block is not
 * filled.
 */
#ifndef RSC_DISTANCE_GPU_GPU_PART_H
#define RSC_DISTANCE_GPU_GPU_PART_H

#include <reusescope/trace.h>

#include "distance/gpu/gpu_feed.h"

struct rsc_gpu_filled {
    struct rsc_gpu_block *block;
    size_t count; /* lines */
    uint32_t who; /* of all of them, rsc_meta_who(); or, if they are mixed, as the block has them */
    int mixed;
};

struct rsc_gpu_part {
    const struct rsc_gpu_feed *feed;
    struct rsc_gpu_filled *filled; /* owned; the blocks are the session's */
    size_t filled_count, filled_room;
    uint64_t threads_seen;    /* highest number, plus 1 */
    uint32_t kinds_seen;      /* by bits, as in struct rsc_accumulator */
    uint64_t wide_references; /* of accesses of a MiB and more, in all pieces */
};

/* NULL: out of memory. */
struct rsc_gpu_part *rsc_gpu_part_new(const struct rsc_gpu_feed *feed);
void rsc_gpu_part_free(struct rsc_gpu_part *part);

/* Empties it: its blocks were sent. */
void rsc_gpu_part_begin(struct rsc_gpu_part *part);

/* Adds the lines of a batch, with the tags of its accesses (NULL: none). Returns 0 or an error. */
int rsc_gpu_part_take(struct rsc_gpu_part *part, const struct rsc_batch *batch, const uint32_t *tags,
                      struct rsc_error *error);

/* Fills the block's column of who. */
void rsc_gpu_filled_mix(struct rsc_gpu_filled *filled);

#endif
