/*
 * property_sampled.c - the sampled engine against the exact ones: bit for bit where every
 * reference is sampled; the same from the same seed; with error bars that hold the truth
 * as often as they say.
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

#include "profile/profile_model.h"
#include "random_traces.h"
#include "trace/generate/generate.h"

static struct rsc_profile *analyse(const struct rsc_batch *batch, const char *engine_name, const char *model,
                                   uint64_t seed, double error_bound) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options,
                                         .engine = engine_name,
                                         .model = model,
                                         .seed = seed,
                                         .error = error_bound,
                                         .bins_per_octave = strstr(engine_name, "lines=") ? 0 : 10};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    if (rsc_engine_new(&engine, &options, &error) < 0) fail_msg("%s", error.message);
    if (rsc_engine_push(engine, batch, &error) < 0) fail_msg("%s", error.message);
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_free(engine);
    return profile;
}

static void assert_same_counts(const struct rsc_histogram *a, const struct rsc_histogram *b) {
    assert_int_equal(a->bin_count, b->bin_count);
    assert_memory_equal(a->count, b->count, a->bin_count * sizeof *a->count);
}

static void compare(const struct rsc_profile *exact, const struct rsc_profile *sampled, int is_private) {
    assert_int_equal(exact->references, sampled->references);
    assert_same_counts(&exact->rd, &sampled->rd);
    assert_same_counts(&exact->ri, &sampled->ri);
    assert_same_counts(&exact->rd_binned, &sampled->rd_binned);
    assert_int_equal(exact->cold + exact->invalidated, sampled->last_touch + sampled->invalidated);
    assert_int_equal(sampled->cold + sampled->pruned + sampled->censored, 0);
    if (!is_private) assert_int_equal(sampled->distinct, exact->distinct);
    assert_int_equal(exact->thread_count, sampled->thread_count);
    for (size_t i = 0; i < exact->thread_count; i++) {
        assert_int_equal(exact->threads[i].references, sampled->threads[i].references);
        /* private: a sample begins and ends in one thread; shared: the exact row is of who uses again */
        if (is_private) assert_same_counts(&exact->threads[i].rd, &sampled->threads[i].rd);
    }
    for (size_t i = 0; i < exact->mrc_count && i < sampled->mrc_count; i++) {
        const struct rsc_mrc_point *a = &exact->mrc[i], *b = &sampled->mrc[i];
        if (a->lines != b->lines) continue; /* the last one */
        assert_true(fabs(a->miss_ratio - b->miss_ratio) < 1e-12);
        assert_true(b->low == b->miss_ratio && b->high == b->miss_ratio);
    }
    assert_false(rsc_profile_has_bars(sampled));
}

static void test_every_reference(void **state) {
    (void)state;
    static const char *const models[] = {"private", "shared", "single"};
    uint64_t seed = property_seed();
    unsigned long traces = property_traces(150);
    for (unsigned long n = 0; n < traces; n++) {
        struct rsc_rng rng;
        struct random_trace trace;
        rsc_rng_seed(&rng, seed, n);
        random_trace_make(&trace, &rng, 2000);
        struct rsc_batch batch = {
            .count = trace.count, .addr = trace.addr, .meta = trace.meta, .instructions = RSC_UNKNOWN};
        for (int m = 0; m < 3; m++) {
            struct rsc_profile *exact = analyse(&batch, "exact", models[m], 0, 0);
            struct rsc_profile *sampled = analyse(&batch, "sampled:period=1,prune=off", models[m], n, 0);
            compare(exact, sampled, m == 0);
            rsc_profile_free(sampled);
            sampled = analyse(&batch, "sampled:lines=1", models[m], n, 0);
            assert_same_counts(&exact->rd, &sampled->rd);
            assert_same_counts(&exact->ri, &sampled->ri);
            assert_int_equal(exact->cold, sampled->cold);
            assert_int_equal(exact->invalidated, sampled->invalidated);
            assert_int_equal(exact->distinct, sampled->distinct);
            for (size_t i = 0; i < exact->thread_count; i++) {
                assert_same_counts(&exact->threads[i].rd, &sampled->threads[i].rd);
                assert_int_equal(exact->threads[i].invalidated, sampled->threads[i].invalidated);
            }
            rsc_profile_free(sampled);
            rsc_profile_free(exact);
        }
        random_trace_free(&trace);
    }
}

/* ---- generated traces ---- */

#define ACCESSES 200000u
static uint64_t addr[ACCESSES], meta[ACCESSES], pcs[ACCESSES];

static struct rsc_batch generate(const char *spec) {
    struct rsc_generator *generator;
    struct rsc_error error;
    if (rsc_generator_new(&generator, spec, 77, &error) < 0) fail_msg("%s", error.message);
    rsc_generator_fill(generator, addr, meta, ACCESSES);
    rsc_generator_free(generator);
    return (struct rsc_batch){.count = ACCESSES, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
}

static void test_same_from_seed(void **state) {
    (void)state;
    static const char *const engines[] = {"sampled:period=50", "sampled:period=50,ordering=parallel",
                                          "sampled:period=50,ordering=parallel", "sampled", "sampled:lines=1/8"};
    struct rsc_batch batch = generate("zipf,lines=3000,skew=0.9,threads=4,write=0.2");
    /* many places, most of them rare: the rows of code, pairs and objects come back, too */
    for (uint32_t i = 0; i < ACCESSES; i++)
        pcs[i] = 0x1000 + (addr[i] >> 6) % 700 * 4 + (i % 97 == 0 ? 0x10000 + i : 0);
    batch.pc = pcs;
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++)
        for (int m = 0; m < 2; m++) {
            const char *model = m ? "shared" : "private";
            char *text[3];
            size_t bytes[3];
            for (uint64_t run = 0; run < 3; run++) {
                struct rsc_error error;
                struct rsc_profile *profile = analyse(&batch, engines[e], model, run == 2, 0);
                profile->made.seconds = 0;
                assert_int_equal(rsc_profile_check_sum(profile, "sampled", &error), 0);
                assert_int_equal(rsc_profile_json(profile, &text[run], &bytes[run], &error), 0);
                /* and it comes back from a file as it was */
                struct rsc_profile *again;
                if (rsc_profile_parse(&again, text[run], bytes[run], "again", &error) < 0)
                    fail_msg("%s", error.message);
                char *second;
                size_t second_bytes;
                assert_int_equal(rsc_profile_json(again, &second, &second_bytes, &error), 0);
                assert_string_equal(second, text[run]);
                rsc_text_free(second);
                rsc_profile_free(again);
                rsc_profile_free(profile);
            }
            assert_string_equal(text[0], text[1]);
            assert_string_not_equal(text[0], text[2]);
            for (int run = 0; run < 3; run++) rsc_text_free(text[run]);
        }
}

struct coverage {
    double points, held, bias;
};

/* Points of the curve, 8 an octave, at which the true miss ratio is neither 0 nor 1. */
static struct coverage try_seeds(const char *spec, const char *engine, const char *model, int seeds) {
    struct rsc_batch batch = generate(spec);
    struct coverage found = {0};
    struct rsc_profile *exact = analyse(&batch, "exact", model, 0, 0);
    for (int seed = 1; seed <= seeds; seed++) {
        struct rsc_profile *profile = analyse(&batch, engine, model, (uint64_t)seed, 0);
        for (double size = strstr(engine, "lines=") ? 80 : 1; size <= (double)exact->distinct; size *= exp2(1 / 8.0)) {
            double truth = rsc_profile_mrc_at(exact, (uint64_t)size).miss_ratio;
            struct rsc_mrc_point got = rsc_profile_mrc_at(profile, (uint64_t)size);
            if (truth <= 0.002 || truth >= 0.998) continue;
            found.points++;
            found.held += got.low <= truth && truth <= got.high;
            found.bias += got.miss_ratio - truth;
        }
        rsc_profile_free(profile);
    }
    rsc_profile_free(exact);
    printf("%s %s %s: %.1f%% of %.0f held, bias %+.4f\n", engine, model, spec, 100 * found.held / found.points,
           found.points, found.bias / found.points);
    return found;
}

static void test_bars(void **state) {
    (void)state;
    static const struct {
        const char *spec, *engine, *model;
    } cases[] = {
        {"zipf,lines=3000,skew=0.9,threads=4,write=0.2", "sampled:period=100,prune=off", "private"},
        {"zipf,lines=3000,skew=0.9,threads=4,write=0.2", "sampled:period=100,prune=off", "shared"},
        {"uniform,lines=2000,threads=3,write=0.1", "sampled:period=150", "private"},
        {"stencil,lines=1500,threads=2", "sampled:period=120", "shared"},
        {"zipf,lines=20000,skew=0.7,threads=4,write=0.1", "sampled:lines=1/8", "private"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct coverage found = try_seeds(cases[i].spec, cases[i].engine, cases[i].model, 30);
        double share = found.held / found.points;
        /* 90 % bars; neighbouring points hold or miss together, so 30 seeds tell this much (bench_sampled: 500) */
        assert_true(share > 0.80);
        assert_true(share < 0.985);
        assert_true(fabs(found.bias / found.points) < 0.01);
    }
}

/* A few lines that all threads write make most misses: whether a sample of lines has them shows in the references it keeps. */
static void test_taken_lines(void **state) {
    (void)state;
    enum { SEEDS = 20 };
    const char *spec = "zipf,lines=8000,skew=1.1,threads=8,write=0.05";
    struct rsc_batch batch = generate(spec);
    struct rsc_profile *exact = analyse(&batch, "exact", "private", 0, 0);
    double off = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rsc_profile *profile = analyse(&batch, "sampled:lines=1/16", "private", seed, 0);
        off += fabs((double)profile->invalidated / (double)exact->invalidated - 1) / SEEDS;
        rsc_profile_free(profile);
    }
    rsc_profile_free(exact);
    struct coverage found = try_seeds(spec, "sampled:lines=1/16", "private", SEEDS);
    printf("references to lines that others took: off by %.0f %% in the mean\n", 100 * off);
    assert_true(off < 0.25); /* 0.46 where that is not looked at, over eight seeds */
    assert_true(found.held / found.points > 0.86);
}

/* What --error asks for is kept, whatever the length of the trace. */
static void test_plan_is_kept(void **state) {
    (void)state;
    struct rsc_batch batch = generate("zipf,lines=3000,skew=0.9,threads=4,write=0.2");
    struct rsc_profile *exact = analyse(&batch, "exact", "private", 0, 0);
    uint64_t fewest = UINT64_MAX;
    double errors[] = {0.01, 0.02, 0.05};
    for (int e = 0; e < 3; e++) {
        struct rsc_profile *profile = analyse(&batch, "sampled", "private", 5, errors[e]);
        const char *text = strstr(profile->made.sampling, "order, ");
        assert_non_null(text);
        uint64_t samples = strtoull(text + 7, NULL, 10);
        double planned = 1.65 * 1.65 / (4 * errors[e] * errors[e]);
        assert_true((double)samples >= planned);
        assert_true(samples < fewest);
        fewest = samples;
        for (size_t i = 0; i < profile->mrc_count; i++) /* Wilson's bars are a little more or less than the plan's */
            assert_true((profile->mrc[i].high - profile->mrc[i].low) / 2 < errors[e] * 1.5);
        rsc_profile_free(profile);
    }
    rsc_profile_free(exact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_reference), cmocka_unit_test(test_same_from_seed), cmocka_unit_test(test_bars),
        cmocka_unit_test(test_taken_lines),     cmocka_unit_test(test_plan_is_kept),
    };
    return cmocka_run_group_tests_name("sampled", tests, NULL, NULL);
}
