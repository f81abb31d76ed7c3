/*
 * test_sample_statistics.c - means, intervals and variances of samples against
 * ones worked out by hand, against GSL, and against all samples of a small
 * population drawn one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#ifdef RSC_HAVE_GSL
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#endif

#include "base/rng.h"
#include "estimate/sample_statistics.h"

static void expect_near(double value, double expected, double relative) {
    if (value == expected || fabs(value - expected) <= relative * fabs(expected)) return;
    print_message("%.17g is not near %.17g\n", value, expected);
    fail();
}

static void by_hand(void **state) {
    (void)state;
    static const double four[] = {2, 4, 4, 6};
    struct rsc_mean_estimate mean;
    rsc_mean_estimate(&mean, four, 4, 16, 90);
    assert_true(mean.mean == 4);
    expect_near(mean.deviation, sqrt(8.0 / 3), 1e-15);
    expect_near(mean.error, sqrt(8.0 / 3) / 2 * sqrt(12.0 / 16), 1e-15);
    expect_near(mean.high - mean.mean, mean.error * 2.3533634348018264, 1e-12); /* t of 5%, 3 degrees */
    expect_near(mean.mean - mean.low, mean.error * 2.3533634348018264, 1e-12);

    rsc_mean_estimate(&mean, four, 4, 4, 90); /* the whole population: nothing is left to chance */
    assert_true(mean.low == 4 && mean.high == 4);
    rsc_mean_estimate(&mean, four, 1, 16, 90);
    assert_true(mean.mean == 2 && isnan(mean.low) && isnan(mean.high) && isnan(mean.deviation));
    rsc_mean_estimate(&mean, four, 0, 16, 90);
    assert_true(mean.mean == 0 && isnan(mean.high));
    static const double wide[] = {0, 0, 0, 10};
    rsc_mean_estimate(&mean, wide, 4, 0, 90);
    assert_true(mean.low == 0 && mean.high > 5);
}

static void against_gsl(void **state) {
    (void)state;
#ifdef RSC_HAVE_GSL
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 5, 0);
    for (int round = 0; round < 200; round++) {
        double values[100];
        uint64_t n = 2 + rsc_rng_below(&rng, 98), population = n + 1 + rsc_rng_below(&rng, 1000);
        double percent = 50 + 49.9 * rsc_rng_double(&rng);
        for (uint64_t i = 0; i < n; i++) values[i] = 100 + rsc_rng_normal(&rng);
        struct rsc_mean_estimate mean;
        rsc_mean_estimate(&mean, values, n, population, percent);
        expect_near(mean.mean, gsl_stats_mean(values, 1, n), 1e-14);
        double error =
            gsl_stats_sd(values, 1, n) / sqrt((double)n) * sqrt((double)(population - n) / (double)population);
        expect_near(mean.error, error, 1e-12);
        expect_near(mean.high, mean.mean + error * gsl_cdf_tdist_Pinv(0.5 + percent / 200, (double)n - 1), 1e-9);
        struct rsc_sample_shape shape;
        assert_int_equal(rsc_sample_shape(&shape, values, n, NULL), 0);
        if (n < 3) continue;
        /* GSL divides by the sample deviation; the third moment here is over the population's. */
        double scale = pow((double)n / ((double)n - 1), 1.5);
        expect_near(shape.skewness, gsl_stats_skew(values, 1, n) * scale, 1e-7);
    }
#else
    skip();
#endif
}

/* Equation A1 is the variance of the means of all samples of n, and A2 of those that are taken. */
static void all_samples(void **state) {
    (void)state;
    static const double population[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    double sum = 0, squares = 0, samples = 0, centre = 31.0 / 8;
    for (unsigned set = 0; set < 256; set++) {
        if (__builtin_popcount(set) != 3) continue;
        double mean = 0;
        for (unsigned i = 0; i < 8; i++) mean += set >> i & 1 ? population[i] / 3 : 0;
        sum += mean;
        squares += (mean - centre) * (mean - centre);
        samples++;
    }
    expect_near(sum / samples, centre, 1e-12);
    expect_near(rsc_random_sample_variance(population, 8, 3), squares / samples, 1e-12);

    double means[4], wanted = 0;
    for (unsigned j = 0; j < 4; j++) {
        means[j] = (population[j] + population[j + 4]) / 2;
        wanted += (means[j] - centre) * (means[j] - centre) / 4;
    }
    expect_near(rsc_systematic_sample_variance(means, 4, centre), wanted, 1e-12);
    expect_near(rsc_coefficient_of_variation(means, 4, centre), sqrt(wanted) / centre, 1e-12);
    assert_true(rsc_coefficient_of_variation(means, 4, 0) == INFINITY);
    assert_int_equal(rsc_within(means, 4, centre, 10), 4);
    static const double errors[] = {0.9, 1.1, 1.11, 0.89, 1};
    assert_int_equal(rsc_within(errors, 5, 1, 0.1000001), 3);
}

/* Stated intervals of random samples of an even population contain its mean as often as they say. */
static void coverage(void **state) {
    (void)state;
    enum { POPULATION = 1024, SAMPLE = 64, ROUNDS = 2000 };
    static double population[POPULATION], sample[SAMPLE];
    struct rsc_rng rng;
    double centre = 0;
    rsc_rng_seed(&rng, 17, 0);
    for (int i = 0; i < POPULATION; i++) {
        population[i] = rsc_rng_double(&rng) + rsc_rng_double(&rng);
        centre += population[i] / POPULATION;
    }
    int contained = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SAMPLE; i++) { /* the first of a shuffle */
            uint64_t other = (uint64_t)i + rsc_rng_below(&rng, POPULATION - (uint64_t)i);
            double swap = population[i];
            population[i] = population[other];
            population[other] = swap;
            sample[i] = population[i];
        }
        struct rsc_mean_estimate mean;
        rsc_mean_estimate(&mean, sample, SAMPLE, POPULATION, 90);
        contained += mean.low <= centre && centre <= mean.high;
    }
    print_message("%d of %d\n", contained, ROUNDS);
    assert_in_range(contained, ROUNDS * 88 / 100, ROUNDS * 92 / 100);
}

static void shapes(void **state) {
    (void)state;
    static double values[1000];
    struct rsc_sample_shape shape;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 3, 0);
    for (int i = 0; i < 1000; i++) values[i] = 50 + 5 * rsc_rng_normal(&rng);
    assert_int_equal(rsc_sample_shape(&shape, values, 1000, NULL), 0);
    assert_true(shape.normal && shape.scores > 0.998 && !shape.hot);
    for (int i = 0; i < 3; i++) values[100 * i] = 5000; /* hot sets */
    assert_int_equal(rsc_sample_shape(&shape, values, 1000, NULL), 0);
    assert_true(!shape.normal && shape.needed > 1000 && shape.scores < 0.5);
    assert_int_equal(shape.hot, 3);
    expect_near(shape.hot_share, 15000 / (15000 + 997 * 50.0), 0.02);
    for (int i = 0; i < 1000; i++) values[i] = 7;
    assert_int_equal(rsc_sample_shape(&shape, values, 1000, NULL), 0);
    assert_true(shape.normal && shape.skewness == 0 && shape.scores == 1 && !shape.hot);
    assert_int_equal(rsc_sample_shape(&shape, values, 0, NULL), 0);
    assert_true(shape.normal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),  cmocka_unit_test(against_gsl), cmocka_unit_test(all_samples),
        cmocka_unit_test(coverage), cmocka_unit_test(shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
