/* test_sampled_stack.c - the stack of sampled lines against a list kept in order: adding, using, taking out, groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/rng.h"
#include "distance/shards/sampled_stack.h"

#define LINES_MAX 3000u

static uint64_t list[LINES_MAX]; /* most recently used last */
static uint32_t listed;

static uint32_t place_of(uint64_t line) {
    for (uint32_t i = listed; i-- > 0;)
        if (list[i] == line) return i;
    return UINT32_MAX;
}

static void drop(uint32_t place) { memmove(list + place, list + place + 1, (--listed - place) * sizeof *list); }

static void check_above(const struct rsc_sampled_stack *stack, uint32_t node, uint32_t place) {
    uint32_t groups[RSC_LINE_GROUPS], wanted[RSC_LINE_GROUPS] = {0};
    assert_int_equal(rsc_sampled_stack_above(stack, node), listed - 1 - place);
    rsc_sampled_stack_groups_above(stack, node, groups);
    for (uint32_t i = place + 1; i < listed; i++) wanted[rsc_hash_group(rsc_line_hash(list[i], 7), RSC_LINE_GROUPS)]++;
    assert_memory_equal(groups, wanted, sizeof wanted);
}

static void like_a_list(void **state) {
    struct rsc_sampled_stack stack;
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 5, 0);
    assert_int_equal(rsc_sampled_stack_init(&stack), 0);
    for (uint64_t time = 0; time < 60000; time++) {
        uint64_t line = rsc_rng_below(&rng, rsc_rng_below(&rng, 3) ? LINES_MAX : 40), hash = rsc_line_hash(line, 7);
        uint32_t place = place_of(line), node = rsc_sampled_stack_find(&stack, line, hash);
        assert_int_equal(node == RSC_NO_NODE, place == UINT32_MAX);
        if (place == UINT32_MAX) {
            assert_int_equal(rsc_sampled_stack_add(&stack, line, hash, time, &node), 0);
        } else {
            check_above(&stack, node, place);
            drop(place);
            if (!rsc_rng_below(&rng, 8)) {
                rsc_sampled_stack_remove(&stack, node);
                assert_int_equal(stack.lines, listed);
                continue;
            }
            assert_int_equal(rsc_sampled_stack_use(&stack, node, time), 0);
        }
        assert_true(stack.nodes[node].time == time);
        list[listed++] = line;
        assert_int_equal(stack.lines, listed);
    }
    assert_true(listed > 1000);
    rsc_sampled_stack_free(&stack);
}

/* Longer than one block of counts for blocks, and grown from its first size. */
static void many_lines(void **state) {
    const uint32_t lines = 200000;
    struct rsc_sampled_stack stack;
    (void)state;
    assert_int_equal(rsc_sampled_stack_init(&stack), 0);
    for (uint32_t round = 0; round < 6; round++)
        for (uint32_t i = 0; i < lines; i++) {
            uint64_t hash = rsc_line_hash(i, 7);
            uint32_t node = rsc_sampled_stack_find(&stack, i, hash);
            if (!round) {
                assert_int_equal(rsc_sampled_stack_add(&stack, i, hash, i, &node), 0);
                continue;
            }
            assert_int_equal(rsc_sampled_stack_above(&stack, node), lines - 1);
            assert_int_equal(rsc_sampled_stack_use(&stack, node, i), 0);
            assert_int_equal(rsc_sampled_stack_above(&stack, node), 0);
        }
    assert_true(stack.peak_bytes > 32ull * lines);
    rsc_sampled_stack_free(&stack);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(like_a_list), cmocka_unit_test(many_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
