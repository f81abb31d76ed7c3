/*
 * test_shards.c - the engines that sample lines: rate 1 is the exact engine bit
 * for bit, sums hold, all vector widths agree, bounds are kept, seeds differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "base/rng.h"
#include "distance/shards/shards_state.h"
#include "profile/profile_model.h"
#include "trace/generate/generate.h"

#define ACCESSES 200000u

static uint64_t addr[ACCESSES], meta[ACCESSES];

static void generate(const char *spec) {
    struct rsc_generator *generator;
    struct rsc_error error;
    assert_int_equal(rsc_generator_new(&generator, spec, 3, &error), 0);
    rsc_generator_fill(generator, addr, meta, ACCESSES);
    rsc_generator_free(generator);
}

static struct rsc_profile *analyse(const char *name, uint64_t seed, uint64_t cap, uint32_t batch_least) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = name, .seed = seed, .max_distance = cap};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    if (rsc_engine_new(&engine, &options, &error) < 0) fail_msg("%s", error.message);
    for (uint32_t done = 0, part = batch_least; done < ACCESSES; done += part, part = part * 3 % 10007 + batch_least) {
        if (part > ACCESSES - done) part = ACCESSES - done;
        struct rsc_batch batch = {.count = part, .addr = addr + done, .meta = meta + done, .instructions = RSC_UNKNOWN};
        assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
    }
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_free(engine);
    return profile;
}

/* Everything but who made it, how long it took, and rows by kind of access, which sampling leaves out. */
static char *text_of(struct rsc_profile *profile) {
    char *text;
    size_t bytes;
    struct rsc_error error;
    profile->made.seconds = 0;
    assert_int_equal(rsc_profile_set_kinds(profile, 0), 0);
    assert_int_equal(rsc_profile_set_text(&profile->made.by, "x"), 0);
    assert_int_equal(rsc_profiles_json_text(&profile, 1, &text, &bytes, &error), 0);
    rsc_profile_free(profile);
    return text;
}

static const char *const specs[] = {"zipf,lines=5K,skew=0.9,threads=3,size=40,stride=24", "cyclic,lines=3K",
                                    "stride,lines=2K,stride=52,size=16", "mix,lines=4K,threads=2"};

static void rate_one_is_exact(void **state) {
    static const char *const engines[] = {"shards:1", "shards:100%", "shards:7/7", "shards-max:1M"};
    (void)state;
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (size_t e = 0; e < 4; e++) {
            generate(specs[s]);
            char *exact = text_of(analyse("exact", 0, e == 1 ? 700 : 0, 1000));
            char *sampled = text_of(analyse(engines[e], e, e == 1 ? 700 : 0, 777));
            assert_string_equal(exact, sampled);
            free(exact);
            free(sampled);
        }
}

static void sums_hold(void **state) {
    static const char *const engines[] = {"shards:0.1", "shards:0.001", "shards-max:100", "shards:0.9"};
    (void)state;
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        generate(specs[s]);
        struct rsc_profile *exact = analyse("exact", 0, 0, 1000);
        for (size_t e = 0; e < 4; e++) {
            struct rsc_profile *profile = analyse(engines[e], 5, 0, 3000);
            struct rsc_error error;
            assert_int_equal(profile->references, exact->references);
            assert_int_equal(profile->accesses, ACCESSES);
            assert_int_equal(rsc_profile_check_sum(profile, "x", &error), 0);
            assert_int_equal(rsc_histogram_total(&profile->rd) + profile->cold, profile->references);
            assert_int_equal(rsc_histogram_total(&profile->ri) + profile->cold, profile->references);
            assert_int_equal(profile->ri.count[0], 0);
            assert_int_equal(profile->cold, profile->distinct);
            assert_string_equal(profile->made.by, engines[e]);
            assert_non_null(strstr(profile->made.sampling, "seed 5"));
            assert_int_equal(profile->thread_count, exact->thread_count);
            for (size_t t = 0; t < profile->thread_count; t++) {
                const struct rsc_thread_row *row = &profile->threads[t];
                assert_int_equal(row->references, exact->threads[t].references);
                assert_int_equal(rsc_histogram_total(&row->rd) + row->cold, row->references);
            }
            for (size_t i = 0; i < profile->mrc_count; i++) {
                const struct rsc_mrc_point *point = &profile->mrc[i];
                assert_true(point->low >= 0 && point->low <= point->miss_ratio && point->miss_ratio <= point->high &&
                            point->high <= 1);
            }
            rsc_profile_free(profile);
        }
        rsc_profile_free(exact);
    }
}

static void widths_agree(void **state) {
    static const char *const engines[] = {"shards:0.05", "shards-max:200"};
    (void)state;
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (size_t e = 0; e < 2; e++) {
            char *first = NULL;
            generate(specs[s]);
            for (int simd = 0; simd < RSC_SIMD_COUNT; simd++) {
                if (!rsc_simd_available((enum rsc_simd)simd)) continue;
                setenv("REUSESCOPE_SIMD", rsc_simd_name((enum rsc_simd)simd), 1);
                char *text = text_of(analyse(engines[e], 1, 0, 5000));
                if (first) assert_string_equal(first, text);
                else first = strdup(text);
                free(text);
            }
            unsetenv("REUSESCOPE_SIMD");
            /* nor does it matter how the stream is cut into batches, with a fixed rate */
            char *text = text_of(analyse(engines[e], 1, 0, 64));
            assert_string_equal(first, text);
            free(text);
            free(first);
        }
}

static void seeds_differ(void **state) {
    (void)state;
    generate("zipf,lines=50K,skew=0.7");
    char *one = text_of(analyse("shards:0.05", 1, 0, 9999)), *again = text_of(analyse("shards:0.05", 1, 0, 9999));
    char *two = text_of(analyse("shards:0.05", 2, 0, 9999));
    assert_string_equal(one, again);
    assert_string_not_equal(one, two);
    free(one);
    free(again);
    free(two);
}

/* The upper end of the bin in which the first seven tenths of all counts end. */
static double seven_tenths(const struct rsc_histogram *histogram) {
    uint64_t wanted = (rsc_histogram_total(histogram) * 7 + 9) / 10, sum = 0;
    uint32_t bin = 0;
    while (bin < histogram->bin_count && (sum += histogram->count[bin]) < wanted) bin++;
    return (double)rsc_bin_hi(histogram->bins, bin);
}

/* Distances are scaled: in a cycle over L lines all are near L, on average over seeds. */
static void distances_are_scaled(void **state) {
    double distinct = 0, middle = 0;
    const int seeds = 60;
    (void)state;
    generate("cyclic,lines=20000");
    for (int seed = 0; seed < seeds; seed++) {
        struct rsc_profile *profile = analyse("shards:0.02", (uint64_t)seed, 0, 60000);
        distinct += (double)profile->distinct / seeds;
        middle += seven_tenths(&profile->rd) / seeds;
        /* every interval is known exactly: 20000 references, all in one bin */
        assert_true(profile->ri.count[rsc_bin_of_fine(20000)] + profile->ri.count[1] ==
                    rsc_histogram_total(&profile->ri));
        rsc_profile_free(profile);
    }
    /* 400 lines kept of 20000: sd 1000 each, 130 of the mean; four of them, and half a bin of 256 */
    assert_true(fabs(distinct - 20000) < 520);
    assert_true(fabs(middle - 20000) < 520 + 256);
}

/* The bound holds after every single reference, and lines held are those with the least hashes. */
static void bound_is_never_exceeded(void **state) {
    static struct rsc_shards shards;
    const uint32_t most = 150;
    (void)state;
    generate("zipf,lines=20K,skew=0.6");
    assert_int_equal(rsc_shards_init(&shards, rsc_simd_best(), 6, 9, UINT64_MAX, most, 0), 0);
    for (uint32_t i = 0; i < ACCESSES; i++) {
        shards.kept.count = 0;
        assert_int_equal(rsc_line_filter_run(&shards.filter, addr, meta, i, i + 1, &shards.kept), i + 1);
        double rate = shards.rate;
        if (rsc_kept_see_thread(&shards.sum, 0) < 0 || rsc_shards_take(&shards, meta) < 0) fail();
        assert_true(shards.stack.lines <= most);
        assert_true(shards.rate <= rate);
    }
    assert_int_equal(shards.lines_peak, most);
    assert_int_equal(shards.stack.lines, most);
    assert_true(shards.rate < 0.02);
    uint32_t small = 0;
    for (uint64_t line = 0; line < 20 << 10; line++)
        small += rsc_line_hash((0x10000000 >> 6) + line, shards.filter.offset) <= shards.filter.limit;
    assert_true(small >= most); /* some lines may not have been referenced */
    assert_true(rsc_shards_peak_bytes(&shards) < 200000);
    rsc_shards_free(&shards);
}

static void empty_stream(void **state) {
    static const char *const engines[] = {"shards:0.01", "shards-max:64"};
    (void)state;
    for (size_t e = 0; e < 2; e++) {
        struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = engines[e]};
        struct rsc_engine *engine;
        struct rsc_profile *profile;
        struct rsc_error error;
        struct rsc_batch batch = {.instructions = RSC_UNKNOWN};
        size_t count;
        assert_int_equal(rsc_engine_new(&engine, &options, &error), 0);
        assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
        assert_int_equal(rsc_engine_finish(engine, &profile, &error), 0);
        assert_int_equal(profile->references, 0);
        assert_int_equal(profile->distinct, 0);
        rsc_profile_mrc(profile, &count);
        assert_int_equal(count, 0);
        rsc_profile_free(profile);
        rsc_engine_free(engine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_one_is_exact),    cmocka_unit_test(sums_hold),
        cmocka_unit_test(widths_agree),         cmocka_unit_test(seeds_differ),
        cmocka_unit_test(distances_are_scaled), cmocka_unit_test(bound_is_never_exceeded),
        cmocka_unit_test(empty_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
