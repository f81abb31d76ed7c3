/*
 * test_use_watch.c - a sample of watched uses: with a gap of 1 it knows every
 * interval; all widths see the same; with larger gaps, bounded or not, counts scale
 * up to the truth within what chance allows; nothing depends on how the stream is
 * cut, nor on the order in which a table is taken over; lines are off by as much as
 * is stated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "distance/time/use_watch.h"

#define COUNT 400000u
#define LINES 50000u

static uint64_t lines[COUNT], ri[COUNT]; /* ri 0: a first use */
static uint64_t reuses, distinct;

/* Skewed, with repeats: hot lines, far ones, and runs of one line that cross blocks. */
static void make_lines(void) {
    static uint32_t then[LINES];
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 5, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t line = rsc_rng_below(&rng, 1 + rsc_rng_below(&rng, LINES));
        if (i && rsc_rng_below(&rng, 3) == 0) line = lines[i - 1] / 3;
        if (i % 5000 < 1500 && i % 5000) line = lines[i - 1] / 3; /* a run longer than a block */
        lines[i] = line * 3;
        ri[i] = then[line] ? i + 1 - then[line] : 0;
        distinct += !then[line];
        reuses += ri[i] != 0;
        then[line] = i + 1;
    }
}

static struct rsc_watch_found found;

/* Takes all lines from `from` on in pieces of `piece`; adds every interval found to `intervals`. */
static void take(struct rsc_use_watch *watch, uint32_t from, uint32_t piece, struct rsc_histogram *intervals) {
    for (uint32_t done = from; done < COUNT; done += piece) {
        uint32_t count = COUNT - done < piece ? COUNT - done : piece;
        assert_int_equal(rsc_use_watch_run(watch, lines + done, count, &found), 0);
        for (uint32_t i = 0; i < found.ended_count; i++) {
            uint32_t at = done + found.index[found.ended[i]];
            assert_int_equal(found.line[found.ended[i]], lines[at]);
            assert_int_equal(found.ended_ri[i], ri[at]);
            rsc_histogram_add(intervals, found.ended_ri[i], 1);
        }
        rsc_histogram_add(intervals, 1, count - found.listed_count);
    }
}

static void all_are_known(void **state) {
    (void)state;
    for (int simd = 0; simd < RSC_SIMD_COUNT; simd++) {
        struct rsc_use_watch watch;
        struct rsc_histogram got, truth;
        if (!rsc_simd_available((enum rsc_simd)simd)) continue;
        assert_int_equal(rsc_use_watch_init(&watch, (enum rsc_simd)simd, 3, 1, 0), 0);
        assert_int_equal(rsc_histogram_init(&got, RSC_BINS_FINE), 0);
        assert_int_equal(rsc_histogram_init(&truth, RSC_BINS_FINE), 0);
        take(&watch, 0, RSC_LAST_USE_RUN, &got);
        for (uint32_t i = 0; i < COUNT; i++)
            if (ri[i]) rsc_histogram_add(&truth, ri[i], 1);
        /* full buckets let some go: never many, and what is found is right (checked above) */
        assert_true(rsc_histogram_total(&got) <= reuses && rsc_histogram_total(&got) >= reuses - reuses / 50);
        for (uint32_t bin = 0; bin < truth.bin_count; bin++) assert_true(got.count[bin] <= truth.count[bin]);
        assert_true(fabs(rsc_use_watch_lines(&watch) / (double)distinct - 1) < 0.05);
        rsc_histogram_free(&got);
        rsc_histogram_free(&truth);
        rsc_use_watch_free(&watch);
    }
}

/* Tails of the scaled counts against those of all uses that are drawn from, within five standard deviations. */
static void check_scaled(const struct rsc_use_watch *watch, uint32_t from) {
    double scale = rsc_use_watch_scale(watch);
    assert_true(fabs(scale - 1) < 0.05);
    for (uint64_t least = 2; least < COUNT; least *= 3) {
        double got = 0, truth = 0;
        for (uint32_t bin = rsc_bin_of_fine(least); bin < rsc_bins_count(RSC_BINS_FINE); bin++)
            got += scale * (watch->weighted[bin] + (double)watch->ended[bin] * watch->gap);
        for (uint32_t i = from; i < COUNT; i++) truth += ri[i] && rsc_bin_of_fine(ri[i]) >= rsc_bin_of_fine(least);
        assert_true(fabs(got - truth) <= 5 * sqrt(watch->gap * (truth + 1)) + 0.001 * truth);
    }
    struct rsc_watch_left left;
    rsc_use_watch_left(watch, &left);
    assert_true(fabs(rsc_use_watch_lines(watch) - (double)distinct) <= 5 * sqrt(rsc_watch_left_covariance(&left, 0)));
}

static void samples_scale_up(void **state) {
    static const struct {
        double gap;
        uint64_t most;
    } ways[] = {{2, 0}, {7.5, 0}, {32, 0}, {1, 3000}, {8, 500}};
    (void)state;
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        struct rsc_use_watch first = {0};
        for (int simd = 0; simd < RSC_SIMD_COUNT; simd++) {
            struct rsc_use_watch watch;
            struct rsc_histogram intervals;
            if (!rsc_simd_available((enum rsc_simd)simd)) continue;
            assert_int_equal(rsc_use_watch_init(&watch, (enum rsc_simd)simd, 11 + way, ways[way].gap, ways[way].most),
                             0);
            assert_int_equal(rsc_histogram_init(&intervals, RSC_BINS_FINE), 0);
            take(&watch, 0, RSC_LAST_USE_RUN, &intervals);
            check_scaled(&watch, 0);
            if (ways[way].most) assert_true(watch.watched <= ways[way].most && watch.gap > ways[way].gap);
            else assert_true(watch.gap == ways[way].gap);
            rsc_histogram_free(&intervals);
            if (!simd) {
                first = watch;
                continue;
            }
            /* the same, whatever the width */
            assert_int_equal(watch.watched, first.watched);
            assert_memory_equal(watch.ended, first.ended, rsc_bins_count(RSC_BINS_FINE) * sizeof *watch.ended);
            assert_memory_equal(watch.weighted, first.weighted, rsc_bins_count(RSC_BINS_FINE) * sizeof *watch.weighted);
            rsc_use_watch_free(&watch);
        }
        rsc_use_watch_free(&first);
    }
}

/* The same uses are drawn however the stream is cut; what is let go for want of room may differ, and is little. */
static void cuts_do_not_matter(void **state) {
    struct rsc_use_watch whole, cut;
    struct rsc_histogram a, b;
    (void)state;
    assert_int_equal(rsc_use_watch_init(&whole, rsc_simd_best(), 4, 9, 0), 0);
    assert_int_equal(rsc_use_watch_init(&cut, rsc_simd_best(), 4, 9, 0), 0);
    assert_int_equal(rsc_histogram_init(&a, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&b, RSC_BINS_FINE), 0);
    take(&whole, 0, RSC_LAST_USE_RUN, &a);
    take(&cut, 0, 37, &b);
    assert_int_equal(whole.uses, cut.uses);
    assert_int_equal(whole.watched, cut.watched);
    assert_memory_equal(a.count, b.count, a.bin_count * sizeof *a.count);
    rsc_histogram_free(&a);
    rsc_histogram_free(&b);
    rsc_use_watch_free(&whole);
    rsc_use_watch_free(&cut);
}

/* From a table of all last uses in the middle of the stream; the table's own order is drawn anew each time. */
static void follows_a_table(void **state) {
    const uint32_t half = COUNT / 2 / RSC_LAST_USE_RUN * RSC_LAST_USE_RUN;
    static struct rsc_last_use last;
    static struct rsc_intervals all;
    uint64_t watched = 0;
    (void)state;
    for (int time = 0; time < 3; time++) {
        struct rsc_use_watch watch;
        struct rsc_histogram intervals;
        assert_int_equal(rsc_last_use_init(&last, rsc_simd_best(), 8, 0), 0);
        for (uint32_t done = 0; done < half; done += RSC_LAST_USE_RUN)
            assert_int_equal(rsc_last_use_run(&last, lines + done, RSC_LAST_USE_RUN, &all), 0);
        assert_int_equal(rsc_use_watch_init(&watch, rsc_simd_best(), 8, 4, 2000), 0);
        assert_int_equal(rsc_histogram_init(&intervals, RSC_BINS_FINE), 0);
        assert_int_equal(rsc_use_watch_follow(&watch, &last), 0);
        assert_int_equal(watch.uses, last.distinct);
        take(&watch, half, RSC_LAST_USE_RUN, &intervals);
        check_scaled(&watch, half);
        if (time) assert_int_equal(watch.watched, watched);
        watched = watch.watched;
        rsc_histogram_free(&intervals);
        rsc_use_watch_free(&watch);
        rsc_last_use_free(&last);
    }
}

/*
 * The error that is stated for the number of lines is the one there is. The beginning of the stream only, where the last uses
 * of many lines were drawn: what is left to chance there is much less than the root of their number.
 */
static void lines_are_off_as_stated(void **state) {
    enum { SEEDS = 60, BEGIN = 60000 };
    static uint8_t known[LINES];
    double squares = 0, truth = 0, roots = 0;
    (void)state;
    for (uint32_t i = 0; i < BEGIN; i++) truth += !known[lines[i] / 3], known[lines[i] / 3] = 1;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rsc_use_watch watch;
        struct rsc_watch_left left;
        assert_int_equal(rsc_use_watch_init(&watch, rsc_simd_best(), seed, 16, 0), 0);
        for (uint32_t done = 0; done < BEGIN; done += 500)
            assert_int_equal(rsc_use_watch_run(&watch, lines + done, 500, &found), 0);
        rsc_use_watch_left(&watch, &left);
        double variance = rsc_watch_left_covariance(&left, 0);
        assert_true(rsc_watch_left_covariance(&left, 0.7) < variance && rsc_watch_left_covariance(&left, 1) == 0);
        squares += pow(rsc_use_watch_lines(&watch) - truth, 2) / variance;
        roots += variance / ((double)watch.watched * watch.gap * (watch.gap - 1));
        rsc_use_watch_free(&watch);
    }
    print_message("%.2f times the variance stated, which is %.2f of that of independent draws\n", squares / SEEDS,
                  roots / SEEDS);
    /* 60 squares: 1 to 0.18. */
    assert_true(squares / SEEDS > 0.5 && squares / SEEDS < 1.6);
    assert_true(roots / SEEDS < 0.8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_known),           cmocka_unit_test(samples_scale_up),
        cmocka_unit_test(cuts_do_not_matter),      cmocka_unit_test(follows_a_table),
        cmocka_unit_test(lines_are_off_as_stated),
    };
    make_lines();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
