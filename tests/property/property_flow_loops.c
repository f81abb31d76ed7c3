/*
 * property_flow_loops.c - loops of random control-flow graphs against their definition.
 *
 * Where a graph is reducible, the loops are its natural loops: for each header (a
 * block that dominates a block with an edge to it) the blocks that reach such an edge
 * without passing the header. Dominance is found by leaving a block out and seeing
 * what can still be reached. In all graphs, the outermost loops are the strongly
 * connected parts, and each loop is strongly connected, lies within its parent and is
 * smaller.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/rng.h"
#include "collect/symbols/flow_loops.h"

#define BLOCKS_MAX 16
#define EDGES_MAX 96
#define GRAPHS 5000

struct graph {
    uint32_t count, edges;
    uint32_t from[EDGES_MAX], to[EDGES_MAX];
    uint32_t first[BLOCKS_MAX + 1], targets[EDGES_MAX];
};

static void finish(struct graph *graph) {
    uint32_t at = 0;
    for (uint32_t b = 0; b < graph->count; b++) {
        graph->first[b] = at;
        for (uint32_t e = 0; e < graph->edges; e++)
            if (graph->from[e] == b) graph->targets[at++] = graph->to[e];
    }
    graph->first[graph->count] = at;
}

/* Blocks that can be reached from `start` without passing `without`, inside `within`: sets of bits. */
static uint32_t reach(const struct graph *graph, uint32_t start, uint32_t without, uint32_t within) {
    uint32_t seen = 1u << start;
    if (start == without || !(within >> start & 1)) return 0;
    for (uint32_t before = 0; before != seen;) {
        before = seen;
        for (uint32_t e = 0; e < graph->edges; e++)
            if ((seen >> graph->from[e] & 1) && graph->to[e] != without && (within >> graph->to[e] & 1))
                seen |= 1u << graph->to[e];
    }
    return seen;
}

static int dominates(const struct graph *graph, uint32_t a, uint32_t b) {
    return a == b || !(reach(graph, 0, a, UINT32_MAX) >> b & 1);
}

/* The natural loop of a header, all its back edges together; 0 if it has none. */
static uint32_t natural_loop(const struct graph *graph, uint32_t header) {
    uint32_t body = 0;
    for (uint32_t e = 0; e < graph->edges; e++) {
        if (graph->to[e] != header || !dominates(graph, header, graph->from[e])) continue;
        body |= 1u << header;
        for (uint32_t b = 0; b < graph->count; b++)
            if (b != header && (reach(graph, b, header, UINT32_MAX) >> graph->from[e] & 1)) body |= 1u << b;
    }
    return body;
}

static int is_reducible(const struct graph *graph) {
    struct graph forward = *graph;
    forward.edges = 0;
    for (uint32_t e = 0; e < graph->edges; e++) {
        if (dominates(graph, graph->to[e], graph->from[e])) continue;
        forward.from[forward.edges] = graph->from[e];
        forward.to[forward.edges++] = graph->to[e];
    }
    for (uint32_t e = 0; e < forward.edges; e++)
        if (reach(&forward, forward.to[e], UINT32_MAX, UINT32_MAX) >> forward.from[e] & 1) return 0;
    return 1;
}

static uint32_t body_of(const struct rsc_flow_loops *loops, const struct graph *graph, uint32_t loop) {
    uint32_t body = 0;
    for (uint32_t b = 0; b < graph->count; b++)
        for (uint32_t at = loops->loop_of[b]; at != RSC_NO_LOOP; at = loops->loops[at].parent)
            if (at == loop) body |= 1u << b;
    return body;
}

static int is_connected(const struct graph *graph, uint32_t body) {
    for (uint32_t b = 0; b < graph->count; b++) {
        if (!(body >> b & 1)) continue;
        uint32_t reached = 0;
        for (uint32_t e = 0; e < graph->edges; e++)
            if (graph->from[e] == b && (body >> graph->to[e] & 1))
                reached |= reach(graph, graph->to[e], UINT32_MAX, body);
        if (reached != body) return 0;
    }
    return 1;
}

static void print(const struct graph *graph, uint64_t seed) {
    printf("seed %llu:", (unsigned long long)seed);
    for (uint32_t e = 0; e < graph->edges; e++) printf(" %u>%u", graph->from[e], graph->to[e]);
    puts("");
}

#define CHECK(holds)                              \
    do {                                          \
        if (!(holds)) {                           \
            print(graph, seed);                   \
            fail_msg("%s does not hold", #holds); \
        }                                         \
    } while (0)

static void check(const struct graph *graph, uint64_t seed, uint32_t *reducible, uint32_t *irregular) {
    struct rsc_flow_loops loops;
    CHECK(rsc_flow_loops_find(&loops, &(struct rsc_flow_graph){graph->count, graph->first, graph->targets}) == 0);
    uint32_t in_cycle = 0, in_loop = 0;
    for (uint32_t b = 0; b < graph->count; b++) {
        for (uint32_t e = 0; e < graph->edges; e++)
            if (graph->from[e] == b && (reach(graph, graph->to[e], UINT32_MAX, UINT32_MAX) >> b & 1))
                in_cycle |= 1u << b;
        if (loops.loop_of[b] != RSC_NO_LOOP) in_loop |= 1u << b;
    }
    CHECK(in_loop == in_cycle);
    for (uint32_t i = 0; i < loops.count; i++) {
        const struct rsc_flow_loop *loop = &loops.loops[i];
        uint32_t body = body_of(&loops, graph, i);
        CHECK(body >> loop->header & 1);
        CHECK(body >> loop->latch & 1);
        CHECK(is_connected(graph, body));
        CHECK(loop->parent == RSC_NO_LOOP || loop->parent < i);
        CHECK(loop->depth == (loop->parent == RSC_NO_LOOP ? 1 : loops.loops[loop->parent].depth + 1));
        if (loop->parent != RSC_NO_LOOP) {
            uint32_t around = body_of(&loops, graph, loop->parent);
            CHECK((body & ~around) == 0 && body != around);
        } else {
            uint32_t ahead = reach(graph, loop->header, UINT32_MAX, UINT32_MAX), part = 0;
            for (uint32_t b = 0; b < graph->count; b++)
                if ((ahead >> b & 1) && (reach(graph, b, UINT32_MAX, UINT32_MAX) >> loop->header & 1)) part |= 1u << b;
            CHECK(body == part);
        }
        *irregular += loop->entries > 1;
    }
    if (is_reducible(graph)) {
        uint32_t natural = 0;
        for (uint32_t header = 0; header < graph->count; header++) {
            uint32_t body = natural_loop(graph, header), found = 0;
            natural += body != 0;
            for (uint32_t i = 0; body && i < loops.count; i++)
                found +=
                    loops.loops[i].header == header && loops.loops[i].entries == 1 && body_of(&loops, graph, i) == body;
            CHECK(!body || found == 1);
        }
        CHECK(natural == loops.count);
        ++*reducible;
    }
    rsc_flow_loops_free(&loops);
}

/* Every block is reached: each has an edge from one before it. */
static void make(struct graph *graph, struct rsc_rng *rng) {
    *graph = (struct graph){.count = 1 + (uint32_t)rsc_rng_below(rng, BLOCKS_MAX)};
    for (uint32_t b = 1; b < graph->count; b++) {
        graph->from[graph->edges] = (uint32_t)rsc_rng_below(rng, b);
        graph->to[graph->edges++] = b;
    }
    uint32_t more = (uint32_t)rsc_rng_below(rng, graph->count + 4);
    int near = rsc_rng_below(rng, 3) != 0; /* edges that stay near are more often reducible */
    for (uint32_t i = 0; i < more; i++) {
        uint32_t from = (uint32_t)rsc_rng_below(rng, graph->count), reach_back = near ? 4 : graph->count;
        uint32_t low = from > reach_back ? from - reach_back : 0;
        graph->from[graph->edges] = from;
        graph->to[graph->edges++] = low + (uint32_t)rsc_rng_below(rng, (from - low) + 1);
    }
    finish(graph);
}

/* Blocks that nothing leads to, with edges to others, change nothing for these. */
static void check_unreached(const struct graph *graph, struct rsc_rng *rng, uint64_t seed) {
    struct graph more = *graph;
    struct rsc_flow_loops loops, with;
    if (graph->count + 3 > BLOCKS_MAX || graph->edges + 9 > EDGES_MAX) return;
    more.count += 3;
    for (uint32_t i = 0; i < 9; i++) {
        more.from[more.edges] = graph->count + i % 3;
        more.to[more.edges++] = (uint32_t)rsc_rng_below(rng, i < 6 ? graph->count : more.count);
    }
    finish(&more);
    CHECK(rsc_flow_loops_find(&loops, &(struct rsc_flow_graph){graph->count, graph->first, graph->targets}) == 0);
    CHECK(rsc_flow_loops_find(&with, &(struct rsc_flow_graph){more.count, more.first, more.targets}) == 0);
    for (uint32_t b = 0; b < graph->count; b++) {
        uint32_t a = loops.loop_of[b], c = with.loop_of[b];
        CHECK((a == RSC_NO_LOOP) == (c == RSC_NO_LOOP));
        if (a == RSC_NO_LOOP) continue;
        CHECK(body_of(&loops, graph, a) == body_of(&with, &more, c));
        CHECK(loops.loops[a].header == with.loops[c].header && loops.loops[a].entries == with.loops[c].entries);
        CHECK(loops.loops[a].depth == with.loops[c].depth && loops.loops[a].latch == with.loops[c].latch);
    }
    rsc_flow_loops_free(&loops);
    rsc_flow_loops_free(&with);
}

static void random_graphs(void **state) {
    (void)state;
    struct rsc_rng rng;
    struct graph graph;
    uint32_t reducible = 0, irregular = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        rsc_rng_seed(&rng, 77, seed);
        make(&graph, &rng);
        check(&graph, seed, &reducible, &irregular);
        check_unreached(&graph, &rng, seed);
    }
    printf("%u of %u graphs reducible, %u loops with several entries\n", reducible, GRAPHS, irregular);
    assert_true(reducible > GRAPHS / 4 && reducible < GRAPHS && irregular > 100); /* both sorts were there */
}

/* A nest so deep that going through it would take hours ends with RSC_ELIMIT; one of a hundred is fine. */
static void deep_nests(void **state) {
    (void)state;
    for (uint32_t depth = 100; depth <= 100000; depth *= 1000) {
        uint32_t count = 2 * depth + 1, *first = malloc((count + 1) * sizeof *first),
                 *to = malloc(2ull * count * sizeof *to), at = 0;
        assert_true(first && to);
        for (uint32_t b = 0; b < count; b++) { /* headers 0 .. depth-1, then latches outwards */
            first[b] = at;
            if (b + 1 < count) to[at++] = b + 1;
            if (b >= depth && b < 2 * depth) to[at++] = 2 * depth - 1 - b;
        }
        first[count] = at;
        struct rsc_flow_loops loops;
        int rc = rsc_flow_loops_find(&loops, &(struct rsc_flow_graph){count, first, to});
        if (depth == 100) {
            assert_int_equal(rc, 0);
            assert_int_equal(loops.count, 100);
            assert_int_equal(loops.loops[loops.loop_of[depth]].depth, 100);
        } else {
            assert_int_equal(rc, RSC_ELIMIT);
            assert_int_equal(loops.count, 0);
        }
        rsc_flow_loops_free(&loops);
        free(first);
        free(to);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(deep_nests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
