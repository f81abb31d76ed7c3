/* test_rounding.c - whole counts that sum to what their estimates sum to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "base/rounding.h"

static void rows_by_hand(void **state) {
    (void)state;
    uint64_t whole[4];
    /* 9.75 + 2.625 + 1.5 + 0.125 = 14: down to 9 2 1 0, and two of the largest fractions up */
    assert_int_equal(rsc_round_rows((const double[]){9.75, 2.625, 1.5, 0.125}, 4, 100, whole), 0);
    assert_memory_equal(whole, ((const uint64_t[]){10, 3, 1, 0}), sizeof whole);
    /* each half goes up by itself: 4 of a whole of 2 */
    assert_int_equal(rsc_round_rows((const double[]){.5, .5, .5, .5}, 4, 2, whole), 0);
    assert_memory_equal(whole, ((const uint64_t[]){1, 1, 0, 0}), sizeof whole);
    /* the whole is less than the shares, as when a sum of doubles is a little high */
    assert_int_equal(rsc_round_rows((const double[]){5, 3, 2, 1}, 4, 9, whole), 0);
    assert_memory_equal(whole, ((const uint64_t[]){5, 3, 1, 0}), sizeof whole);
    assert_int_equal(rsc_round_rows(NULL, 0, 9, whole), 0);
}

static void rows_keep_sum_and_order(void **state) {
    (void)state;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 1, 0);
    for (int t = 0; t < 20000; t++) {
        double shares[12], sum = 0, last = 1e3 * rsc_rng_double(&rng);
        uint64_t whole[12], given = 0;
        size_t count = 1 + rsc_rng_below(&rng, 12);
        for (size_t i = 0; i < count; i++) sum += shares[i] = last *= rsc_rng_double(&rng);
        uint64_t most = (uint64_t)sum + rsc_rng_below(&rng, 2);
        assert_int_equal(rsc_round_rows(shares, count, most, whole), 0);
        for (size_t i = 0; i < count; i++) {
            given += whole[i];
            assert_true(fabs((double)whole[i] - shares[i]) < 1);
            assert_true(i == 0 || whole[i] <= whole[i - 1]);
        }
        assert_int_equal(given, (uint64_t)(sum + 0.5) < most ? (uint64_t)(sum + 0.5) : most);
    }
}

static void running_totals_are_near(void **state) {
    (void)state;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 2, 0);
    for (int t = 0; t < 2000; t++) {
        double values[40], all = 0, upto = 0;
        for (int i = 0; i < 40; i++) all += values[i] = rsc_rng_double(&rng);
        uint64_t total = rsc_rng_below(&rng, 500), given = 0;
        struct rsc_running_round round = {0, (double)total / all, 0, total};
        for (int i = 0; i < 40; i++) {
            given += rsc_round_next(&round, values[i]);
            upto += values[i];
            assert_true(fabs((double)given - upto * (double)total / all) <= 0.5 + 1e-9);
        }
        assert_int_equal(given, total);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_by_hand), cmocka_unit_test(rows_keep_sum_and_order),
                                       cmocka_unit_test(running_totals_are_near)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
