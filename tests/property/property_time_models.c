/*
 * property_time_models.c - the engines statstack, aet, hotl and shen beside the
 * exact one: on random traces of all shapes everything they claim to know exactly
 * is identical, sums hold, curves fall and lie within their error bars; on longer
 * traces that the bars were not tuned on, the bars hold the truth about as often
 * as they say; so they do where intervals are those of a sample.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include <reusescope/reusescope.h>

#include "profile/metrics.h"
#include "profile/profile_model.h"
#include "property/random_traces.h"

static const char *const ENGINES[] = {"statstack", "aet", "hotl", "shen"};

static struct rsc_profile *analyse(const struct random_trace *trace, const char *name, uint32_t line_bytes,
                                   uint64_t seed) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = name, .line_bytes = line_bytes, .seed = seed, .attribute = 2};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    assert_int_equal(rsc_engine_new(&engine, &options, &error), 0);
    for (uint32_t done = 0; done < trace->count;) {
        uint32_t part = trace->count - done < 7777 ? trace->count - done : 7777;
        struct rsc_batch batch = {
            .count = part, .addr = trace->addr + done, .meta = trace->meta + done, .instructions = RSC_UNKNOWN};
        assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
        done += part;
    }
    assert_int_equal(rsc_engine_finish(engine, &profile, &error), 0);
    rsc_engine_free(engine);
    return profile;
}

static void check_same(const struct rsc_profile *truth, const struct rsc_profile *got, const char *name) {
    struct rsc_error error;
    assert_string_equal(got->made.by, name);
    assert_non_null(strstr(got->made.sampling, "none; RD modelled from RI"));
    assert_int_equal(got->accesses, truth->accesses);
    assert_int_equal(got->references, truth->references);
    assert_int_equal(got->cold, truth->cold);
    assert_int_equal(got->distinct, truth->distinct);
    assert_memory_equal(got->ri.count, truth->ri.count, truth->ri.bin_count * sizeof *truth->ri.count);
    assert_int_equal(rsc_profile_check_sum(got, "profile", &error), 0);
    assert_int_equal(rsc_histogram_total(&got->rd) + got->cold, got->references);
    assert_int_equal(got->made.threads, truth->made.threads);
    assert_int_equal(got->thread_count, truth->thread_count);
    for (size_t i = 0; i < got->thread_count; i++) {
        assert_int_equal(got->threads[i].references, truth->threads[i].references);
        assert_int_equal(got->threads[i].cold, truth->threads[i].cold);
        assert_int_equal(rsc_histogram_total(&got->threads[i].rd), rsc_histogram_total(&truth->threads[i].rd));
    }
    assert_int_equal(got->mrc_count, truth->mrc_count);
    double before = 1, cold = (double)got->cold / (double)got->references;
    for (size_t i = 0; i < got->mrc_count; i++) {
        const struct rsc_mrc_point *point = &got->mrc[i];
        assert_true(point->miss_ratio <= before && point->miss_ratio >= cold - 1e-12);
        assert_true(point->low <= point->miss_ratio && point->miss_ratio <= point->high);
        assert_true(point->low >= cold - 1e-12 && point->high <= 1);
        before = point->miss_ratio;
        /* a trace this short is sampled entirely: the truth is in the bar, and is one of its ends */
        double ratio = truth->mrc[i].miss_ratio;
        assert_true(ratio >= point->low - 1e-9 && ratio <= point->high + 1e-9);
        assert_true(fabs(ratio - point->low) < 1e-9 || fabs(ratio - point->high) < 1e-9);
    }
    if (got->mrc_count) assert_true(fabs(got->mrc[got->mrc_count - 1].miss_ratio - cold) < 1e-12);
}

static void what_is_exact_is_exact(void **state) {
    struct rsc_rng rng;
    uint64_t seed = property_seed();
    unsigned long traces = property_traces(60);
    (void)state;
    for (unsigned long i = 0; i < traces; i++) {
        rsc_rng_seed(&rng, seed, i);
        struct random_trace trace;
        random_trace_make(&trace, &rng, i % 10 ? 3000 : 20000);
        uint32_t line_bytes = 1u << rsc_rng_below(&rng, 13);
        if (trace.count > 3000 && line_bytes < 64) line_bytes = 64; /* few references a byte */
        struct rsc_profile *truth = analyse(&trace, "exact", line_bytes, 0);
        if (truth->references <= 65536)
            for (size_t e = 0; e < 4; e++) {
                struct rsc_profile *got = analyse(&trace, ENGINES[e], line_bytes, seed + i);
                check_same(truth, got, ENGINES[e]);
                rsc_profile_free(got);
            }
        rsc_profile_free(truth);
        random_trace_free(&trace);
    }
}

/* ---- error bars ---- */

#define LONG 600000u

static void make_long(struct random_trace *trace, int shape, uint64_t seed) {
    struct rsc_rng rng;
    struct rsc_zipf zipf;
    rsc_rng_seed(&rng, seed, 77);
    rsc_zipf_init(&zipf, 60000, 0.7);
    trace->count = LONG;
    trace->addr = malloc(LONG * sizeof *trace->addr);
    trace->meta = malloc(LONG * sizeof *trace->meta);
    uint64_t at = 0, walker[5] = {0, 6000, 12000, 18000, 24000}, who = 0;
    for (uint32_t i = 0; i < LONG; i++) {
        uint64_t line;
        if (shape == 0) line = rsc_zipf_next(&zipf, &rng) * 3;                          /* skewed */
        else if (shape == 1)
            line = rsc_rng_below(&rng, 3) ? i % 25000 : 30000 + rsc_rng_below(&rng, 4000); /* scan and a hot set */
        else if (shape == 3) { /* several loops over the same lines, a distance for each two that follow each other */
            if (!rsc_rng_below(&rng, 16)) who = rsc_rng_below(&rng, 5);
            line = walker[who]++ % 30000;
        } else line = at = rsc_rng_below(&rng, 50) ? (at + 1) % 40000 : rsc_rng_below(&rng, 40000); /* runs */
        trace->addr[i] = line * 64;
        trace->meta[i] = rsc_meta(8, RSC_READ, 0);
    }
}

/*
 * Bars of 90% over several samples of several traces. Where no sampled reference is
 * predicted wrongly, and nearly none is, bars hold the truth always (docs/measured/approximate.md),
 * so there is more than stated; and bars of one run are right or wrong together.
 */
static void bars_hold_the_truth(void **state) {
    const double widest[] = {0.005, 0.001, 0.004,
                             0.012}; /* of the references; with two tails the first two were 0.006 and 0.0013 */
    (void)state;
    for (int shape = 0; shape < 4; shape++) {
        struct random_trace trace;
        make_long(&trace, shape, 4);
        struct rsc_profile *truth = analyse(&trace, "exact", 64, 0);
        double mean_width = 0, points = 0, held = 0;
        for (uint64_t seed = 0; seed < 10; seed++) {
            struct rsc_profile *got = analyse(&trace, "aet", 64, seed);
            for (uint64_t lines = 2; lines < truth->distinct; lines = rsc_grid_next(lines, 8)) {
                struct rsc_mrc_point point = rsc_profile_mrc_at(got, lines);
                double ratio = rsc_profile_miss_ratio(truth, lines);
                if (ratio >= 0.999) continue;
                held += ratio >= point.low && ratio <= point.high;
                mean_width += point.high - point.low;
                points++;
            }
            rsc_profile_free(got);
        }
        print_message("shape %d: %.1f%% of %.0f bars hold the truth, %.5f wide\n", shape, 100 * held / points, points,
                      mean_width / points);
        assert_true(held / points > 0.8);
        /* holding the truth is no feat for wide bars */
        assert_true(mean_width / points < widest[shape]);
        rsc_profile_free(truth);
        random_trace_free(&trace);
    }
}

/* ---- more lines than are held ---- */

#define MANY 1200000u

/* Two threads: a skewed set of many lines, and a loop over others; some lines twice in a row. */
static void make_many(struct random_trace *trace) {
    struct rsc_rng rng;
    struct rsc_zipf zipf;
    rsc_rng_seed(&rng, 3, 78);
    rsc_zipf_init(&zipf, 400000, 0.6);
    trace->count = MANY;
    trace->addr = malloc(MANY * sizeof *trace->addr);
    trace->meta = malloc(MANY * sizeof *trace->meta);
    for (uint32_t i = 0; i < MANY; i++) {
        uint64_t line = i % 3 ? rsc_zipf_next(&zipf, &rng) : 500000 + i / 3 % 60000;
        if (i % 7 == 0 && i) line = trace->addr[i - 1] / 64;
        trace->addr[i] = line * 64;
        trace->meta[i] = rsc_meta(8, RSC_READ, i % 3 ? 0 : 1);
    }
}

/*
 * With more than 128 Ki lines, or a rate, intervals are those of a sample: sums hold,
 * the curve is near that of the same model from all intervals, bars hold the truth
 * about as often as they say, and the seed alone decides.
 */
static void sampled_intervals(void **state) {
    static const char *const sampled[] = {"statstack", "aet", "hotl", "shen", "aet:0.02", "hotl:1/10"};
    static const char *const whole[] = {"statstack:1", "aet:1", "hotl:1", "shen:1", "aet:1", "hotl:1"};
    struct random_trace trace;
    double covered = 0, judged = 0;
    (void)state;
    make_many(&trace);
    struct rsc_profile *truth = analyse(&trace, "exact", 64, 0);
    assert_true(truth->distinct > 200000);
    for (size_t e = 0; e < 6; e++) {
        struct rsc_profile *model = analyse(&trace, whole[e], 64, 0);
        assert_memory_equal(model->ri.count, truth->ri.count, truth->ri.bin_count * sizeof *truth->ri.count);
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct rsc_profile *got = analyse(&trace, sampled[e], 64, seed),
                               *again = seed == 1 ? analyse(&trace, sampled[e], 64, 1) : NULL;
            struct rsc_error error;
            assert_int_equal(got->references, truth->references);
            assert_int_equal(rsc_profile_check_sum(got, "profile", &error), 0);
            assert_int_equal(rsc_histogram_total(&got->rd) + got->cold, got->references);
            assert_int_equal(rsc_histogram_total(&got->ri) + got->cold, got->references);
            assert_int_equal(got->cold, got->distinct);
            assert_true(fabs((double)got->distinct / (double)truth->distinct - 1) < 0.05);
            assert_int_equal(got->thread_count, 2);
            double cold = 0;
            for (size_t i = 0; i < 2; i++) {
                assert_int_equal(got->threads[i].references, truth->threads[i].references);
                assert_int_equal(rsc_histogram_total(&got->threads[i].rd) + got->threads[i].cold,
                                 got->threads[i].references);
                cold += (double)got->threads[i].cold;
            }
            assert_true(fabs(cold - (double)got->cold) <= 2); /* rounded in each row */
            assert_true(rsc_profile_mrc_error_octaves(model, got, 8, NULL) < 0.006);
            if (again) assert_int_equal(got->mrc_count, again->mrc_count);
            for (size_t i = 0; i < got->mrc_count; i++) {
                const struct rsc_mrc_point *point = &got->mrc[i];
                assert_true(point->low <= point->miss_ratio && point->miss_ratio <= point->high);
                if (again)
                    assert_true(point->low == again->mrc[i].low && point->miss_ratio == again->mrc[i].miss_ratio);
            }
            for (uint64_t lines = 2; lines < truth->distinct; lines = rsc_grid_next(lines, 8)) {
                struct rsc_mrc_point point = rsc_profile_mrc_at(got, lines);
                double ratio = rsc_profile_miss_ratio(truth, lines);
                covered += ratio >= point.low && ratio <= point.high;
                judged++;
            }
            rsc_profile_free(got);
            rsc_profile_free(again);
        }
        rsc_profile_free(model);
    }
    print_message("%.1f%% of %.0f bars hold the truth\n", 100 * covered / judged, judged);
    assert_true(covered / judged > 0.84 && covered / judged < 0.96);
    rsc_profile_free(truth);
    random_trace_free(&trace);
}

static void refused(void **state) {
    const struct rsc_engine_options bad[] = {
        {.struct_bytes = sizeof bad[0], .engine = "statstack:2"},
        {.struct_bytes = sizeof bad[0], .engine = "aet:0"},
        {.struct_bytes = sizeof bad[0], .engine = "aet", .attribute = 1},
        {.struct_bytes = sizeof bad[0], .engine = "hotl", .max_distance = 10},
        {.struct_bytes = sizeof bad[0], .engine = "shen", .bins_per_octave = 4},
        {.struct_bytes = sizeof bad[0], .engine = "aet", .workers = 2},
        {.struct_bytes = sizeof bad[0], .engine = "aet", .no_ri = 1},
    };
    struct rsc_engine *engine;
    struct rsc_error error;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rsc_engine_new(&engine, &bad[i], &error), RSC_EINVAL);
        assert_true(strlen(error.message) > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_exact_is_exact),
        cmocka_unit_test(bars_hold_the_truth),
        cmocka_unit_test(sampled_intervals),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
