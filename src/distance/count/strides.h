/*
 * strides.h - the stride of each instruction: the address difference between
 * successive executions.
 *
 * Measured in short windows of a run, per thread: each time an instruction is
 * executed again in a window, the difference of its addresses is a vote. The majority
 * candidate is kept (Boyer and Moore): a stride that more than half of the steps have
 * is always found. `same` counts the steps with it since it became the candidate, so
 * it is never too high. All addresses examined give their greatest common distance: a
 * column of a table returns to the bytes beside, a field of a record never does.
 */
#ifndef RSC_DISTANCE_COUNT_STRIDES_H
#define RSC_DISTANCE_COUNT_STRIDES_H

#include <stdint.h>

#include "profile/profile_model.h"

/* 256 of every 8192 accesses of the run are examined. */
#define RSC_STRIDE_EVERY 8192u
#define RSC_STRIDE_WINDOW 256u
#define RSC_STRIDE_SLOTS 256u

struct rsc_stride_row {
    struct rsc_stride stride;
    uint64_t votes; /* votes for stride.bytes, minus votes against */
    uint64_t first; /* the first address examined, and whether there is one */
    int has_first;
};

struct rsc_stride_votes {
    struct rsc_stride_row *rows; /* by code row; owned */
    uint32_t window;             /* the number of the current one, from 1 */
    struct {
        uint32_t window, row, thread;
        uint64_t address;
    } last[RSC_STRIDE_SLOTS]; /* the instruction's last address, and its window */
};

/* Returns 0 or RSC_ENOMEM. A zeroed struct may be freed. */
int rsc_stride_votes_init(struct rsc_stride_votes *votes, uint32_t rows);
void rsc_stride_votes_free(struct rsc_stride_votes *votes);
int rsc_stride_votes_copy(struct rsc_stride_votes *copy, const struct rsc_stride_votes *votes, uint32_t used_rows,
                          uint32_t rows);

/* Starts a window; earlier addresses are forgotten. */
void rsc_stride_votes_begin(struct rsc_stride_votes *votes);

/* The instruction at pc, which has that row, accesses `address`. What is seen does not depend on numbers of rows. */
void rsc_stride_votes_see(struct rsc_stride_votes *votes, uint32_t row, uint64_t pc, uint32_t thread, uint64_t address,
                          uint32_t bytes);

/* The instruction of that row accessed `from`, and `to` when it was executed next. */
void rsc_stride_votes_step(struct rsc_stride_votes *votes, uint32_t row, uint64_t from, uint64_t to, uint32_t bytes);

#endif
