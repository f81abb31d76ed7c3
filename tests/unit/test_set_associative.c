/* test_set_associative.c - set-associative misses from a curve, where they follow from a formula. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "loops/model/set_associative.h"

#define CLOSE(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* All reuses have distance `distance`; a tenth of references are first uses. */
static struct rsc_mrc_point at(uint64_t distance, uint64_t sets, uint32_t ways) {
    struct rsc_mrc_point mrc[3] = {{.lines = distance, .miss_ratio = 1, .low = 0.9, .high = 1},
                                   {.lines = distance + 1, .miss_ratio = 0.1, .low = 0.1, .high = 0.1},
                                   {.lines = distance + 2, .miss_ratio = 0.1, .low = 0.1, .high = 0.1}};
    return rsc_set_associative_at(mrc, 3, sets, ways);
}

static void one_set_is_fully_associative(void **state) {
    (void)state;
    CLOSE(at(100, 1, 100).miss_ratio, 1);
    CLOSE(at(100, 1, 101).miss_ratio, 0.1);
    assert_int_equal(at(100, 4, 8).lines, 32);
}

static void direct_mapped_is_a_power(void **state) {
    (void)state;
    for (uint64_t sets = 2; sets <= 1024; sets *= 8) {
        double chance = 1 - pow(1 - 1 / (double)sets, 100);
        struct rsc_mrc_point got = at(100, sets, 1);
        CLOSE(got.miss_ratio, 0.1 + 0.9 * chance);
        CLOSE(got.low, 0.1 + 0.8 * chance);
        CLOSE(got.high, got.miss_ratio);
    }
}

static void two_ways_miss_if_two_are_in_the_set(void **state) {
    (void)state;
    double p = 1.0 / 64, none = pow(1 - p, 50), one = 50 * p * pow(1 - p, 49);
    CLOSE(at(50, 64, 2).miss_ratio, 0.1 + 0.9 * (1 - none - one));
}

static void no_curve_no_misses(void **state) {
    (void)state;
    CLOSE(rsc_set_associative_at(NULL, 0, 64, 8).miss_ratio, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_set_is_fully_associative), cmocka_unit_test(direct_mapped_is_a_power),
        cmocka_unit_test(two_ways_miss_if_two_are_in_the_set), cmocka_unit_test(no_curve_no_misses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
