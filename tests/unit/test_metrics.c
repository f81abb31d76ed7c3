/* test_metrics.c - distances between profiles on cases worked out by hand, and merging. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "profile/metrics.h"
#include "sample_profiles.h"

#define assert_close(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void cold_references_count_in_a_profiles_overlap(void **state) {
    (void)state;
    struct rsc_profile *half = sample_cyclic(4, 2), *tenth = sample_cyclic(4, 10);
    assert_close(rsc_profile_overlap(half, half), 1);
    assert_close(rsc_profile_overlap(half, tenth), 1 - 0.4);
    rsc_profile_free(half);
    rsc_profile_free(tenth);
}

/* A run of `at_zero`, `at_one` and `far` references at distances 0, 1 and 100, and `cold` first uses. */
static struct rsc_profile *run_of(uint64_t at_zero, uint64_t at_one, uint64_t far, uint64_t cold) {
    struct rsc_profile *profile = rsc_profile_new();
    assert_non_null(profile);
    assert_int_equal(rsc_profile_set_bins(profile, 10), 0);
    rsc_histogram_add(&profile->rd_binned, 0, at_zero);
    rsc_histogram_add(&profile->rd_binned, 1, at_one);
    rsc_histogram_add(&profile->rd_binned, 100, far);
    profile->references = at_zero + at_one + far + cold;
    profile->cold = cold;
    return profile;
}

static void estimates_are_compared_with_the_mean_of_several_runs(void **state) {
    (void)state;
    /* shares at 0, 1, 100 and none: .5 .1 .3 .1; .5 .3 .1 .1 of twice as many; their mean: .5 .2 .2 .1 */
    struct rsc_profile *runs[3] = {run_of(50, 10, 30, 10), run_of(100, 60, 20, 20), run_of(0, 0, 0, 0)};
    struct rsc_profile *mean = run_of(5, 2, 2, 1), *other = run_of(0, 3, 0, 1);
    const struct rsc_profile *const *truths = (const struct rsc_profile *const *)runs;
    assert_close(rsc_profile_accuracy_of_runs(truths, 2, mean, 0), 1);
    assert_close(rsc_profile_accuracy_of_runs(truths, 2, mean, 1), 1);
    assert_close(rsc_profile_accuracy_of_runs(truths, 1, mean, 0), 1 - 0.2 / 2);
    assert_close(rsc_profile_accuracy_of_runs(truths, 1, mean, 0), rsc_profile_accuracy(mean, runs[0], 0));
    /* 0 .75 0 .25 against .5 .2 .2 .1, and without 0 against .4 .4 .2 */
    assert_close(rsc_profile_accuracy_of_runs(truths, 2, other, 0), 1 - (0.5 + 0.55 + 0.2 + 0.15) / 2);
    assert_close(rsc_profile_accuracy_of_runs(truths, 2, other, 1), 1 - (0.35 + 0.4 + 0.05) / 2);
    assert_close(rsc_profile_accuracy_of_runs(truths, 3, mean, 0), 1); /* an empty run says nothing */
    assert_close(rsc_profile_accuracy_of_runs(truths, 2, runs[2], 0), 0);
    assert_close(rsc_profile_accuracy_of_runs(truths + 2, 1, runs[2], 0), 1);
    for (int i = 0; i < 3; i++) rsc_profile_free(runs[i]);
    rsc_profile_free(mean);
    rsc_profile_free(other);
}

static void how_well_runs_agree(void **state) {
    (void)state;
    /* at 0 and none: .5 .5; .6 .4; .8 .2. Each against the mean of the others: .2, .05 and .25 apart */
    struct rsc_profile *runs[3] = {run_of(5, 0, 0, 5), run_of(6, 0, 0, 4), run_of(8, 0, 0, 2)};
    const struct rsc_profile *const *all = (const struct rsc_profile *const *)runs;
    assert_close(rsc_profile_runs_agree(all, 3, 0), 1 - 0.5 / 3);
    assert_close(rsc_profile_runs_agree(all, 3, 1), 1); /* without 0 all are alike */
    assert_close(rsc_profile_runs_agree(all, 2, 0), 0.9);
    assert_true(isnan(rsc_profile_runs_agree(all, 1, 0)));
    for (int i = 0; i < 3; i++) rsc_profile_free(runs[i]);
}

static void error_rate_by_hand(void **state) {
    (void)state;
    /* 4 lines twice: half cold, half at 3; ten times: a tenth cold, nine tenths at 3. */
    struct rsc_profile *half = sample_cyclic(4, 2), *tenth = sample_cyclic(4, 10), *zero = sample_zero();
    uint32_t used = 0;
    /* bins 0, 1, 2-3 and the one without a distance: (|0.5 - 0.9| + |0.5 - 0.1|) / 4 */
    assert_close(rsc_profile_error_rate(half, tenth, rsc_bins_per_octave(1), &used), 0.8 / 4);
    assert_int_equal(used, 4);
    /* bins 0, 1, 2, 3 and that one: the same difference, a smaller rate */
    assert_close(rsc_profile_error_rate(tenth, half, RSC_BINS_FINE, &used), 0.8 / 5);
    assert_int_equal(used, 5);
    assert_close(rsc_profile_error_rate(tenth, half, RSC_BINS_FINE, NULL),
                 2 * (1 - rsc_profile_overlap(half, tenth)) / used);
    assert_close(rsc_profile_error_rate(half, half, RSC_BINS_COARSE, &used), 0);
    /* nothing against half cold, half at 3: 1 in 4 bins */
    assert_close(rsc_profile_error_rate(zero, half, rsc_bins_per_octave(1), &used), 1.0 / 4);
    assert_close(rsc_profile_error_rate(zero, zero, rsc_bins_per_octave(1), &used), 0);
    assert_int_equal(used, 1);
    rsc_profile_free(half);
    rsc_profile_free(tenth);
    rsc_profile_free(zero);
}

static void curves_on_a_grid_of_octaves(void **state) {
    (void)state;
    struct rsc_profile *small = sample_cyclic(2, 2), *large = sample_cyclic(4, 2), *zero = sample_zero();
    size_t points;
    /* sizes 1, 2, 4 at one an octave; small: 1, 0.5 and on; large: 1, 1, 0.5 */
    assert_close(rsc_profile_mrc_error_octaves(small, large, 1, &points), 0.5 / 3);
    assert_int_equal(points, 3);
    assert_close(rsc_profile_mrc_error_octaves(large, small, 8, &points), 1.0 / 4); /* 1, 2, 3, 4: each once */
    assert_int_equal(points, 4);
    assert_true(isnan(rsc_profile_mrc_error_octaves(large, zero, 8, &points)));
    assert_int_equal(rsc_grid_next(0, 8), 1);
    assert_int_equal(rsc_grid_next(1024, 8), 1117);
    assert_int_equal(rsc_grid_next(1023, 1), 1024);
    rsc_profile_free(small);
    rsc_profile_free(large);
    rsc_profile_free(zero);
}

static void curves_are_compared_where_both_are(void **state) {
    (void)state;
    struct rsc_profile *small = sample_cyclic(2, 2), *large = sample_cyclic(4, 2), *zero = sample_zero();
    size_t points;
    /* small: 1, 0.5 at 1 and 2 lines; large: 1, 1, 1, 0.5 */
    assert_close(rsc_profile_mrc_error(small, large, &points), 0.25);
    assert_int_equal(points, 2);
    assert_close(rsc_profile_mrc_error(large, small, NULL), 0.25);
    assert_close(rsc_profile_mrc_error(large, large, NULL), 0);
    assert_true(isnan(rsc_profile_mrc_error(large, zero, &points)));
    assert_int_equal(points, 0);
    rsc_profile_free(small);
    rsc_profile_free(large);
    rsc_profile_free(zero);
}

static void earth_is_moved_by_octaves(void **state) {
    (void)state;
    struct rsc_histogram a = {0}, b = {0};
    assert_int_equal(rsc_histogram_init(&a, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&b, RSC_BINS_FINE), 0);
    assert_close(rsc_histogram_emd_octaves(&a, &b), 0);
    rsc_histogram_add(&a, 7, 5); /* at log2(8) = 3 */
    assert_true(isnan(rsc_histogram_emd_octaves(&a, &b)));
    rsc_histogram_add(&b, 31, 1); /* at 5 */
    assert_close(rsc_histogram_emd_octaves(&a, &b), 2);
    rsc_histogram_add(&b, 7, 3);
    assert_close(rsc_histogram_emd_octaves(&a, &b), 0.5);
    assert_close(rsc_histogram_emd_octaves(&b, &a), 0.5);
    rsc_histogram_free(&a);
    rsc_histogram_free(&b);
}

static void merging_adds(void **state) {
    (void)state;
    struct rsc_profile *into = sample_cyclic(4, 2), *from = sample_cyclic(10, 3);
    assert_int_equal(rsc_profile_merge(into, from, NULL), 0);
    assert_int_equal(into->references, 38);
    assert_int_equal(into->distinct, 14);
    assert_int_equal(into->cold, 14);
    assert_int_equal(rsc_profile_check_sum(into, "merged", NULL), 0);
    assert_close(rsc_profile_miss_ratio(into, 4), 34.0 / 38);
    assert_close(rsc_profile_miss_ratio(into, 10), 14.0 / 38);
    assert_string_equal(into->made.by, "exact");
    assert_close(into->made.seconds, 0.5);
    rsc_profile_free(into);
    rsc_profile_free(from);
}

static void merging_joins_rows_and_error_bars(void **state) {
    (void)state;
    struct rsc_profile *into = sample_rich(), *from = sample_rich();
    struct rsc_mrc_point before = rsc_profile_mrc_at(into, 7);
    uint64_t references = into->references;
    assert_int_equal(rsc_profile_merge(into, from, NULL), 0);
    assert_int_equal(into->thread_count, 6);
    assert_int_equal(into->phase_count, 80);
    assert_int_equal(into->phases[41].first, references + 70);
    assert_int_equal(into->rd_capped, 66);
    assert_int_equal(rsc_histogram_total(&into->rd_binned), 2 * (828 + 33));
    struct rsc_mrc_point after = rsc_profile_mrc_at(into, 7);
    assert_close(before.miss_ratio, after.miss_ratio);
    /* the errors of two equal runs, taken as independent: the bar is 1 / sqrt(2) of theirs */
    assert_close(before.miss_ratio - before.low, (after.miss_ratio - after.low) * sqrt(2));
    assert_close(before.high - before.miss_ratio, (after.high - after.miss_ratio) * sqrt(2));
    char *text = sample_json(into, NULL);
    struct rsc_profile **loaded;
    size_t count;
    assert_int_equal(rsc_profiles_parse(text, strlen(text), "x", &loaded, &count, NULL), 0);
    rsc_profile_free(loaded[0]);
    free(loaded);
    free(text);
    rsc_profile_free(into);
    rsc_profile_free(from);
}

static void unlike_profiles_do_not_merge(void **state) {
    (void)state;
    struct rsc_profile *into = sample_cyclic(4, 2), *from = sample_cyclic(4, 2);
    struct rsc_error error;
    from->made.line_bytes = 128;
    assert_int_equal(rsc_profile_merge(into, from, &error), RSC_EINVAL);
    from->made.line_bytes = 64;
    rsc_profile_set_text(&from->made.model, "shared");
    assert_int_equal(rsc_profile_merge(into, from, &error), RSC_EINVAL);
    rsc_profile_set_text(&from->made.model, "single");
    from->accesses = INT64_MAX;
    assert_int_equal(rsc_profile_merge(into, from, &error), RSC_ELIMIT);
    assert_int_equal(into->references, 8);
    rsc_profile_free(into);
    rsc_profile_free(from);
}

/* Paper 003: 20 bins from 4 Ki. Half of the reuses move from [4Ki,8Ki) to the next bin, a quarter from the first to the last. */
static void octave_shares_by_hand(void **state) {
    (void)state;
    struct rsc_histogram a = {0}, b = {0};
    double left[RSC_OCTAVE_SHARES], right[RSC_OCTAVE_SHARES];
    assert_int_equal(rsc_histogram_init(&a, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&b, RSC_BINS_FINE), 0);
    rsc_histogram_octave_shares(&a, left);
    for (uint32_t i = 0; i < RSC_OCTAVE_SHARES; i++) assert_true(left[i] == 0);
    rsc_histogram_add(&a, 0, 1);
    rsc_histogram_add(&a, 4095, 1);
    rsc_histogram_add(&a, 4096, 1);
    rsc_histogram_add(&a, 8191, 1);
    rsc_histogram_add(&b, 17, 1);
    rsc_histogram_add(&b, 1ull << 40, 1);
    rsc_histogram_add(&b, 8192, 2);
    rsc_histogram_octave_shares(&a, left);
    rsc_histogram_octave_shares(&b, right);
    assert_close(left[0], 0.5);
    assert_close(left[1], 0.5);
    assert_close(right[0], 0.25);
    assert_close(right[2], 0.5);
    assert_close(right[19], 0.25);
    assert_close(rsc_octave_accuracy(left, left), 1);
    assert_close(rsc_octave_accuracy(left, right), 0.25);
    /* windows: (0,1) .5 and .125, (1,2) .25 and .25, (2,3) 0 and .25, (18,19) 0 and .125 */
    assert_close(rsc_octave_accuracy_windowed(left, right), 1 - (0.375 + 0 + 0.25 + 0.125) / 2);
    /* a quarter by 19 bins, half by 1 */
    assert_close(rsc_octave_emd(left, right), 0.25 * 19 + 0.5);
    rsc_histogram_add(&a, (1ull << 30) - 1, 4);
    rsc_histogram_octave_shares(&a, left);
    assert_close(left[18], 0.5);
    rsc_histogram_free(&a);
    rsc_histogram_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(octave_shares_by_hand),
        cmocka_unit_test(cold_references_count_in_a_profiles_overlap),
        cmocka_unit_test(estimates_are_compared_with_the_mean_of_several_runs),
        cmocka_unit_test(how_well_runs_agree),
        cmocka_unit_test(error_rate_by_hand),
        cmocka_unit_test(curves_are_compared_where_both_are),
        cmocka_unit_test(curves_on_a_grid_of_octaves),
        cmocka_unit_test(earth_is_moved_by_octaves),
        cmocka_unit_test(merging_adds),
        cmocka_unit_test(merging_joins_rows_and_error_bars),
        cmocka_unit_test(unlike_profiles_do_not_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
