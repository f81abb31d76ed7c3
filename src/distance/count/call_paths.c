/* call_paths.c - see call_paths.h. */
#include "distance/count/call_paths.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/grow.h"

#define WIDE_PCS_MAX (1u << 20)
#define FRAMES_MAX (1u << 14) /* frames kept per stack; 256 KiB */
#define FRAMES_SEARCHED 1024u /* a return is matched at most this far down */
#define CALL_BYTES_MAX 15u    /* longest instruction */
#define CHILDREN_MAX (1u << 18) /* remembered calls: those to new nodes, and recursive ones */

int rsc_call_paths_init(struct rsc_call_paths *paths, uint32_t nodes) {
    memset(paths, 0, sizeof *paths);
    paths->node_limit = nodes < RSC_CALL_NODES_MAX ? nodes : RSC_CALL_NODES_MAX;
    paths->nodes = calloc(paths->node_limit, sizeof *paths->nodes);
    if (!paths->nodes || rsc_u64_table_init(&paths->children, 0) < 0 || rsc_u64_table_init(&paths->wide, 0) < 0) {
        rsc_call_paths_free(paths);
        return RSC_ENOMEM;
    }
    paths->node_count = 1;
    return 0;
}

void rsc_call_paths_free(struct rsc_call_paths *paths) {
    for (uint32_t i = 0; i < paths->stack_count; i++) free(paths->stacks[i].frames);
    free(paths->stacks);
    free(paths->nodes);
    rsc_u64_table_free(&paths->children);
    rsc_u64_table_free(&paths->wide);
    memset(paths, 0, sizeof *paths);
}

int rsc_call_paths_copy(struct rsc_call_paths *copy, const struct rsc_call_paths *paths) {
    *copy = (struct rsc_call_paths){.node_count = paths->node_count, .node_limit = paths->node_limit};
    copy->nodes = calloc(paths->node_limit, sizeof *copy->nodes);
    copy->stacks = calloc(paths->stack_count + 1ull, sizeof *copy->stacks);
    if (!copy->nodes || !copy->stacks || rsc_u64_table_copy(&copy->children, &paths->children) < 0 ||
        rsc_u64_table_copy(&copy->wide, &paths->wide) < 0)
        goto fail;
    memcpy(copy->nodes, paths->nodes, paths->node_count * sizeof *copy->nodes);
    for (; copy->stack_count < paths->stack_count; copy->stack_count++) {
        struct rsc_call_stack *stack = &copy->stacks[copy->stack_count];
        *stack = paths->stacks[copy->stack_count];
        stack->frames = RSC_COPY(stack->frames, stack->count, stack->room);
        if (!stack->frames) goto fail;
    }
    return 0;
fail:
    rsc_call_paths_free(copy);
    return RSC_ENOMEM;
}

/* ---- the tree ---- */

/* Replaces a long pc by bit 47 and a number. If that fails the pc has no place; everything else works. */
uint64_t rsc_call_paths_wide_key(struct rsc_call_paths *paths, uint32_t node, uint64_t pc) {
    struct rsc_u64_table *wide = &paths->wide;
    struct rsc_u64_entry *entry = rsc_u64_table_find(wide, pc);
    if (!entry->value) {
        if (wide->used >= WIDE_PCS_MAX) return RSC_CALL_KEY_NONE;
        if (rsc_u64_table_needs_rebuild(wide)) {
            if (rsc_u64_table_rebuild(wide) < 0) return RSC_CALL_KEY_NONE;
            entry = rsc_u64_table_find(wide, pc);
        }
        entry->key = pc;
        entry->value = ++wide->used;
    }
    return (uint64_t)node << 48 | 1ull << 47 | entry->value;
}

/* The node of a path with that call, which it ends in or passes; RSC_CALL_ROOT: none. */
static uint32_t on_path(const struct rsc_call_paths *paths, uint32_t node, uint64_t pc) {
    while (node != RSC_CALL_ROOT && paths->nodes[node].pc != pc) node = paths->nodes[node].parent;
    return node;
}

static uint32_t child_of(struct rsc_call_paths *paths, uint32_t node, uint64_t pc) {
    struct rsc_call_node *nodes = paths->nodes;
    uint64_t key = rsc_call_paths_key(paths, node, pc);
    if (key == RSC_CALL_KEY_NONE) return node;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&paths->children, key);
    if (entry->value) return (uint32_t)entry->value;
    uint32_t child = on_path(paths, node, pc);
    if (child == RSC_CALL_ROOT) {
        if (nodes[node].depth >= RSC_CALL_DEPTH_MAX || paths->node_count == paths->node_limit) return node;
        child = paths->node_count;
    } else if (paths->children.used >= CHILDREN_MAX) {
        return child;
    }
    if (rsc_u64_table_needs_rebuild(&paths->children)) {
        if (rsc_u64_table_rebuild(&paths->children) < 0) return node;
        entry = rsc_u64_table_find(&paths->children, key);
    }
    if (child == paths->node_count)
        nodes[paths->node_count++] = (struct rsc_call_node){.pc = pc, .parent = node, .depth = nodes[node].depth + 1};
    *entry = (struct rsc_u64_entry){.key = key, .value = child};
    paths->children.used++;
    return child;
}

uint32_t rsc_call_paths_search(struct rsc_call_paths *paths, uint32_t node, uint64_t pc) {
    uint32_t child = child_of(paths, node, pc);
    if (child != RSC_CALL_ROOT && paths->nodes[child].pc == pc)
        paths->nodes[node].recent[(pc ^ pc >> 2 ^ pc >> 4) & 3] = child;
    return child;
}

uint32_t rsc_call_paths_node(struct rsc_call_paths *paths, const void *pcs, uint32_t count) {
    uint32_t node = RSC_CALL_ROOT;
    while (count--) {
        uint64_t pc;
        memcpy(&pc, (const char *)pcs + count * sizeof pc, sizeof pc);
        node = rsc_call_paths_child(paths, node, pc);
    }
    return node;
}

/* ---- the stacks ---- */

static int stacks_reach(struct rsc_call_paths *paths, uint32_t thread) {
    if (thread < paths->stack_count) return 0;
    uint32_t count = paths->stack_count ? paths->stack_count : 4;
    while (count <= thread) count *= 2;
    struct rsc_call_stack *stacks = realloc(paths->stacks, count * sizeof *stacks);
    if (!stacks) return RSC_ENOMEM;
    memset(stacks + paths->stack_count, 0, (count - paths->stack_count) * sizeof *stacks);
    paths->stacks = stacks;
    paths->stack_count = count;
    return 0;
}

int rsc_call_paths_call(struct rsc_call_paths *paths, uint32_t thread, uint64_t pc) {
    if (stacks_reach(paths, thread) < 0) return RSC_ENOMEM;
    struct rsc_call_stack *stack = &paths->stacks[thread];
    if (stack->beyond) {
        stack->beyond++;
        return 0;
    }
    uint32_t node = rsc_call_paths_child(paths, stack->node, pc);
    if (stack->count) {
        struct rsc_call_frame *top = &stack->frames[stack->count - 1];
        if (top->pc == pc && top->node == node && top->repeats < UINT32_MAX) {
            top->repeats++;
            return 0;
        }
    }
    if (stack->count == FRAMES_MAX) {
        stack->beyond = 1;
        return 0;
    }
    if (stack->count == stack->room) {
        uint32_t room = stack->room ? 2 * stack->room : 32;
        struct rsc_call_frame *frames = realloc(stack->frames, room * sizeof *frames);
        if (!frames) return RSC_ENOMEM;
        stack->frames = frames;
        stack->room = room;
    }
    stack->frames[stack->count++] = (struct rsc_call_frame){.pc = pc, .node = node, .repeats = 1};
    stack->node = node;
    return 0;
}

/* Pops one call; the stack's top frame is then the one `above` frames below. */
static void pop(struct rsc_call_stack *stack, uint32_t above) {
    stack->count -= above;
    if (stack->frames[stack->count - 1].repeats > 1) stack->frames[stack->count - 1].repeats--;
    else stack->count--;
    stack->node = stack->count ? stack->frames[stack->count - 1].node : RSC_CALL_ROOT;
}

void rsc_call_paths_return(struct rsc_call_paths *paths, uint32_t thread, uint64_t pc) {
    if (thread >= paths->stack_count) return;
    struct rsc_call_stack *stack = &paths->stacks[thread];
    if (stack->beyond) {
        stack->beyond--;
        return;
    }
    for (uint32_t above = 0; above < stack->count && above < FRAMES_SEARCHED; above++) {
        uint64_t call = stack->frames[stack->count - 1 - above].pc;
        if (call >= pc || pc - call > CALL_BYTES_MAX) continue;
        pop(stack, above);
        return;
    }
    if (stack->count) pop(stack, 0);
}

void rsc_call_paths_restart(struct rsc_call_paths *paths, uint32_t thread) {
    if (thread >= paths->stack_count) return;
    paths->stacks[thread].count = paths->stacks[thread].beyond = 0;
    paths->stacks[thread].node = RSC_CALL_ROOT;
}
