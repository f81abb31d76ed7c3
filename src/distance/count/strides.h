/*
 * strides.h - how far each instruction goes from one execution to the next.
 *
 * Looked at in short windows of a run, by thread: an instruction that is executed
 * twice in a window casts the distance between its two addresses as a vote. The
 * majority's candidate is kept (Boyer and Moore): a stride that more than half of the
 * steps have is found, whatever the others are. `same` counts the steps that had it
 * since it became the candidate, so it is never too high.
 */
#ifndef RSC_DISTANCE_COUNT_STRIDES_H
#define RSC_DISTANCE_COUNT_STRIDES_H

#include <stdint.h>

#include "profile/profile_model.h"

/* Of each 8192 accesses of the run 256 are looked at. */
#define RSC_STRIDE_EVERY 8192u
#define RSC_STRIDE_WINDOW 256u
#define RSC_STRIDE_SLOTS 256u

struct rsc_stride_row {
    struct rsc_stride stride;
    uint64_t votes; /* for stride.bytes, less those against */
};

struct rsc_stride_votes {
    struct rsc_stride_row *rows; /* by code row; owned */
    uint32_t window;             /* the number of the current one, from 1 */
    struct {
        uint32_t window, row, thread;
        uint64_t address;
    } last[RSC_STRIDE_SLOTS]; /* where an instruction was, in the window it was seen in */
};

/* Returns 0 or RSC_ENOMEM. A zeroed struct may be freed. */
int rsc_stride_votes_init(struct rsc_stride_votes *votes, uint32_t rows);
void rsc_stride_votes_free(struct rsc_stride_votes *votes);

/* A new window: what was before is not followed. */
void rsc_stride_votes_begin(struct rsc_stride_votes *votes);

/* The instruction of a row accesses `address`. */
void rsc_stride_votes_see(struct rsc_stride_votes *votes, uint32_t row, uint32_t thread, uint64_t address,
                          uint32_t bytes);

#endif
