/*
 * block_pieces.h - the parent's copies of the plans of Valgrind's tool (runtime/ring/ring.h), in the form in which they
 * are needed most. A plan is validated and copied when its code first runs; the program cannot change the copy.
 *
 * An access has a place: a small number for one access of one piece of code. RSC_PIECES_SPARE more can be read after
 * a piece's last one.
 */
#ifndef RSC_COLLECT_DRAIN_BLOCK_PIECES_H
#define RSC_COLLECT_DRAIN_BLOCK_PIECES_H

#include "runtime/ring/ring.h"

#define RSC_PIECES_SPARE 8u

struct rsc_block_exit {
    uint16_t accesses, instructions; /* made when the piece is left there */
};

struct rsc_block_piece {
    uint64_t start; /* the word of its starts, if it is simple: each word is one read or one write; 0: it is not */
    uint64_t pc, end_pc; /* of the first and last instruction */
    uint32_t first; /* its first place; the flags are at the same index */
    uint32_t exits; /* its first exit */
    uint16_t count, instructions, exit_count;
    uint8_t ends; /* enum rsc_plan_end */
    uint8_t jumps; /* the same if calls and returns are wanted */
    uint8_t in_region; /* it begins in the function of the region */
};

struct rsc_block_pieces {
    uint32_t *number_of; /* by offset in ring.plans; 0: not seen yet */
    struct rsc_block_piece *pieces; /* from 1; 0 is for the plan that was last written out */
    /* By place: pc, and size and kind as in a batch (trace/source.h); what else there is to it (RSC_BLOCK_...). */
    uint64_t *pcs, *metas, *flags;
    struct rsc_block_exit *exits;
    uint32_t count, room, place_count, place_room, exit_count, exit_room;
};

void rsc_block_pieces_free(struct rsc_block_pieces *pieces);

/* The piece of a start whose plan is not inline; ~0 if the plan is invalid, or when out of memory. */
uint32_t rsc_block_pieces_learn(struct rsc_block_pieces *pieces, const uint64_t *plans, uint64_t start);

/* The same for a plan of up to `room` words, which is not kept: always number 0. *used: its words. */
uint32_t rsc_block_pieces_read(struct rsc_block_pieces *pieces, const uint64_t *plan, uint64_t room, uint32_t *used);

static inline uint32_t rsc_block_pieces_find(struct rsc_block_pieces *pieces, const uint64_t *plans, uint64_t start) {
    const uint64_t offset = start & 0xffffffffu;
    uint32_t number = pieces->number_of && offset < RSC_PLAN_WORDS ? pieces->number_of[offset] : 0;
    return __builtin_expect(number != 0, 1) ? number : rsc_block_pieces_learn(pieces, plans, start);
}

#endif
