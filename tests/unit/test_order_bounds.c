/* test_order_bounds.c - bars that follow from how well the order of threads is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/order_bounds.h"
#include "profile/profile_model.h"

/* 1000 references: 100 cold, 100 invalidated, the others at this distance and interval. */
static struct rsc_profile *made(const char *model, uint64_t distance, uint64_t interval) {
    struct rsc_profile *profile = rsc_profile_new();
    assert_non_null(profile);
    profile->made.line_bytes = 64;
    assert_int_equal(rsc_profile_set_text(&profile->made.model, model), 0);
    profile->accesses = profile->references = profile->distinct = 1000;
    profile->cold = profile->invalidated = 100;
    rsc_histogram_add(&profile->rd, distance, 800);
    rsc_histogram_add(&profile->ri, interval, 800);
    assert_int_equal(rsc_profile_set_threads(profile, 2), 0);
    assert_int_equal(rsc_profile_seal(profile), 0);
    return profile;
}

static void certain_order_changes_nothing(void **state) {
    struct rsc_order_bounds bounds = {0};
    (void)state;
    rsc_order_bounds_add(&bounds, 0, 1000, 5000);
    for (int i = 0; i < 2; i++) {
        struct rsc_profile *profile = made(i ? "shared" : "private", 500, 600);
        rsc_order_bounds_apply(&bounds, profile);
        assert_false(profile->bars.invalidated.is_known);
        for (size_t k = 0; k < profile->mrc_count; k++) {
            assert_true(profile->mrc[k].low == profile->mrc[k].miss_ratio);
            assert_true(profile->mrc[k].high == profile->mrc[k].miss_ratio);
        }
        rsc_profile_free(profile);
    }
}

/* A quarter of the references is uncertain among 50 others: 100 references, both ends, all of distinct lines. */
static void shared_distances_move(void **state) {
    struct rsc_order_bounds bounds = {0};
    struct rsc_profile *profile = made("shared", 500, 600);
    (void)state;
    rsc_order_bounds_add(&bounds, 0, 750, 5000);
    rsc_order_bounds_add(&bounds, 50, 250, 5000);
    rsc_order_bounds_apply(&bounds, profile);
    assert_true(rsc_order_bounds_quantile(&bounds, 0.7) == 0 && rsc_order_bounds_quantile(&bounds, 0.9) == 50);
    assert_float_equal(rsc_profile_mrc_at(profile, 300).low, 1, 1e-9);
    assert_float_equal(rsc_profile_mrc_at(profile, 450).low, 0.75 + 0.25 * 0.2, 1e-9); /* 450 + 100 > 500 */
    assert_float_equal(rsc_profile_mrc_at(profile, 450).high, 1, 1e-9);
    assert_float_equal(rsc_profile_mrc_at(profile, 550).low, 0.2, 1e-9);
    assert_float_equal(rsc_profile_mrc_at(profile, 550).high, 0.75 * 0.2 + 0.25, 1e-9);
    assert_float_equal(rsc_profile_mrc_at(profile, 700).high, 0.2, 1e-9);
    rsc_profile_free(profile);
}

/* 30 of 1000 references conflict with a write at an uncertain time. */
static void invalidations_may_or_may_not_be(void **state) {
    struct rsc_order_bounds bounds = {.recorded = 2000, .conflicts = 60};
    struct rsc_profile *profile = made("private", 500, 600);
    (void)state;
    assert_int_equal(rsc_profile_set_sharing(profile, 2), 0);
    profile->sharing[0] = (struct rsc_sharing_row){.by_tid = 1, .from_tid = 2, .taken = 80, .misses = 75};
    profile->sharing[1] = (struct rsc_sharing_row){.by_tid = 2, .from_tid = 1, .taken = 25, .misses = 25};
    profile->sharing[1].bars.taken = profile->sharing[1].bars.misses = (struct rsc_count_range){20, 990};
    rsc_order_bounds_add(&bounds, 50, 1000, 5000);
    rsc_order_bounds_apply(&bounds, profile);
    /* any of the 30 may be of either row; other bars are widened, up to all references */
    assert_int_equal(profile->sharing[0].bars.misses.low, 45);
    assert_int_equal(profile->sharing[0].bars.misses.high, 105);
    assert_int_equal(profile->sharing[0].bars.taken.low, 50);
    assert_int_equal(profile->sharing[0].bars.false_misses.low, 0);
    assert_int_equal(profile->sharing[0].bars.false_misses.high, 30);
    assert_int_equal(profile->sharing[1].bars.misses.low, 0);
    assert_int_equal(profile->sharing[1].bars.misses.high, 1000);
    assert_true(profile->bars.invalidated.is_known);
    assert_int_equal(profile->bars.invalidated.low, 70);
    assert_int_equal(profile->bars.invalidated.high, 130);
    assert_float_equal(rsc_profile_mrc_at(profile, 600).low, 0.17, 1e-9);
    assert_float_equal(rsc_profile_mrc_at(profile, 600).miss_ratio, 0.2, 1e-9);
    assert_float_equal(rsc_profile_mrc_at(profile, 600).high, 0.23, 1e-9);
    rsc_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certain_order_changes_nothing),
        cmocka_unit_test(shared_distances_move),
        cmocka_unit_test(invalidations_may_or_may_not_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
