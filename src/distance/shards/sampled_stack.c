/* sampled_stack.c - see sampled_stack.h. */
#include "distance/shards/sampled_stack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#define CAPACITY_MIN (1u << 13)
#define LINES_MAX (1u << 29)
#define SLOTS_PER_LINE 4u
#define CHAIN_BITS 11u /* at first; later two chains per node */

static uint64_t slot_bytes(uint32_t capacity) {
    uint64_t blocks = capacity >> RSC_STACK_BLOCK_BITS, supers = (capacity >> RSC_STACK_SUPER_BITS) + 1;
    return capacity * 4ull + capacity / 8 + blocks * (2 + 2 * RSC_LINE_GROUPS) + supers * 4;
}

static void note_peak(struct rsc_sampled_stack *stack, uint64_t extra) {
    uint64_t bytes = stack->node_room * sizeof *stack->nodes + (4ull << (64 - stack->chain_shift)) +
                     slot_bytes(stack->capacity) + extra;
    if (bytes > stack->peak_bytes) stack->peak_bytes = bytes;
}

static void free_slots(struct rsc_sampled_stack *stack) {
    free(stack->node_of);
    free(stack->bits);
    free(stack->block_lines);
    free(stack->super_lines);
    free(stack->block_groups);
}

static int allocate_slots(struct rsc_sampled_stack *stack, uint32_t capacity) {
    uint32_t blocks = capacity >> RSC_STACK_BLOCK_BITS;
    stack->node_of = malloc(capacity * sizeof *stack->node_of);
    stack->bits = calloc(capacity / 64, sizeof *stack->bits);
    uint32_t supers = (capacity >> RSC_STACK_SUPER_BITS) + 1;
    stack->block_lines = calloc((uint64_t)supers * RSC_STACK_SUPER_BLOCKS, sizeof *stack->block_lines);
    stack->super_lines = calloc(supers, sizeof *stack->super_lines);
    stack->block_groups = calloc(blocks, sizeof *stack->block_groups);
    stack->capacity = capacity;
    if (stack->node_of && stack->bits && stack->block_lines && stack->super_lines && stack->block_groups) return 0;
    free_slots(stack);
    return RSC_ENOMEM;
}

int rsc_sampled_stack_init(struct rsc_sampled_stack *stack) {
    memset(stack, 0, sizeof *stack);
    stack->free_node = RSC_NO_NODE;
    stack->node_room = 1u << (CHAIN_BITS - 1);
    stack->chain_shift = 64 - CHAIN_BITS;
    stack->nodes = malloc(stack->node_room * sizeof *stack->nodes);
    stack->chains = malloc(sizeof *stack->chains << CHAIN_BITS);
    if (!stack->nodes || !stack->chains || allocate_slots(stack, CAPACITY_MIN) < 0) {
        free(stack->nodes);
        free(stack->chains);
        memset(stack, 0, sizeof *stack);
        return RSC_ENOMEM;
    }
    memset(stack->chains, 0xff, sizeof *stack->chains << CHAIN_BITS);
    note_peak(stack, 0);
    return 0;
}

void rsc_sampled_stack_free(struct rsc_sampled_stack *stack) {
    free_slots(stack);
    free(stack->nodes);
    free(stack->chains);
    memset(stack, 0, sizeof *stack);
}

/* ---- lines above ---- */

uint32_t rsc_sampled_stack_groups_above(const struct rsc_sampled_stack *stack, uint32_t node,
                                        uint32_t above[RSC_LINE_GROUPS]) {
    uint32_t slot = stack->nodes[node].slot, block = slot >> RSC_STACK_BLOCK_BITS;
    uint32_t last_block = (stack->top - 1) >> RSC_STACK_BLOCK_BITS;
    uint64_t mask = ~1ull << (slot & 63);
    uint32_t cost = 8;
    memset(above, 0, RSC_LINE_GROUPS * sizeof *above);
    for (uint32_t word = slot >> 6; word >> (RSC_STACK_BLOCK_BITS - 6) == block; word++, mask = ~0ull)
        for (uint64_t left = stack->bits[word] & mask; left; left &= left - 1) {
            uint32_t other = stack->node_of[word << 6 | (uint32_t)__builtin_ctzll(left)];
            above[rsc_hash_group(stack->nodes[other].hash, RSC_LINE_GROUPS)]++;
            cost++;
        }
    for (uint32_t b = block + 1; b <= last_block; b++)
        for (uint32_t g = 0; g < RSC_LINE_GROUPS; g++) above[g] += stack->block_groups[b][g];
    return cost + last_block - block;
}

/* ---- slots ---- */

int rsc_sampled_stack_renumber(struct rsc_sampled_stack *stack) {
    struct rsc_sampled_stack old = *stack;
    uint32_t capacity = CAPACITY_MIN, held = 0;
    if (stack->lines > LINES_MAX) return RSC_ELIMIT;
    while (capacity < stack->lines * (uint64_t)SLOTS_PER_LINE) capacity *= 2;
    if (allocate_slots(stack, capacity) < 0) {
        *stack = old;
        return RSC_ENOMEM;
    }
    note_peak(stack, slot_bytes(old.capacity));
    for (uint32_t word = 0; word < old.capacity / 64; word++)
        for (uint64_t left = old.bits[word]; left; left &= left - 1)
            rsc_stack_set_slot(stack, held++, old.node_of[word << 6 | (uint32_t)__builtin_ctzll(left)]);
    stack->top = held;
    free_slots(&old);
    return 0;
}

/* ---- nodes ---- */

static int grow_nodes(struct rsc_sampled_stack *stack) {
    uint32_t room = stack->node_room * 2;
    uint32_t shift = stack->chain_shift - 1;
    if (room > LINES_MAX) return RSC_ELIMIT;
    uint32_t *chains = malloc(sizeof *chains << (64 - shift));
    struct rsc_stack_node *nodes = chains ? realloc(stack->nodes, room * sizeof *nodes) : NULL;
    if (!nodes) {
        free(chains);
        return RSC_ENOMEM;
    }
    note_peak(stack, stack->node_room * sizeof *nodes + (sizeof *chains << (64 - shift)));
    memset(chains, 0xff, sizeof *chains << (64 - shift));
    free(stack->chains);
    stack->chains = chains;
    stack->chain_shift = shift;
    stack->nodes = nodes;
    stack->node_room = room;
    /* grown only when no node is free: all are in chains */
    for (uint32_t node = 0; node < stack->node_used; node++) {
        uint32_t *head = &chains[rsc_stack_chain(stack, nodes[node].hash)];
        nodes[node].next = *head;
        *head = node;
    }
    return 0;
}

int rsc_sampled_stack_add(struct rsc_sampled_stack *stack, uint64_t line, uint64_t hash, uint64_t time, uint32_t *out) {
    int status = 0;
    if (stack->free_node == RSC_NO_NODE && stack->node_used == stack->node_room) status = grow_nodes(stack);
    if (!status && stack->top == stack->capacity) status = rsc_sampled_stack_renumber(stack);
    if (status < 0) return status;
    uint32_t node = stack->free_node;
    if (node != RSC_NO_NODE) stack->free_node = stack->nodes[node].next;
    else node = stack->node_used++;
    uint32_t *head = &stack->chains[rsc_stack_chain(stack, hash)];
    stack->nodes[node] = (struct rsc_stack_node){.line = line, .hash = hash, .time = time, .next = *head};
    *head = node;
    rsc_stack_set_slot(stack, stack->top++, node);
    stack->lines++;
    *out = node;
    return 0;
}

void rsc_sampled_stack_remove(struct rsc_sampled_stack *stack, uint32_t node) {
    struct rsc_stack_node *gone = &stack->nodes[node];
    uint32_t *link = &stack->chains[rsc_stack_chain(stack, gone->hash)];
    while (*link != node) {
        assert(*link != RSC_NO_NODE);
        link = &stack->nodes[*link].next;
    }
    *link = gone->next;
    rsc_stack_clear_slot(stack, gone->slot, gone->hash);
    gone->next = stack->free_node;
    stack->free_node = node;
    stack->lines--;
}
