/*
 * exact_replay.h - takes lines out of an exact state, for splitting a trace in time.
 *
 * Cut a trace into chunks and analyse each with its own state. Only the first touches
 * of a chunk are then wrong (they look cold). They are corrected by *replaying* them,
 * in order, into the final state of the chunk before: a line held there has
 *     RD = first touches before it in its chunk + lines still held above it,
 * and leaves that state, since a later chunk has it now. A line that is not held goes
 * on to the chunk before that one, with the number of lines above it so far:
 *     above += lines still held by the state just searched.
 * A state must have seen the first touches of its nearest successor before those of
 * later ones. A line that no state holds is cold.
 */
#ifndef RSC_DISTANCE_EXACT_EXACT_REPLAY_H
#define RSC_DISTANCE_EXACT_EXACT_REPLAY_H

#include "distance/exact/exact_state.h"

/*
 * Settles a state: after this, lines may be taken out and listed, and no more
 * references run through it. Returns 0, RSC_ENOMEM or RSC_ELIMIT.
 */
int rsc_exact_settle(struct rsc_exact *exact);

/* A state's answer for one line. */
struct rsc_replayed {
    uint64_t time;  /* reference number of its last use in that state; RSC_NOT_HELD: not held */
    uint32_t above; /* held: lines above it in the stack; not held: all lines still held */
    uint32_t tag;   /* of that use */
};
#define RSC_NOT_HELD UINT64_MAX

/*
 * Takes `count` lines out of a settled state, in order, and reports the place of
 * each. Removed lines are as if never used: taken again they are not held, and the
 * number held decreases (but not rsc_exact_distinct()).
 */
void rsc_exact_take_out(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, struct rsc_replayed *replayed);
typedef void rsc_exact_take_out_fn(struct rsc_exact *, const uint64_t *, uint32_t, struct rsc_replayed *);
RSC_WIDE_DECLARE(rsc_exact_take_out_fn, rsc_exact_take_out); /* exact_replay_kernel.c */

/* A line held by a state: its last use was at rsc_exact_time(exact, slot), and slots are in the order of last uses. */
typedef void rsc_exact_visitor(void *context, uint64_t line, const struct rsc_exact *exact, uint32_t slot);

/* Visits every line held by a state, except those of its recent filter (a settled state has none), in no order. */
void rsc_exact_visit(const struct rsc_exact *exact, rsc_exact_visitor *take, void *context);

#endif
