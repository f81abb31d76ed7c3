/* test_mrc.c - the curve against its definition, and what is read off it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "sample_profiles.h"

/* Misses of a cache of c lines, straight from the definition. */
static double by_definition(const struct rsc_profile *profile, uint64_t lines) {
    uint64_t misses = profile->cold + profile->invalidated + profile->rd_capped;
    for (uint32_t bin = 0; bin < profile->rd.bin_count; bin++)
        if (rsc_bin_lo(profile->rd.bins, bin) >= lines) misses += profile->rd.count[bin];
    return (double)misses / (double)profile->references;
}

static void check_curve(const struct rsc_profile *profile, uint64_t last) {
    size_t count;
    const struct rsc_mrc_point *mrc = rsc_profile_mrc(profile, &count);
    assert_true(count > 0);
    assert_int_equal(mrc[0].lines, 1);
    assert_int_equal(mrc[count - 1].lines, last);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(mrc[i].bytes, mrc[i].lines * profile->made.line_bytes);
        assert_true(mrc[i].miss_ratio == by_definition(profile, mrc[i].lines));
        assert_true(mrc[i].low == mrc[i].miss_ratio && mrc[i].high == mrc[i].miss_ratio);
        assert_true(rsc_profile_miss_ratio(profile, mrc[i].lines) == mrc[i].miss_ratio);
        if (i + 1 < count && mrc[i].lines < 1024) assert_int_equal(mrc[i + 1].lines, mrc[i].lines + 1);
        if (i && mrc[i].lines > 1024 && i + 1 < count) {
            uint32_t bin = rsc_bin_of(RSC_BINS_FINE, mrc[i].lines);
            assert_int_equal(rsc_bin_lo(RSC_BINS_FINE, bin), mrc[i].lines);
            assert_int_equal(rsc_bin_lo(RSC_BINS_FINE, bin - 1), mrc[i - 1].lines);
        }
    }
}

static void curve_follows_the_definition(void **state) {
    (void)state;
    static const uint64_t footprints[] = {1, 2, 3, 1023, 1024, 1025, 1039, 1040, 1041, 5000, 65536, 100000};
    for (size_t i = 0; i < sizeof footprints / sizeof footprints[0]; i++) {
        struct rsc_profile *profile = sample_spread(footprints[i]);
        check_curve(profile, footprints[i]);
        size_t count;
        const struct rsc_mrc_point *mrc = rsc_profile_mrc(profile, &count);
        assert_true(mrc[count - 1].miss_ratio == (double)profile->cold / (double)profile->references);
        rsc_profile_free(profile);
    }
}

static void cycle_misses_until_it_fits(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_cyclic(1000, 10);
    check_curve(profile, 1000);
    assert_true(rsc_profile_miss_ratio(profile, 0) == 1.0);
    assert_true(rsc_profile_miss_ratio(profile, 999) == 1.0);
    assert_true(rsc_profile_miss_ratio(profile, 1000) == 0.1);
    assert_true(rsc_profile_miss_ratio(profile, UINT64_MAX) == 0.1);
    rsc_profile_free(profile);
}

static void sizes_between_points_are_interpolated(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_spread(5000);
    double left = rsc_profile_miss_ratio(profile, 2048), right = rsc_profile_miss_ratio(profile, 2080);
    double between = rsc_profile_miss_ratio(profile, 2064);
    assert_true(left > right);
    assert_true(fabs(between - (left + right) / 2) < 1e-12);
    rsc_profile_free(profile);
}

static void capped_curve_ends_at_the_cap(void **state) {
    (void)state;
    static const uint64_t caps[] = {1, 2, 1000, 1024, 1500, 4096};
    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        struct rsc_profile *profile = sample_empty();
        profile->rd_cap = caps[i];
        for (uint64_t distance = 0; distance < 5000; distance++) {
            if (distance < caps[i]) rsc_histogram_add(&profile->rd, distance, 1);
            else profile->rd_capped++;
        }
        profile->cold = profile->distinct = 5000;
        profile->references = profile->accesses = 10000;
        sample_sealed(profile);
        check_curve(profile, caps[i]);
        size_t count;
        const struct rsc_bin *rd = rsc_profile_rd(profile, &count);
        assert_int_equal(rd[count - 1].lo, caps[i]);
        assert_true(rd[count - 1].hi == UINT64_MAX);
        assert_int_equal(rd[count - 1].count, 5000 - caps[i]);
        assert_int_equal(rd[count - 2].hi, caps[i] - 1);
        assert_true(rsc_profile_rd_quantile(profile, 1) == UINT64_MAX);
        rsc_profile_free(profile);
    }
}

static void cap_beyond_the_footprint_changes_nothing(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_spread(100);
    profile->rd_cap = 1000;
    free(profile->mrc);
    profile->mrc = NULL;
    sample_sealed(profile);
    check_curve(profile, 100);
    rsc_profile_free(profile);
}

static void no_references_no_curve(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_zero();
    size_t count = 1;
    rsc_profile_mrc(profile, &count);
    assert_int_equal(count, 0);
    assert_true(rsc_profile_miss_ratio(profile, 5) == 0);
    assert_true(rsc_profile_rd_quantile(profile, 0.5) == UINT64_MAX);
    rsc_profile_free(profile);
}

static void huge_footprint_stays_a_short_curve(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_empty();
    profile->references = profile->cold = profile->distinct = INT64_MAX;
    sample_sealed(profile);
    size_t count;
    rsc_profile_mrc(profile, &count);
    assert_true(count < 5000);
    rsc_profile_free(profile);
}

static void given_curve_is_kept(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rich();
    struct rsc_mrc_point at = rsc_profile_mrc_at(profile, 7);
    assert_true(at.low < at.miss_ratio && at.miss_ratio < at.high);
    rsc_profile_free(profile);
}

static void quantiles_are_the_smallest_distance(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_empty();
    for (uint64_t distance = 0; distance < 10; distance++) rsc_histogram_add(&profile->rd, distance, 1);
    profile->cold = profile->distinct = 10;
    profile->references = 20;
    sample_sealed(profile);
    assert_int_equal(rsc_profile_rd_quantile(profile, 0), 0);
    for (uint64_t tenth = 1; tenth <= 10; tenth++)
        assert_int_equal(rsc_profile_rd_quantile(profile, (double)tenth / 10), tenth - 1);
    assert_int_equal(rsc_profile_rd_quantile(profile, 0.51), 5);
    rsc_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curve_follows_the_definition),
        cmocka_unit_test(cycle_misses_until_it_fits),
        cmocka_unit_test(sizes_between_points_are_interpolated),
        cmocka_unit_test(capped_curve_ends_at_the_cap),
        cmocka_unit_test(cap_beyond_the_footprint_changes_nothing),
        cmocka_unit_test(no_references_no_curve),
        cmocka_unit_test(huge_footprint_stays_a_short_curve),
        cmocka_unit_test(given_curve_is_kept),
        cmocka_unit_test(quantiles_are_the_smallest_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
