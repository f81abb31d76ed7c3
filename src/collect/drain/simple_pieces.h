/*
 * simple_pieces.h - makes accesses of a batch from the words of simple pieces of code (block_pieces.h), which most are.
 * A few are made at a time, whether the piece has as many or not, and so are calls and returns: a branch for every
 * access, or for every piece that ends with a call, would be mispredicted too often.
 */
#ifndef RSC_COLLECT_DRAIN_SIMPLE_PIECES_H
#define RSC_COLLECT_DRAIN_SIMPLE_PIECES_H

#include <reusescope/trace.h>

#include "base/cpu.h"
#include "collect/drain/block_pieces.h"

#define RSC_SIMPLE_SPARE 4u /* as many words may be read, and accesses written, after the last one */

struct rsc_simple_run {
    const uint64_t *words;
    uint32_t at, end;    /* the start to begin with, where it stops then; no piece begins at `end` or later */
    uint32_t word_count; /* words of a piece that begins before `end` may be up to there */
    /* The batch; `count` and `event_count` grow. */
    uint64_t *addr, *meta, *pc;
    uint64_t space, thread_bits; /* set in addresses and pcs; in meta */
    uint32_t count, count_most;  /* room for one piece more, and one event, is needed */
    uint32_t thread;
    struct rsc_event *events;
    uint32_t event_count, event_most;
    /* How the piece before ended (enum rsc_plan_end), and where. */
    uint32_t ends;
    uint64_t end_pc;
    uint64_t instructions, calls; /* made; from 0 */
};

typedef void rsc_simple_pieces_take(const struct rsc_block_pieces *pieces, struct rsc_simple_run *run);
RSC_WIDE_DECLARE(rsc_simple_pieces_take, rsc_simple_pieces_take);

#endif
