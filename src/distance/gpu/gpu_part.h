/*
 * gpu_part.h - the lines of batches and who used them, in blocks that the device copies from. Those of a trace are cut by
 * the threads that decode it (trace/pieces.h): the thread that feeds the device only sends them.
 *
 * In many pieces one thread makes one kind of access. Then `who` is one number, and the column of the block is not
 * filled.
 *
 * Page-locked memory is bounded: a part has at most RSC_GPU_PART_LINES lines, which take 32 MiB. From the batch that has
 * no room, or has an access of a MiB, the accesses of a piece are kept as they are, 16 bytes each; the engine's thread cuts
 * them a block at a time.
 */
#ifndef RSC_DISTANCE_GPU_GPU_PART_H
#define RSC_DISTANCE_GPU_GPU_PART_H

#include <reusescope/trace.h>

#include "distance/gpu/gpu_feed.h"
#include "trace/references.h"

#define RSC_GPU_PART_LINES (2u << 20)

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
    uint64_t wide_references; /* of accesses of a MiB and more, of all batches that were cut a block at a time */
    uint64_t *late_addr, *late_meta; /* owned; accesses that are not cut yet */
    size_t late_count, late_room;
};

/* A batch that is being cut. */
struct rsc_gpu_cut {
    struct rsc_reference_cursor cursor;
    const uint32_t *tags;
    int is_one; /* one thread, one kind of access */
};

/* NULL: out of memory. */
struct rsc_gpu_part *rsc_gpu_part_new(const struct rsc_gpu_feed *feed);
void rsc_gpu_part_free(struct rsc_gpu_part *part);

/* Empties it: its blocks were sent. */
void rsc_gpu_part_begin(struct rsc_gpu_part *part);

/* Adds the lines of a batch, or keeps its accesses for the engine's thread. Returns 0 or an error. */
int rsc_gpu_part_take(struct rsc_gpu_part *part, const struct rsc_batch *batch, struct rsc_error *error);

/*
 * Begins to cut a batch, with the tags of its accesses (NULL: none), into this part, whose threads_seen and kinds_seen
 * count it from here on. Returns 0 or an error.
 */
int rsc_gpu_part_start(struct rsc_gpu_part *part, struct rsc_gpu_cut *cut, const struct rsc_batch *batch,
                       const uint32_t *tags, struct rsc_error *error);
/* Fills one block, or what there is for it: 1 if it is full, 0 when the batch is used up, or negative. */
int rsc_gpu_part_fill(struct rsc_gpu_part *part, struct rsc_gpu_cut *cut, struct rsc_error *error);

/* The accesses that the part keeps. */
struct rsc_batch rsc_gpu_part_late(const struct rsc_gpu_part *part);

/* Fills the block's column of who. */
void rsc_gpu_filled_mix(struct rsc_gpu_filled *filled);

#endif
