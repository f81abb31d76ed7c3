/*
 * test_ri_models.c - the time models on cases worked out by hand, against the
 * formulas evaluated without bins on random traces, and where theory says what
 * must come out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "estimate/statistics.h"
#include "profile/ri_models.h"

#define assert_close(a, b, by) assert_true(fabs((a) - (b)) <= (by))

struct trace {
    uint64_t count, distinct;
    uint64_t *lines, *ri, *rd, *first, *last; /* ri 0: cold; first and last by line, last from the end; all from 1 */
    struct rsc_histogram ri_sum, first_sum, last_sum, rd_sum;
};

/* Fills in everything about the lines; they are numbered below `most`. */
static void know(struct trace *trace, uint64_t most) {
    trace->ri = calloc(trace->count + 1, sizeof *trace->ri);
    trace->rd = calloc(trace->count + 1, sizeof *trace->rd);
    trace->first = calloc(most, sizeof *trace->first);
    trace->last = calloc(most, sizeof *trace->last);
    assert_int_equal(rsc_histogram_init(&trace->ri_sum, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&trace->rd_sum, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&trace->first_sum, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&trace->last_sum, RSC_BINS_FINE), 0);
    trace->distinct = 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        uint64_t line = trace->lines[i];
        if (!trace->last[line]) {
            trace->distinct++;
            trace->first[line] = i + 1;
            rsc_histogram_add(&trace->first_sum, i + 1, 1);
        } else {
            trace->ri[i] = i + 1 - trace->last[line];
            rsc_histogram_add(&trace->ri_sum, trace->ri[i], 1);
            for (uint64_t other = 0; other < most; other++) trace->rd[i] += trace->last[other] > trace->last[line];
            rsc_histogram_add(&trace->rd_sum, trace->rd[i], 1);
        }
        trace->last[line] = i + 1;
    }
    for (uint64_t line = 0; line < most; line++) {
        if (!trace->first[line]) continue;
        trace->last[line] = trace->count - trace->last[line] + 1;
        rsc_histogram_add(&trace->last_sum, trace->last[line], 1);
    }
}

static struct trace trace_of(const char *letters) {
    struct trace trace = {.count = strlen(letters)};
    trace.lines = malloc((trace.count + 1) * sizeof *trace.lines);
    for (uint64_t i = 0; i < trace.count; i++) trace.lines[i] = (uint64_t)(letters[i] - 'a');
    know(&trace, 26);
    return trace;
}

static void forget(struct trace *trace) {
    free(trace->lines);
    free(trace->ri);
    free(trace->rd);
    free(trace->first);
    free(trace->last);
    rsc_histogram_free(&trace->ri_sum);
    rsc_histogram_free(&trace->rd_sum);
    rsc_histogram_free(&trace->first_sum);
    rsc_histogram_free(&trace->last_sum);
}

static struct rsc_ri_model model_of(const struct trace *trace, enum rsc_ri_model_kind kind) {
    struct rsc_ri_model model;
    struct rsc_ri_counts counts = {&trace->ri_sum,    trace->distinct,  trace->distinct,
                                   &trace->first_sum, &trace->last_sum, 0};
    assert_int_equal(rsc_ri_model_init(&model, kind, &counts), 0);
    return model;
}

static struct rsc_histogram rd_of(const struct trace *trace, enum rsc_ri_model_kind kind, struct rsc_bins bins) {
    struct rsc_ri_model model = model_of(trace, kind);
    struct rsc_histogram rd;
    assert_int_equal(rsc_histogram_init(&rd, bins), 0);
    rsc_histogram_add(&rd, 3, 99); /* must be gone after */
    assert_int_equal(rsc_ri_model_rd(&model, &rd), 0);
    assert_int_equal(rsc_histogram_total(&rd), rsc_histogram_total(&trace->ri_sum));
    for (uint32_t bin = trace->distinct ? rsc_bin_of(bins, trace->distinct - 1) + 1 : 0; bin < rd.bin_count; bin++)
        assert_int_equal(rd.count[bin], 0);
    rsc_ri_model_free(&model);
    return rd;
}

/* ---- by hand ---- */

static void four_references(void **state) {
    (void)state;
    /* a b a a: n = 4, two cold; intervals 2 and 1. P(1) = (1 + 2)/4, P(2) = 2/4. */
    struct trace trace = trace_of("abaa");
    struct rsc_ri_model model = model_of(&trace, RSC_RI_STATSTACK);
    assert_close(rsc_ri_model_lines_within(&model, 1), 0, 0);
    assert_close(rsc_ri_model_lines_within(&model, 2), 0.75, 1e-12);
    assert_close(rsc_ri_model_lines_within(&model, 3), 1.25, 1e-12);
    /* windows of 1: a b a a; of 2: ab ba aa; of 3: aba baa; of 4: abaa */
    assert_close(rsc_ri_model_footprint(&model, 1), 1, 1e-12);
    assert_close(rsc_ri_model_footprint(&model, 2), 5.0 / 3, 1e-12);
    assert_close(rsc_ri_model_footprint(&model, 3), 2, 1e-12);
    assert_close(rsc_ri_model_footprint(&model, 4), 2, 1e-12);
    assert_int_equal(rsc_ri_model_threshold(&model, 1), 2); /* 0.75 rounds to 1 */
    assert_true(rsc_ri_model_threshold(&model, 2) > 2);
    rsc_ri_model_free(&model);
    const enum rsc_ri_model_kind kinds[] = {RSC_RI_STATSTACK, RSC_RI_AET};
    for (int i = 0; i < 2; i++) {
        struct rsc_histogram rd = rd_of(&trace, kinds[i], RSC_BINS_FINE);
        assert_int_equal(rd.count[0], 1);
        assert_int_equal(rd.count[1], 1);
        rsc_histogram_free(&rd);
    }
    forget(&trace);
}

static void rounding_differs(void **state) {
    (void)state;
    /* a a a a a a b a: P(1) = (1 + 2)/8: StatStack rounds 0.375 to 0, AET takes RI 2 for RD 1 at least. */
    struct trace trace = trace_of("aaaaaaba");
    struct rsc_histogram statstack = rd_of(&trace, RSC_RI_STATSTACK, RSC_BINS_FINE);
    struct rsc_histogram aet = rd_of(&trace, RSC_RI_AET, RSC_BINS_FINE);
    assert_int_equal(statstack.count[0], 6);
    assert_int_equal(aet.count[0], 5);
    assert_int_equal(aet.count[1], 1);
    rsc_histogram_free(&statstack);
    rsc_histogram_free(&aet);
    forget(&trace);
}

static void shen_by_hand(void **state) {
    (void)state;
    /* a b c b a: intervals 2 and 4, N - 1 = 2. p3 of RI 2: P'(1)/2 = 1/2; of RI 4: (1 + 1/2 + 1/2)/2 = 1.
     * Binomial(2, 1/2) is 1/4, 1/2, 1/4; the other reuse has distance 2: 1/4, 1/2, 5/4, whose tails round to 2, 1 */
    struct trace trace = trace_of("abcba");
    struct rsc_histogram rd = rd_of(&trace, RSC_RI_SHEN, RSC_BINS_FINE);
    assert_int_equal(rd.count[0], 0);
    assert_int_equal(rd.count[1], 1);
    assert_int_equal(rd.count[2], 1);
    rsc_histogram_free(&rd);
    forget(&trace);
}

static void hardly_anything(void **state) {
    (void)state;
    const char *const traces[] = {"", "a", "aa", "abcdef"};
    for (int i = 0; i < 4; i++)
        for (int kind = 0; kind < 4; kind++) {
            struct trace trace = trace_of(traces[i]);
            struct rsc_histogram rd = rd_of(&trace, (enum rsc_ri_model_kind)kind, RSC_BINS_FINE);
            if (i == 2) assert_int_equal(rd.count[0], 1);
            rsc_histogram_free(&rd);
            forget(&trace);
        }
}

/* ---- against the formulas, one reference at a time ---- */

static struct trace random_trace(struct rsc_rng *rng) {
    uint64_t most = 1 + rsc_rng_below(rng, 60), shape = rsc_rng_below(rng, 4), at = 0;
    struct trace trace = {.count = 1 + rsc_rng_below(rng, 500)}; /* all intervals in bins of their own */
    trace.lines = malloc((trace.count + 1) * sizeof *trace.lines);
    for (uint64_t i = 0; i < trace.count; i++) {
        uint64_t draw = rsc_rng_below(rng, most);
        if (shape == 1) draw = i % most;
        if (shape == 2) draw = at = rsc_rng_below(rng, 4) ? at : draw;
        if (shape == 3) draw = i < trace.count / 2 ? draw % 3 : draw;
        trace.lines[i] = draw;
    }
    know(&trace, most);
    return trace;
}

static double above(const struct trace *trace, uint64_t k) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < trace->count; i++) count += !trace->ri[i] || trace->ri[i] > k;
    return (double)count / (double)trace->count;
}

static void check_lines_within(const struct trace *trace, const struct rsc_ri_model *model) {
    double within = 0;
    for (uint64_t r = 1; r <= trace->count; r++) {
        assert_close(rsc_ri_model_lines_within(model, r), within, 1e-9 * (1 + within));
        within += above(trace, r);
    }
}

/* By counting the lines in every window. */
static void check_footprint(const struct trace *trace, const struct rsc_ri_model *model) {
    for (uint64_t w = 1; w <= trace->count; w += 1 + w / 7) {
        uint64_t sum = 0;
        for (uint64_t start = 0; start + w <= trace->count; start++) {
            uint64_t seen = 0;
            for (uint64_t i = start; i < start + w; i++) seen |= 1ull << trace->lines[i];
            sum += (uint64_t)__builtin_popcountll(seen);
        }
        assert_close(rsc_ri_model_footprint(model, w), (double)sum / (double)(trace->count - w + 1), 1e-9);
    }
}

/* misses(c) of StatStack and AET straight from their definitions; the histogram may differ by one from rounding. */
static void check_curve(const struct trace *trace, enum rsc_ri_model_kind kind) {
    struct rsc_histogram rd = rd_of(trace, kind, RSC_BINS_FINE);
    for (uint64_t c = 1; c < trace->distinct; c++) {
        uint64_t misses = 0, modelled = rsc_histogram_at_least(&rd, c);
        double sum = 0; /* P(0) + ... + P(a-1) */
        uint64_t a = 0;
        if (kind == RSC_RI_AET) {
            while (a < trace->count && sum + above(trace, a) <= (double)c + 1e-9) sum += above(trace, a++);
            for (uint64_t i = 0; i < trace->count; i++) misses += trace->ri[i] > a;
        } else {
            for (uint64_t i = 0; i < trace->count; i++) {
                double within = 0;
                for (uint64_t k = 1; k < trace->ri[i]; k++) within += above(trace, k);
                misses += trace->ri[i] && (uint64_t)(within + 0.5 + 1e-9) >= c;
            }
        }
        assert_int_equal(modelled, misses);
    }
    rsc_histogram_free(&rd);
}

static void check_shen(const struct trace *trace) {
    struct rsc_histogram rd = rd_of(trace, RSC_RI_SHEN, RSC_BINS_FINE);
    uint64_t reuses = rsc_histogram_total(&trace->ri_sum), others = trace->distinct - 1;
    for (uint64_t c = 1; c < trace->distinct; c += 1 + c / 3) {
        double misses = 0;
        for (uint64_t i = 0; i < trace->count; i++) {
            if (!trace->ri[i]) continue;
            double p3 = 0;
            for (uint64_t k = 1; k < trace->ri[i]; k++)
                p3 += (double)rsc_histogram_at_least(&trace->ri_sum, k + 1) / (double)reuses / (double)others;
            misses += 1;
            for (uint64_t k = 0; k < c; k++) misses -= rsc_binomial_pmf(k, others, fmin(p3, 1));
        }
        assert_close((double)rsc_histogram_at_least(&rd, c), misses, 0.5 + 1e-6);
    }
    rsc_histogram_free(&rd);
}

static void formulas_without_bins(void **state) {
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 42, 0);
    for (int i = 0; i < 24; i++) {
        struct trace trace = random_trace(&rng);
        if (i % 8 == 0) {
            struct rsc_ri_model model = model_of(&trace, RSC_RI_HOTL);
            check_lines_within(&trace, &model);
            check_footprint(&trace, &model);
            check_curve(&trace, RSC_RI_STATSTACK);
            rsc_ri_model_free(&model);
        }
        check_curve(&trace, RSC_RI_AET);
        if (trace.distinct > 1 && trace.count < 300) check_shen(&trace);
        struct rsc_histogram hotl = rd_of(&trace, RSC_RI_HOTL, RSC_BINS_COARSE);
        rsc_histogram_free(&hotl);
        forget(&trace);
    }
}

/* ---- what theory says ---- */

/* Around and around n lines, every distance is n - 1: a histogram of it, without running through it. */
static void a_cycle_is_a_step(void **state) {
    (void)state;
    const uint64_t sizes[] = {2, 3, 64, 1000, 1023, 70000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < 4; kind++) {
            uint64_t n = sizes[i], rounds = 20;
            struct trace trace = {.count = n * rounds, .distinct = n};
            rsc_histogram_init(&trace.ri_sum, RSC_BINS_FINE);
            rsc_histogram_init(&trace.first_sum, RSC_BINS_FINE);
            rsc_histogram_init(&trace.last_sum, RSC_BINS_FINE);
            rsc_histogram_add(&trace.ri_sum, n, n * (rounds - 1));
            for (uint64_t t = 1; t <= n; t++) {
                rsc_histogram_add(&trace.first_sum, t, 1);
                rsc_histogram_add(&trace.last_sum, t, 1);
            }
            struct rsc_histogram rd = rd_of(&trace, (enum rsc_ri_model_kind)kind, RSC_BINS_FINE);
            uint64_t total = n * (rounds - 1), here = rd.count[rsc_bin_of_fine(n - 1)];
            /* in wide bins the interval's place is not known: all but a thousandth must be there */
            if (n < 1024) assert_int_equal(here, total);
            else if (kind != RSC_RI_HOTL) assert_true(here >= total - total / 1000);
            else /* moves the mean within bins for all lines alike: up to a bin off */
                assert_true(here + rd.count[rsc_bin_of_fine(n - 1) - 1] + rd.count[rsc_bin_of_fine(n - 1) + 1] >=
                            total - total / 1000);
            rsc_histogram_free(&rd);
            forget(&trace);
        }
}

/* Lines drawn at random: the models' assumption holds, so they must be right. */
static void independent_draws(void **state) {
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 3, 0);
    struct trace trace = {.count = 60000};
    trace.lines = malloc((trace.count + 1) * sizeof *trace.lines);
    for (uint64_t i = 0; i < trace.count; i++) trace.lines[i] = rsc_rng_below(&rng, 500);
    know(&trace, 500);
    for (int kind = 0; kind < 4; kind++) {
        struct rsc_histogram rd = rd_of(&trace, (enum rsc_ri_model_kind)kind, RSC_BINS_FINE);
        for (uint64_t c = 1; c < 500; c++) {
            double model = (double)rsc_histogram_at_least(&rd, c) / (double)trace.count;
            double truth = (double)rsc_histogram_at_least(&trace.rd_sum, c) / (double)trace.count;
            /* Close to the footprint, StatStack and AET suffer from last uses, which they take for endless: m/n = 0.8% */
            assert_close(model, truth, kind == RSC_RI_SHEN ? 0.03 : kind == RSC_RI_HOTL ? 0.005 : 0.02);
        }
        rsc_histogram_free(&rd);
    }
    forget(&trace);
}

/* The parts' distances add up to the whole's, but for rounding; without first and last uses HOTL is AET. */
static void parts_and_defaults(void **state) {
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 5, 0);
    struct trace trace = random_trace(&rng);
    struct rsc_ri_counts counts = {&trace.ri_sum, trace.distinct, trace.distinct, NULL, NULL, 0};
    struct rsc_histogram part, rest, rd, rd_part, rd_rest;
    rsc_histogram_init(&part, RSC_BINS_FINE), rsc_histogram_init(&rest, RSC_BINS_FINE);
    rsc_histogram_init(&rd, RSC_BINS_COARSE), rsc_histogram_init(&rd_part, RSC_BINS_COARSE);
    rsc_histogram_init(&rd_rest, RSC_BINS_COARSE);
    for (uint32_t bin = 0; bin < part.bin_count; bin++) {
        part.count[bin] = trace.ri_sum.count[bin] / 3;
        rest.count[bin] = trace.ri_sum.count[bin] - part.count[bin];
    }
    for (int kind = 0; kind < 4; kind++) {
        struct rsc_ri_model model;
        assert_int_equal(rsc_ri_model_init(&model, (enum rsc_ri_model_kind)kind, &counts), 0);
        assert_int_equal(rsc_ri_model_rd(&model, &rd), 0);
        assert_int_equal(rsc_ri_model_rd_of(&model, &part, &rd_part), 0);
        assert_int_equal(rsc_ri_model_rd_of(&model, &rest, &rd_rest), 0);
        assert_int_equal(rsc_histogram_total(&rd_part), rsc_histogram_total(&part));
        for (uint32_t bin = 0; bin < rd.bin_count; bin++)
            assert_close((double)rd.count[bin], (double)(rd_part.count[bin] + rd_rest.count[bin]), 3);
        assert_non_null(rsc_ri_model_names[kind]);
        rsc_ri_model_free(&model);
    }
    rsc_histogram_free(&part), rsc_histogram_free(&rest), rsc_histogram_free(&rd);
    rsc_histogram_free(&rd_part), rsc_histogram_free(&rd_rest);
    forget(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_references),       cmocka_unit_test(rounding_differs),
        cmocka_unit_test(shen_by_hand),          cmocka_unit_test(hardly_anything),
        cmocka_unit_test(formulas_without_bins), cmocka_unit_test(a_cycle_is_a_step),
        cmocka_unit_test(independent_draws),     cmocka_unit_test(parts_and_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
