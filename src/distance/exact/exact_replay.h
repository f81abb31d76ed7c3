/*
 * exact_replay.h - taking lines out of an exact state: what splitting a trace in
 * time needs.
 *
 * Cut a trace into chunks and analyse each with a state of its own. Only the
 * first touches of a chunk are then wrong (they look cold). They are put right
 * by *replaying* them, in order, into the final state of the chunk before: a
 * line held there has
 *     RD = first touches before it in its chunk + lines still held above it,
 * and leaves that state, since a later chunk has it now. What is not held goes
 * on to the chunk before that one, carrying what lies above it so far:
 *     above += lines still held by the state just asked.
 * A state must have seen the first touches of its nearest successor before those
 * of later ones. Whatever no state holds is cold.
 */
#ifndef RSC_DISTANCE_EXACT_EXACT_REPLAY_H
#define RSC_DISTANCE_EXACT_EXACT_REPLAY_H

#include "distance/exact/exact_state.h"

/*
 * Ends the running of references through a state: after this it may be
 * taken out of and listed, and nothing may be run through it.
 * Returns 0, RSC_ENOMEM or RSC_ELIMIT.
 */
int rsc_exact_settle(struct rsc_exact *exact);

/* What a state said about a line it was asked for. */
struct rsc_replayed {
    uint64_t time;  /* reference number of its last use in that state; RSC_NOT_HELD: not held */
    uint32_t above; /* held: lines above it in the stack; not held: all lines still held */
    uint32_t tag;   /* of that use */
};
#define RSC_NOT_HELD UINT64_MAX

/*
 * Takes `count` lines out of a settled state, in order, and says where each stood.
 * Lines taken out are as if never used: asked for again they are not held, and
 * what is held falls (rsc_exact_distinct() is not told).
 */
void rsc_exact_take_out(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, struct rsc_replayed *replayed);
typedef void rsc_exact_take_out_fn(struct rsc_exact *, const uint64_t *, uint32_t, struct rsc_replayed *);
RSC_WIDE_DECLARE(rsc_exact_take_out_fn, rsc_exact_take_out); /* exact_replay_kernel.c */

/* A line held by a state, with its last use. */
struct rsc_held_line {
    uint64_t line, time;
    uint32_t tag;
};

/* Writes every line held by a settled state to list (exact->rank.set of them), least recently used first. */
void rsc_exact_list(struct rsc_exact *exact, struct rsc_held_line *list);

#endif
