/*
 * gpu_part.h - the lines of batches and who used them. Those of a trace are cut by the threads
 * that decode it (trace/pieces.h): what is left for the thread that feeds the device is a copy.
 */
#ifndef RSC_DISTANCE_GPU_GPU_PART_H
#define RSC_DISTANCE_GPU_GPU_PART_H

#include <reusescope/trace.h>

struct rsc_gpu_part {
    uint32_t line_shift;
    uint64_t *lines; /* owned */
    uint32_t *who;   /* rsc_meta_who() of each; owned */
    size_t count, room;
    uint64_t threads_seen;    /* highest number, plus 1 */
    uint32_t kinds_seen;      /* by bits, as in struct rsc_accumulator */
    uint64_t wide_references; /* of accesses of a MiB and more, in all pieces */
};

/* NULL: out of memory. */
struct rsc_gpu_part *rsc_gpu_part_new(uint32_t line_shift);
void rsc_gpu_part_free(struct rsc_gpu_part *part);

/* Empties it. */
void rsc_gpu_part_begin(struct rsc_gpu_part *part);

/* Adds the lines of a batch. Returns 0 or an error. */
int rsc_gpu_part_take(struct rsc_gpu_part *part, const struct rsc_batch *batch, struct rsc_error *error);

#endif
