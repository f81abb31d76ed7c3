/*
 * test_stacks.c - stacks for flame graphs: whatever a profile has, their weights
 * are its references and misses; and what sharing a profile leaves out of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/export/stacks.h"
#include "sample_profiles.h"

static void assert_sums(struct rsc_profile *profile) {
    static const uint64_t sizes[] = {1, 2, 64, 700, 14336, 40000, 1 << 20};
    struct rsc_stacks stacks = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t references = 0, misses = 0;
        assert_int_equal(rsc_stacks_make(&stacks, profile, sizes[i]), 0);
        for (size_t k = 0; k < stacks.count; k++) {
            references += stacks.stacks[k].references;
            misses += stacks.stacks[k].misses;
            assert_true(stacks.stacks[k].depth > 0);
            assert_true(stacks.stacks[k].first + stacks.stacks[k].depth <= stacks.path_count);
        }
        assert_int_equal(references, profile->references);
        assert_int_equal(misses, rsc_profile_misses(profile, sizes[i]));
    }
    rsc_stacks_free(&stacks);
    rsc_profile_free(profile);
}

static void weights_are_all_of_the_profile(void **state) {
    (void)state;
    assert_sums(sample_zero());
    assert_sums(sample_cyclic(1000, 7));
    assert_sums(sample_spread(5000));
    assert_sums(sample_rich());
    assert_sums(sample_rows());
    assert_sums(sample_requests(500, 9));
}

/* A table of pairs that says more than its code row cannot take from others. */
static void pairs_take_no_more_than_their_code_has(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    for (size_t i = 0; i < profile->pair_count; i++) {
        profile->pairs[i].references = 1000000;
        rsc_histogram_add(&profile->pairs[i].rd, 1 << 20, 1000000);
        profile->pairs[i].reuse_context = 2;
    }
    assert_sums(profile);
}

static const char *name_at(const struct rsc_stacks *stacks, const struct rsc_stack *stack, uint32_t frame) {
    return stacks->frames[stacks->path[stack->first + frame]].name;
}

static void paths_go_from_the_outside_in(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    struct rsc_stacks stacks = {0};
    const struct rsc_stack *deepest = NULL;
    assert_int_equal(rsc_stacks_make(&stacks, profile, 100), 0);
    for (size_t i = 0; i < stacks.count; i++)
        if (!deepest || stacks.stacks[i].depth > deepest->depth) deepest = &stacks.stacks[i];
    static const char *const wanted[] = {"main", "solve", "solve", "[unknown]", "step", "relax", "solver.c:88"};
    assert_int_equal(deepest->depth, 7);
    for (uint32_t i = 0; i < 7; i++) assert_string_equal(name_at(&stacks, deepest, i), wanted[i]);
    rsc_stacks_free(&stacks);
    rsc_profile_free(profile);
}

/* Recursion without end is cut on its outside. */
static void deep_paths_end(void **state) {
    (void)state;
    enum { DEEP = 5000 };
    struct rsc_profile *profile = sample_rows();
    assert_int_equal(rsc_profile_set_contexts(profile, DEEP), 0);
    for (uint32_t i = 0; i < DEEP; i++) {
        profile->contexts[i].parent = i ? i - 1 : RSC_NO_CONTEXT;
        profile->contexts[i].place = sample_place(i, i == DEEP - 1 ? "last" : "again", NULL, 0, NULL);
    }
    for (size_t i = 0; i < profile->pair_count; i++) profile->pairs[i].reuse_context = DEEP - 1;
    struct rsc_stacks stacks = {0};
    uint32_t depth = 0;
    assert_int_equal(rsc_stacks_make(&stacks, profile, 100), 0);
    for (size_t i = 0; i < stacks.count; i++)
        if (stacks.stacks[i].depth > depth) depth = stacks.stacks[i].depth;
    assert_in_range(depth, 257, 300);
    rsc_stacks_free(&stacks);
    assert_sums(profile);
}

static void sharing_cuts_folders_and_nothing_else(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"heap block allocated at /home/a b/src/x.c:3 (f/g)", "heap block allocated at x.c:3 (f/g)"},
        {"/home/me/data.bin", "data.bin"},
        {"grid", "grid"},
        {"a/b", "a/b"},
        {"/", "/"},
        {"stack of thread 7", "stack of thread 7"},
    };
    struct rsc_profile *profile = sample_rows();
    char *command[] = {"reusescope", "run", "--", "./secret", NULL};
    assert_int_equal(rsc_profile_set_command(profile, command), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(rsc_profile_set_text(&profile->objects[0].name, names[i][0]), 0);
        rsc_profile_forget_origin(profile);
        assert_string_equal(profile->objects[0].name, names[i][1]);
    }
    assert_null(profile->made.command);
    assert_string_equal(profile->code[0].place.file, "solver.c");
    assert_string_equal(profile->code[0].place.module, "wave");
    assert_string_equal(profile->code[0].place.function, "sweep");
    assert_string_equal(profile->code[1].place.file, "mem.c");
    assert_string_equal(profile->contexts[1].place.module, "wave");
    rsc_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_all_of_the_profile),
        cmocka_unit_test(pairs_take_no_more_than_their_code_has),
        cmocka_unit_test(paths_go_from_the_outside_in),
        cmocka_unit_test(deep_paths_end),
        cmocka_unit_test(sharing_cuts_folders_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
