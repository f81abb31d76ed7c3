/*
 * test_held_bar.c - bars that must hold a number: how far they reach, and that
 * they hold the truth as often as stated wherever the number lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "estimate/statistics.h"
#include "estimate/held_bar.h"

static void reach_of_one_tail_and_of_both(void **state) {
    const double stated[] = {0.5, 0.8, 0.9, 0.99};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct rsc_held_level level;
        rsc_held_level_set(&level, stated[i], 15);
        double one = rsc_student_quantile(stated[i], 15), both = rsc_student_quantile(0.5 + stated[i] / 2, 15);
        assert_true(fabs(rsc_held_reach(&level, 0, 1) - one) < 1e-12);
        assert_true(fabs(rsc_held_reach(&level, -0.3, 1) - one) < 1e-12);
        assert_true(fabs(rsc_held_reach(&level, 1, 1) - both) < 1e-12);
        assert_true(fabs(rsc_held_reach(&level, 1.2, 1) - both) < 1e-12);
        assert_true(fabs(rsc_held_reach(&level, 0, 0) - rsc_normal_quantile(stated[i])) < 1e-12);
        double before = one;
        for (double correlation = 0.05; correlation < 1; correlation += 0.05) {
            double reach = rsc_held_reach(&level, correlation, 1);
            assert_true(reach >= before && reach <= both);
            before = reach;
        }
    }
    /* half of what a skew-normal with delta = sqrt(1/2), the greater of two normals, exceeds: Phi(a)^2 = 0.9 */
    struct rsc_held_level level;
    rsc_held_level_set(&level, 0.9, 1e9);
    assert_true(fabs(rsc_held_reach(&level, sqrt(0.5), 1) - rsc_normal_quantile(sqrt(0.9))) < 1e-4);
}

static void bar_holds_the_model(void **state) {
    double low, high;
    (void)state;
    rsc_held_bar(5, 3, 1, &low, &high);
    assert_true(low == 2 && high == 5);
    rsc_held_bar(3.5, 3, 1, &low, &high);
    assert_true(low == 2 && high == 4);
    rsc_held_bar(0, 3, 0, &low, &high);
    assert_true(low == 0 && high == 3);
}

static double normal(struct rsc_rng *rng) {
    return rsc_normal_quantile((rsc_rng_double(rng) * 0x1p52 + 0.5) * 0x1p-52);
}

/* How often the truth, 0, is held: a model off by `bias` and by chance of deviation `model_sd`, which the sample has too. */
static double held(struct rsc_rng *rng, double bias, double model_sd, double sample_sd) {
    const int draws = 40000;
    int count = 0;
    struct rsc_held_level level;
    rsc_held_level_set(&level, 0.9, 1e9);
    double sd = hypot(model_sd, sample_sd), reach = rsc_held_reach(&level, model_sd / sd, 1) * sd;
    for (int i = 0; i < draws; i++) {
        double low, high, common = model_sd * normal(rng);
        rsc_held_bar(bias + common, common + sample_sd * normal(rng), reach, &low, &high);
        count += low <= 0 && high >= 0;
    }
    return (double)count / draws;
}

static void truth_is_held_as_often_as_stated(void **state) {
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 5, 1);
    /* 40,000 draws: 90 % to 0.15 %. However far the model is off, but where it is right. */
    const double off[] = {-3, -0.5, -0.001, 0.001, 0.1, 1, 20};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) assert_true(fabs(held(&rng, off[i], 0, 1) - 0.9) < 0.007);
    assert_true(held(&rng, 0, 0, 1) == 1);
    /* with chance in common, and no bias; with one, it is held more often, but no more than by both tails of which one counts */
    const double common[] = {0.2, 0.7, 1, 3};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        assert_true(fabs(held(&rng, 0, common[i], 1) - 0.9) < 0.007);
        double far = held(&rng, 30, common[i], 1);
        assert_true(far > 0.893 && far < 0.957);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reach_of_one_tail_and_of_both),
        cmocka_unit_test(bar_holds_the_model),
        cmocka_unit_test(truth_is_held_as_often_as_stated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
