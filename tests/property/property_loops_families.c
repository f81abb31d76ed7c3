/*
 * property_loops_families.c - kernels in the style of each family of a well-known suite (tests/loops/families), from
 * source to curve, against their enumeration: at 1, 4 and 64 threads, in lockstep, iid and in bursts.
 *
 * Each has at least 64 chunks, so that 64 threads all have work. As the tool answers, one thread and lockstep are the
 * enumeration and other interleavings are as near as two draws are; the models alone keep the bounds of
 * docs/measured/loops.md. Totals agree, and threads' first uses are the lines that each thread touches.
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

#include <reusescope/trace.h>

#include "loops/front/c_source.h"
#include "loops/model/loops_model.h"
#include "loops/model/oracle.h"
#include "loops/nest/distinct.h"
#include "loops/nest/touched.h"
#include "property/loop_totals.h"

#define KERNELS_MAX 32

static struct kernel {
    char name[64];
    struct rsc_loop_program *program; /* one region */
    int serial; /* no loop in it is parallel */
} kernel[KERNELS_MAX];
static size_t kernels;

static struct rsc_loop_program *load(const char *path, const struct rsc_c_options *options) {
    struct rsc_loop_program *program = NULL;
    struct rsc_error error = {0};
    char *text = NULL;
    size_t bytes;
    if (rsc_c_source_read(path, options, &text, &bytes, &error) ||
        rsc_loop_text_read(text, bytes, path, NULL, 0, &program, &error) || rsc_loop_layout(program, 64, &error))
        fail_msg("%s", error.message);
    free(text);
    return program;
}

static int read_kernels(void **state) {
    char path[512], line[400], family[32], half[16], serial[16], last[32] = "";
    int families = 0, assuming = 0;
    struct rsc_error error;
    (void)state;
    if (rsc_c_source_check(&error) < 0) return 0; /* a build without libclang */
    snprintf(path, sizeof path, "%s/loops/families/KERNELS", RSC_TESTS_FOLDER);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (kernels < KERNELS_MAX && fgets(line, sizeof line, list)) {
        struct rsc_c_options options = {.together = 1};
        if (line[0] == '#') continue;
        int fields = sscanf(line, "%63s %31s %*s %*s %15s %15s", kernel[kernels].name, family, half, serial);
        assert_true(fields == 3 || (fields == 4 && !strcmp(serial, "serial")));
        kernel[kernels].serial = fields == 4;
        families += strcmp(family, last) != 0;
        memcpy(last, family, sizeof last);
        snprintf(path, sizeof path, "%s/loops/families/%s.c", RSC_TESTS_FOLDER, kernel[kernels].name);
        kernel[kernels].program = load(path, &options);
        assert_int_equal(kernel[kernels].program->region_count, 1);
        const struct rsc_loop_region *region = &kernel[kernels].program->region[0];
        for (uint32_t g = 0; g < region->gap_count; g++) assert_true(region->gap[g].assumed); /* nothing left out */
        assuming += region->gap_count > 0;
        kernels++;
    }
    fclose(list);
    assert_int_equal(families, 6);
    assert_int_equal(assuming, 1); /* the maxima of `pairing` */
    return 0;
}

static int free_kernels(void **state) {
    (void)state;
    for (size_t k = 0; k < kernels; k++) rsc_loop_program_free(kernel[k].program);
    return 0;
}

static int count_threads(void *context, const uint64_t *addr, const uint64_t *meta, uint32_t count,
                         struct rsc_error *error) {
    uint64_t *made = context;
    (void)addr;
    (void)error;
    for (uint32_t i = 0; i < count; i++) made[rsc_meta_thread(meta[i])]++;
    return 0;
}

static const struct {
    uint32_t threads;
    const char *way;
    double answer; /* as the tool answers: mean absolute error in percent */
    double factor; /* and curve and enumeration differ by this factor at most, from 32 KiB on */
    double each, mean; /* of the models: mean absolute error in percent */
} bounds[] = {{1, "lockstep", 0, 1, 1, 0.3},         {4, "lockstep", 0, 1, 1.2, 0.5},  {4, "iid", 1.2, 1.25, 2, 0.8},
              {4, "bursty:200", 1, 1.25, 1.2, 0.5},  {64, "lockstep", 0, 1, 3.5, 0.9}, {64, "iid", 1, 1.5, 2.5, 1.2},
              {64, "bursty:200", 1.2, 1.5, 2.5, 0.8}};
#define BOUNDS (sizeof bounds / sizeof *bounds)

/* One thread alone where no loop is parallel. */
static void all_threads_have_work(void **state) {
    (void)state;
    for (size_t k = 0; k < kernels; k++) {
        struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
        struct rsc_interleave lockstep = {.kind = RSC_INTERLEAVE_LOCKSTEP};
        struct rsc_loops_analysis *analysis;
        struct rsc_error error;
        uint64_t made[64] = {0}, sum = 0;
        assert_int_equal(rsc_loops_analysis_new(&analysis, kernel[k].program, 0, &options, &error), 0);
        assert_int_equal(rsc_loops_replay(analysis, 64, &lockstep, 1, count_threads, made, &error), 0);
        for (int t = 0; t < 64; t++) {
            if (t && kernel[k].serial != !made[t])
                fail_msg("%s: thread %d of 64 has %s to do", kernel[k].name, t, made[t] ? "something" : "nothing");
            sum += made[t];
        }
        assert_int_equal(sum, rsc_loops_references(analysis));
        rsc_loops_analysis_free(analysis);
    }
}

/* Mean absolute error in percent; *factor: the largest one from 32 KiB on. */
static double apart(const struct rsc_loops_result *result, const struct rsc_oracle *truth, double *factor) {
    double sum = 0;
    *factor = 1;
    for (size_t g = 0; g < result->mrc_count; g++) {
        double mine = result->mrc[g].miss_ratio, real = rsc_oracle_miss_ratio(truth, result->mrc[g].lines);
        sum += fabs(mine - real);
        if (result->mrc[g].lines >= 512) *factor = fmax(*factor, fmax(mine / real, real / mine));
    }
    return 100 * sum / (double)result->mrc_count;
}

static void curves_are_those_of_enumeration(void **state) {
    (void)state;
    double sum[BOUNDS] = {0}, worst[BOUNDS] = {0}, closest[BOUNDS] = {0};
    for (size_t k = 0; k < kernels; k++) {
        struct rsc_error error;
        struct rsc_nest *nest;
        struct rsc_loops_analysis *analysis[2];
        for (int models = 0; models < 2; models++) {
            struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
            options.band = options.private_view = 0;
            if (models) options.whole_limit = options.exact_limit = 0;
            assert_int_equal(rsc_loops_analysis_new(&analysis[models], kernel[k].program, 0, &options, &error), 0);
        }
        assert_int_equal(rsc_nest_new(&nest, kernel[k].program, 0, UINT32_MAX, 64, &error), 0);
        for (size_t w = 0; w < BOUNDS; w++) {
            struct rsc_interleave interleave;
            struct rsc_plan *plan;
            struct rsc_oracle truth;
            assert_int_equal(rsc_interleave_parse(&interleave, bounds[w].way, &error), 0);
            assert_int_equal(rsc_plan_new(&plan, nest, bounds[w].threads, NULL, &error), 0);
            assert_int_equal(rsc_oracle_run(&truth, plan, &interleave, 64, 11, 0, NULL, NULL, &error), 0);
            for (int models = 0; models < 2; models++) {
                struct rsc_loops_result *result;
                double factor, error_of;
                assert_int_equal(rsc_loops_analyse(analysis[models], bounds[w].threads, &interleave, &result, &error),
                                 0);
                assert_int_equal(result->references, truth.references);
                assert_int_equal(result->distinct, truth.distinct);
                error_of = apart(result, &truth, &factor);
                if (!models) closest[w] = fmax(closest[w], error_of);
                if (!models && (factor > bounds[w].factor * (1 + 1e-12) || error_of > bounds[w].answer + 1e-9))
                    fail_msg("%s, T=%u, %s: %.2f%% apart, by a factor of %.3f", kernel[k].name, bounds[w].threads,
                             bounds[w].way, error_of, factor);
                if (models && error_of > bounds[w].each)
                    fail_msg("%s, T=%u, %s: the models are %.2f%% apart", kernel[k].name, bounds[w].threads,
                             bounds[w].way, error_of);
                if (models) sum[w] += error_of, worst[w] = fmax(worst[w], error_of);
                rsc_loops_result_free(result);
            }
            rsc_oracle_free(&truth);
            rsc_plan_free(plan);
        }
        rsc_nest_free(nest);
        for (int models = 0; models < 2; models++) rsc_loops_analysis_free(analysis[models]);
    }
    for (size_t w = 0; w < BOUNDS && kernels; w++) {
        printf("T=%u, %s: at worst %.2f%% apart; models alone %.2f%% on average, %.2f%% at worst\n", bounds[w].threads,
               bounds[w].way, closest[w], sum[w] / (double)kernels, worst[w]);
        assert_true(sum[w] / (double)kernels < bounds[w].mean);
    }
}

/* The lines that each thread touches, summed; *limited: marking them takes more runs than the analysis marks. */
static double lines_of_threads(const struct rsc_loop_program *program, uint32_t threads, int *limited) {
    struct rsc_error error;
    struct rsc_nest *nest;
    struct rsc_plan *plan;
    struct rsc_search *search;
    double sum = 0;
    assert_int_equal(rsc_nest_new(&nest, program, 0, UINT32_MAX, 64, &error), 0);
    assert_int_equal(rsc_plan_new(&plan, nest, threads, NULL, &error), 0);
    assert_int_equal(rsc_search_new(&search, plan, &error), 0);
    uint64_t *lines = calloc(nest->space_count + 1, sizeof *lines);
    assert_non_null(lines);
    for (uint32_t t = 0; t < threads; t++) {
        if (limited && !t)
            *limited = rsc_distinct_lines(search, t, 64, 300000 / threads + 1, lines, NULL, &error) == RSC_ELIMIT;
        assert_int_equal(rsc_distinct_lines(search, t, 64, 0, lines, NULL, &error), 0);
        sum += (double)rsc_distinct_sum(nest, lines);
    }
    free(lines);
    rsc_search_free(search);
    rsc_plan_free(plan);
    rsc_nest_free(nest);
    return sum;
}

static void totals_agree(void **state) {
    (void)state;
    static const char *const ways[] = {"lockstep", "drift", "bursty:200"};
    static const uint32_t counts[] = {4, 64};
    for (size_t k = 0; k < 2 * kernels; k++) {
        struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
        struct rsc_loops_analysis *analysis;
        struct rsc_error error;
        const struct kernel *of = &kernel[k / 2];
        if (k % 2) options.whole_limit = 0;
        assert_int_equal(rsc_loops_analysis_new(&analysis, of->program, 0, &options, &error), 0);
        for (size_t c = 0; c < 2; c++) {
            double lines = lines_of_threads(of->program, counts[c], NULL);
            for (size_t w = 0; w < 3; w++) {
                struct rsc_interleave interleave;
                struct rsc_loops_result *result;
                assert_int_equal(rsc_interleave_parse(&interleave, ways[w], &error), 0);
                assert_int_equal(rsc_loops_analyse(analysis, counts[c], &interleave, &result, &error), 0);
                check_totals(result, of->name, ways[w]);
                assert_int_equal(!result->own.mrc, of->serial);
                if (result->own.mrc && (result->own.cold != lines || result->own.cold_low != result->own.cold_high))
                    fail_msg("%s %s T=%u: %.0f first uses (%.0f to %.0f), threads touch %.0f lines", of->name, ways[w],
                             counts[c], result->own.cold, result->own.cold_low, result->own.cold_high, lines);
                rsc_loops_result_free(result);
            }
        }
        rsc_loops_analysis_free(analysis);
    }
}

/* Too many runs of lines to count first uses: they are estimated. In some, no point is a first use. */
static const struct {
    const char *name, *flags[2];
} large[] = {{"recursive_filter", {"-DW=100000", "-DH=2160"}},
             {"tiled_product", {"-DN=1024", "-DK=1024"}},
             {"means_and_products", {"-DM=1200", "-DN=1400"}},
             {"correlations", {"-DM=1200", "-DN=1400"}}};

static void check_estimated(const char *name, const struct rsc_loop_program *program, uint32_t threads) {
    struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
    struct rsc_interleave drift;
    struct rsc_loops_analysis *analysis;
    struct rsc_loops_result *result;
    struct rsc_error error;
    int limited = 0;
    double lines = lines_of_threads(program, threads, &limited);
    assert_true(limited);
    options.band = 0;
    assert_int_equal(rsc_interleave_parse(&drift, "drift", &error), 0);
    assert_int_equal(rsc_loops_analysis_new(&analysis, program, program->region_count - 1, &options, &error), 0);
    assert_int_equal(rsc_loops_analyse(analysis, threads, &drift, &result, &error), 0);
    check_totals(result, name, "drift");
    printf("%s T=%u: %.0f (%.0f to %.0f) first uses, %.0f lines\n", name, threads, result->own.cold,
           result->own.cold_low, result->own.cold_high, lines);
    if (result->own.cold_low > lines || result->own.cold_high < lines)
        fail_msg("%s, T=%u: %.0f to %.0f first uses, threads touch %.0f lines", name, threads, result->own.cold_low,
                 result->own.cold_high, lines);
    rsc_loops_result_free(result);
    rsc_loops_analysis_free(analysis);
}

static void first_uses_of_many_lines(void **state) {
    struct rsc_error error;
    (void)state;
    if (rsc_c_source_check(&error) < 0) skip(); /* a build without libclang */
    for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
        const struct rsc_c_options source = {.together = 1, .flags = large[k].flags, .flag_count = 2};
        char path[600];
        snprintf(path, sizeof path, "%s/loops/families/%s.c", RSC_TESTS_FOLDER, large[k].name);
        struct rsc_loop_program *program = load(path, &source);
        for (uint32_t threads = 4; threads <= 64; threads *= 16) check_estimated(large[k].name, program, threads);
        rsc_loop_program_free(program);
    }
}

/* The lines that all threads touch, and those of one, counted as those of windows are, where blocks of lines are full. */
static void windows_of_many_lines(void **state) {
    static const struct {
        const char *name, *flags[2];
    } of[] = {{"recursive_filter", {"-DW=1024", "-DH=2160"}}, {"correlations", {"-DM=600", "-DN=700"}}};
    enum { THREADS = 4 };
    struct rsc_error error;
    (void)state;
    if (rsc_c_source_check(&error) < 0) skip(); /* a build without libclang */
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const struct rsc_c_options source = {.together = 1, .flags = of[k].flags, .flag_count = 2};
        char path[600];
        struct rsc_nest *nest;
        struct rsc_plan *plan;
        struct rsc_search *search;
        struct rsc_touched *touched;
        snprintf(path, sizeof path, "%s/loops/families/%s.c", RSC_TESTS_FOLDER, of[k].name);
        struct rsc_loop_program *program = load(path, &source);
        uint32_t region = program->region_count - 1;
        assert_int_equal(rsc_nest_new(&nest, program, region, UINT32_MAX, 64, &error), 0);
        assert_int_equal(rsc_plan_new(&plan, nest, THREADS, NULL, &error), 0);
        assert_int_equal(rsc_search_new(&search, plan, &error), 0);
        assert_int_equal(rsc_touched_new(&touched, search, 64, &error), 0);
        assert_non_null(touched);
        uint64_t *lines = calloc(nest->space_count + 1, sizeof *lines), cost;
        struct rsc_distinct_picks *picks = calloc(nest->space_count + 1, sizeof *picks);
        assert_true(lines && picks);
        for (uint32_t t = 0; t <= THREADS; t++) { /* the last: all */
            uint32_t thread = t < THREADS ? t : RSC_ALL_THREADS;
            assert_int_equal(rsc_distinct_lines(search, thread, 64, 0, lines, picks, &error), 0);
            for (uint32_t phase = 0; phase < nest->phase_count; phase++)
                assert_int_equal(t < THREADS ? rsc_touched_add(touched, phase, t, 0, INT64_MAX / 2, UINT64_MAX)
                                             : rsc_touched_add_phase(touched, phase, UINT64_MAX),
                                 0);
            uint64_t counted = rsc_touched_count(touched, picks->address[0], &cost) + 1,
                     truth = rsc_distinct_sum(nest, lines);
            if (counted != truth)
                fail_msg("%s, thread %u: %llu lines counted, %llu touched", of[k].name, t, (unsigned long long)counted,
                         (unsigned long long)truth);
        }
        free(lines);
        free(picks);
        rsc_touched_free(touched);
        rsc_search_free(search);
        rsc_plan_free(plan);
        rsc_nest_free(nest);
        rsc_loop_program_free(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_threads_have_work), cmocka_unit_test(totals_agree),
                                       cmocka_unit_test(first_uses_of_many_lines),
                                       cmocka_unit_test(windows_of_many_lines),
                                       cmocka_unit_test(curves_are_those_of_enumeration)};
    return cmocka_run_group_tests(tests, read_kernels, free_kernels);
}
