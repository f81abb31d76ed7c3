/*
 * private_stack.h - the LRU stack of one thread, or of a group that shares a cache; writes of other stacks take lines
 * away from it.
 *
 * As in distance/exact/exact_state.h, the stack is a bitmap over time with one set bit per line at the place of its
 * last use. The line used last is remembered, and its bit stays in place while it is used repeatedly: before the next
 * line comes, the bit moves to the place of the last of these uses. A line that is taken leaves a *hole* (paper 000,
 * section 2): its bit stays set, and holes.h records that the slot is empty. A reference to a line at slot s has
 *     RD = set bits after s: lines and holes above it.
 * The line then goes to the top and fills the topmost hole. If it came from below that hole, its own slot becomes the
 * hole; if from above, there is nothing to fill; a line that is new, or comes back after it was taken, comes from
 * infinitely deep, so the hole disappears. So a line only rises in the stack by being used.
 *
 * line_copies.h holds each line's position; the stack only lists the units of the lines it ever had, for compaction.
 */
#ifndef RSC_MULTICORE_PRIVATE_STACK_H
#define RSC_MULTICORE_PRIVATE_STACK_H

#include <stdint.h>

#include "base/rank_bitmap.h"
#include "multicore/holes.h"
#include "multicore/line_copies.h"

struct rsc_private_stack;
/* Gives every line and hole its new slot in `with`, which has room for the times of uses and for the holes. */
typedef void rsc_private_renumber_fn(struct rsc_private_stack *stack, const struct rsc_line_copies *copies,
                                     struct rsc_private_stack *with);

struct rsc_private_stack {
    struct rsc_rank_bitmap rank; /* lines and holes */
    struct rsc_holes holes;
    uint64_t top_line;     /* the line used last, */
    uint64_t top_used;     /* and its entry's tag and bytes */
    uint32_t top_tag;
    uint32_t top_unit;     /* 0: there is none */
    uint32_t top_repeated; /* its last use was after the place of its bit */
    uint64_t now;       /* references seen */
    uint64_t compacted, time_of_place, places; /* as in exact_state.h */
    uint32_t compacted_slot;
    uint32_t number; /* in line_copies.h */
    void *old_time; /* by place; NULL without RI. u32, half the memory to keep in cache, until times exceed it: */
    int old_time_wide; /* u64 */
    uint64_t old_time_bytes;
    uint64_t places_least;
    uint32_t *members; /* units of the lines it has or had; owned */
    uint64_t member_count, member_room;
    int no_ri;
    rsc_private_renumber_fn *renumber;
};

/* `places_least` as in rsc_exact_init(). Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_private_stack_init(struct rsc_private_stack *stack, rsc_private_renumber_fn *renumber, int no_ri,
                           uint64_t places_least);
void rsc_private_stack_free(struct rsc_private_stack *stack);
uint64_t rsc_private_stack_bytes(const struct rsc_private_stack *stack);

/* Counts one more line in the stack. Returns 0 or RSC_ENOMEM. */
int rsc_private_stack_add(struct rsc_private_stack *stack, uint32_t unit);

/* Renumbers the lines and holes to make a place for a use at `time`, later than any in the bitmap. Returns 0 or an
 * error. */
int rsc_private_stack_compact(struct rsc_private_stack *stack, const struct rsc_line_copies *copies, uint64_t time);

/* Makes the index of holes; a stack that never lost a line has none. Returns 0 or RSC_ENOMEM. */
int rsc_private_stack_expect_holes(struct rsc_private_stack *stack);

/* The time of the use at `slot`. */
static inline uint64_t rsc_private_stack_time(const struct rsc_private_stack *stack, uint32_t slot) {
    if (slot >= stack->compacted_slot) return stack->time_of_place + rsc_rank_place(slot);
    if (__builtin_expect(stack->old_time_wide, 0)) return ((const uint64_t *)stack->old_time)[rsc_rank_place(slot)];
    return stack->old_time ? ((const uint32_t *)stack->old_time)[rsc_rank_place(slot)] : 0;
}

/* The slot of a use at `time`, now or just before, after all others. UINT32_MAX: failed (see *status). */
static inline uint32_t rsc_private_stack_slot(struct rsc_private_stack *stack, const struct rsc_line_copies *copies,
                                              uint64_t time, int *status) {
    uint64_t place = time - stack->time_of_place;
    if (__builtin_expect(place >= stack->places, 0)) {
        *status = rsc_private_stack_compact(stack, copies, time);
        if (*status < 0) return UINT32_MAX;
        place = stack->compacted;
    }
    return rsc_rank_slot((uint32_t)place);
}

/* Moves the bit of the line used last to the place of its last use. Returns 0 or an error. */
static inline int rsc_private_stack_move_top(struct rsc_private_stack *stack, const struct rsc_line_copies *copies) {
    uint32_t entry;
    int status = 0;
    struct rsc_copy *copy = rsc_line_copies_find(copies, copies->map.units[stack->top_unit], stack->number, &entry);
    rsc_rank_take_last(&stack->rank, copy->state - 1);
    copy->state = RSC_COPY_MOVING;
    uint32_t slot = rsc_private_stack_slot(stack, copies, stack->now - 1, &status);
    if (status < 0) return status;
    rsc_rank_set(&stack->rank, slot);
    copy->state = slot + 1;
    stack->top_repeated = 0;
    return 0;
}

#endif
