/*
 * sampled_stack.h - the LRU stack of a sample of lines. Lines can be removed, and the
 * lines above a line can be counted *by group*.
 *
 * Each line held has a node (line, hash, time of last use in the whole stream) and a
 * slot: slots are assigned in order of use, and one bit is set for the slot of each
 * line's last use, so the lines above one are the bits set after its slot. Counts of
 * set bits per block of 512 slots, and per 64 blocks, make that a short sum. When
 * slots run out, lines are renumbered 0, 1, 2... by age.
 *
 * Lines fall into RSC_LINE_GROUPS groups by their hash; each block also counts its
 * lines by group, for the error bars (estimate/line_bars.h).
 *
 * Memory: 32 bytes per node, 8 to 16 of hash chains, and 18 to 37 of slots per line.
 */
#ifndef RSC_DISTANCE_SHARDS_SAMPLED_STACK_H
#define RSC_DISTANCE_SHARDS_SAMPLED_STACK_H

#include <stdint.h>

#include "distance/shards/line_choice.h"
#include "estimate/line_bars.h"

#define RSC_NO_NODE UINT32_MAX
#define RSC_STACK_BLOCK_BITS 9u
#define RSC_STACK_SUPER_BITS 15u
#define RSC_STACK_SUPER_BLOCKS (1u << (RSC_STACK_SUPER_BITS - RSC_STACK_BLOCK_BITS))

struct rsc_stack_node {
    uint64_t line, hash;
    uint64_t time; /* reference number of the last use */
    uint32_t slot;
    uint32_t next; /* in its chain, or in the list of free nodes */
};

struct rsc_sampled_stack {
    struct rsc_stack_node *nodes;
    uint32_t node_room, node_used; /* node_used: ever handed out */
    uint32_t free_node;            /* list of freed nodes */
    uint32_t lines;                /* held now */

    uint32_t *chains; /* heads; a power of two */
    uint32_t chain_shift;

    uint32_t capacity, top;        /* slots, and the next to assign */
    uint32_t *node_of;             /* by slot; only meaningful where the bit is set */
    uint64_t *bits;
    uint16_t *block_lines;         /* set bits by 512 slots; room for a whole number of 32768 slots */
    uint32_t *super_lines;         /* set bits by 32768 slots */
    uint16_t (*block_groups)[RSC_LINE_GROUPS];
    uint64_t peak_bytes;
};

/* Returns 0 or RSC_ENOMEM. A zeroed stack may always be freed. */
int rsc_sampled_stack_init(struct rsc_sampled_stack *stack);
void rsc_sampled_stack_free(struct rsc_sampled_stack *stack);

static inline uint32_t rsc_stack_chain(const struct rsc_sampled_stack *stack, uint64_t hash) {
    return (uint32_t)(hash * 0x9E3779B97F4A7C15ull >> stack->chain_shift);
}

/* The node of a line, or RSC_NO_NODE. */
static inline uint32_t rsc_sampled_stack_find(const struct rsc_sampled_stack *stack, uint64_t line, uint64_t hash) {
    uint32_t node = stack->chains[rsc_stack_chain(stack, hash)];
    while (node != RSC_NO_NODE && stack->nodes[node].line != line) node = stack->nodes[node].next;
    return node;
}

/* Lines used since the last use of a line held. */
static inline uint32_t rsc_sampled_stack_above(const struct rsc_sampled_stack *stack, uint32_t node) {
    uint32_t slot = stack->nodes[node].slot, block = slot >> RSC_STACK_BLOCK_BITS, super = slot >> RSC_STACK_SUPER_BITS;
    uint32_t last_super = (stack->top - 1) >> RSC_STACK_SUPER_BITS;
    const uint64_t *words = stack->bits + ((uint64_t)block << (RSC_STACK_BLOCK_BITS - 6));
    uint32_t word = slot >> 6 & 7, above = 0;
    /* all eight, without a branch */
    for (uint32_t w = 0; w < 8; w++) {
        uint64_t after = w > word ? UINT64_MAX : w == word ? ~1ull << (slot & 63) : 0;
        above += (uint32_t)__builtin_popcountll(words[w] & after);
    }
    /* all blocks of 32768 slots, in the same way; those above the top are empty. Sums are at most 32768. */
    const uint16_t *lines = stack->block_lines + super * RSC_STACK_SUPER_BLOCKS;
    const uint16_t own = (uint16_t)(block % RSC_STACK_SUPER_BLOCKS);
    uint16_t later = 0;
    for (uint16_t b = 0; b < RSC_STACK_SUPER_BLOCKS; b++) later += (uint16_t)(b > own ? lines[b] : 0);
    above += later;
    for (uint32_t s = super + 1; s <= last_super; s++) above += stack->super_lines[s];
    return above;
}

/* The same by group. Returns the cost: about the number of blocks and lines summed. */
uint32_t rsc_sampled_stack_groups_above(const struct rsc_sampled_stack *stack, uint32_t node,
                                        uint32_t above[RSC_LINE_GROUPS]);

/* Renumbers the lines by age into new slots, with room for three uses of each. Returns as below. */
int rsc_sampled_stack_renumber(struct rsc_sampled_stack *stack);

static inline void rsc_stack_clear_slot(struct rsc_sampled_stack *stack, uint32_t slot, uint64_t hash) {
    stack->bits[slot >> 6] &= ~(1ull << (slot & 63));
    stack->block_lines[slot >> RSC_STACK_BLOCK_BITS]--;
    stack->super_lines[slot >> RSC_STACK_SUPER_BITS]--;
    stack->block_groups[slot >> RSC_STACK_BLOCK_BITS][rsc_hash_group(hash, RSC_LINE_GROUPS)]--;
}

static inline void rsc_stack_set_slot(struct rsc_sampled_stack *stack, uint32_t slot, uint32_t node) {
    stack->bits[slot >> 6] |= 1ull << (slot & 63);
    stack->block_lines[slot >> RSC_STACK_BLOCK_BITS]++;
    stack->super_lines[slot >> RSC_STACK_SUPER_BITS]++;
    stack->block_groups[slot >> RSC_STACK_BLOCK_BITS][rsc_hash_group(stack->nodes[node].hash, RSC_LINE_GROUPS)]++;
    stack->node_of[slot] = node;
    stack->nodes[node].slot = slot;
}

/* Moves a line held to the top, with the time of this use. Returns 0, RSC_ENOMEM or RSC_ELIMIT. */
static inline int rsc_sampled_stack_use(struct rsc_sampled_stack *stack, uint32_t node, uint64_t time) {
    struct rsc_stack_node *held = &stack->nodes[node];
    held->time = time;
    if (held->slot + 1 == stack->top) return 0;
    if (stack->top == stack->capacity) {
        int status = rsc_sampled_stack_renumber(stack);
        if (status < 0) return status;
    }
    rsc_stack_clear_slot(stack, held->slot, held->hash);
    rsc_stack_set_slot(stack, stack->top++, node);
    return 0;
}

/* Puts a line not held on top and sets *node. Nodes keep their number until removed. Returns as above. */
int rsc_sampled_stack_add(struct rsc_sampled_stack *stack, uint64_t line, uint64_t hash, uint64_t time, uint32_t *node);

void rsc_sampled_stack_remove(struct rsc_sampled_stack *stack, uint32_t node);

#endif
