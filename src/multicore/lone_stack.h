/*
 * lone_stack.h - the stack of the only thread, for as long as there is no other.
 *
 * One thread takes no lines from itself: its distances are those of one LRU stack, which
 * distance/exact/exact_state.h finds in half the time of private_stack.h. When a second
 * stack comes, the lines are handed over to coherent_stacks.h with what that knows of
 * each: its place in the stack, the time and tag of its last use, the bytes used.
 *
 * The bytes used of a line are gathered in a direct-mapped table of the lines used last,
 * and leave it for a hash table.
 */
#ifndef RSC_MULTICORE_LONE_STACK_H
#define RSC_MULTICORE_LONE_STACK_H

#include <reusescope/trace.h>

#include "base/u64_table.h"
#include "distance/exact/exact_state.h"
#include "multicore/coherent_stacks.h"

#define RSC_LONE_NEAR 4096u /* 256 KiB of memory at 64 bytes a line */
#define RSC_LONE_LEAVING 64u

struct rsc_lone_stack {
    struct rsc_exact *exact; /* its own, or that of an engine which has the same references */
    struct rsc_exact own;
    struct rsc_u64_entry near[RSC_LONE_NEAR];          /* by line: bytes used; 0: none */
    struct rsc_u64_entry leaving[RSC_LONE_LEAVING];    /* for the table: its places are being prefetched */
    uint32_t leaving_count;
    struct rsc_u64_table used; /* the same for all lines that left */
};

/* Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_lone_stack_init(struct rsc_lone_stack *lone, enum rsc_simd simd, int no_ri, uint64_t places_least);

/* From now on, before the first reference, the stack is another engine's, and only the bytes used are noted here. */
void rsc_lone_stack_lean_on(struct rsc_lone_stack *lone, struct rsc_exact *exact);

/* Notes the bytes that the accesses of a batch use: one bit per byte, or per 64th part of a larger line. Returns 0 or
 * RSC_ENOMEM. */
int rsc_lone_stack_note(struct rsc_lone_stack *lone, const struct rsc_batch *batch, uint32_t line_shift);
void rsc_lone_stack_free(struct rsc_lone_stack *lone);
uint64_t rsc_lone_stack_bytes(const struct rsc_lone_stack *lone);

/* As rsc_coherent_stacks_run(), whoever made the references, of a batch that is noted as well. */
int rsc_lone_stack_run(struct rsc_lone_stack *lone, const struct rsc_private_references *references, uint32_t *rd,
                       uint64_t *ri, uint32_t *last_tag);

/* Puts all lines in stack 0, which is empty. Returns 0, RSC_ENOMEM or RSC_ELIMIT. */
int rsc_lone_stack_hand_over(struct rsc_lone_stack *lone, struct rsc_coherent_stacks *stacks);

#endif
