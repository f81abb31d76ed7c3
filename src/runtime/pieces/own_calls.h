/*
 * own_calls.h - the call stack of a rebuilt program's thread, kept by the thread itself.
 * The rules are those of collect/drain/expand_rebuilt.h. Only changes since the last
 * report go to the parent, so calls without reports between them cost only the counting.
 */
#ifndef RSC_RUNTIME_PIECES_OWN_CALLS_H
#define RSC_RUNTIME_PIECES_OWN_CALLS_H

#include "runtime/pieces/piece_expand.h"

#define RSC_OWN_FRAMES 1024u
#define RSC_CALL_BYTES_MAX 15u /* longest instruction */

struct rsc_own_frame {
    uint64_t pc;     /* of the call */
    uint64_t stack;  /* address of its return address */
    uint64_t target; /* first piece seen after it */
};

struct rsc_own_calls {
    /* The last piece: */
    uint32_t ends;
    uint64_t end_pc, stack;
    uint32_t count;     /* frames */
    uint32_t told;      /* how many of those the parent already has */
    uint32_t with_them; /* frames that the parent has */
    uint64_t left;      /* call of the lowest ended frame that it still has */
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

/* The start of a piece shows how the previous one ended. */
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

/* For a piece that ends with a call or return. */
static inline void rsc_own_calls_end(struct rsc_own_calls *calls, const struct rsc_piece *piece,
                                     const uint64_t *words) {
    calls->ends = piece->ends;
    calls->end_pc = piece->last_pc;
    calls->stack = rsc_piece_stack(piece, words);
}

#endif
