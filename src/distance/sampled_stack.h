/*
 * sampled_stack.h - the LRU stack of a sample of lines, from which lines can be
 * taken out, and which can say what stands above a line *by group*.
 *
 * Each line held has a node (line, hash, time of last use in the whole stream)
 * and a slot: slots are handed out in order of use, one bit is set for the slot
 * of each line's last use, so the lines above one are the bits set after its
 * slot. Counts of set bits per block of 512 slots, and per 64 blocks, make that
 * a short sum. When slots run out, lines are renumbered 0, 1, 2... by age.
 *
 * Lines fall into RSC_STACK_GROUPS groups by their hash; each block also counts
 * its lines by group, which is where the error bars come from (sample_error.h).
 *
 * Memory: 32 bytes a node, 4 to 8 of hash chains, and 18 to 37 of slots a line.
 */
#ifndef RSC_DISTANCE_SAMPLED_STACK_H
#define RSC_DISTANCE_SAMPLED_STACK_H

#include <stdint.h>

#include "distance/line_filter.h"

#define RSC_STACK_GROUPS 32u
#define RSC_NO_NODE UINT32_MAX

struct rsc_stack_node {
    uint64_t line, hash;
    uint64_t time; /* reference number of the last use */
    uint32_t slot;
    uint32_t next; /* in its chain, or in the list of free nodes */
};

struct rsc_sampled_stack {
    struct rsc_stack_node *nodes;
    uint32_t node_room, node_used; /* node_used: ever handed out */
    uint32_t free_node;            /* list of those given back */
    uint32_t lines;                /* held now */

    uint32_t *chains; /* heads; a power of two, 1 to 2 a node at least */
    uint32_t chain_shift;

    uint32_t capacity, top;        /* slots, and the next to hand out */
    uint32_t *node_of;             /* by slot; only meaningful where the bit is set */
    uint64_t *bits;
    uint16_t *block_lines;         /* set bits by 512 slots */
    uint32_t *super_lines;         /* set bits by 32768 slots */
    uint16_t (*block_groups)[RSC_STACK_GROUPS];
    uint64_t peak_bytes;
};

/* Returns 0 or RSC_ENOMEM. A zeroed stack may always be freed. */
int rsc_sampled_stack_init(struct rsc_sampled_stack *stack);
void rsc_sampled_stack_free(struct rsc_sampled_stack *stack);

static inline uint32_t rsc_stack_chain(const struct rsc_sampled_stack *stack, uint64_t hash) {
    return (uint32_t)(hash * 0x9E3779B97F4A7C15ull >> stack->chain_shift);
}

static inline void rsc_sampled_stack_prefetch(const struct rsc_sampled_stack *stack, uint64_t hash) {
    __builtin_prefetch(&stack->chains[rsc_stack_chain(stack, hash)]);
}

/* The node of a line, or RSC_NO_NODE. */
static inline uint32_t rsc_sampled_stack_find(const struct rsc_sampled_stack *stack, uint64_t line, uint64_t hash) {
    uint32_t node = stack->chains[rsc_stack_chain(stack, hash)];
    while (node != RSC_NO_NODE && stack->nodes[node].line != line) node = stack->nodes[node].next;
    return node;
}

/* Lines used since the last use of a line held. */
uint32_t rsc_sampled_stack_above(const struct rsc_sampled_stack *stack, uint32_t node);

/* The same by group. Returns the blocks it had to add up: what it cost. */
uint32_t rsc_sampled_stack_groups_above(const struct rsc_sampled_stack *stack, uint32_t node,
                                        uint32_t above[RSC_STACK_GROUPS]);

/* Brings a line held to the top, with the time of this use. Returns 0, RSC_ENOMEM or RSC_ELIMIT. */
int rsc_sampled_stack_use(struct rsc_sampled_stack *stack, uint32_t node, uint64_t time);

/* Puts a line not held on top and sets *node. Nodes keep their number until removed. Returns as above. */
int rsc_sampled_stack_add(struct rsc_sampled_stack *stack, uint64_t line, uint64_t hash, uint64_t time,
                          uint32_t *node);

void rsc_sampled_stack_remove(struct rsc_sampled_stack *stack, uint32_t node);

#endif
