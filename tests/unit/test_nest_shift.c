/*
 * test_nest_shift.c - running sums that serve several values of outer variables (nest_shift.c): whether a loop has such
 * sums, by how far its variables may move, and that every count is that of its iterations one by one, whatever was asked
 * before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "loops/nest/nest.h"
#include "loops/tree/loop_text.h"

static const struct {
    const char *body; /* in a loop over i of 0..29 */
    int64_t shift;    /* of the loop j below it; 0: none is found */
} nests[] = {
    {"for j = i + 1 to 29 { for k = i + 1 to j - 1 { read a } when j - i >= 3 { read a } }", 1},
    {"for j = i + 1 to 29 { for k = i + 1 to j - 1 { when (i + j + k) % 2 == 0 { read a } } read a }", 2},
    {"for j = 29 to i + 1 step -1 { for k = i to j { when (i + 2*j) % 3 != 0 { read a } } when (i + j) % 4 == 0 { read a } }",
     2},
    {"for j = i to 29 { when i + 1 < 20 { for k = i to j { read a } } when 25 - i >= 0 { read a } for k = i to j { read a } }",
     1},
    {"for j = i to 29 step 3 { for k = j - i to 2*j - 2*i { read a } for l = i to j step 2 { when (l - i) % 5 == 0 { read a } } }",
     1},
    {"for j = i to 29 { let h = floor((i + j) / 2) { for k = h to j { read a } } }", 1},
    {"for j = i to 29 { let h = floor((2*i + j) / 2) { for k = h to j { read a } } }", 0},
    {"for j = i to 29 { for k = i to min(j, 20) { read a } }", 0},
    {"for j = i to 29 { when i + j >= 30 { for k = i to j { read a } } }", 0},
    {"for j = i to 29 { for k = 0 to j - i { for l = i + k to j { when (k + l) % 2 == 0 { read a } } } }", 2},
    {"for j = i to 29 { when (i + j) % 72057594037927935 == 0 { read a } when (i + 2*j) % 72057594037927931 != 0 { read a } "
     "for k = i to j { read a } }",
     0},
    {"for j = i to 29 { for k = max(300*j - 300*i, floor((i + j) / 36028797018963968)) to 9000 { read a } }", 0},
    {"for h = i to 29 { for j = h to 29 { for k = i to h + 2 { read a } for k = i + j - h to j { read a } } }", 1},
};

static int64_t one_by_one(const struct rsc_nest_node *node, int64_t *value) {
    int64_t sum = 0, first = 0, trip = 1;
    if (node->kind == RSC_NODE_REFERENCE) return (int64_t)node->weight;
    if (node->kind == RSC_NODE_GUARD && !rsc_nest_guard_holds(node, value)) return 0;
    if (node->kind == RSC_NODE_LOOP) trip = rsc_nest_trip(node, value, &first);
    for (int64_t t = 0; t < trip; t++) {
        if (node->kind == RSC_NODE_LOOP) value[node->depth] = first + t * node->step;
        for (uint32_t i = 0; i < node->child_count; i++) sum += one_by_one(node->child[i], value);
    }
    return sum;
}

static const struct rsc_nest_node *loop_named(const struct rsc_nest_node *node, const char *name) {
    if (node->kind == RSC_NODE_LOOP && node->from->variable && !strcmp(node->from->variable, name)) return node;
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct rsc_nest_node *found = loop_named(node->child[i], name);
        if (found) return found;
    }
    return NULL;
}

/* Sets the variables of the loops around a node at random; 0: one of them has no iteration. */
static int enter(struct rsc_rng *rng, const struct rsc_nest_node *node, int64_t *value) {
    int64_t first, trip;
    if (!node) return 1;
    if (!enter(rng, node->parent, value)) return 0;
    if (node->kind != RSC_NODE_LOOP) return 1;
    if ((trip = rsc_nest_trip(node, value, &first)) < 1) return 0;
    value[node->depth] = first + (int64_t)rsc_rng_below(rng, (uint64_t)trip) * node->step;
    return 1;
}

static void counts_are_those_of_iterations(void **state) {
    (void)state;
    for (size_t n = 0; n < sizeof nests / sizeof *nests; n++) {
        struct rsc_loop_program *program;
        struct rsc_error error;
        struct rsc_nest *nest;
        struct rsc_rng rng;
        char text[600];
        snprintf(text, sizeof text, "loops 1\narray a 8\nnest n { for i = 0 to 29 { %s } }\n", nests[n].body);
        if (rsc_loop_text_read(text, strlen(text), "test", NULL, 0, &program, &error) < 0 ||
            rsc_loop_layout(program, 64, &error) < 0)
            fail_msg("%s", error.message);
        for (uint64_t seed = 0; seed < 4; seed++) {
            assert_int_equal(rsc_nest_new(&nest, program, 0, UINT32_MAX, 64, &error), 0);
            const struct rsc_nest_node *loop = loop_named(nest->root, "j");
            assert_non_null(loop);
            assert_int_equal(loop->shift, nests[n].shift);
            rsc_rng_seed(&rng, seed, n);
            for (int draw = 0; draw < 400; draw++) {
                int64_t value[RSC_LOOP_DEPTH_MAX] = {0}, again[RSC_LOOP_DEPTH_MAX], first;
                if (!enter(&rng, loop->parent, value)) continue;
                memcpy(again, value, sizeof value);
                int64_t trip = rsc_nest_trip(loop, value, &first);
                assert_int_equal(rsc_nest_count(nest, loop, value), one_by_one(loop, again));
                for (int64_t k = 0, sum = 0; k < trip; k++) { /* and of each of its iterations */
                    value[loop->depth] = first + k * loop->step;
                    memcpy(again, value, sizeof value);
                    for (uint32_t i = 0; i < loop->child_count; i++) sum += one_by_one(loop->child[i], again);
                    const int64_t *sums = rsc_nest_sums(nest, loop, value, first, trip);
                    assert_int_equal(sums[k + 1] - sums[0], sum);
                }
            }
            rsc_nest_free(nest);
        }
        rsc_loop_program_free(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_those_of_iterations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
