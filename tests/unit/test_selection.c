/* test_selection.c - choosing code by misses, and matching two choices, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "profile/metrics.h"
#include "profile/selection.h"

/* Code rows with pcs 1, 2, ... and so many reuses at distance 100, besides 1000 each at distance 1. */
static struct rsc_profile *profile_of(const uint64_t *far, size_t count) {
    struct rsc_profile *profile = rsc_profile_new();
    assert_non_null(profile);
    assert_int_equal(rsc_profile_set_code(profile, count), 0);
    assert_int_equal(rsc_profile_set_bins(profile, 10), 0);
    for (size_t i = 0; i < count; i++) {
        struct rsc_code_row *row = &profile->code[i];
        row->place.pc = i + 1;
        row->references = far[i] + 1000;
        rsc_histogram_add(&row->rd, 100, far[i]);
        rsc_histogram_add(&row->rd, 1, 1000);
        rsc_histogram_merge(&profile->rd, &row->rd);
        profile->references += row->references;
    }
    rsc_histogram_merge(&profile->rd_binned, &profile->rd);
    return profile;
}

static void the_size_at_which_a_share_misses(void **state) {
    (void)state;
    uint64_t far[] = {400, 300, 200, 100};
    struct rsc_profile *profile = profile_of(far, 4); /* 1000 of 5000 at 100, which is put at 96 */
    assert_int_equal(rsc_selection_size(profile, 0.10), 96);
    assert_int_equal(rsc_selection_size(profile, 0.20), 96);
    assert_int_equal(rsc_selection_size(profile, 0.21), 1);
    assert_int_equal(rsc_selection_edge(100), 96);
    assert_int_equal(rsc_selection_edge(3), 3);
    rsc_profile_free(profile);
    struct rsc_profile *empty = rsc_profile_new();
    assert_non_null(empty);
    assert_int_equal(rsc_selection_size(empty, 0.1), 0);
    rsc_profile_free(empty);
}

static void matching_by_hand(void **state) {
    (void)state;
    uint64_t true_far[] = {400, 300, 200, 100, 0}, guessed_far[] = {10, 0, 50, 20, 60};
    struct rsc_profile *truth = profile_of(true_far, 5), *guess = profile_of(guessed_far, 5);
    struct rsc_selection a, b;
    struct rsc_matching matching;
    assert_int_equal(rsc_selection_make(&a, truth, 90), 0);
    assert_int_equal(rsc_selection_make(&b, guess, 90), 0);
    assert_int_equal(a.size_lines, 80);
    assert_int_equal(a.count, 4);
    assert_int_equal(a.misses, 1000);
    assert_int_equal(a.codes[0].row->place.pc, 1);
    assert_int_equal(rsc_selection_cover(&a, 0.75), 3);
    assert_int_equal(rsc_selection_cover(&a, 0.70), 2);
    assert_int_equal(rsc_selection_cover(&a, 1), 4);
    /* the guess ranks 5, 3, 4, 1: of the first two only 3 misses, 200 of 700, and none is one of 1 and 2 */
    assert_int_equal(rsc_selection_match(&a, &b, 2, &matching), 0);
    assert_true(fabs(matching.weight - 200.0 / 700) < 1e-12);
    assert_true(matching.key == 0);
    assert_int_equal(rsc_selection_match(&a, &b, 4, &matching), 0);
    assert_true(fabs(matching.weight - 0.7) < 1e-12);
    assert_true(fabs(matching.key - 0.75) < 1e-12);
    assert_int_equal(rsc_selection_match(&a, &a, 3, &matching), 0);
    assert_true(matching.weight == 1 && matching.key == 1);
    assert_int_equal(rsc_selection_match(&a, &b, 0, &matching), 0);
    assert_true(matching.weight == 1 && matching.key == 1);
    rsc_selection_free(&a);
    rsc_selection_free(&b);
    rsc_profile_free(truth);
    rsc_profile_free(guess);
}

/* Invalidated references miss at any size, and do not move the size. */
static void invalidated_ones_count(void **state) {
    (void)state;
    uint64_t far[] = {400, 300, 0};
    struct rsc_profile *profile = profile_of(far, 3);
    struct rsc_selection selection;
    profile->code[2].invalidated = 350;
    profile->invalidated = 350;
    assert_int_equal(rsc_selection_size(profile, 0.10), 96);
    assert_int_equal(rsc_selection_make(&selection, profile, 96), 0);
    assert_int_equal(selection.misses, 1050);
    assert_int_equal(selection.invalidated, 350);
    assert_int_equal(selection.codes[1].row->place.pc, 3);
    assert_int_equal(rsc_selection_cover(&selection, 0.75), 3);
    rsc_selection_free(&selection);
    assert_int_equal(rsc_selection_make(&selection, profile, 4096), 0);
    assert_int_equal(selection.count, 1);
    assert_int_equal(selection.codes[0].misses, 350);
    rsc_selection_free(&selection);
    rsc_profile_free(profile);
}

static void accuracy_with_and_without_zero(void **state) {
    (void)state;
    struct rsc_profile *a = rsc_profile_new(), *b = rsc_profile_new();
    assert_true(isnan(rsc_profile_accuracy(a, b, 0)));
    assert_int_equal(rsc_profile_set_bins(a, 10), 0);
    assert_int_equal(rsc_profile_set_bins(b, 10), 0);
    a->references = b->references = 100;
    rsc_histogram_add(&a->rd_binned, 0, 80);
    rsc_histogram_add(&b->rd_binned, 0, 80);
    rsc_histogram_add(&a->rd_binned, 50, 10); /* and 10 without a distance */
    rsc_histogram_add(&b->rd_binned, 50, 5);  /* and 15 */
    assert_true(fabs(rsc_profile_accuracy(a, b, 0) - 0.95) < 1e-12);
    assert_true(fabs(rsc_profile_accuracy(a, b, 1) - 0.75) < 1e-12);
    assert_true(rsc_profile_accuracy(a, a, 1) == 1);
    rsc_profile_free(a);
    rsc_profile_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_size_at_which_a_share_misses),
        cmocka_unit_test(matching_by_hand),
        cmocka_unit_test(invalidated_ones_count),
        cmocka_unit_test(accuracy_with_and_without_zero),
    };
    return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
