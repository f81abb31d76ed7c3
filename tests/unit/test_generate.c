/*
 * test_generate.c - each kind against what generate.h says it is, and fixed
 * hashes: the same accesses from the same seed, on every machine, for ever.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "chi_square.h"
#include "trace/generate/generate.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define BASE 0x10000000ull

/* The first `count` accesses, in columns that the caller frees. */
struct accesses {
    size_t count;
    uint64_t *addr, *meta;
};

static struct accesses make(const char *spec, size_t count, uint64_t seed) {
    struct accesses made = {count, malloc(count * 8 + 8), malloc(count * 8 + 8)};
    struct rsc_generator *generator;
    struct rsc_error error = {0};
    int status = rsc_generator_new(&generator, spec, seed, &error);
    if (status < 0) print_message("%s\n", error.message);
    assert_int_equal(status, 0);
    rsc_generator_fill(generator, made.addr, made.meta, count);
    rsc_generator_free(generator);
    return made;
}

static void drop(struct accesses made) {
    free(made.addr);
    free(made.meta);
}

/* Which of `lines` an access starts. */
static uint64_t line_of(struct accesses made, size_t i, uint64_t lines) {
    assert_int_equal(made.addr[i] % 64, 0);
    assert_in_range(made.addr[i], BASE, BASE + lines * 64 - 1);
    return (made.addr[i] - BASE) / 64;
}

static const char *const EVERY_KIND[] = {
    "uniform",
    "zipf",
    "cyclic,lines=1000",
    "stride,lines=1000,stride=200",
    "stencil,lines=500",
    "chase,lines=3000",
    "mix,lines=4K",
    "uniform,threads=3,write=0.25",
    "zipf,lines=100000,skew=0.8,threads=4,write=.5",
    "cyclic,lines=777,threads=5,size=4",
    "stride,lines=100,stride=8,threads=2,write=1",
    "stencil,lines=64,threads=7",
    "chase,lines=1M,threads=16",
    "mix,lines=100,threads=3,write=0.1,base=0x7fff0000",
};

static void batches_do_not_show(void **state) {
    (void)state;
    enum { COUNT = 60000 };
    for (size_t k = 0; k < LENGTH(EVERY_KIND); k++) {
        struct accesses whole = make(EVERY_KIND[k], COUNT, 7);
        struct rsc_generator *generator;
        struct rsc_rng rng;
        static uint64_t addr[COUNT], meta[COUNT];
        rsc_rng_seed(&rng, 1, k);
        assert_int_equal(rsc_generator_new(&generator, EVERY_KIND[k], 7, NULL), 0);
        for (size_t at = 0, some; at < COUNT; at += some) {
            some = rsc_rng_below(&rng, rsc_rng_below(&rng, 3) ? 10 : 3000);
            if (some > COUNT - at) some = COUNT - at;
            rsc_generator_fill(generator, addr + at, meta + at, some);
        }
        assert_memory_equal(addr, whole.addr, sizeof addr);
        assert_memory_equal(meta, whole.meta, sizeof meta);
        rsc_generator_free(generator);
        drop(whole);
    }
}

static void as_a_source(void **state) {
    (void)state;
    static const uint64_t COUNTS[] = {0, 1, RSC_BATCH_ACCESSES, RSC_BATCH_ACCESSES + 1, 100000};
    for (size_t c = 0; c < LENGTH(COUNTS); c++) {
        struct accesses whole = make("zipf,threads=2,write=0.3", COUNTS[c], 11);
        struct rsc_source *source;
        struct rsc_error error;
        struct rsc_batch batch;
        struct rsc_trace_info info = {0};
        size_t at = 0;
        int status;
        assert_int_equal(rsc_generator_open(&source, "zipf,threads=2,write=0.3", COUNTS[c], 11, &error), 0);
        while ((status = source->ops->next(source, &batch, &error)) == 1) {
            assert_in_range(batch.count, 1, RSC_BATCH_ACCESSES);
            assert_true(batch.instructions == RSC_UNKNOWN && batch.pc == NULL && batch.event_count == 0);
            assert_memory_equal(batch.addr, whole.addr + at, batch.count * sizeof *batch.addr);
            assert_memory_equal(batch.meta, whole.meta + at, batch.count * sizeof *batch.meta);
            at += batch.count;
        }
        assert_int_equal(status, 0);
        assert_int_equal(at, COUNTS[c]);
        source->ops->info(source, &info);
        assert_int_equal(info.accesses, COUNTS[c]);
        assert_string_equal(info.command, "zipf,threads=2,write=0.3");
        source->ops->close(source);
        drop(whole);
    }
}

static void seeds_differ(void **state) {
    (void)state;
    static const char *const RANDOM[] = {"uniform", "zipf", "chase", "mix", "cyclic,threads=2", "cyclic,write=.5"};
    for (size_t k = 0; k < LENGTH(RANDOM); k++) {
        struct accesses one = make(RANDOM[k], 10000, 1), two = make(RANDOM[k], 10000, 2);
        int addr_same = memcmp(one.addr, two.addr, 80000) == 0, meta_same = memcmp(one.meta, two.meta, 80000) == 0;
        assert_false(addr_same && meta_same);
        drop(one);
        drop(two);
    }
}

static void expect_even(const uint64_t *seen, size_t cells, double draws) {
    double sum = 0, each = draws / (double)cells;
    for (size_t i = 0; i < cells; i++) sum += ((double)seen[i] - each) * ((double)seen[i] - each) / each;
    double p = chi_square_tail((double)(cells - 1), sum);
    if (!(p > 1e-3)) print_message("chi-square p = %g\n", p);
    assert_true(p > 1e-3);
}

static void uniform_is_even(void **state) {
    (void)state;
    struct accesses made = make("uniform,lines=100", 100000, 3);
    uint64_t seen[100] = {0};
    for (size_t i = 0; i < made.count; i++) {
        seen[line_of(made, i, 100)]++;
        assert_true(made.meta[i] == rsc_meta(8, RSC_READ, 0));
    }
    expect_even(seen, 100, 100000);
    drop(made);
}

static int descending(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Popularity follows k^-skew, and the popular lines do not lie together. */
static void zipf_is_scattered(void **state) {
    (void)state;
    enum { LINES = 1000, COUNT = 1000000 };
    struct accesses made = make("zipf,lines=1000,skew=1", COUNT, 3);
    static uint64_t seen[LINES], sorted[LINES];
    double total = 0;
    for (size_t i = 0; i < made.count; i++) seen[line_of(made, i, LINES)]++;
    memcpy(sorted, seen, sizeof seen);
    qsort(sorted, LINES, sizeof sorted[0], descending);
    for (int k = 1; k <= LINES; k++) total += 1.0 / k;
    for (int k = 1; k <= 20; k++) {
        double expected = COUNT / total / k;
        assert_true(fabs((double)sorted[k - 1] - expected) < 6 * sqrt(expected) + 0.02 * expected);
    }
    uint64_t halves[2] = {0}, neighbours = 0;
    for (size_t i = 0; i < LINES; i++) {
        int popular = seen[i] >= sorted[99];
        halves[i >= LINES / 2] += (uint64_t)popular;
        neighbours += (uint64_t)(i && popular && seen[i - 1] >= sorted[99]);
    }
    assert_in_range(halves[0], 30, 70); /* of about 100 */
    assert_in_range(neighbours, 0, 25); /* 10 by chance */
    drop(made);
}

static void cyclic_goes_round(void **state) {
    (void)state;
    struct accesses made = make("cyclic,lines=1000,base=1M,size=16", 20000, 3);
    for (size_t i = 0; i < made.count; i++) {
        assert_true(made.addr[i] == (1 << 20) + i % 1000 * 64);
        assert_true(made.meta[i] == rsc_meta(16, RSC_READ, 0));
    }
    drop(made);
    made = make("cyclic,lines=1", 100, 3);
    for (size_t i = 0; i < made.count; i++) assert_true(made.addr[i] == BASE);
    drop(made);
}

static void stride_advances_in_bytes(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bytes, stride;
    } CASES[] = {{"stride,lines=1000,stride=200", 64000, 200},
                 {"stride,lines=8,stride=1", 512, 1},
                 {"stride,lines=3,stride=1K", 192, 1024},
                 {"stride,lines=4,stride=256", 256, 256},
                 {"stride", 65536 * 64, 256}};
    for (size_t c = 0; c < LENGTH(CASES); c++) {
        struct accesses made = make(CASES[c].spec, 20000, 3);
        for (size_t i = 0; i < made.count; i++)
            assert_true(made.addr[i] == BASE + i * CASES[c].stride % CASES[c].bytes);
        drop(made);
    }
}

static void stencil_sweeps_the_inner_points(void **state) {
    (void)state;
    /* 50 lines are 400 doubles: a grid of 20 by 20, 18 by 18 inner points */
    enum { SIDE = 20, INNER = 18 };
    struct accesses made = make("stencil,lines=50,write=1", 5000, 3);
    for (size_t i = 0; i < made.count; i++) {
        size_t point = i / 6 % (INNER * INNER), row = point / INNER + 1, column = point % INNER + 1;
        uint64_t centre = BASE + 8 * (row * SIDE + column);
        uint64_t expected[] = {centre - 8 * SIDE, centre + 8 * SIDE, centre - 8, centre + 8, centre, centre + 50 * 64};
        assert_true(made.addr[i] == expected[i % 6]);
        assert_true(made.meta[i] == rsc_meta(8, i % 6 == 5 ? RSC_WRITE : RSC_READ, 0));
    }
    drop(made);
    drop(make("stencil,lines=2", 100, 3));
}

static void chase_is_one_cycle(void **state) {
    (void)state;
    static const size_t LINES[] = {1, 2, 3, 5, 64, 100, 1000, 1024, 1025, 4096, 50000};
    for (size_t l = 0; l < LENGTH(LINES); l++) {
        size_t lines = LINES[l];
        char spec[64];
        snprintf(spec, sizeof spec, "chase,lines=%zu", lines);
        struct accesses made = make(spec, 2 * lines, 3);
        unsigned char *seen = calloc(lines, 1);
        for (size_t i = 0; i < lines; i++) {
            uint64_t line = line_of(made, i, lines);
            assert_int_equal(seen[line]++, 0);
            assert_true(made.addr[i] == made.addr[i + lines]); /* and the same way again */
        }
        free(seen);
        drop(made);
    }
}

/* Steps of the chase look like any: no preferred distance, no preferred direction from the last step. */
static void chase_has_no_pattern(void **state) {
    (void)state;
    enum { LINES = 65536, CELLS = 64 };
    struct accesses made = make("chase,lines=64K", LINES, 3);
    uint64_t distance[CELLS] = {0}, pair[CELLS] = {0};
    for (size_t i = 2; i < LINES; i++) {
        uint64_t a = line_of(made, i - 2, LINES), b = line_of(made, i - 1, LINES), c = line_of(made, i, LINES);
        distance[(c - b) % LINES / (LINES / CELLS)]++;
        pair[(c - 2 * b + a) % LINES / (LINES / CELLS)]++;
    }
    expect_even(distance, CELLS, LINES - 2);
    expect_even(pair, CELLS, LINES - 2);
    drop(made);
}

static void mix_takes_turns(void **state) {
    (void)state;
    enum { LINES = 4096, WINDOW = 1000 };
    struct accesses made = make("mix,lines=4096", 1000000, 3);
    int sequential = 0, random = 0, grid = 0;
    for (size_t i = 0; i + WINDOW < made.count; i += WINDOW) { /* tell stretches by their steps */
        int ones = 0, writes = 0;
        for (size_t j = i + 1; j < i + WINDOW; j++) {
            assert_in_range(made.addr[j], BASE, BASE + 2 * LINES * 64 - 1);
            ones += made.addr[j] - made.addr[j - 1] == 64;
            writes += rsc_meta_kind(made.meta[j]) == RSC_WRITE;
        }
        sequential += ones > WINDOW * 9 / 10;
        grid += writes > WINDOW / 7;
        random += ones < 5 && writes == 0;
    }
    assert_true(sequential > 20 && grid > 20 && random > 100);
    drop(made);
}

static void threads_take_runs(void **state) {
    (void)state;
    enum { THREADS = 5, COUNT = 400000 };
    static const char *const SPECS[] = {"cyclic,lines=1000,threads=5", "uniform,threads=5", "mix,lines=100,threads=5"};
    for (size_t s = 0; s < LENGTH(SPECS); s++) {
        struct accesses made = make(SPECS[s], COUNT, 3);
        uint64_t by_thread[THREADS] = {0}, runs = 1;
        uint32_t begun = 0;
        for (size_t i = 0; i < COUNT; i++) {
            uint32_t thread = rsc_meta_thread(made.meta[i]);
            assert_true(thread < THREADS && thread <= begun); /* dense by first appearance */
            if (thread == begun) begun++;
            by_thread[thread]++;
            runs += i && thread != rsc_meta_thread(made.meta[i - 1]);
        }
        assert_int_equal(begun, THREADS);
        assert_in_range(COUNT / runs, 15, 16);
        for (int t = 0; t < THREADS; t++) assert_in_range(by_thread[t], COUNT / THREADS * 0.95, COUNT / THREADS * 1.05);
        drop(made);
    }
}

/* Each thread walks as a single one would, from its own place. */
static void threads_keep_their_places(void **state) {
    (void)state;
    struct accesses made = make("cyclic,lines=1000,threads=4", 50000, 3);
    uint64_t next[4] = {0, 250, 500, 750};
    for (size_t i = 0; i < made.count; i++) {
        uint32_t thread = rsc_meta_thread(made.meta[i]);
        assert_int_equal(line_of(made, i, 1000), next[thread]);
        next[thread] = (next[thread] + 1) % 1000;
    }
    drop(made);
    /* and the shared kinds draw the same addresses however many threads there are */
    struct accesses one = make("zipf", 10000, 3), many = make("zipf,threads=9", 10000, 3);
    assert_memory_equal(one.addr, many.addr, 80000);
    drop(one);
    drop(many);
}

static void writes_are_the_fraction_asked(void **state) {
    (void)state;
    static const double FRACTION[] = {0, 0.001, 0.3, 0.5, 1};
    for (size_t f = 0; f < LENGTH(FRACTION); f++) {
        char spec[64];
        snprintf(spec, sizeof spec, "uniform,write=%g", FRACTION[f]);
        struct accesses made = make(spec, 200000, 3);
        double writes = 0;
        for (size_t i = 0; i < made.count; i++) writes += rsc_meta_kind(made.meta[i]) == RSC_WRITE;
        assert_true(fabs(writes - FRACTION[f] * 200000) <= 5 * sqrt(200000 * FRACTION[f] * (1 - FRACTION[f])));
        drop(made);
    }
}

static void huge_sets_need_no_memory(void **state) {
    (void)state;
    static const char *const SPECS[] = {"uniform,lines=1024G", "cyclic,lines=1024G", "stride,lines=1024G,stride=1G",
                                        "zipf,lines=1024G",    "chase,lines=1024G",  "stencil,lines=1024G",
                                        "mix,lines=1024G"};
    for (size_t s = 0; s < LENGTH(SPECS); s++) {
        struct accesses made = make(SPECS[s], 100000, 3);
        for (size_t i = 0; i < made.count; i++) assert_in_range(made.addr[i], BASE, BASE + (1ull << 47) - 1);
        drop(made);
    }
}

static void expect_error(const char *spec, const char *part) {
    struct rsc_source *source;
    struct rsc_error error = {0};
    assert_int_equal(rsc_generator_open(&source, spec, 10, 1, &error), RSC_EINVAL);
    assert_null(source);
    if (!strstr(error.message, part)) print_message("%s -> %s\n", spec, error.message);
    assert_non_null(strstr(error.message, part));
}

static void errors_name_the_key_and_what_is_allowed(void **state) {
    (void)state;
    expect_error("zip", "unknown kind 'zip' (kinds: uniform, zipf, cyclic, stride, stencil, chase, mix)");
    expect_error("", "unknown kind ''");
    expect_error("zipff,lines=3", "unknown kind 'zipff'");
    expect_error("zipf,line=3", "unknown key 'line' (keys: lines, skew, stride, threads, write, base, size)");
    expect_error("zipf,", "unknown key ''");
    expect_error("zipf,,lines=3", "unknown key ''");
    expect_error("zipf,lines", "lines: a value is missing");
    expect_error("zipf,lines=", "lines=: ");
    expect_error("zipf,lines=0", "lines=0: lines is a number from 1");
    expect_error("zipf,lines=1T", "lines=1T: ");
    expect_error("zipf,lines=1KK", "lines=1KK: ");
    expect_error("zipf,lines=-1", "lines=-1: ");
    expect_error("zipf,lines= 1", "lines= 1: ");
    expect_error("zipf,lines=1.5", "lines=1.5: ");
    expect_error("zipf,lines=0x", "lines=0x: ");
    expect_error("zipf,lines=1025G", "lines=1025G: ");
    expect_error("zipf,lines=99999999999999999999999", "lines=9999");
    expect_error("zipf,lines=18446744073709551615G", "lines=1844");
    expect_error("zipf,skew=-1", "skew=-1: skew is a decimal number from 0 to 100");
    expect_error("zipf,skew=nan", "skew=nan: ");
    expect_error("zipf,skew=1e3", "skew=1e3: ");
    expect_error("zipf,skew=100.5", "skew=100.5: ");
    expect_error("zipf,skew=1.2.3", "skew=1.2.3: ");
    expect_error("zipf,skew=.", "skew=.: ");
    expect_error("zipf,write=1.01", "write=1.01: ");
    expect_error("zipf,threads=0", "threads=0: ");
    expect_error("zipf,threads=17M", "threads=17M: ");
    expect_error("stride,stride=0", "stride=0: ");
    expect_error("zipf,size=0", "size=0: ");
    expect_error("zipf,size=4G", "size=4G: ");
    expect_error("zipf,base=0x8000000000000000", "base=0x8000000000000000: ");
    expect_error("stencil,lines=1", "lines=1: ");
    expect_error("mix,lines=1", "lines=1: ");
    assert_int_equal(rsc_generator_new(&(struct rsc_generator *){NULL}, "zip", 1, NULL), RSC_EINVAL);
}

static uint64_t hash_of(struct accesses made) {
    uint64_t hash = 0;
    for (size_t i = 0; i < made.count; i++)
        hash = ((hash ^ made.addr[i]) * 0x9e3779b97f4a7c15ull ^ made.meta[i]) * 0xd1342543de82ef95ull + (hash >> 31);
    return hash;
}

static void accesses_never_change(void **state) {
    (void)state;
    static const uint64_t GOLDEN[LENGTH(EVERY_KIND)] = {
        0x8bc494d04c55a69a, /* uniform */
        0x1016bf07de81bf7e, /* zipf */
        0x7b07a462f2de4bf7, /* cyclic,lines=1000 */
        0x57e2123a4ffb06c8, /* stride,lines=1000,stride=200 */
        0xc07eb5dba37ecbae, /* stencil,lines=500 */
        0xcb3462408d36d04d, /* chase,lines=3000 */
        0xdaada0f7d4c70cd7, /* mix,lines=4K */
        0xa7af68aa9ff93418, /* uniform,threads=3,write=0.25 */
        0x55e1fe3ffca2dabc, /* zipf,lines=100000,skew=0.8,threads=4,write=.5 */
        0x22459513df2e86f9, /* cyclic,lines=777,threads=5,size=4 */
        0x29c097627e026c49, /* stride,lines=100,stride=8,threads=2,write=1 */
        0x64ace1311362f07c, /* stencil,lines=64,threads=7 */
        0x33cefcc94c9c3dde, /* chase,lines=1M,threads=16 */
        0xe8ceb723dbfac526, /* mix,lines=100,threads=3,write=0.1,base=0x7fff0000 */
    };
    int changed = 0;
    for (size_t k = 0; k < LENGTH(EVERY_KIND); k++) {
        struct accesses made = make(EVERY_KIND[k], 200000, 42);
        uint64_t hash = hash_of(made);
        drop(made);
        if (hash == GOLDEN[k]) continue;
        print_message("        0x%016" PRIx64 ", /* %s */\n", hash, EVERY_KIND[k]);
        changed = 1;
    }
    assert_false(changed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_do_not_show),
        cmocka_unit_test(as_a_source),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(uniform_is_even),
        cmocka_unit_test(zipf_is_scattered),
        cmocka_unit_test(cyclic_goes_round),
        cmocka_unit_test(stride_advances_in_bytes),
        cmocka_unit_test(stencil_sweeps_the_inner_points),
        cmocka_unit_test(chase_is_one_cycle),
        cmocka_unit_test(chase_has_no_pattern),
        cmocka_unit_test(mix_takes_turns),
        cmocka_unit_test(threads_take_runs),
        cmocka_unit_test(threads_keep_their_places),
        cmocka_unit_test(writes_are_the_fraction_asked),
        cmocka_unit_test(huge_sets_need_no_memory),
        cmocka_unit_test(errors_name_the_key_and_what_is_allowed),
        cmocka_unit_test(accesses_never_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
