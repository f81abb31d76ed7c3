/*
 * property_feather_lines.c - lines of 64 bytes modelled of watched parts of them: exact where the model is (strides,
 * words alone in their lines), near the truth where it is not, with bars that hold it; and by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "base/rng.h"
#include "featherlight/line_model.h"
#include "profile/profile_model.h"

#define ACCESSES 20000u
static uint64_t addr[ACCESSES], meta[ACCESSES], pcs[ACCESSES];

static struct rsc_profile *analyse(const char *name, uint64_t seed, uint32_t line) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = name, .line_bytes = line, .seed = seed, .attribute = 2};
    struct rsc_batch batch = {.count = ACCESSES, .addr = addr, .meta = meta, .pc = pcs, .instructions = RSC_UNKNOWN};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    if (rsc_engine_new(&engine, &options, &error) < 0) fail_msg("%s", error.message);
    assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
    assert_int_equal(rsc_engine_finish(engine, &profile, &error), 0);
    rsc_engine_free(engine);
    assert_int_equal(rsc_profile_check_sum(profile, name, &error), 0);
    return profile;
}

static void access_at(uint32_t i, uint64_t address, uint32_t bytes, uint64_t pc) {
    addr[i] = address;
    meta[i] = rsc_meta(bytes, RSC_READ, 0);
    pcs[i] = pc;
}

/* The greatest difference of the curves at sizes from 4 lines on: in less, what comes first within a line matters. */
static double worst(const struct rsc_profile *exact, const struct rsc_profile *profile) {
    double most = 0;
    for (uint64_t lines = 4; lines < exact->distinct; lines += lines / 2) {
        double difference = fabs(rsc_profile_miss_ratio(exact, lines) - rsc_profile_miss_ratio(profile, lines));
        if (difference > most) most = difference;
    }
    return most;
}

static const struct shape {
    const char *name;
    double
        near; /* of the curve, with every reference sampled and registers for all; what each watches is by lot: 0.015 */
} shapes[] = {
    {"strides", 0.02}, {"alone", 0.02}, {"strides of half a line", 0.02}, {"vectors", 0.02}, {"random", 0.27}};
#define SHAPES (sizeof shapes / sizeof *shapes)

static void fill(size_t shape) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 11, shape);
    for (uint32_t i = 0; i < ACCESSES; i++) {
        uint64_t turn = rsc_rng_below(&rng, 500);
        if (shape == 0) access_at(i, 0x100000 + 8 * (i % 2000), 8, 1); /* over an array, again and again */
        if (shape == 1) access_at(i, 0x100000 + 64 * (i % 2 ? turn : i % 240), 8, 1 + i % 2); /* a word of each line */
        if (shape == 2) access_at(i, 0x100000 + 32 * (i % 1000), 4, 1); /* one of each half */
        if (shape == 3) access_at(i, 0x100000 + 32 * (i % 1000), 32, 1);
        if (shape == 4) access_at(i, 0x100000 + 8 * rsc_rng_below(&rng, 2000), 8, 1); /* words at random */
    }
}

static void watching_everything(void **state) {
    (void)state;
    for (size_t shape = 0; shape < SHAPES; shape++) {
        fill(shape);
        struct rsc_profile *exact = analyse("exact", 0, 64),
                           *model = analyse("featherlight:period=1,registers=2048", 1, 64);
        struct rsc_profile *words = analyse("exact", 0, 8);
        double off = worst(exact, model);
        print_message("%s: off by %.4f at most (words taken for lines: %.3f)\n", shapes[shape].name, off,
                      worst(exact, words));
        assert_true(off <= shapes[shape].near);
        assert_int_equal(model->references, exact->references);
        assert_int_equal(model->made.line_bytes, 64);
        assert_string_equal(model->made.modelled, "lines of 64 bytes, of watched quarters and halves of them");
        rsc_profile_free(exact);
        rsc_profile_free(model);
        rsc_profile_free(words);
    }
}

static void four_registers(void **state) {
    enum { SEEDS = 6 };
    double points = 0, held = 0;
    (void)state;
    for (size_t shape = 0; shape < SHAPES; shape++) {
        fill(shape);
        struct rsc_profile *exact = analyse("exact", 0, 64);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct rsc_profile *profile = analyse("featherlight:period=10", seed, 64);
            for (uint64_t lines = 1; lines < exact->distinct; lines *= 2) {
                struct rsc_mrc_point point = rsc_profile_mrc_at(profile, lines);
                double truth = rsc_profile_miss_ratio(exact, lines);
                assert_true(point.low <= point.miss_ratio && point.miss_ratio <= point.high);
                points++;
                held += truth >= point.low - 1e-12 && truth <= point.high + 1e-12;
            }
            rsc_profile_free(profile);
        }
        rsc_profile_free(exact);
    }
    print_message("bars of 90 %% hold the truth at %.1f %% of %.0f points\n", 100 * held / points, points);
    assert_true(held > 0.84 * points);
}

/*
 * Of 100 references, 50 are reused within their quarter at 3, 75 within their half or with the quarter across; the rest never:
 * 25 * 25 / 50 are left of lines.
 */
static void by_hand(void **state) {
    static const struct rsc_watched short_one = {.interval = 3, .ending = RSC_WATCH_REUSED},
                                    long_one = {.interval = 90, .ending = RSC_WATCH_UNUSED};
    struct rsc_watched quarter[2] = {short_one, long_one}, more[4] = {short_one, short_one, short_one, long_one};
    double quarter_weight[2] = {50, 0}, more_weight[4] = {25, 25, 25, 0}, distance[4];
    uint32_t order[4] = {0, 1, 2, 3};
    struct rsc_watch_group one = {.samples = quarter, .count = 2, .references = 100},
                           other = {.samples = more, .count = 4, .references = 100, .distance = distance};
    struct rsc_lines lines;
    (void)state;
    one.estimator = (struct rsc_estimator){.samples = quarter, .count = 2, .watched = 2, .by_interval = order};
    other.estimator = (struct rsc_estimator){.samples = more, .count = 4, .watched = 4, .by_interval = order};
    struct rsc_weighed weighed[RSC_WATCH_LINE_SHAPES] = {
        {&one, quarter_weight, {50, 50, 0}}, {&other, more_weight, {75, 25, 0}}, {&other, more_weight, {75, 25, 0}}};
    assert_int_equal(rsc_line_model_init(&lines, 10), 0);
    rsc_line_model_join(&lines, weighed, 1);
    assert_int_equal(lines.count, 1);
    assert_int_equal(lines.steps[0].interval, 3);
    assert_true(fabs(lines.unused - 12.5) < 1e-9 && fabs(lines.reused - 87.5) < 1e-9 && lines.censored == 0);
    assert_true(fabs(lines.steps[0].distance - 2) < 1e-9); /* two others between */
    rsc_line_model_distances(&lines, &other);
    assert_true(fabs(distance[0] - 2) < 1e-9);
    rsc_line_model_join(&lines, weighed, 0); /* as if the other half were never used */
    assert_true(fabs(lines.unused - 25) < 1e-9);
    weighed[1].estimate = (struct rsc_estimate){0, 0, 100};
    rsc_line_model_join(&lines, weighed, 1); /* nothing is known of one of them */
    assert_true(lines.count == 0 && lines.censored == 100 && lines.reused + lines.unused == 0);
    rsc_line_model_free(&lines);
}

static void shapes_of_words(void **state) {
    uint64_t words[RSC_WATCH_SHAPE_WORDS];
    (void)state;
    assert_int_equal(rsc_watch_shape_words(RSC_WATCH_WORD, 13, words), 1);
    assert_int_equal(words[0], 13);
    for (uint64_t word = 8; word < 16; word++) {
        static const uint64_t other[] = {2, 4}; /* words away: within the half, across */
        assert_int_equal(rsc_watch_shape_words(RSC_WATCH_QUARTER, word, words), 2);
        assert_true(words[0] == (word & ~1ull) && words[1] == (word | 1));
        for (int far = 0; far < 2; far++) {
            assert_int_equal(rsc_watch_shape_words(far ? RSC_WATCH_ACROSS : RSC_WATCH_HALF, word, words), 4);
            assert_true(words[0] == (word & ~1ull) && words[2] == (words[0] ^ other[far]) && words[3] == words[2] + 1);
            assert_true(words[2] >= 8 && words[2] < 16); /* the same line */
        }
    }
}

/*
 * The rows of code add up to the profile's distances, and so do the pairs: a row cannot have more misses than
 * the profile. Each count of a row is rounded, so sums may differ by one per row.
 */
static void rows_are_parts(void **state) {
    (void)state;
    static const char *const engines[] = {"featherlight:period=5", "featherlight:period=31,rd=shen",
                                          "featherlight:period=13,rd=statstack,registers=8",
                                          "featherlight:period=9,attribution=proportional"};
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (uint64_t seed = 0; seed < 12; seed++) {
            fill(shape);
            for (uint32_t i = 0; i < ACCESSES; i++) pcs[i] = 1 + (addr[i] >> 3) % 7;
            struct rsc_profile *profile = analyse(engines[seed % 4], seed, seed % 3 ? 64 : 8);
            struct rsc_histogram whole, code, pairs;
            assert_int_equal(rsc_histogram_init(&whole, RSC_BINS_COARSE), 0);
            assert_int_equal(rsc_histogram_init(&code, RSC_BINS_COARSE), 0);
            assert_int_equal(rsc_histogram_init(&pairs, RSC_BINS_COARSE), 0);
            rsc_histogram_merge(&whole, &profile->rd);
            for (size_t i = 0; i < profile->code_count; i++) rsc_histogram_merge(&code, &profile->code[i].rd);
            for (size_t i = 0; i < profile->pair_count; i++) rsc_histogram_merge(&pairs, &profile->pairs[i].rd);
            for (uint32_t bin = 0; bin < whole.bin_count; bin++) {
                assert_true(fabs((double)whole.count[bin] - (double)code.count[bin]) <= 1.0 + profile->code_count);
                assert_true(fabs((double)whole.count[bin] - (double)pairs.count[bin]) <= 1.0 + profile->pair_count);
            }
            rsc_histogram_free(&whole);
            rsc_histogram_free(&code);
            rsc_histogram_free(&pairs);
            rsc_profile_free(profile);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(watching_everything), cmocka_unit_test(four_registers),
                                       cmocka_unit_test(by_hand), cmocka_unit_test(shapes_of_words),
                                       cmocka_unit_test(rows_are_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
