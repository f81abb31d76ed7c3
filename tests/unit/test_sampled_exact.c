/* test_sampled_exact.c - a sample of lines becomes a profile of the whole run: with all lines in it, the exact one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/line_hash.h"
#include "base/rng.h"
#include "distance/shards/sampled_exact.h"
#include "profile/profile_model.h"

#define COUNT 60000u
#define THREADS 3u

static uint64_t addr[COUNT], meta[COUNT], kept_addr[COUNT], kept_meta[COUNT], skipped[COUNT];
static uint64_t of_thread[THREADS];

/* A mix of near and far uses by several threads, one line each. */
static void make_trace(uint64_t seed) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, seed, 0);
    memset(of_thread, 0, sizeof of_thread);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t thread = (uint32_t)(rsc_rng_u64(&rng) % THREADS);
        uint64_t line = rsc_rng_u64(&rng) % 4 ? rsc_rng_u64(&rng) % 200 : rsc_rng_u64(&rng) % 5000;
        addr[i] = (line + 1000) * 64 + rsc_rng_u64(&rng) % 57;
        meta[i] = rsc_meta(8, rsc_rng_u64(&rng) % 3 ? RSC_READ : RSC_WRITE, thread);
        of_thread[thread]++;
    }
}

static uint64_t thread_references(const void *context, uint32_t number) {
    (void)context;
    return number < THREADS ? of_thread[number] : 0;
}

/* As a program that leaves references out would hand it over. */
static struct rsc_profile *sampled(const char *model, const char *rate, uint64_t seed) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .model = model, .line_bytes = 64, .bins_per_octave = 10};
    struct rsc_line_choice choice;
    struct rsc_sampled_exact *subset;
    struct rsc_profile *profile;
    struct rsc_error error;
    uint64_t before[THREADS] = {0};
    uint32_t kept = 0;
    assert_int_equal(rsc_line_choice_parse(&choice, rate, seed), 0);
    assert_int_equal(rsc_sampled_exact_new(&subset, &options, &choice, rate, &error), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t thread = rsc_meta_thread(meta[i]);
        if (rsc_line_hash(addr[i] / 64, choice.offset) > choice.limit) {
            before[thread]++;
            continue;
        }
        kept_addr[kept] = addr[i];
        kept_meta[kept] = meta[i];
        skipped[kept++] = before[thread];
        before[thread] = 0;
    }
    for (uint32_t at = 0; at < kept;) { /* in batches of any size */
        uint32_t some = kept - at < 777 ? kept - at : 777;
        struct rsc_batch batch = {
            .count = some, .addr = kept_addr + at, .meta = kept_meta + at, .instructions = RSC_UNKNOWN};
        assert_int_equal(rsc_sampled_exact_push(subset, &batch, skipped + at, &error), 0);
        at += some;
    }
    struct rsc_sampled_whole whole = {COUNT, COUNT, thread_references, NULL, THREADS};
    assert_int_equal(rsc_sampled_exact_finish(subset, &whole, &profile, &error), 0);
    rsc_sampled_exact_free(subset);
    return profile;
}

static struct rsc_profile *exact(const char *model) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = "exact", .model = model, .line_bytes = 64};
    struct rsc_batch batch = {.count = COUNT, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    assert_int_equal(rsc_engine_new(&engine, &options, &error), 0);
    assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
    assert_int_equal(rsc_engine_finish(engine, &profile, &error), 0);
    rsc_engine_free(engine);
    return profile;
}

static void all_lines_are_exact(void **state) {
    const char *const models[] = {"shared", "private"};
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t m = 0; m < 2; m++) {
            make_trace(seed);
            struct rsc_profile *truth = exact(models[m]), *all = sampled(models[m], "0.999999999", 7);
            assert_int_equal(all->references, truth->references);
            assert_int_equal(all->cold, truth->cold);
            assert_int_equal(all->invalidated, truth->invalidated);
            assert_int_equal(all->distinct, truth->distinct);
            assert_memory_equal(all->rd.count, truth->rd.count, truth->rd.bin_count * sizeof *truth->rd.count);
            rsc_profile_free(truth);
            rsc_profile_free(all);
        }
}

static void a_part_is_near(void **state) {
    const char *const models[] = {"shared", "private"};
    struct rsc_error error;
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t m = 0; m < 2; m++) {
            make_trace(seed);
            struct rsc_profile *truth = exact(models[m]), *part = sampled(models[m], "1/8", 7);
            assert_int_equal(part->references, COUNT);
            assert_int_equal(rsc_profile_check_sum(part, "part", &error), 0);
            assert_true(part->distinct > truth->distinct * 8 / 10 && part->distinct < truth->distinct * 12 / 10);
            for (size_t i = 0; i < part->thread_count; i++) assert_int_equal(part->threads[i].references, of_thread[i]);
            size_t inside = 0, points = 0;
            for (uint64_t lines = 8; lines < truth->distinct; lines += 8, points++) {
                struct rsc_mrc_point bar = rsc_profile_mrc_at(part, lines);
                double ratio = rsc_profile_mrc_at(truth, lines).miss_ratio;
                inside += bar.low <= ratio + 1e-9 && ratio <= bar.high + 1e-9;
            }
            assert_true(inside * 10 >= points * 8); /* bars of 90 % */
            rsc_profile_free(truth);
            rsc_profile_free(part);
        }
}

/*
 * Bars of 90 % hold the truth in as many of many samples of one trace. One sample alone tells little: the points of
 * its curve are off together. 93.5 % (shared) and 99 % (private) held when this was written. (bench_coverage lines:1/16:
 * larger traces.)
 */
static void bars_hold_as_often_as_they_say(void **state) {
    const char *const models[] = {"shared", "private"};
    (void)state;
    make_trace(5);
    for (size_t m = 0; m < 2; m++) {
        struct rsc_profile *truth = exact(models[m]);
        uint32_t held = 0, points = 0;
        for (uint64_t seed = 1; seed <= 40; seed++) {
            struct rsc_profile *part = sampled(models[m], "1/8", seed);
            for (uint64_t lines = 80; lines < truth->distinct;
                 lines += lines / 8, points++) { /* from 10 kept ones on */
                struct rsc_mrc_point bar = rsc_profile_mrc_at(part, lines);
                double ratio = rsc_profile_mrc_at(truth, lines).miss_ratio;
                held += bar.low <= ratio + 1e-9 && ratio <= bar.high + 1e-9;
            }
            rsc_profile_free(part);
        }
        printf("%s: %.1f %% of %u bars hold the truth\n", models[m], 100.0 * held / points, points);
        assert_true(points >= 40 * 20 && held * 10 >= points * 9);
        rsc_profile_free(truth);
    }
}

static const struct rsc_sharing_row *same_cell(const struct rsc_profile *profile, const struct rsc_sharing_row *row) {
    for (size_t i = 0; i < profile->sharing_count; i++)
        if (profile->sharing[i].by_tid == row->by_tid && profile->sharing[i].from_tid == row->from_tid)
            return &profile->sharing[i];
    return NULL;
}

static int within(struct rsc_count_range range, uint64_t count) { return range.low <= count && count <= range.high; }

static int bar_holds(const struct rsc_count_bar *bar, uint64_t count) {
    return bar->is_known && bar->low <= count && count <= bar->high;
}

/* The same of totals and of the sharing of threads. 97.5 % and 99.6 % held when this was written. */
static void totals_and_sharing_have_bars(void **state) {
    (void)state;
    make_trace(5);
    struct rsc_profile *truth = exact("private");
    uint32_t totals = 0, totals_held = 0, cells = 0, cells_held = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rsc_profile *part = sampled("private", "1/8", seed);
        totals += 3;
        totals_held += bar_holds(&part->bars.invalidated, truth->invalidated) +
                       bar_holds(&part->bars.cold, truth->cold) + bar_holds(&part->bars.distinct, truth->distinct);
        for (size_t i = 0; i < truth->sharing_count; i++) {
            const struct rsc_sharing_row *one = &truth->sharing[i], *row = same_cell(part, one);
            cells += 4;
            if (!row) continue;
            cells_held += within(row->bars.taken, one->taken) + within(row->bars.false_taken, one->false_taken) +
                          within(row->bars.misses, one->misses) + within(row->bars.false_misses, one->false_misses);
            assert_true(within(row->bars.misses, row->misses) && row->bars.misses.high < 2 * row->misses);
        }
        rsc_profile_free(part);
    }
    printf("%.1f %% of %u totals, %.1f %% of %u counts of sharing\n", 100.0 * totals_held / totals, totals,
           100.0 * cells_held / cells, cells);
    assert_true(totals_held * 10 >= totals * 9);
    assert_true(cells >= 40 * 6 * 4 && cells_held * 10 >= cells * 9);
    rsc_profile_free(truth);
}

/* One line that threads take from each other has most references and is not in the sample: the bar allows for it. */
static void a_hot_line_may_be_missing(void **state) {
    uint32_t without = 0;
    (void)state;
    make_trace(5);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 4) addr[i] = 64; /* which every other trace leaves alone */
        else meta[i] = rsc_meta(8, RSC_READ, rsc_meta_thread(meta[i]));
    }
    struct rsc_profile *truth = exact("private");
    assert_true(truth->invalidated > COUNT / 4);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rsc_profile *part = sampled("private", "1/8", seed);
        without += !part->invalidated;
        if (!part->invalidated) assert_true(bar_holds(&part->bars.invalidated, truth->invalidated));
        rsc_profile_free(part);
    }
    assert_true(without >= 5);
    rsc_profile_free(truth);
}

/* Whatever lines are chosen: parts are not more than their whole. */
static void what_is_written_can_be_read(void **state) {
    (void)state;
    make_trace(6);
    for (uint32_t i = 0; i < COUNT; i++) { /* lines used ever less often, written rarely */
        const double share = (double)(addr[i] / 64 - 1000) / 5000;
        addr[i] = (uint64_t)(1000 + 20000 * share * share * share) * 64;
        meta[i] = rsc_meta(8, i % 9 ? RSC_READ : RSC_WRITE, rsc_meta_thread(meta[i]));
    }
    size_t rows = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rsc_profile *part = sampled("private", seed % 2 ? "1/8" : "1/50", seed), **read;
        struct rsc_error error;
        char *text;
        size_t bytes, count;
        rows += part->sharing_count;
        assert_int_equal(rsc_profile_json(part, &text, &bytes, &error), 0);
        if (rsc_profiles_parse(text, bytes, "part", &read, &count, &error)) fail_msg("%s", error.message);
        rsc_profiles_free(read, count);
        rsc_text_free(text);
        rsc_profile_free(part);
    }
    assert_true(rows >= 60);
}

static void bad_rates_are_refused(void **state) {
    struct rsc_line_choice choice;
    const char *const bad[] = {"", "0", "1", "2", "1/0", "1/1", "-1/4", "x", "1/", "100%"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(rsc_line_choice_parse(&choice, bad[i], 0), -1);
    assert_int_equal(rsc_line_choice_parse(&choice, "25%", 0), 0);
    assert_true(choice.rate == 0.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lines_are_exact),
        cmocka_unit_test(a_part_is_near),
        cmocka_unit_test(bars_hold_as_often_as_they_say),
        cmocka_unit_test(totals_and_sharing_have_bars),
        cmocka_unit_test(a_hot_line_may_be_missing),
        cmocka_unit_test(what_is_written_can_be_read),
        cmocka_unit_test(bad_rates_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
