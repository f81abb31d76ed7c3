/*
 * test_statistics.c - distributions against values computed with 50 digits, and
 * against GSL over wide ranges where it is there (GSL itself is good to 1e-9 or
 * so on large arguments); survival curves against ones worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#ifdef RSC_HAVE_GSL
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#endif

#include "base/rng.h"
#include "estimate/half_samples.h"
#include "estimate/jackknife.h"
#include "estimate/kaplan_meier.h"
#include "estimate/statistics.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static void expect_near(double value, double expected, double relative) {
    if (value == expected || fabs(value - expected) <= relative * fabs(expected)) return;
    print_message("%.17g is not near %.17g\n", value, expected);
    fail();
}

static void normal(void **state) {
    (void)state;
    static const double CDF[][2] = {
        {-8, 6.22096057427178412e-16}, {-3, 0.00134989803163009453}, {-1, 0.158655253931457051}, {0, 0.5},
        {0.5, 0.691462461274013104},   {2.5, 0.993790334674223865},
    };
    static const double QUANTILE[][2] = {
        {1e-300, -37.0470962993611992}, {1e-20, -9.26234008979840758},    {0.025, -1.95996398454005421},
        {0.3, -0.524400512708040816},   {0.499, -0.00250663089957176623}, {0.5, 0},
        {0.9, 1.28155156554460059},     {0.975, 1.95996398454005386},
    };
    for (size_t i = 0; i < LENGTH(CDF); i++) expect_near(rsc_normal_cdf(CDF[i][0]), CDF[i][1], 1e-13);
    for (size_t i = 0; i < LENGTH(QUANTILE); i++)
        expect_near(rsc_normal_quantile(QUANTILE[i][0]), QUANTILE[i][1], 1e-13);
    for (double p = 1e-9; p < 1; p += 0.00137) expect_near(rsc_normal_cdf(rsc_normal_quantile(p)), p, 1e-13);
    assert_true(rsc_normal_quantile(0) == -INFINITY);
    assert_true(rsc_normal_quantile(1) == INFINITY);
    assert_true(isfinite(rsc_normal_quantile(5e-324)));
    assert_true(isnan(rsc_normal_quantile(1.5)));
    assert_true(isnan(rsc_normal_quantile(NAN)));
}

static void student(void **state) {
    (void)state;
    static const double CDF[][3] = {
        /* t, degrees of freedom, P */
        {-1, 1, 0.25},
        {-63.65674116287159, 1, 0.00499999999999999927},
        {-2.5, 2.5, 0.0522849815390776936},
        {-30, 5, 3.85932431024802599e-7},
        {0.001, 7, 0.500384991377500578},
        {1.5, 30, 0.927967035435676999},
        {-4, 1000, 0.0000340049596043907888},
        {-3, 1e6, 0.00134993127071089853},
    };
    static const double QUANTILE[][3] = {
        /* p, degrees of freedom, t */
        {0.05, 1, -6.31375151467504274},   {0.05, 5, -2.01504837333302419},   {0.025, 30, -2.04227245630123828},
        {0.05, 2.5, -2.55821861413593655}, {0.05, 1e6, -1.64485515072204047}, {0.4999, 3, -0.000272069909110473382},
        {1e-10, 4, -416.175140329604124},  {0.95, 9, 1.83311293265623661},    {0.3, 0.5, -1.00952587860716612},
    };
    static const double DF[] = {0.3, 1, 1.5, 2, 7, 100, 12345, 1e6, 1e9, 1e12, 1e14, 1e18, INFINITY};
    for (size_t i = 0; i < LENGTH(CDF); i++) expect_near(rsc_student_cdf(CDF[i][0], CDF[i][1]), CDF[i][2], 1e-12);
    for (size_t i = 0; i < LENGTH(QUANTILE); i++)
        expect_near(rsc_student_quantile(QUANTILE[i][0], QUANTILE[i][1]), QUANTILE[i][2], 1e-12);
    for (size_t i = 0; i < LENGTH(DF); i++) {
        for (double p = 1e-9; p < 1; p += 0.0137)
            expect_near(rsc_student_cdf(rsc_student_quantile(p, DF[i]), DF[i]), p, 1e-11);
        expect_near(rsc_student_cdf(2, DF[i]) + rsc_student_cdf(-2, DF[i]), 1, 1e-14);
        assert_true(rsc_student_quantile(0.5, DF[i]) == 0);
    }
    expect_near(rsc_student_quantile(0.025, 1e13), rsc_normal_quantile(0.025), 1e-11);
    assert_true(isnan(rsc_student_cdf(1, 0)));
    assert_true(isnan(rsc_student_quantile(0.5, -1)));
}

static void binomial(void **state) {
    (void)state;
    static const struct {
        uint64_t k, n;
        double p, pmf;
    } VALUES[] = {
        {3, 10, 0.25, 0.25028228759765625},
        {0, 1000, 0.001, 0.367695424770964037},
        {50, 100, 0.5, 0.0795892373871787615},
        {500100, 1000000, 0.5, 0.000782085207967005069},
        {1000, 1000000, 0.001, 0.0126209233877678383},
        {7, 7, 0.9, 0.478296900000000083},
    };
    for (size_t i = 0; i < LENGTH(VALUES); i++)
        expect_near(rsc_binomial_pmf(VALUES[i].k, VALUES[i].n, VALUES[i].p), VALUES[i].pmf, 2e-12);
    for (uint64_t n = 0; n < 60; n++) {
        double sum = 0;
        for (uint64_t k = 0; k <= n; k++) sum += rsc_binomial_pmf(k, n, 0.37);
        expect_near(sum, 1, 1e-12);
    }
    assert_true(rsc_binomial_pmf(0, 5, 0) == 1 && rsc_binomial_pmf(5, 5, 1) == 1 && rsc_binomial_pmf(4, 5, 1) == 0);
    assert_true(rsc_binomial_pmf(6, 5, 0.5) == 0);
    assert_true(isnan(rsc_binomial_pmf(1, 2, -0.1)));
}

static void incomplete_beta(void **state) {
    (void)state;
    static const double BETA[][4] = {
        /* a, b, x, I */
        {2, 3, 0.25, 0.26171875},
        {0.5, 0.5, 0.1, 0.204832764699133458},
        {100, 200, 0.3, 0.108843065644909758},
        {0.01, 5, 0.5, 0.999889784288554189},
    };
    for (size_t i = 0; i < LENGTH(BETA); i++)
        expect_near(rsc_beta_regularised_xy(BETA[i][0], BETA[i][1], BETA[i][2], 1 - BETA[i][2]), BETA[i][3], 1e-12);
    assert_true(rsc_beta_regularised_xy(2, 2, 0, 1) == 0 && rsc_beta_regularised_xy(2, 2, 1, 0) == 1);
    assert_true(isnan(rsc_beta_regularised_xy(0, 1, 0.5, 0.5)));
}

#ifdef RSC_HAVE_GSL
static void agrees_with_gsl(void **state) {
    (void)state;
    static const double DF[] = {0.5, 1, 1.5, 3, 10, 30, 300};
    gsl_set_error_handler_off();
    for (double x = -10; x < 10; x += 0.11) {
        expect_near(rsc_normal_cdf(x), gsl_cdf_ugaussian_P(x), 1e-11);
        for (size_t i = 0; i < LENGTH(DF); i++) expect_near(rsc_student_cdf(x, DF[i]), gsl_cdf_tdist_P(x, DF[i]), 1e-9);
    }
    for (double p = 0.003; p < 1; p += 0.017) {
        expect_near(rsc_normal_quantile(p), gsl_cdf_ugaussian_Pinv(p), 1e-10);
        for (size_t i = 0; i < LENGTH(DF); i++)
            expect_near(rsc_student_quantile(p, DF[i]), gsl_cdf_tdist_Pinv(p, DF[i]), 1e-8);
    }
    for (unsigned n = 1; n < 3000; n = n * 3 + 1) {
        for (double p = 0.001; p < 1; p += 0.07) {
            for (unsigned k = 0; k <= n; k += 1 + n / 50) {
                if (gsl_ran_binomial_pdf(k, p, n) > 1e-250)
                    expect_near(rsc_binomial_pmf(k, n, p), gsl_ran_binomial_pdf(k, p, n), 1e-9);
            }
        }
    }
}
#endif

/* Six watched: events at 1, 2, 3 and 5, lost from sight at 2 and 4. */
static const double TIMES[] = {5, 2, 1, 4, 2, 3};
static const uint8_t SEEN[] = {1, 0, 1, 0, 1, 1};

struct observation {
    double time, weight;
    int seen;
};

static int by_time(const void *left, const void *right) {
    const struct observation *a = left, *b = right;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return b->seen - a->seen; /* events come before endings of watch */
}

/* What is expected to last longer than t. weights may be NULL: all 1. */
static double survival_at(const double *times, const uint8_t *seen, const double *weights, size_t count, double t) {
    struct observation all[200];
    double sum = 0, parts = 0;
    for (size_t i = 0; i < count; i++) {
        all[i] = (struct observation){times[i], weights ? weights[i] : 1, seen[i]};
        sum += all[i].weight;
    }
    qsort(all, count, sizeof *all, by_time);
    struct rsc_survival_walk walk = rsc_survival_begin(1, sum);
    for (size_t i = 0; i < count && all[i].time <= t; i++)
        parts += rsc_survival_step(&walk, all[i].weight, all[i].seen);
    assert_true(fabs(walk.left + parts - 1) < 1e-12); /* nothing is lost */
    return walk.left;
}

static void survival_by_hand(void **state) {
    (void)state;
    static const double EXPECTED[][2] = {{0.5, 1},     {1, 5.0 / 6},    {2, 2.0 / 3}, {2.5, 2.0 / 3},
                                         {3, 4.0 / 9}, {4.99, 4.0 / 9}, {5, 0},       {100, 0}};
    for (size_t i = 0; i < sizeof EXPECTED / sizeof *EXPECTED; i++)
        assert_true(fabs(survival_at(TIMES, SEEN, NULL, 6, EXPECTED[i][0]) - EXPECTED[i][1]) < 1e-15);
    assert_true(survival_at(TIMES, SEEN, NULL, 6, 5) == 0);
}

static void survival_without_censoring_is_the_share_left(void **state) {
    (void)state;
    double times[200];
    uint8_t seen[200];
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 1, 0);
    for (int i = 0; i < 200; i++) {
        times[i] = (double)rsc_rng_below(&rng, 50);
        seen[i] = 1;
    }
    for (double t = -1; t < 51; t += 0.5) {
        int left = 0;
        for (int i = 0; i < 200; i++) left += times[i] > t;
        assert_true(fabs(survival_at(times, seen, NULL, 200, t) - left / 200.0) < 1e-12);
    }
}

static void weights_count_as_copies(void **state) {
    (void)state;
    static const double WEIGHTS[] = {1, 2, 3, 1, 0, 2};
    double times[9];
    uint8_t seen[9];
    size_t copies = 0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < (int)WEIGHTS[i]; j++, copies++) times[copies] = TIMES[i], seen[copies] = SEEN[i];
    for (double t = 0; t < 6; t += 0.5)
        assert_true(fabs(survival_at(TIMES, SEEN, WEIGHTS, 6, t) - survival_at(times, seen, NULL, copies, t)) < 1e-14);
}

static void survival_corner_cases(void **state) {
    (void)state;
    static const double ODD_WEIGHTS[] = {0.1, 0.2, 0.3}, SAME[] = {4, 4, 4};
    static const uint8_t NONE[] = {0, 0, 0}, ALL[] = {1, 1, 1};
    assert_true(survival_at(NULL, NULL, NULL, 0, 5) == 1);
    assert_true(survival_at(TIMES, NONE, NULL, 3, 100) == 1);
    /* weights that do not add up exactly still end at 0 */
    assert_true(survival_at(SAME, ALL, ODD_WEIGHTS, 3, 4) == 0);
}

/* The jackknife of a mean is its standard error; half-samples of independent samples agree with it. */
static void resampling(void **state) {
    (void)state;
    enum { COUNT = 1280, REPLICATES = 400 };
    double values[COUNT], without[COUNT], times[COUNT], replicates[REPLICATES], sum = 0, squares = 0, low, high;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 3, 0);
    for (int i = 0; i < COUNT; i++) sum += values[i] = rsc_rng_double(&rng);
    for (int i = 0; i < COUNT; i++) squares += pow(values[i] - sum / COUNT, 2);
    for (int i = 0; i < COUNT; i++) without[i] = (sum - values[i]) / (COUNT - 1);
    double error = sqrt(squares / (COUNT - 1) / COUNT);
    expect_near(rsc_jackknife_error(without, COUNT), error, 1e-9);
    for (int r = 0; r < REPLICATES; r++) {
        double weighted = 0, weights = 0;
        rsc_half_sample(&rng, times, COUNT);
        for (int i = 0; i < COUNT; i++) {
            weighted += times[i] * values[i];
            weights += times[i];
        }
        assert_true(fabs(weights - COUNT) < 1e-9); /* pairs of runs of equal length */
        replicates[r] = weighted / weights;
    }
    double ratio = sqrt(rsc_half_sample_variance(replicates, REPLICATES)) / error;
    assert_true(ratio > 0.75 && ratio < 1.25); /* 64 pairs: one standard deviation is 9 % */
    /* Wilson, 1927: 0 of 10 at 95 % */
    rsc_wilson_bar(0, 10, 1.959964, &low, &high);
    assert_true(low == 0 && fabs(high - 0.277533) < 1e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal),
        cmocka_unit_test(student),
        cmocka_unit_test(binomial),
        cmocka_unit_test(incomplete_beta),
#ifdef RSC_HAVE_GSL
        cmocka_unit_test(agrees_with_gsl),
#endif
        cmocka_unit_test(survival_by_hand),
        cmocka_unit_test(survival_without_censoring_is_the_share_left),
        cmocka_unit_test(weights_count_as_copies),
        cmocka_unit_test(survival_corner_cases),
        cmocka_unit_test(resampling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
