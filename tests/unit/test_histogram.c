/* test_histogram.c - bins against their definition, and counts that stay exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/histogram.h"
#include "base/rng.h"

static const uint32_t PER_OCTAVE[] = {1, 2, 3, 4, 5, 8, 64};
static const uint32_t LINEAR[] = {1, 2, 4, 16, 1024};
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* A value with any number of significant bits. */
static uint64_t any_value(struct rsc_rng *rng) { return rsc_rng_u64(rng) >> rsc_rng_below(rng, 64); }

/* Every layout of the tables, and the two constants. */
static void for_each_layout(void (*check)(struct rsc_bins)) {
    for (size_t i = 0; i < LENGTH(PER_OCTAVE); i++)
        for (size_t j = 0; j < LENGTH(LINEAR); j++) check((struct rsc_bins){LINEAR[j], PER_OCTAVE[i]});
    for (size_t i = 0; i < LENGTH(PER_OCTAVE); i++) check(rsc_bins_per_octave(PER_OCTAVE[i]));
    check(RSC_BINS_FINE);
    check(RSC_BINS_COARSE);
}

static void check_value(struct rsc_bins bins, uint64_t value) {
    uint32_t bin = rsc_bin_of(bins, value);
    assert_true(bin < rsc_bins_count(bins));
    assert_true(rsc_bin_lo(bins, bin) <= value);
    assert_true(rsc_bin_hi(bins, bin) >= value);
    if (value < bins.linear) assert_int_equal(bin, value);
}

static void check_values(struct rsc_bins bins) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 1, 0);
    for (uint64_t value = 0; value <= 5000; value++) check_value(bins, value);
    for (int i = 0; i < 5000; i++) check_value(bins, any_value(&rng));
    for (int octave = 0; octave < 64; octave++) {
        check_value(bins, 1ull << octave);
        check_value(bins, (1ull << octave) - 1);
        check_value(bins, (1ull << octave) + 1);
    }
    check_value(bins, UINT64_MAX);
}

static void every_value_lies_in_its_bin(void **state) {
    (void)state;
    for_each_layout(check_values);
}

/* Bins that can hold something follow on one another without gap or overlap, from 0 to the last number. */
static void check_tiling(struct rsc_bins bins) {
    uint64_t expected = 0;
    for (uint32_t bin = 0; bin < rsc_bins_count(bins); bin++) {
        uint64_t lo = rsc_bin_lo(bins, bin), hi = rsc_bin_hi(bins, bin);
        if (lo > hi) continue;
        assert_true(lo == expected);
        assert_int_equal(rsc_bin_of(bins, lo), bin);
        assert_int_equal(rsc_bin_of(bins, hi), bin);
        expected = hi + 1;
    }
    assert_true(expected == 0); /* wrapped around after UINT64_MAX */
}

static void bins_tile_the_numbers(void **state) {
    (void)state;
    for_each_layout(check_tiling);
}

static void octaves_have_equal_bins(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(PER_OCTAVE); i++) {
        struct rsc_bins bins = rsc_bins_per_octave(PER_OCTAVE[i]);
        uint64_t octave = 1ull << 20, width = octave / PER_OCTAVE[i];
        for (uint32_t bin = rsc_bin_of(bins, octave); bin < rsc_bin_of(bins, 2 * octave); bin++) {
            uint64_t held = rsc_bin_hi(bins, bin) - rsc_bin_lo(bins, bin) + 1;
            assert_in_range(held, width, width + 1);
        }
        assert_int_equal(rsc_bin_of(bins, 2 * octave) - rsc_bin_of(bins, octave), PER_OCTAVE[i]);
    }
}

static void shortcuts_agree(void **state) {
    (void)state;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 2, 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t value = i < 5000 ? (uint64_t)i : any_value(&rng);
        assert_int_equal(rsc_bin_of_fine(value), rsc_bin_of(RSC_BINS_FINE, value));
        assert_int_equal(rsc_bin_of_coarse(value), rsc_bin_of(RSC_BINS_COARSE, value));
    }
}

/* The profile's contract: exact below 1024, then lo = d >> (e-6) << (e-6). */
static void fine_bins_keep_the_contract(void **state) {
    (void)state;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 3, 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t d = i < 5000 ? (uint64_t)i : any_value(&rng), lo = d;
        if (d >= 1024) {
            int e = 63 - __builtin_clzll(d);
            lo = d >> (e - 6) << (e - 6);
        }
        uint32_t bin = rsc_bin_of(RSC_BINS_FINE, d);
        assert_true(rsc_bin_lo(RSC_BINS_FINE, bin) == lo);
        if (d < 1024) assert_true(rsc_bin_hi(RSC_BINS_FINE, bin) == lo);
    }
}

static void at_least_splits_a_bin_in_proportion(void **state) {
    (void)state;
    struct rsc_histogram histogram;
    assert_int_equal(rsc_histogram_init(&histogram, RSC_BINS_COARSE), 0);
    rsc_histogram_add(&histogram, 3, 5);
    rsc_histogram_add(&histogram, 1024, 256); /* its bin is 1024 .. 1279 */
    rsc_histogram_add(&histogram, UINT64_MAX, 7);
    assert_int_equal(rsc_histogram_at_least(&histogram, 0), 268);
    assert_int_equal(rsc_histogram_at_least(&histogram, 3), 268);
    assert_int_equal(rsc_histogram_at_least(&histogram, 4), 263);
    assert_int_equal(rsc_histogram_at_least(&histogram, 1024), 263);
    assert_int_equal(rsc_histogram_at_least(&histogram, 1025), 262);
    assert_int_equal(rsc_histogram_at_least(&histogram, 1279), 8);
    assert_int_equal(rsc_histogram_at_least(&histogram, 1280), 7);
    assert_int_equal(rsc_histogram_at_least(&histogram, UINT64_MAX), 0); /* a tiny part of 7, rounded down */
    rsc_histogram_free(&histogram);
}

static void at_least_is_exact_in_exact_bins(void **state) {
    (void)state;
    struct rsc_histogram histogram;
    struct rsc_rng rng;
    uint64_t values[500];
    rsc_rng_seed(&rng, 4, 0);
    assert_int_equal(rsc_histogram_init(&histogram, RSC_BINS_FINE), 0);
    for (size_t i = 0; i < LENGTH(values); i++) rsc_histogram_add(&histogram, values[i] = rsc_rng_below(&rng, 1100), 1);
    for (uint64_t bound = 0; bound <= 1024; bound++) {
        uint64_t expected = 0;
        for (size_t i = 0; i < LENGTH(values); i++) expected += values[i] >= bound;
        assert_int_equal(rsc_histogram_at_least(&histogram, bound), expected);
    }
    rsc_histogram_free(&histogram);
}

static void merge_keeps_every_count(void **state) {
    (void)state;
    struct rsc_histogram fine, more, coarse;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 5, 0);
    assert_int_equal(rsc_histogram_init(&fine, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&more, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&coarse, RSC_BINS_COARSE), 0);
    for (int i = 0; i < 10000; i++) {
        uint64_t value = any_value(&rng), count = rsc_rng_below(&rng, 10);
        rsc_histogram_add(i & 1 ? &fine : &more, value, count);
        rsc_histogram_add(&coarse, value, count);
    }
    rsc_histogram_merge(&fine, &more);
    assert_int_equal(rsc_histogram_total(&fine), rsc_histogram_total(&coarse));
    /* a fine bin lies inside one coarse bin: binning twice is binning once */
    struct rsc_histogram twice;
    assert_int_equal(rsc_histogram_init(&twice, RSC_BINS_COARSE), 0);
    rsc_histogram_merge(&twice, &fine);
    for (uint32_t bin = 0; bin < twice.bin_count; bin++) assert_int_equal(twice.count[bin], coarse.count[bin]);
    rsc_histogram_free(&twice);
    rsc_histogram_free(&coarse);
    rsc_histogram_free(&more);
    rsc_histogram_free(&fine);
}

static void scaling_is_exact(void **state) {
    (void)state;
    static const uint64_t TOTALS[] = {0, 1, 7, 1000, 123456789, 1ull << 40, UINT64_MAX};
    for (size_t t = 0; t < LENGTH(TOTALS); t++) {
        struct rsc_histogram histogram;
        struct rsc_rng rng;
        uint64_t before[2048];
        rsc_rng_seed(&rng, 6, t);
        assert_int_equal(rsc_histogram_init(&histogram, RSC_BINS_COARSE), 0);
        for (int i = 0; i < 300; i++) rsc_histogram_add(&histogram, any_value(&rng), rsc_rng_below(&rng, 1000));
        uint64_t total = rsc_histogram_total(&histogram);
        for (uint32_t bin = 0; bin < histogram.bin_count; bin++) before[bin] = histogram.count[bin];
        assert_int_equal(rsc_histogram_scale_to(&histogram, TOTALS[t]), 0);
        assert_true(rsc_histogram_total(&histogram) == TOTALS[t]);
        for (uint32_t bin = 0; bin < histogram.bin_count; bin++) {
            uint64_t share = (uint64_t)((unsigned __int128)before[bin] * TOTALS[t] / total);
            assert_true(histogram.count[bin] == share || histogram.count[bin] == share + 1);
        }
        rsc_histogram_free(&histogram);
    }
}

static void scaling_gives_the_rest_to_the_largest_remainders(void **state) {
    (void)state;
    struct rsc_histogram histogram;
    assert_int_equal(rsc_histogram_init(&histogram, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_scale_to(&histogram, 10), 0); /* empty: nothing to do */
    assert_int_equal(rsc_histogram_total(&histogram), 0);
    rsc_histogram_add(&histogram, 1, 1);
    rsc_histogram_add(&histogram, 2, 2);
    rsc_histogram_add(&histogram, 3, 4);
    assert_int_equal(rsc_histogram_scale_to(&histogram, 10), 0); /* 1.43, 2.86, 5.71 */
    assert_int_equal(histogram.count[1], 1);
    assert_int_equal(histogram.count[2], 3);
    assert_int_equal(histogram.count[3], 6);
    rsc_histogram_free(&histogram);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_lies_in_its_bin),
        cmocka_unit_test(bins_tile_the_numbers),
        cmocka_unit_test(octaves_have_equal_bins),
        cmocka_unit_test(shortcuts_agree),
        cmocka_unit_test(fine_bins_keep_the_contract),
        cmocka_unit_test(at_least_splits_a_bin_in_proportion),
        cmocka_unit_test(at_least_is_exact_in_exact_bins),
        cmocka_unit_test(merge_keeps_every_count),
        cmocka_unit_test(scaling_is_exact),
        cmocka_unit_test(scaling_gives_the_rest_to_the_largest_remainders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
