/*
 * call_paths.h - the tree of call paths, and each thread's position in it.
 *
 * A node is a call site below the node of its caller; node 0 is the root, outside of
 * any call seen. Each thread has a stack of the calls it is in. A return goes to just
 * after its call, which identifies the frame it leaves: frames left without returning
 * (longjmp, exceptions) are popped with it, and tail calls need nothing special.
 *
 * Recursion is folded: a call site that is already on the path leads back to its node
 * there. A recursive sort has a few nodes, not two for each of its calls.
 *
 * The tree is bounded. Paths stop growing, and deeper calls are counted at the node
 * reached, when the table of nodes is full, or the path is RSC_CALL_DEPTH_MAX calls
 * long. Stacks continue beyond that, with repeats of a frame as a number, so returns
 * are still matched.
 */
#ifndef RSC_DISTANCE_COUNT_CALL_PATHS_H
#define RSC_DISTANCE_COUNT_CALL_PATHS_H

#include <stdint.h>

#include "base/u64_table.h"

#define RSC_CALL_ROOT 0u
#define RSC_CALL_NODES_MAX 65536u /* nodes share 64 bits with a 48-bit pc in keys */
#define RSC_CALL_DEPTH_MAX 1024u

struct rsc_call_node {
    uint64_t pc; /* of the call */
    uint32_t parent;
    uint32_t depth; /* calls from the root */
    uint32_t recent[4]; /* where calls made here lead, by some bits of their pc; RSC_CALL_ROOT: not known */
};

struct rsc_call_frame {
    uint64_t pc;      /* of the call */
    uint32_t node;    /* where the called function runs */
    uint32_t repeats; /* repeats of this frame */
};

struct rsc_call_stack {
    uint32_t node; /* of the top frame */
    uint32_t count, room;
    uint32_t beyond; /* calls beyond a full stack */
    struct rsc_call_frame *frames;
};

struct rsc_call_paths {
    struct rsc_call_node *nodes; /* owned; parents before children */
    uint32_t node_count, node_limit;
    uint32_t stack_count;
    struct rsc_call_stack *stacks; /* by thread number; owned */
    struct rsc_u64_table children; /* rsc_call_paths_key(node, pc) -> child, or ancestor of the same pc */
    struct rsc_u64_table wide;     /* pcs of more than 47 bits -> their number + 1 */
};

/* `nodes` includes the root: 1 to RSC_CALL_NODES_MAX. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_call_paths_init(struct rsc_call_paths *paths, uint32_t nodes);
void rsc_call_paths_free(struct rsc_call_paths *paths);
int rsc_call_paths_copy(struct rsc_call_paths *copy, const struct rsc_call_paths *paths); /* 0 or RSC_ENOMEM */

/*
 * A unique key for (node, pc), for up to a million pcs beyond 47 bits;
 * RSC_CALL_KEY_NONE for further ones.
 */
#define RSC_CALL_KEY_NONE UINT64_MAX
uint64_t rsc_call_paths_wide_key(struct rsc_call_paths *paths, uint32_t node, uint64_t pc);

static inline uint64_t rsc_call_paths_key(struct rsc_call_paths *paths, uint32_t node, uint64_t pc) {
    if (__builtin_expect(pc >> 47 != 0, 0)) return rsc_call_paths_wide_key(paths, node, pc);
    return (uint64_t)node << 48 | pc;
}

/* The node of a call at `pc` made in `node`; recursive: the one that made it before; `node` if the tree is full. */
uint32_t rsc_call_paths_search(struct rsc_call_paths *paths, uint32_t node, uint64_t pc);
static inline uint32_t rsc_call_paths_child(struct rsc_call_paths *paths, uint32_t node, uint64_t pc) {
    uint32_t recent = paths->nodes[node].recent[(pc ^ pc >> 2 ^ pc >> 4) & 3];
    return recent != RSC_CALL_ROOT && paths->nodes[recent].pc == pc ? recent : rsc_call_paths_search(paths, node, pc);
}

/* The node of a path of `count` call pcs, innermost first, not aligned. */
uint32_t rsc_call_paths_node(struct rsc_call_paths *paths, const void *pcs, uint32_t count);

/* A thread calls, returns to `pc`, or starts afresh. Return 0 or RSC_ENOMEM. */
int rsc_call_paths_call(struct rsc_call_paths *paths, uint32_t thread, uint64_t pc);
void rsc_call_paths_return(struct rsc_call_paths *paths, uint32_t thread, uint64_t pc);
void rsc_call_paths_restart(struct rsc_call_paths *paths, uint32_t thread);

/* The node a thread is in. */
static inline uint32_t rsc_call_paths_current(const struct rsc_call_paths *paths, uint32_t thread) {
    return thread < paths->stack_count ? paths->stacks[thread].node : RSC_CALL_ROOT;
}

#endif
