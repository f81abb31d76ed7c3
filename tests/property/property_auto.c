/*
 * property_auto.c - the engine that picks: the same as exact without an error and on
 * small traces; a sample that goes on from an exact state is as good as one that was
 * there from the start, at rate 1 bit for bit; and with an error, the curve is within it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "base/line_hash.h"
#include "distance/shards/line_filter.h"
#include "engine/auto_preview.h"
#include "engine/engine_auto.h"
#include "engine/engine_spec.h"
#include "distance/shards/engine_shards.h"
#include "profile/metrics.h"
#include "profile/profile_model.h"
#include "trace/generate/generate.h"

#define ACCESSES 3000000u

static uint64_t addr[ACCESSES], meta[ACCESSES];

static void fill(const char *spec, uint64_t seed, uint32_t count) {
    struct rsc_generator *generator;
    struct rsc_error error;
    assert_int_equal(rsc_generator_new(&generator, spec, seed, &error), 0);
    rsc_generator_fill(generator, addr, meta, count);
    rsc_generator_free(generator);
}

/* expected: how many accesses the engine hears will come; RSC_UNKNOWN: it does not hear. */
static struct rsc_profile *analyse_expecting(const char *name, double allowed, uint32_t count, uint64_t expected) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = name, .error = allowed, .seed = 3};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    if (rsc_engine_new(&engine, &options, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_expect(engine, expected);
    for (uint32_t done = 0; done < count; done += 10000) {
        struct rsc_batch batch = {.count = count - done < 10000 ? count - done : 10000,
                                  .addr = addr + done,
                                  .meta = meta + done,
                                  .instructions = RSC_UNKNOWN};
        assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
    }
    assert_int_equal(rsc_engine_finish(engine, &profile, &error), 0);
    rsc_engine_free(engine);
    return profile;
}

static struct rsc_profile *analyse(const char *name, double allowed, uint32_t count) {
    return analyse_expecting(name, allowed, count, RSC_UNKNOWN);
}

/* All of it as JSON, but for the time it took. */
static char *text_of(struct rsc_profile *profile) {
    char *text;
    size_t bytes;
    struct rsc_error error;
    profile->made.seconds = 0;
    assert_int_equal(rsc_profiles_json_text(&profile, 1, &text, &bytes, &error), 0);
    rsc_profile_free(profile);
    return text;
}

static void is_exact_unless_sampling_pays(void **state) {
    static const char *const specs[] = {"uniform,lines=4", "zipf,lines=20K,threads=3", "mix,lines=5K",
                                        "cyclic,lines=30K"};
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        fill(specs[i], i, 100000);
        for (uint32_t count = 0; count <= 100000; count = count ? count * 100 : 1) {
            char *exact = text_of(analyse("exact", 0, count));
            char *none = text_of(analyse(NULL, 0, count)), *some = text_of(analyse("auto", 0.05, count));
            assert_string_equal(exact, none);
            assert_string_equal(exact, some);
            free(exact);
            free(none);
            free(some);
        }
    }
}

/* Counts after the switch at rate 1 are the exact ones of that stretch: order and times of all lines came over. */
static void a_sample_follows_an_exact_state(void **state) {
    const uint32_t first = 60000, count = 150000;
    (void)state;
    fill("mix,lines=9K", 5, count);
    struct rsc_exact exact;
    struct rsc_error error;
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .line_bytes = 64, .confidence = 90};
    void *shards;
    static uint32_t rd[150000];
    static uint64_t ri[150000], lines[150000];
    for (uint32_t i = 0; i < count; i++) {
        lines[i] = addr[i] >> 6;
        meta[i] = rsc_meta(1, RSC_READ, 0);
    }
    assert_int_equal(rsc_exact_init(&exact, rsc_simd_best(), 0), 0);
    assert_int_equal(rsc_exact_run(&exact, lines, first, rd, ri), 0);
    assert_int_equal(rsc_shards_engine_follow(&shards, &options, 1, 0, &exact, &error), 0);
    assert_int_equal(rsc_exact_run(&exact, lines + first, count - first, rd + first, ri + first), 0);
    struct rsc_batch batch = {
        .count = count - first, .addr = addr + first, .meta = meta + first, .instructions = RSC_UNKNOWN};
    struct rsc_profile *profile;
    assert_int_equal(rsc_engine_shards.push(shards, &batch, &error), 0);
    assert_int_equal(rsc_engine_shards.finish(shards, &profile, &error), 0);
    uint64_t cold = 0;
    for (uint32_t i = first; i < count; i++) {
        if (rd[i] == RSC_RD_COLD) {
            cold++;
            continue;
        }
        profile->rd.count[rsc_bin_of_fine(rd[i])]--;
        profile->ri.count[rsc_bin_of_fine(ri[i])]--;
    }
    assert_int_equal(profile->cold, cold);
    assert_int_equal(profile->references, count - first);
    for (uint32_t bin = 0; bin < profile->rd.bin_count; bin++) {
        assert_int_equal(profile->rd.count[bin], 0);
        assert_int_equal(profile->ri.count[bin], 0);
    }
    rsc_profile_free(profile);
    rsc_engine_shards.destroy(shards);
    rsc_exact_free(&exact);
}

/* The error of a preview, size by size from the references themselves. */
static void a_preview_sees_what_a_sample_would_keep(void **state) {
    const uint32_t first = 20000, count = 120000;
    static uint32_t rd[120000];
    static uint64_t ri[120000], lines[120000];
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct rsc_auto_preview preview;
        struct rsc_exact exact;
        const double rate = 1.0 / 16;
        const uint64_t small = 512;
        double off = 0;
        uint32_t sizes = 0;
        fill(seed % 2 ? "zipf,lines=9K,skew=1.1" : "mix,lines=9K", seed, count);
        for (uint32_t i = 0; i < count; i++) lines[i] = addr[i] >> 6;
        assert_int_equal(rsc_exact_init(&exact, rsc_simd_best(), 0), 0);
        assert_int_equal(rsc_auto_preview_init(&preview, rate, seed), 0);
        for (uint32_t done = 0; done < count; done += 1000) {
            if (done == first) rsc_auto_preview_restart(&preview);
            assert_int_equal(rsc_exact_run(&exact, lines + done, 1000, rd + done, ri + done), 0);
            rsc_auto_preview_take(&preview, lines + done, rd + done, 1000);
        }
        uint64_t distinct = rsc_exact_distinct(&exact), offset = rsc_line_offset(seed);
        for (uint64_t size = 1; size <= distinct; size = rsc_grid_next(size, 8), sizes++) {
            uint64_t edge = rsc_bin_lo(RSC_BINS_FINE, rsc_bin_of_fine(size));
            double misses = 0, kept = 0;
            for (uint32_t i = first; i < count; i++) {
                if (rd[i] != RSC_RD_COLD && rd[i] < edge) continue;
                misses++;
                kept += rsc_line_hash(lines[i], offset) < (uint64_t)(rate * 0x1p64);
            }
            double weight = fmin(1, fmax(0, log2((double)small / (double)size)));
            off += (1 - weight) * fabs(fmin(1, kept / rate / (count - first)) - misses / (count - first));
        }
        double got = rsc_auto_preview_expect(&preview, small, distinct, 90).error;
        assert_true(fabs(got - off / sizes) < 1e-12);
        assert_true(got > 0);
        rsc_auto_preview_free(&preview);
        rsc_exact_free(&exact);
    }
}

static void keeps_to_the_error(void **state) {
    static const char *const specs[] = {"uniform,lines=200K", "zipf,lines=1M,skew=0.8,threads=2", "cyclic,lines=100K",
                                        "stencil,lines=300K"};
    int sampled = 0;
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        fill(specs[i], 9, ACCESSES);
        struct rsc_profile *exact = analyse("exact", 0, ACCESSES), *got = analyse("auto", 0.05, ACCESSES);
        double off = rsc_profile_mrc_error_octaves(exact, got, 8, NULL);
        printf("%s: %s, off by %.4f, stated %.4f\n", specs[i], got->made.by, off, rsc_profile_stated_error(got));
        assert_true(off <= 0.05 || !rsc_auto_kept_word(got, 0.05));
        assert_int_equal(got->references, exact->references);
        assert_int_equal(rsc_histogram_total(&got->rd) + got->cold, got->references);
        assert_int_equal(rsc_histogram_total(&got->ri) + got->cold, got->references);
        assert_int_equal(got->thread_count, exact->thread_count);
        uint64_t references = 0;
        for (size_t t = 0; t < got->thread_count; t++) {
            references += got->threads[t].references;
            assert_int_equal(got->threads[t].references, exact->threads[t].references);
        }
        assert_int_equal(references, got->references);
        for (size_t p = 0; p < got->mrc_count; p++)
            assert_true(got->mrc[p].low <= got->mrc[p].miss_ratio && got->mrc[p].miss_ratio <= got->mrc[p].high);
        /* nothing about uniform lines is hard: the bar of a large cache must be as narrow as that of a small one */
        for (size_t p = 0; i == 0 && p < got->mrc_count; p++) assert_true(got->mrc[p].high - got->mrc[p].low < 0.1);
        sampled += got->made.sampling != NULL;
        rsc_profile_free(exact);
        rsc_profile_free(got);
    }
    assert_true(sampled >= 3);
}

/* A sample that would only see the end of the trace costs more than it saves. */
static void does_not_sample_a_short_rest(void **state) {
    (void)state;
    fill("uniform,lines=100K", 9, ACCESSES);
    struct rsc_profile *long_one = analyse_expecting("auto", 0.05, ACCESSES, ACCESSES);
    struct rsc_profile *short_one = analyse_expecting("auto", 0.05, ACCESSES / 10, ACCESSES / 10);
    assert_string_equal(long_one->made.by, "exact, then shards");
    assert_string_equal(short_one->made.by, "exact");
    rsc_profile_free(long_one);
    rsc_profile_free(short_one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_exact_unless_sampling_pays),
        cmocka_unit_test(a_sample_follows_an_exact_state),
        cmocka_unit_test(a_preview_sees_what_a_sample_would_keep),
        cmocka_unit_test(keeps_to_the_error),
        cmocka_unit_test(does_not_sample_a_short_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
