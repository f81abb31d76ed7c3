/*
 * test_rng.c - the generator against published outputs, the distributions by
 * chi-square, and fixed values that must never change: traces made by `gen`
 * depend on them. Seeds are fixed, so a test that passes always passes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable_math.h"
#include "base/rng.h"
#include "chi_square.h"
#include "estimate/statistics.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Distance from the true value, in units of the last place. */
static double ulps(double value, long double truth) {
    double nearest = (double)truth;
    double unit = nextafter(fabs(nearest), INFINITY) - fabs(nearest);
    return (double)fabsl(((long double)value - truth) / unit);
}

static void portable_log_is_accurate(void **state) {
    (void)state;
    struct rsc_rng rng;
    double worst = 0;
    rsc_rng_seed(&rng, 1, 0);
    for (int i = 0; i < 200000; i++) {
        double x = ldexp(0.5 + rsc_rng_double(&rng), (int)rsc_rng_below(&rng, 2040) - 1020);
        if (i % 3 == 0) x = 1 + ldexp(rsc_rng_double(&rng) - 0.5, -(int)rsc_rng_below(&rng, 40));
        if (i % 3 == 1) x = 100 * rsc_rng_double(&rng);
        if (x > 0 && x != 1) worst = fmax(worst, ulps(rsc_portable_log(x), logl(x)));
    }
    if (worst >= 2) print_message("%g ulp\n", worst);
    assert_true(worst < 2);
    assert_true(rsc_portable_log(1) == 0);
    assert_true(rsc_portable_log(0) == -INFINITY && rsc_portable_log(INFINITY) == INFINITY);
    assert_true(isnan(rsc_portable_log(-1)) && isnan(rsc_portable_log(NAN)));
    assert_true(ulps(rsc_portable_log(5e-324), logl((long double)5e-324)) < 2);
}

static void portable_exp_is_accurate(void **state) {
    (void)state;
    struct rsc_rng rng;
    double worst = 0;
    rsc_rng_seed(&rng, 2, 0);
    for (int i = 0; i < 200000; i++) {
        double x = (rsc_rng_double(&rng) - 0.5) * (i & 1 ? 1400 : 4);
        worst = fmax(worst, ulps(rsc_portable_exp(x), expl(x)));
    }
    if (worst >= 2) print_message("%g ulp\n", worst);
    assert_true(worst < 2);
    assert_true(rsc_portable_exp(0) == 1);
    assert_true(rsc_portable_exp(-INFINITY) == 0 && rsc_portable_exp(INFINITY) == INFINITY);
    assert_true(rsc_portable_exp(-745.2) == 0 && rsc_portable_exp(-745.1) == 5e-324);
    assert_true(isfinite(rsc_portable_exp(709.78)) && rsc_portable_exp(709.79) == INFINITY);
    assert_true(isnan(rsc_portable_exp(NAN)));
}

static void portable_log1p_is_accurate(void **state) {
    (void)state;
    for (double x = 1e-20; x < 1e3; x *= 1.37) {
        assert_true(ulps(rsc_portable_log1p(x), log1pl(x)) < 4);
        if (x < 1) assert_true(ulps(rsc_portable_log1p(-x), log1pl(-(long double)x)) < 4);
    }
}

/* Outputs published with xoshiro256++ (state 1, 2, 3, 4) and splitmix64 (seed 1234567). */
static void matches_the_published_generators(void **state) {
    (void)state;
    static const uint64_t XOSHIRO[] = {41943041u,
                                       58720359u,
                                       3588806011781223u,
                                       3591011842654386u,
                                       9228616714210784205u,
                                       9973669472204895162u,
                                       14011001112246962877u,
                                       12406186145184390807u,
                                       15849039046786891736u,
                                       10450023813501588000u};
    static const uint64_t SPLITMIX[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                        4593380528125082431u};
    struct rsc_rng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < LENGTH(XOSHIRO); i++) assert_true(rsc_rng_u64(&rng) == XOSHIRO[i]);
    rsc_rng_seed(&rng, 1234567, 0);
    for (size_t i = 0; i < 4; i++) assert_true(rng.state[i] == SPLITMIX[i]);
}

static void streams_differ(void **state) {
    (void)state;
    struct rsc_rng a, b, c;
    rsc_rng_seed(&a, 42, 0);
    rsc_rng_seed(&b, 42, 1);
    rsc_rng_seed(&c, 42, 1);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = rsc_rng_u64(&b);
        same += rsc_rng_u64(&a) == value;
        assert_true(rsc_rng_u64(&c) == value);
    }
    assert_int_equal(same, 0);
}

/* P(chi-square this large), over cells whose expected counts are given. */
static double chi_square(const uint64_t *seen, const double *expected, size_t cells) {
    double sum = 0;
    for (size_t i = 0; i < cells; i++) {
        double difference = (double)seen[i] - expected[i];
        sum += difference * difference / expected[i];
    }
    return chi_square_tail((double)(cells - 1), sum);
}

static void expect_fit(const uint64_t *seen, const double *expected, size_t cells) {
    double p = chi_square(seen, expected, cells);
    if (!(p > 1e-3 && p < 1 - 1e-6)) print_message("chi-square p = %g\n", p);
    assert_true(p > 1e-3 && p < 1 - 1e-6);
}

/* Of the values v below n, the share with v * cells / n == cell. */
static double share_of_cell(uint64_t cell, uint64_t cells, uint64_t n) {
    uint64_t first = (uint64_t)(((unsigned __int128)n * cell + cells - 1) / cells);
    uint64_t end = (uint64_t)(((unsigned __int128)n * (cell + 1) + cells - 1) / cells);
    return (double)(end - first) / (double)n;
}

static void below_is_even(void **state) {
    (void)state;
    static const uint64_t BOUNDS[] = {1, 2, 3, 7, 10, 64, 1000, 3ull << 61, (1ull << 63) + 1};
    for (size_t b = 0; b < LENGTH(BOUNDS); b++) {
        enum { CELLS = 20, DRAWS = 100000 };
        uint64_t seen[CELLS] = {0}, n = BOUNDS[b], cells = n < CELLS ? n : CELLS;
        double expected[CELLS] = {0};
        struct rsc_rng rng;
        rsc_rng_seed(&rng, 5, b);
        for (int i = 0; i < DRAWS; i++) {
            uint64_t value = rsc_rng_below(&rng, n);
            assert_true(value < n);
            seen[(uint64_t)((unsigned __int128)value * cells / n)]++;
        }
        for (uint64_t i = 0; i < cells; i++) expected[i] = DRAWS * share_of_cell(i, cells, n);
        if (cells > 1) expect_fit(seen, expected, cells);
    }
}

static void doubles_are_even(void **state) {
    (void)state;
    enum { CELLS = 50, DRAWS = 200000 };
    uint64_t seen[CELLS] = {0};
    double expected[CELLS];
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 6, 0);
    for (int i = 0; i < DRAWS; i++) {
        double value = rsc_rng_double(&rng);
        assert_true(value >= 0 && value < 1);
        seen[(int)(value * CELLS)]++;
    }
    for (int i = 0; i < CELLS; i++) expected[i] = (double)DRAWS / CELLS;
    expect_fit(seen, expected, CELLS);
}

static void normal_fits(void **state) {
    (void)state;
    enum { CELLS = 40, DRAWS = 200000 };
    uint64_t normal[CELLS] = {0};
    double expected[CELLS];
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 7, 0);
    for (int i = 0; i < DRAWS; i++) { /* through its distribution function it is even */
        int cell = (int)(rsc_normal_cdf(rsc_rng_normal(&rng)) * CELLS);
        normal[cell < CELLS ? cell : CELLS - 1]++;
    }
    for (int i = 0; i < CELLS; i++) expected[i] = (double)DRAWS / CELLS;
    expect_fit(normal, expected, CELLS);
}

static void geometric_fits(void **state) {
    (void)state;
    static const double MEANS[] = {1.25, 2, 16};
    enum { CELLS = 30, DRAWS = 200000 };
    for (size_t m = 0; m < LENGTH(MEANS); m++) {
        uint64_t seen[CELLS] = {0};
        double expected[CELLS], p = 1 / MEANS[m], left = DRAWS;
        size_t cells = 0;
        for (; cells < CELLS - 1 && left * (1 - p) > 20; cells++) {
            expected[cells] = left * p;
            left *= 1 - p;
        }
        expected[cells++] = left;
        struct rsc_rng rng;
        rsc_rng_seed(&rng, 8, m);
        for (int i = 0; i < DRAWS; i++) {
            uint64_t trials = rsc_rng_geometric(&rng, MEANS[m]);
            assert_true(trials >= 1);
            seen[trials <= cells ? trials - 1 : cells - 1]++;
        }
        expect_fit(seen, expected, cells);
    }
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 9, 0);
    assert_int_equal(rsc_rng_geometric(&rng, 1), 1);
    assert_int_equal(rsc_rng_geometric(&rng, -3), 1);
    assert_int_equal(rsc_rng_geometric(&rng, NAN), 1);
    assert_true(rsc_rng_geometric(&rng, INFINITY) >= 1);
    double sum = 0; /* a mean at which 1 - 1/mean has lost most of its digits */
    for (int i = 0; i < 10000; i++) sum += (double)rsc_rng_geometric(&rng, 1e13);
    assert_true(fabs(sum / 10000 / 1e13 - 1) < 0.05);
}

/* Ranks 1 .. 99 each, and all others together. */
static void check_zipf(uint64_t n, double skew, uint64_t stream) {
    enum { CELLS = 100, DRAWS = 400000 };
    static uint64_t seen[CELLS];
    static double expected[CELLS];
    double total = 0;
    struct rsc_zipf zipf;
    struct rsc_rng rng;
    memset(seen, 0, sizeof seen);
    memset(expected, 0, sizeof expected);
    for (uint64_t k = n; k >= 1; k--) total += pow((double)k, -skew);
    for (uint64_t k = n; k >= 1; k--) expected[k < CELLS ? k - 1 : CELLS - 1] += pow((double)k, -skew) / total * DRAWS;
    rsc_zipf_init(&zipf, n, skew);
    rsc_rng_seed(&rng, 10, stream);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t rank = rsc_zipf_next(&zipf, &rng);
        assert_true(rank >= 1 && rank <= n);
        seen[rank < CELLS ? rank - 1 : CELLS - 1]++;
    }
    size_t cells = n < CELLS ? n : CELLS;
    while (cells > 1 && expected[cells - 1] < 10) { /* a chi-square needs some in each cell */
        cells--;
        expected[cells - 1] += expected[cells];
        seen[cells - 1] += seen[cells];
    }
    if (cells > 1) expect_fit(seen, expected, cells);
}

static void zipf_fits(void **state) {
    (void)state;
    static const uint64_t N[] = {1, 2, 3, 50, 1000, 100000};
    static const double SKEW[] = {0, 0.01, 0.5, 0.99, 1 - 1e-9, 1, 1 + 1e-9, 1.01, 1.5, 2, 5, 40, 100};
    for (size_t i = 0; i < LENGTH(N); i++)
        for (size_t j = 0; j < LENGTH(SKEW); j++) check_zipf(N[i], SKEW[j], i * LENGTH(SKEW) + j);
}

/* With a trillion ranks: the decades' shares against the integral of x^-skew. */
static void zipf_fits_on_huge_sets(void **state) {
    (void)state;
    static const double SKEW[] = {0.6, 0.9, 1, 1.1};
    enum { CELLS = 12, DRAWS = 200000 };
    uint64_t n = 1000000000000ull;
    for (size_t s = 0; s < LENGTH(SKEW); s++) {
        uint64_t seen[CELLS] = {0};
        double area[CELLS + 1], expected[CELLS], t = 1 - SKEW[s], head = 0;
        for (int k = 1; k < 1000; k++) head += pow(k, -SKEW[s]);
        for (int i = 3; i <= CELLS; i++) {
            double end = pow(10, i) - (i < CELLS ? 0.5 : -0.5);
            area[i] = head + (t == 0 ? log(end / 999.5) : (pow(end, t) - pow(999.5, t)) / t);
        }
        for (int i = 3; i < CELLS; i++) expected[i] = (area[i + 1] - area[i]) / area[CELLS] * DRAWS;
        expected[2] = head / area[CELLS] * DRAWS;
        struct rsc_zipf zipf;
        struct rsc_rng rng;
        rsc_zipf_init(&zipf, n, SKEW[s]);
        rsc_rng_seed(&rng, 11, s);
        for (int i = 0; i < DRAWS; i++) {
            uint64_t rank = rsc_zipf_next(&zipf, &rng);
            int decade = 0;
            assert_true(rank >= 1 && rank <= n);
            for (uint64_t r = rank; r >= 10; r /= 10) decade++;
            if (decade == CELLS) decade--; /* n itself */
            seen[decade < 2 ? 2 : decade]++;
        }
        int first = 2;
        for (; expected[first] < 20; first++) {
            expected[first + 1] += expected[first];
            seen[first + 1] += seen[first];
        }
        expect_fit(seen + first, expected + first, (size_t)(CELLS - first));
    }
}

/* A hash of the bits of many values of every function. */
static uint64_t fold(uint64_t hash, const void *value) {
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    return (hash ^ bits) * 0x9e3779b97f4a7c15ull + (hash >> 29);
}

static uint64_t hash_draws(int function) {
    static const double SKEW[] = {0, 0.7, 1, 1.3};
    struct rsc_zipf zipf[LENGTH(SKEW)];
    struct rsc_rng rng;
    uint64_t hash = 0;
    rsc_rng_seed(&rng, 2024, (uint64_t)function);
    for (size_t i = 0; i < LENGTH(SKEW); i++) rsc_zipf_init(&zipf[i], 1ull << (10 * i + 9), SKEW[i]);
    for (int i = 0; i < 100000; i++) {
        uint64_t integer = 0;
        double real = 0;
        switch (function) {
        case 0: integer = rsc_rng_u64(&rng); break;
        case 1: integer = rsc_rng_below(&rng, (uint64_t)i * 0x123456789abull + 1); break;
        case 2: real = rsc_rng_double(&rng); break;
        case 4: integer = rsc_rng_geometric(&rng, 1 + i % 100); break;
        case 5: real = rsc_rng_normal(&rng); break;
        case 6: integer = rsc_zipf_next(&zipf[(size_t)i % LENGTH(SKEW)], &rng); break;
        case 7: real = rsc_portable_log(rsc_rng_double(&rng) * (i + 1)); break;
        case 8: real = rsc_portable_exp(40 * rsc_rng_double(&rng) - 20); break;
        default: break;
        }
        hash = fold(fold(hash, &integer), &real);
    }
    return hash;
}

static void values_never_change(void **state) {
    (void)state;
    static const struct {
        int function; /* of hash_draws() */
        uint64_t hash;
    } GOLDEN[] = {
        {0, 0xdd69c25322eea65c}, /* rsc_rng_u64 */
        {1, 0x4f094dc4f8dec47c}, /* rsc_rng_below */
        {2, 0xa1cf8f870136347a}, /* rsc_rng_double */
        {4, 0x950bbbd43f2b6e9e}, /* rsc_rng_geometric */
        {5, 0xdb13b2ea6b827e03}, /* rsc_rng_normal */
        {6, 0xd58a00df13123a53}, /* rsc_zipf_next */
        {7, 0x9c913365fd5d7908}, /* rsc_portable_log */
        {8, 0x619c77acbc123913}, /* rsc_portable_exp */
    };
    int changed = 0;
    for (size_t i = 0; i < LENGTH(GOLDEN); i++) {
        uint64_t hash = hash_draws(GOLDEN[i].function);
        if (hash == GOLDEN[i].hash) continue;
        print_message("function %d: 0x%016" PRIx64 "\n", GOLDEN[i].function, hash);
        changed = 1;
    }
    assert_false(changed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portable_log_is_accurate),
        cmocka_unit_test(portable_exp_is_accurate),
        cmocka_unit_test(portable_log1p_is_accurate),
        cmocka_unit_test(matches_the_published_generators),
        cmocka_unit_test(streams_differ),
        cmocka_unit_test(below_is_even),
        cmocka_unit_test(doubles_are_even),
        cmocka_unit_test(normal_fits),
        cmocka_unit_test(geometric_fits),
        cmocka_unit_test(zipf_fits),
        cmocka_unit_test(zipf_fits_on_huge_sets),
        cmocka_unit_test(values_never_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
