/*
 * flow_loops.h - the loops of a control-flow graph.
 *
 * A loop is a strongly connected component of the graph: each block can be reached from
 * each other. Its header is where it is entered. The components that remain strongly
 * connected without the edges back to the header are the loops inside it, and so on
 * inwards. If every loop is entered only at its header (reducible graphs: all that
 * compilers first make of for, while, do, break and continue), these are exactly the
 * natural loops: the header dominates the loop, and the removed edges are the back
 * edges.
 *
 * A component that is entered at several blocks has no natural loop: a goto into a
 * loop, or what gcc -O3 makes of a loop that starts with another loop in two versions.
 * It is a loop here, with its first entry as header, and is marked so. Edges to its
 * entries stay if they are back edges of a natural loop (the entry dominates their
 * source), so the loops inside are found even if they begin at an entry.
 *
 * Blocks that are not reached from block 0 (padding, exception handlers) do not count
 * as entries to loops of blocks that are.
 */
#ifndef RSC_COLLECT_SYMBOLS_FLOW_LOOPS_H
#define RSC_COLLECT_SYMBOLS_FLOW_LOOPS_H

#include <stddef.h>
#include <stdint.h>

/* Blocks 0..count-1, block 0 is the entry; to[first[b]] .. to[first[b + 1] - 1] are the successors of b. */
struct rsc_flow_graph {
    uint32_t count;
    const uint32_t *first; /* count + 1 of them, ascending from 0 */
    const uint32_t *to;
};

#define RSC_NO_LOOP UINT32_MAX

struct rsc_flow_loop {
    uint32_t header;
    uint32_t latch;   /* the highest-numbered of its blocks with a removed edge to an entry */
    uint32_t parent;  /* the enclosing loop, with a lower index, or RSC_NO_LOOP */
    uint32_t depth;   /* from 1 */
    uint32_t entries; /* its blocks that are entered from outside: more than 1 if it is not a natural loop */
};

struct rsc_flow_loops {
    struct rsc_flow_loop *loops; /* owned */
    size_t count;
    uint32_t *loop_of; /* the innermost loop of each block, or RSC_NO_LOOP; owned */
};

/*
 * Returns 0, RSC_ENOMEM, or RSC_ELIMIT for a graph that would take too long (nested
 * thousands of times); *loops is empty then. A zeroed struct may be freed.
 */
int rsc_flow_loops_find(struct rsc_flow_loops *loops, const struct rsc_flow_graph *graph);
void rsc_flow_loops_free(struct rsc_flow_loops *loops);

#endif
