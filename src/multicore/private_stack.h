/*
 * private_stack.h - the LRU stack of one thread, or of a group that shares a cache,
 * from which other stacks' writes take lines away.
 *
 * As in distance/exact_state.h, the stack is a bitmap over time with a set bit per
 * line at the place of its last use, and the line used last is kept beside it. A
 * line that is taken leaves a *hole* (paper 000, section 2): its bit stays set, and
 * holes.h knows that nothing is there. A reference to a line at slot s has
 *     RD = set bits after s + 1 for the line beside: lines and holes above it.
 * The line then goes to the top and fills the topmost hole. From below that hole,
 * the line's own slot becomes the hole; from above it there is nothing to fill; and
 * a line that is new, or comes back after it was taken, comes from infinitely deep:
 * the hole is gone. So nothing in the stack ever rises but by being used.
 *
 * Per line the map has a unit: what follows here, slot + 1 while the line is in the
 * bitmap; in `extra` the tag of the last use and whether others hold the line too;
 * in `used` a bit for each byte used since it last came (of lines above 64 bytes,
 * for each 64th part).
 */
#ifndef RSC_MULTICORE_PRIVATE_STACK_H
#define RSC_MULTICORE_PRIVATE_STACK_H

#include <stdint.h>

#include "base/line_map.h"
#include "base/rank_bitmap.h"
#include "multicore/holes.h"

/* What a unit says beside slots: 0 never used; used last; taken away, by which stack, and whether falsely. */
#define RSC_UNIT_TOP RSC_UNIT_OTHER
#define RSC_UNIT_LOST 0xC0000000u
#define RSC_UNIT_LOST_FALSELY 0x20000000u
#define RSC_UNIT_TAKER 0x000fffffu

/* In `extra`: another stack holds the line too. Tags are below. */
#define RSC_HELD_BY_OTHERS 0x80000000u

struct rsc_private_stack {
    struct rsc_line_map map;
    uint64_t *used; /* by unit */
    uint64_t used_room;
    struct rsc_rank_bitmap rank; /* lines and holes */
    struct rsc_holes holes;
    uint64_t top_line; /* the line used last, which is not in the bitmap, */
    uint32_t top_unit; /* and its unit; 0: there is none */
    uint64_t seen_line; /* of the last reference that the kernel has looked at, maybe ahead of its turn */
    uint32_t version;  /* counts up whenever units move */
    uint64_t now;      /* references seen */
    uint64_t compacted, time_of_place, places; /* as in exact_state.h */
    uint32_t compacted_slot;
    int no_ri;
    uint64_t *old_time;
    uint64_t old_time_bytes;
    uint64_t places_least;
    /* who it is */
    uint32_t thread; /* its first */
    uint64_t pid, tid;
};

/*
 * `small`: one of very many, which begins with little memory. `places_least` as in
 * rsc_exact_init(). Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed.
 */
int rsc_private_stack_init(struct rsc_private_stack *stack, int small, int no_ri, uint64_t places_least);
void rsc_private_stack_free(struct rsc_private_stack *stack);
uint64_t rsc_private_stack_bytes(const struct rsc_private_stack *stack);

/* The unit of a line that may be new; 0: none to be had (*status says why). */
uint32_t rsc_private_stack_add(struct rsc_private_stack *stack, uint64_t line, int *status);

/* Renumbers the lines and holes, so that a use at `time`, later than any in the bitmap, has a place. Returns 0 or an error. */
int rsc_private_stack_compact(struct rsc_private_stack *stack, uint64_t time);

/* A line that is in the bitmap is taken away: what it leaves is a hole. Returns 0 or RSC_ENOMEM. */
int rsc_private_stack_make_hole(struct rsc_private_stack *stack, uint32_t slot);

/* The unit of a line that the stack has or had; 0: it never did. */
static inline uint32_t rsc_private_stack_find(const struct rsc_private_stack *stack, uint64_t line) {
    uint32_t where = rsc_line_map_where(&stack->map, line, rsc_line_map_home(&stack->map, line));
    return where ? rsc_line_map_unit(&stack->map, line, where) : 0;
}

/* The time of the use at `slot`. */
static inline uint64_t rsc_private_stack_time(const struct rsc_private_stack *stack, uint32_t slot) {
    if (slot >= stack->compacted_slot) return stack->time_of_place + rsc_rank_place(slot);
    return stack->old_time ? stack->old_time[rsc_rank_place(slot)] : 0;
}

#endif
