/*
 * own_calls.h - the calls that a thread of a rebuilt program is in, kept by itself.
 * The rules are those of collect/drain/expand_rebuilt.h. What the parent is told is what
 * changed since it was last told, so calls between which nothing is told cost no more
 * than keeping count of them.
 */
#ifndef RSC_RUNTIME_PIECES_OWN_CALLS_H
#define RSC_RUNTIME_PIECES_OWN_CALLS_H

#include "runtime/pieces/piece_expand.h"

#define RSC_OWN_FRAMES 1024u
#define RSC_CALL_BYTES_MAX 15u /* longest instruction */

struct rsc_own_frame {
    uint64_t pc;     /* of the call */
    uint64_t stack;  /* where its return address lies */
    uint64_t target; /* first piece seen behind it */
};

struct rsc_own_calls {
    /* The last piece: */
    uint32_t ends;
    uint64_t end_pc, stack;
    uint32_t count;     /* frames */
    uint32_t told;      /* of those, how many the parent knows as they are */
    uint32_t with_them; /* frames that the parent has */
    uint64_t left;      /* call of the lowest frame that is over and that it still has */
    struct rsc_own_frame frames[RSC_OWN_FRAMES];
};

static inline void rsc_own_calls_pop(struct rsc_own_calls *calls, uint32_t left) {
    if (left == calls->count) return;
    if (left < calls->told) {
        calls->left = calls->frames[left].pc;
        calls->told = left;
    }
    calls->count = left;
}

/* What the beginning of a piece says of how the one before ended. */
static inline void rsc_own_calls_begin(struct rsc_own_calls *calls, uint64_t pc) {
    if (__builtin_expect(!calls->ends, 1)) return;
    uint32_t left = calls->count;
    if (calls->stack) {
        while (left && calls->frames[left - 1].stack <= calls->stack) left--;
        rsc_own_calls_pop(calls, left);
    } else if (calls->ends == RSC_PLAN_ENDS_RETURN) { /* the innermost frame that this could be a return to */
        while (left && pc - calls->frames[left - 1].pc - 1 >= RSC_CALL_BYTES_MAX) left--;
        if (left) rsc_own_calls_pop(calls, left - 1);
    }
    if (calls->ends == RSC_PLAN_ENDS_CALL && pc - calls->end_pc - 1 >= RSC_CALL_BYTES_MAX &&
        calls->count < RSC_OWN_FRAMES)
        calls->frames[calls->count++] = (struct rsc_own_frame){calls->end_pc, calls->stack, pc};
    calls->ends = 0;
}

/* Of a piece that ends with a call or return. */
static inline void rsc_own_calls_end(struct rsc_own_calls *calls, const struct rsc_piece *piece,
                                     const uint64_t *words) {
    calls->ends = piece->ends;
    calls->end_pc = piece->last_pc;
    calls->stack = rsc_piece_stack(piece, words);
}

#endif
