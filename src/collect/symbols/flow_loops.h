/*
 * flow_loops.h - the loops of a control-flow graph.
 *
 * A loop is a strongly connected part of the graph: blocks that can each be reached
 * from each other. Its header is where it is entered. What is strongly connected
 * when the edges back to the header are left out are the loops inside it, and so on
 * inwards. Where every loop is entered at its header only (reducible graphs: all that
 * compilers make of for, while, do, break and continue at first), these are just the
 * natural loops: the header dominates the loop, and the edges left out are the back
 * edges.
 *
 * A part that is entered at several blocks has no natural loop: a goto into a loop, or
 * what gcc -O3 makes of a loop that has another, in two versions, at its start. It is a
 * loop here, with the first of its entries as header, and says so. Of the edges to its
 * entries those stay that are back edges of a natural loop (their source is dominated
 * by the entry): so the loops inside are found even if they begin at an entry.
 *
 * Blocks that are not reached from block 0 (padding, handlers of exceptions) are no way
 * into a loop of blocks that are.
 */
#ifndef RSC_COLLECT_SYMBOLS_FLOW_LOOPS_H
#define RSC_COLLECT_SYMBOLS_FLOW_LOOPS_H

#include <stddef.h>
#include <stdint.h>

/* Blocks 0..count-1, block 0 is where it begins; to[first[b]] .. to[first[b + 1] - 1] are the successors of b. */
struct rsc_flow_graph {
    uint32_t count;
    const uint32_t *first; /* count + 1 of them, ascending from 0 */
    const uint32_t *to;
};

#define RSC_NO_LOOP UINT32_MAX

struct rsc_flow_loop {
    uint32_t header;
    uint32_t latch;   /* of the blocks in it whose edges to an entry are left out, the one with the highest number */
    uint32_t parent;  /* the loop around it, with a lower index, or RSC_NO_LOOP */
    uint32_t depth;   /* from 1 */
    uint32_t entries; /* blocks of it that are entered from outside: more than 1 if it is no natural loop */
};

struct rsc_flow_loops {
    struct rsc_flow_loop *loops; /* owned */
    size_t count;
    uint32_t *loop_of; /* for each block the innermost loop it is in, or RSC_NO_LOOP; owned */
};

/*
 * Returns 0, RSC_ENOMEM, or RSC_ELIMIT for a graph that would take too long (nested
 * thousands of times); *loops is empty then. A zeroed struct may be freed.
 */
int rsc_flow_loops_find(struct rsc_flow_loops *loops, const struct rsc_flow_graph *graph);
void rsc_flow_loops_free(struct rsc_flow_loops *loops);

#endif
