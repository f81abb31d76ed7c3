/*
 * test_coherent_stacks.c - the figures of paper 000 by hand, groups of cores, lines
 * with very many holders, and what false sharing is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "distance/count/accumulate.h"
#include "distance/exact/exact_state.h"
#include "multicore/core_groups.h"
#include "multicore/coherent_stacks.h"

#define COLD RSC_RD_COLD
#define LOST RSC_RD_INVALIDATED

struct use {
    uint32_t stack;
    char line;
    int writes;
    uint32_t rd; /* what is expected */
};

static struct rsc_coherent_stacks stacks;

static int start(void **state) {
    (void)state;
    if (rsc_coherent_stacks_init(&stacks, rsc_simd_best(), 0, 0) < 0) return -1;
    for (uint32_t i = 0; i < 3; i++)
        if (rsc_coherent_stacks_add(&stacks) != i) return -1;
    return 0;
}

static int end(void **state) {
    (void)state;
    rsc_coherent_stacks_free(&stacks);
    return 0;
}

static uint32_t one(uint32_t stack, uint64_t line, int writes, uint64_t bytes, uint64_t *ri) {
    uint32_t who = stack | (writes ? RSC_PRIVATE_WRITES : 0), rd;
    struct rsc_private_references references = {&line, &who, &bytes, NULL, 1};
    assert_int_equal(rsc_coherent_stacks_run(&stacks, &references, &rd, ri, NULL), 0);
    rsc_sharing_name(&stacks.sharing, NULL);
    return rd;
}

static void follow(const struct use *uses, size_t count) {
    uint64_t ri;
    for (size_t i = 0; i < count; i++) {
        uint32_t rd = one(uses[i].stack, (uint64_t)uses[i].line, uses[i].writes, 1, &ri);
        if (rd != uses[i].rd) fail_msg("reference %zu (%c): %u, not %u", i, uses[i].line, rd, uses[i].rd);
    }
}
#define FOLLOW(...)                                     \
    do {                                                \
        static const struct use uses[] = {__VA_ARGS__}; \
        follow(uses, sizeof uses / sizeof *uses);       \
    } while (0)

/* Figure 1: three blocks, the fifth reference a write of thread 2; B comes back at 1, A is lost. */
static void figure_1(void **state) {
    (void)state;
    uint64_t ri;
    FOLLOW({1, 'A', 0, COLD}, {1, 'B', 0, COLD}, {1, 'C', 0, COLD}, {1, 'C', 0, 0}, {2, 'A', 1, COLD}, {1, 'B', 0, 1});
    assert_int_equal(one(1, 'A', 0, 1, &ri), LOST);
    assert_int_equal(ri, 0);
    assert_int_equal(one(1, 'A', 0, 1, &ri), 0); /* it is back */
    assert_int_equal(ri, 1);
}

/*
 * Figure 2: D C H B A, top first, where another thread took H. Case 1: a block above
 * the hole is used; the hole stays, and what is below keeps its depth.
 */
static void figure_2_above_the_hole(void **state) {
    (void)state;
    FOLLOW({1, 'A', 0, COLD}, {1, 'B', 0, COLD}, {1, 'H', 0, COLD}, {1, 'C', 0, COLD}, {1, 'D', 0, COLD},
           {2, 'H', 1, COLD}, {1, 'C', 0, 1}, {1, 'A', 0, 4});
}

/* Case 2: B, below the hole and above A, fills it and leaves one where it was: A keeps its depth. */
static void figure_2_between(void **state) {
    (void)state;
    FOLLOW({1, 'A', 0, COLD}, {1, 'B', 0, COLD}, {1, 'H', 0, COLD}, {1, 'C', 0, COLD}, {1, 'D', 0, COLD},
           {2, 'H', 1, COLD}, {1, 'B', 0, 3}, /* B D C hole A */ {1, 'C', 0, 2}, {1, 'A', 0, 4},
           /* A C B D: the hole was filled, and A's own place is one now, below all */ {1, 'D', 0, 3});
}

/* Cases 3 and 4: a block from below, or a new one, fills the hole; those in between keep their depth. */
static void figure_2_from_below_and_new(void **state) {
    (void)state;
    FOLLOW({1, 'Z', 0, COLD}, {1, 'A', 0, COLD}, {1, 'H', 0, COLD}, {1, 'C', 0, COLD}, {2, 'H', 1, COLD},
           {1, 'Z', 0, 3}, /* Z C A hole */ {1, 'A', 0, 2});
    FOLLOW({0, 'P', 0, COLD}, {0, 'Q', 0, COLD}, {0, 'R', 0, COLD}, {2, 'Q', 1, COLD}, {0, 'N', 0, COLD},
           /* N R P: the new one took the hole's place, P is as deep as before */ {0, 'P', 0, 2});
}

/* Taken, and never used again: no miss, but the distance of what is below does not shrink. */
static void holes_count(void **state) {
    (void)state;
    FOLLOW({1, 'A', 0, COLD}, {1, 'B', 0, COLD}, {1, 'C', 0, COLD}, {2, 'B', 1, COLD}, {2, 'C', 1, COLD},
           {1, 'A', 0, 2}, {1, 'A', 0, 0}, {1, 'B', 0, LOST}, {1, 'C', 0, LOST}, {1, 'A', 0, 2});
}

/* A line that lies on top of a stack when it is taken, and one that its own writer keeps. */
static void top_is_taken(void **state) {
    (void)state;
    FOLLOW({0, 'A', 1, COLD}, {1, 'A', 1, COLD}, {0, 'A', 1, LOST}, {0, 'A', 1, 0}, {1, 'A', 0, LOST}, {0, 'A', 0, 0},
           {0, 'A', 1, 0}, {1, 'A', 0, LOST});
}

/* Thousands of stacks read a line, one writes, all lose it; and so on by turns. */
static void very_many_holders(void **state) {
    (void)state;
    enum { STACKS = 3000 };
    uint64_t ri;
    for (uint32_t i = 3; i < STACKS; i++) assert_int_equal(rsc_coherent_stacks_add(&stacks), i);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < STACKS; i++) {
            uint32_t rd = one(i, 7, 0, 1, &ri);
            if (round == 0) assert_int_equal(rd, COLD);
            else assert_int_equal(rd, i == 1234u + (uint32_t)round - 1 ? 0 : LOST);
            assert_int_equal(one(i, 100 + i, 0, 1, &ri), round == 0 ? COLD : 1);
            assert_int_equal(one(i, 7, 0, 1, &ri), 1);
        }
        assert_int_equal(one(1234 + (uint32_t)round, 7, 1, 1, &ri), 0);
    }
    for (uint32_t turn = 0; turn < 20000; turn++) assert_int_equal(one(turn % STACKS, 7, 1, 1, &ri), LOST);
    assert_int_equal(stacks.copies.lines, 1 + STACKS);
    assert_true(rsc_coherent_stacks_bytes(&stacks) < 200u << 20);
}

static void stack_name(void *owner, uint32_t stack, uint64_t *pid, uint64_t *tid) {
    (void)owner;
    *pid = 0;
    *tid = stack;
}

/* What counts are the bytes used since the line last came, and the write that takes it. */
static void false_or_true(void **state) {
    (void)state;
    static uint64_t objects[RSC_SHARING_LINES_KEPT];
    struct rsc_sharing_names names = {NULL, stack_name, NULL, 6};
    struct rsc_profile *profile = rsc_profile_new();
    uint64_t ri;
    one(0, 9, 0, 0x0f, &ri);
    one(1, 9, 1, 0xf0, &ri); /* false: other bytes */
    one(0, 9, 0, 0xf0, &ri); /* a miss; it uses those now */
    one(1, 9, 1, 0x0f, &ri); /* false again: what it used before it lost the line does not count */
    one(0, 9, 0, 0x0f, &ri);
    one(0, 9, 0, 0xf000, &ri);
    one(1, 9, 1, 0xf00f, &ri); /* true: one byte in common is enough */
    one(0, 9, 0, 1, &ri);
    assert_int_equal(rsc_sharing_fill(&stacks.sharing, &names, profile, objects), 0);
    assert_int_equal(profile->sharing_count, 1);
    assert_int_equal(profile->sharing[0].by_tid, 1);
    assert_int_equal(profile->sharing[0].from_tid, 0);
    assert_int_equal(profile->sharing[0].taken, 3);
    assert_int_equal(profile->sharing[0].false_taken, 2);
    assert_int_equal(profile->sharing[0].misses, 3);
    assert_int_equal(profile->sharing[0].false_misses, 2);
    assert_int_equal(profile->false_sharing_count, 1);
    assert_int_equal(profile->false_sharing[0].address, 9 * 64);
    assert_int_equal(profile->false_sharing[0].user_count, 2);
    rsc_profile_free(profile);
}

static void groups_of_cores(void **state) {
    (void)state;
    struct rsc_core_groups groups;
    struct rsc_error error;
    assert_int_equal(rsc_core_groups_parse(&groups, "4-7,0+2+9,3", &error), 0);
    assert_int_equal(groups.group_count, 3);
    static const uint32_t wanted[] = {1, RSC_NO_GROUP, 1, 2, 0, 0, 0, 0, RSC_NO_GROUP, 1, RSC_NO_GROUP};
    for (uint32_t thread = 0; thread < sizeof wanted / sizeof *wanted; thread++)
        assert_int_equal(rsc_core_groups_of(&groups, thread), wanted[thread]);
    rsc_core_groups_free(&groups);
    static const char *const bad[] = {"", ",", "0,", "0-", "-1", "1-0", "a", "0+0", "0-3,2", "0;1", "1048576", "0 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (rsc_core_groups_parse(&groups, bad[i], &error) != RSC_EINVAL) fail_msg("'%s' was taken", bad[i]);
    assert_int_equal(rsc_core_groups_parse(&groups, NULL, &error), 0);
    assert_int_equal(rsc_core_groups_of(&groups, 0), RSC_NO_GROUP);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(figure_1, start, end),
        cmocka_unit_test_setup_teardown(figure_2_above_the_hole, start, end),
        cmocka_unit_test_setup_teardown(figure_2_between, start, end),
        cmocka_unit_test_setup_teardown(figure_2_from_below_and_new, start, end),
        cmocka_unit_test_setup_teardown(holes_count, start, end),
        cmocka_unit_test_setup_teardown(top_is_taken, start, end),
        cmocka_unit_test_setup_teardown(very_many_holders, start, end),
        cmocka_unit_test_setup_teardown(false_or_true, start, end),
        cmocka_unit_test(groups_of_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
