/*
 * flow_loops.c - see flow_loops.h.
 *
 * A region is the set of blocks of a loop, without the edges to its entries; the first
 * region is the whole graph, without an entry. Tarjan's algorithm, without recursion,
 * finds the strongly connected components of a region; each one that is a loop becomes
 * a region to be split later. No component has two entries of its region, as then one
 * would dominate the other, which can be reached from outside without it: so every
 * region is smaller than the enclosing one. Dominators are computed as by Cooper,
 * Harvey and Kennedy. A block is visited once per enclosing loop, so the cost is the
 * number of edges times the depth; a step limit stops graphs that no compiler makes.
 */
#include "collect/symbols/flow_loops.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/grow.h"

/* Step limit of a graph: for loops 20 deep, with a margin for small graphs. */
#define STEPS_PER_EDGE 64u
#define STEPS_MORE (1u << 20)
#define NONE UINT32_MAX

struct region {
    uint32_t first, count; /* in search.members */
    uint32_t loop;         /* RSC_NO_LOOP: the whole graph */
};

struct search {
    const struct rsc_flow_graph *graph;
    struct rsc_flow_loops *out;
    uint32_t *before_first, *before; /* predecessors, like graph.first and graph.to */
    uint32_t *order;                 /* by block: position in reverse postorder from block 0, unreached ones last */
    uint32_t *at_order;              /* the block at each position */
    uint32_t *dominator;             /* by block: immediate dominator (of block 0 itself); NONE: unreachable */
    uint32_t *enters, *leaves;       /* by block: interval in the dominator tree */
    uint32_t *entry_of;              /* by block: the loop it was last found to be an entry of */
    uint32_t *members;               /* blocks by region: a region's parts replace it in place */
    uint32_t *region_of;             /* by block */
    uint32_t *number, *low;          /* by block, for Tarjan; number 0: not visited */
    uint32_t *next_edge;             /* by block: progress of its visit */
    uint32_t *path, *open;           /* stacks of blocks: being visited; not yet in a component */
    uint8_t *is_open;
    uint32_t counter;
    struct region *regions; /* owned */
    size_t region_count, region_room;
    size_t loop_room;
    uint64_t steps, steps_max;
};

static int find_predecessors(struct search *search) {
    const struct rsc_flow_graph *graph = search->graph;
    uint32_t edges = graph->first[graph->count];
    search->before_first = calloc(graph->count + 2ull, sizeof *search->before_first);
    search->before = malloc((edges + 1ull) * sizeof *search->before);
    if (!search->before_first || !search->before) return RSC_ENOMEM;
    uint32_t *first = search->before_first;
    for (uint32_t e = 0; e < edges; e++) first[graph->to[e] + 2]++;
    for (uint32_t b = 0; b <= graph->count; b++) first[b + 1] += first[b];
    /* first[b + 1] is where b's edges begin, and where they end once they are filled in */
    for (uint32_t b = 0; b < graph->count; b++)
        for (uint32_t e = graph->first[b]; e < graph->first[b + 1]; e++) search->before[first[graph->to[e] + 1]++] = b;
    return 0;
}

/* Numbers blocks in reverse postorder from block 0, then the unreached ones; returns how many are reached. */
static uint32_t find_order(struct search *search) {
    const struct rsc_flow_graph *graph = search->graph;
    uint32_t depth = 0, last = graph->count;
    memset(search->order, 0xff, graph->count * sizeof *search->order);
    memcpy(search->next_edge, graph->first, graph->count * sizeof *search->next_edge);
    search->path[depth++] = 0;
    search->is_open[0] = 1;
    while (depth) {
        uint32_t block = search->path[depth - 1];
        if (search->next_edge[block] == graph->first[block + 1]) {
            search->order[block] = --last;
            depth--;
            continue;
        }
        uint32_t to = graph->to[search->next_edge[block]++];
        if (search->is_open[to]) continue;
        search->is_open[to] = 1;
        search->path[depth++] = to;
    }
    memset(search->is_open, 0, graph->count);
    /* reached blocks have last .. count - 1: move them to the front */
    for (uint32_t b = 0, rest = graph->count - last; b < graph->count; b++)
        search->order[b] = search->order[b] == NONE ? rest++ : search->order[b] - last;
    for (uint32_t b = 0; b < graph->count; b++) search->at_order[search->order[b]] = b;
    return graph->count - last;
}

/* ---- dominators ---- */

static uint32_t meet(struct search *search, uint32_t a, uint32_t b) {
    while (a != b) {
        search->steps++;
        if (search->order[a] > search->order[b]) a = search->dominator[a];
        else b = search->dominator[b];
    }
    return a;
}

/* Blocks are processed in order until nothing changes; a block's first reached predecessor precedes it. */
static int find_dominators(struct search *search, uint32_t reached) {
    for (uint32_t b = 0; b < search->graph->count; b++) search->dominator[b] = NONE;
    search->dominator[0] = 0;
    for (int changed = 1; changed;) {
        changed = 0;
        for (uint32_t i = 1; i < reached; i++) {
            uint32_t block = search->at_order[i], nearest = NONE;
            for (uint32_t e = search->before_first[block]; e < search->before_first[block + 1]; e++) {
                uint32_t from = search->before[e];
                search->steps++;
                if (search->dominator[from] == NONE) continue;
                nearest = nearest == NONE ? from : meet(search, nearest, from);
            }
            changed |= search->dominator[block] != nearest;
            search->dominator[block] = nearest;
            if (search->steps > search->steps_max) return RSC_ELIMIT;
        }
    }
    return 0;
}

/*
 * Intervals: a block's contains those of all blocks it dominates. Subtree sizes are
 * summed from the back, since a dominator precedes the blocks it dominates; then each
 * block is placed after its elder siblings.
 */
static void number_tree(struct search *search, uint32_t reached) {
    uint32_t *size = search->low, *next = search->number;
    for (uint32_t i = 0; i < reached; i++) size[search->at_order[i]] = 1;
    for (uint32_t i = reached; i-- > 1;) size[search->dominator[search->at_order[i]]] += size[search->at_order[i]];
    for (uint32_t i = 0; i < reached; i++) {
        uint32_t block = search->at_order[i], parent = search->dominator[block];
        search->enters[block] = i ? next[parent] : 0;
        if (i) next[parent] += size[block];
        next[block] = search->enters[block] + 1;
        search->leaves[block] = search->enters[block] + size[block];
    }
}

static int is_reached(const struct search *search, uint32_t block) { return search->dominator[block] != NONE; }

/* Whether every path to b passes a. Unknown for unreached blocks. */
static int dominates(const struct search *search, uint32_t a, uint32_t b) {
    if (!is_reached(search, a) || !is_reached(search, b)) return 0;
    return search->enters[a] <= search->enters[b] && search->enters[b] < search->leaves[a];
}

/* ---- loops ---- */

/* Whether the edge is left out inside a loop. */
static int is_left_out(const struct search *search, uint32_t loop, uint32_t from, uint32_t to) {
    if (loop == RSC_NO_LOOP || search->entry_of[to] != loop) return 0;
    return search->out->loops[loop].entries == 1 || !dominates(search, to, from);
}

static int add_region(struct search *search, struct region region) {
    if (RSC_GROW(search->regions, search->region_room, search->region_count + 1)) return RSC_ENOMEM;
    search->regions[search->region_count++] = region;
    return 0;
}

static int add_loop(struct search *search, struct rsc_flow_loop loop) {
    struct rsc_flow_loops *out = search->out;
    if (RSC_GROW(out->loops, search->loop_room, out->count + 1)) return RSC_ENOMEM;
    out->loops[out->count++] = loop;
    return 0;
}

static int goes_to(const struct rsc_flow_graph *graph, uint32_t from, uint32_t to) {
    for (uint32_t e = graph->first[from]; e < graph->first[from + 1]; e++)
        if (graph->to[e] == to) return 1;
    return 0;
}

/* Makes a loop of the blocks part[0..count-1], whose region_of already holds its region's number. */
static int take_loop(struct search *search, const struct region *around, uint32_t *part, uint32_t count,
                     uint32_t number) {
    struct rsc_flow_loop loop = {.header = NONE, .latch = NONE, .parent = around->loop, .depth = 1};
    if (around->loop != RSC_NO_LOOP) loop.depth = search->out->loops[around->loop].depth + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = part[i], is_entry = block == 0;
        for (uint32_t e = search->before_first[block]; e < search->before_first[block + 1] && !is_entry; e++) {
            uint32_t from = search->before[e];
            is_entry = search->region_of[from] != number && (is_reached(search, from) || !is_reached(search, block));
            search->steps++;
        }
        loop.entries += is_entry;
        if (is_entry) search->entry_of[block] = (uint32_t)search->out->count;
        if (is_entry && (loop.header == NONE || search->order[block] < search->order[loop.header])) loop.header = block;
    }
    uint32_t index = (uint32_t)search->out->count;
    if (loop.header == NONE) { /* nothing leads into it: how this code is reached is unknown */
        for (uint32_t i = 0; i < count; i++)
            if (loop.header == NONE || search->order[part[i]] < search->order[loop.header]) loop.header = part[i];
        search->entry_of[loop.header] = index;
        loop.entries = 1;
    }
    for (uint32_t i = 0; i < count; i++) search->out->loop_of[part[i]] = index;
    if (add_loop(search, loop)) return RSC_ENOMEM;
    for (uint32_t e = search->before_first[loop.header]; e < search->before_first[loop.header + 1]; e++) {
        uint32_t from = search->before[e], *latch = &search->out->loops[index].latch;
        if (search->region_of[from] == number && is_left_out(search, index, from, loop.header) &&
            (*latch == NONE || from > *latch))
            *latch = from;
    }
    if (search->out->loops[index].latch == NONE) search->out->loops[index].latch = loop.header;
    return add_region(search, (struct region){(uint32_t)(part - search->members), count, index});
}

/* Visits the blocks reachable from a block of the region, and takes each complete loop. Returns 0 or RSC_ENOMEM. */
static int visit(struct search *search, uint32_t region_number, uint32_t start, uint32_t *open_count, uint32_t *done) {
    const struct rsc_flow_graph *graph = search->graph;
    struct region region = search->regions[region_number];
    uint32_t depth = 0;
    search->path[depth++] = start;
    search->number[start] = search->low[start] = ++search->counter;
    search->next_edge[start] = graph->first[start];
    search->open[(*open_count)++] = start;
    search->is_open[start] = 1;
    while (depth) {
        uint32_t block = search->path[depth - 1];
        search->steps++;
        if (search->next_edge[block] < graph->first[block + 1]) {
            uint32_t to = graph->to[search->next_edge[block]++];
            if (search->region_of[to] != region_number || is_left_out(search, region.loop, block, to)) continue;
            if (!search->number[to]) {
                search->path[depth++] = to;
                search->number[to] = search->low[to] = ++search->counter;
                search->next_edge[to] = graph->first[to];
                search->open[(*open_count)++] = to;
                search->is_open[to] = 1;
            } else if (search->is_open[to] && search->number[to] < search->low[block]) {
                search->low[block] = search->number[to];
            }
            continue;
        }
        depth--;
        if (depth && search->low[block] < search->low[search->path[depth - 1]])
            search->low[search->path[depth - 1]] = search->low[block];
        if (search->low[block] != search->number[block]) continue;
        /* block and all opened after it are a component of the region */
        uint32_t count = 0, member, *part = search->members + *done;
        uint32_t is_loop = search->open[*open_count - 1] != block ||
                           (goes_to(graph, block, block) && !is_left_out(search, region.loop, block, block));
        do {
            member = search->open[--*open_count];
            search->is_open[member] = 0;
            part[count++] = member;
            /* no region: these blocks are done, unless they become a region */
            search->region_of[member] = is_loop ? (uint32_t)search->region_count : NONE;
        } while (member != block);
        *done += count;
        if (is_loop && take_loop(search, &region, part, count, (uint32_t)search->region_count)) return RSC_ENOMEM;
    }
    return 0;
}

/* Splits a region into its components, in the region's own stretch of members. */
static int split(struct search *search, uint32_t number, uint32_t *copy) {
    struct region region = search->regions[number];
    uint32_t *blocks = search->members + region.first, done = region.first, open_count = 0;
    memcpy(copy, blocks, region.count * sizeof *copy);
    for (uint32_t i = 0; i < region.count; i++) search->number[blocks[i]] = 0;
    for (uint32_t i = 0; i < region.count; i++) {
        if (search->number[copy[i]]) continue;
        int rc = visit(search, number, copy[i], &open_count, &done);
        if (rc) return rc;
    }
    search->steps += region.count;
    return search->steps > search->steps_max ? RSC_ELIMIT : 0;
}

static int find_all(struct search *search) {
    uint32_t count = search->graph->count, *copy = malloc((count + 1ull) * sizeof *copy);
    int rc = copy ? add_region(search, (struct region){0, count, RSC_NO_LOOP}) : RSC_ENOMEM;
    for (uint32_t b = 0; b < count; b++) {
        search->members[b] = b;
        search->region_of[b] = 0;
        search->entry_of[b] = RSC_NO_LOOP;
        search->out->loop_of[b] = RSC_NO_LOOP;
    }
    for (uint32_t next = 0; !rc && next < search->region_count; next++) rc = split(search, next, copy);
    free(copy);
    return rc;
}

int rsc_flow_loops_find(struct rsc_flow_loops *loops, const struct rsc_flow_graph *graph) {
    struct search search = {.graph = graph, .out = loops};
    size_t count = graph->count, words = count + 1;
    *loops = (struct rsc_flow_loops){0};
    if (!count) return 0;
    search.steps_max = STEPS_MORE + STEPS_PER_EDGE * ((uint64_t)graph->count + graph->first[graph->count]);
    uint32_t **arrays[] = {&search.order,     &search.at_order, &search.dominator, &search.enters, &search.leaves,
                           &search.entry_of,  &search.members,  &search.region_of, &search.number, &search.low,
                           &search.next_edge, &search.path,     &search.open};
    uint32_t *block = malloc(words * sizeof *block * (sizeof arrays / sizeof *arrays));
    search.is_open = calloc(words, 1);
    loops->loop_of = malloc(words * sizeof *loops->loop_of);
    int rc = block && search.is_open && loops->loop_of ? find_predecessors(&search) : RSC_ENOMEM;
    if (!rc) {
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = block + i * words;
        uint32_t reached = find_order(&search);
        rc = find_dominators(&search, reached);
        if (!rc) number_tree(&search, reached);
        if (!rc) rc = find_all(&search);
    }
    free(block);
    free(search.is_open);
    free(search.before_first);
    free(search.before);
    free(search.regions);
    if (rc) rsc_flow_loops_free(loops);
    return rc;
}

void rsc_flow_loops_free(struct rsc_flow_loops *loops) {
    free(loops->loops);
    free(loops->loop_of);
    *loops = (struct rsc_flow_loops){0};
}
