/* test_sample_plan.c - how many samples a bound takes, against appendix A of paper 000; Wilson's interval; parameters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "estimate/sample_plan.h"
#include "multicore/sampled_options.h"
#include "multicore/finished_samples.h"

static void the_papers_numbers(void **state) {
    (void)state;
    struct rsc_error_bound aggregate = {RSC_ERROR_AGGREGATE, 0.10, 95, 0, 200};
    assert_int_equal(rsc_plan_samples(&aggregate), 76832);
    /* "an e value of 0.001 would thus require a million samples", at 95 %: z^2 / 4 e^2 */
    struct rsc_error_bound bucket = {RSC_ERROR_BUCKET, 0.001, 95, 0, 0};
    assert_int_equal(rsc_plan_samples(&bucket), 960400);
    /* "pi_h as low as 0.01 % ... relative errors of no more than 10 % ... n would be nearly 4 million" */
    struct rsc_error_bound relative = {RSC_ERROR_RELATIVE, 0.10, 95, 0.0001, 0};
    assert_int_equal(rsc_plan_samples(&relative), 3841216);
    assert_true(fabs(rsc_plan_z(95) - 1.96) < 1e-12);
    assert_true(fabs(rsc_plan_z(90) - 1.65) < 1e-12);
    assert_true(fabs(rsc_plan_error(&aggregate, 76832) - 0.10) < 1e-9);
    assert_true(fabs(rsc_plan_error(&relative, 4 * 3841215.84) - 0.05) < 1e-6);
    assert_true(isinf(rsc_plan_error(&bucket, 0)));
}

static void few_and_many(void **state) {
    (void)state;
    struct rsc_error_bound loose = {RSC_ERROR_BUCKET, 0.999, 1, 0, 0},
                           tight = {RSC_ERROR_AGGREGATE, 1e-12, 99.999, 0, 1u << 20};
    assert_int_equal(rsc_plan_samples(&loose), 1);
    assert_true(rsc_plan_samples(&tight) > 1ull << 60);
}

static void wilsons_interval(void **state) {
    (void)state;
    double low, high;
    rsc_wilson(0.5, 100, 1.96, &low, &high); /* 0.4038, 0.5962 in the textbooks */
    assert_true(fabs(low - 0.4038) < 1e-4 && fabs(high - 0.5962) < 1e-4);
    rsc_wilson(0, 10, 1.96, &low, &high);
    assert_true(low == 0 && fabs(high - 0.2775) < 1e-4);
    rsc_wilson(1, 10, 1.96, &low, &high);
    assert_true(high == 1 && fabs(low - 0.7225) < 1e-4);
    rsc_wilson(0.3, INFINITY, 1.96, &low, &high);
    assert_true(low == 0.3 && high == 0.3);
    rsc_wilson(0.3, 0, 1.96, &low, &high);
    assert_true(low == 0 && high == 1);
}

static void parameters(void **state) {
    (void)state;
    struct rsc_sampled_options options;
    struct rsc_error error;
    assert_int_equal(rsc_sampled_options_parse(&options, NULL, &error), 0);
    assert_true(options.period == 0 && options.line_rate == 0);
    assert_int_equal(options.bound.kind, RSC_ERROR_BUCKET);
    assert_int_equal(
        rsc_sampled_options_parse(&options,
                                  "period=1M,ordering=parallel,exact=4K,active=32,prune=0.999,prune-after=7,"
                                  "error-kind=relative:0.001",
                                  &error),
        0);
    assert_true(options.period == 1 << 20);
    assert_int_equal(options.sampler.order, RSC_ORDER_PARALLEL);
    assert_int_equal(options.sampler.exact_lines, 4096);
    assert_int_equal(options.sampler.samples_most, 32);
    assert_true(options.sampler.prune_quantile == 0.999);
    assert_int_equal(options.sampler.prune_after, 7);
    assert_true(options.bound.kind == RSC_ERROR_RELATIVE && options.bound.share == 0.001);
    assert_int_equal(rsc_sampled_options_parse(&options, "lines=1/64,prune=off,error-kind=aggregate:50", &error), 0);
    assert_true(options.line_rate == 1 / 64.0 && options.sampler.prune_quantile == 1 && options.bound.bins == 50);
    static const char *const bad[] = {"period",
                                      "period=",
                                      "period=0",
                                      "lines=0",
                                      "lines=2",
                                      "lines=1/0",
                                      "ordering=skew:5",
                                      "ordering=",
                                      "exact=1",
                                      "active=0",
                                      "prune=2",
                                      "prune-after=0",
                                      "error-kind=aggregate:0",
                                      "error-kind=relative:1",
                                      "perio=1",
                                      "=",
                                      "period=1,,lines=1/2,x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&error, 0, sizeof error);
        assert_true(rsc_sampled_options_parse(&options, bad[i], &error) < 0);
        assert_true(strlen(error.message) > 0);
    }
}

/* Samples whose weights differ are worth fewer than they are. */
static void what_samples_are_worth(void **state) {
    (void)state;
    struct rsc_finished_samples sum;
    assert_int_equal(rsc_finished_samples_init(&sum, 90, 0, 0), 0);
    assert_true(rsc_finished_samples_size(&sum) == 0);
    struct rsc_sample_record record = {
        .model = RSC_MODEL_SHARED, .outcome = RSC_SAMPLE_REUSED, .interval = 1, .weight = 1};
    for (int i = 0; i < 10; i++) rsc_finished_samples_take(&sum, &record);
    assert_true(isinf(rsc_finished_samples_size(&sum))); /* every reference */
    record.weight = 100;
    for (int i = 0; i < 50; i++) rsc_finished_samples_take(&sum, &record);
    assert_true(fabs(rsc_finished_samples_size(&sum) - 5010.0 * 5010 / (50 * 9900)) < 1e-9);
    record.outcome = RSC_SAMPLE_LAST_TOUCH;
    rsc_finished_samples_take(&sum, &record);
    struct rsc_profile *profile = rsc_finished_samples_profile(&sum, 5110, 5110, 64);
    assert_non_null(profile);
    assert_int_equal(profile->rd.count[0], 5010);
    assert_int_equal(profile->last_touch, 100);
    assert_true(profile->mrc[0].low < 100 / 5110.0 && profile->mrc[0].high > 100 / 5110.0);
    assert_true(profile->rd_low.count[0] < 5010 && profile->rd_high.count[0] > 5010);
    rsc_profile_free(profile);
    rsc_finished_samples_free(&sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_numbers),     cmocka_unit_test(few_and_many),
        cmocka_unit_test(wilsons_interval),       cmocka_unit_test(parameters),
        cmocka_unit_test(what_samples_are_worth),
    };
    return cmocka_run_group_tests_name("sample plan", tests, NULL, NULL);
}
