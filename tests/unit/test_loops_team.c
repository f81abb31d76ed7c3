/*
 * test_loops_team.c - an analysis is divided among threads: every number is the same with one and with any number of
 * them, in rectangular nests, triangles, nests with conditions and with chunks given out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "loops/model/loops_model.h"
#include "loops/tree/loop_text.h"

static const char *const texts[] = {
    "loops 1\narray a 8 [90][100]\narray x 8 [100]\narray y 8 [100]\narray t 8 [90]\nnest both_ways { parallel {\n"
    "for i = 0 to 89 share static { write t[i] for j = 0 to 99 { read a[i][j] read x[j] read t[i] write t[i] } }\n"
    "for j = 0 to 99 share static { for i = 0 to 89 { read a[i][j] read t[i] read y[j] write y[j] } } } }\n",
    "loops 1\narray a 8 [40][40]\narray b 8 [40][40]\nnest steps { for t = 0 to 5 {\n"
    "parallel { for i = 1 to 38 share static { for j = 1 to 38 { read a[i-1][j] read a[i+1][j] write b[i][j] } } }\n"
    "parallel { for i = 1 to 38 share dynamic { for j = 1 to 38 { read b[i-1][j] read b[i+1][j] write a[i][j] } } } } }\n",
    /* Sums of triangles by value, of rows by where they start, and by remainders. */
    "loops 1\narray a 8 [90][90]\narray b 8 [90]\nnest triangle { parallel { for i = 0 to 89 share static {\n"
    "for j = i to 89 { read a[j][i] when (i + 2*j) % 3 == 0 { write b[j] } write a[i][j] } } } }\n",
    "loops 1\narray a 8 [40][40]\nnest products { parallel { for i = 0 to 39 share guided { for j = 0 to i {\n"
    "for k = j to i { read a[i][k] read a[j][k] } write a[i][j] } } } }\n",
    "loops 1\narray a 8 [60][60]\narray b 8 [60]\nnest eliminate { for k = 0 to 40 { parallel {\n"
    "for i = k + 1 to 59 share static { for j = k to 59 { read a[k][j] read a[i][j] write a[i][j] } write b[i] } } } }\n",
};

static void analyse(struct rsc_loops_analysis *analysis, uint32_t threads, const struct rsc_interleave *interleave,
                    struct rsc_loops_result **result) {
    struct rsc_error error;
    if (rsc_loops_analyse(analysis, threads, interleave, result, &error) < 0) fail_msg("%s", error.message);
}

static void same(const struct rsc_loops_result *a, const struct rsc_loops_result *b) {
    assert_true(a->mrc_count);
    assert_int_equal(a->own.mrc_count > 0, a->threads > 1);
    assert_int_equal(a->mrc_count, b->mrc_count);
    assert_int_equal(a->own.mrc_count, b->own.mrc_count);
    assert_memory_equal(a->mrc, b->mrc, a->mrc_count * sizeof *a->mrc);
    if (a->own.mrc_count) assert_memory_equal(a->own.mrc, b->own.mrc, a->own.mrc_count * sizeof *a->own.mrc);
    assert_true(a->own.cold == b->own.cold && a->own.invalidated == b->own.invalidated);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->ri.bin_count, b->ri.bin_count);
    assert_memory_equal(a->ri.count, b->ri.count, a->ri.bin_count * sizeof *a->ri.count);
    assert_int_equal(a->row_count, b->row_count);
    for (size_t r = 0; r < a->row_count; r++) {
        assert_true(a->rows[r].cold == b->rows[r].cold);
        assert_memory_equal(a->rows[r].rd.count, b->rows[r].rd.count, a->rows[r].rd.bin_count * sizeof(uint64_t));
    }
}

/* One analysis for each number of workers: what one finds out, such as running sums, is not there for the others. */
static void compare(const char *text, const char *interleaving, uint64_t whole_limit) {
    static const uint32_t workers[] = {1, 2, 5};
    enum { WAYS = sizeof workers / sizeof *workers };
    struct rsc_loops_analysis *analysis[WAYS];
    struct rsc_loop_program *program;
    struct rsc_interleave interleave;
    struct rsc_error error;
    if (rsc_loop_text_read(text, strlen(text), "test", NULL, 0, &program, &error) < 0 ||
        rsc_loop_layout(program, 64, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(rsc_interleave_parse(&interleave, interleaving, &error), 0);
    for (int w = 0; w < WAYS; w++) {
        struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
        options.whole_limit = whole_limit;
        options.exact_limit = 0; /* one thread is sampled too */
        options.workers = workers[w];
        assert_int_equal(rsc_loops_analysis_new(&analysis[w], program, 0, &options, &error), 0);
    }
    for (uint32_t threads = 1; threads <= 64; threads *= 4) {
        struct rsc_loops_result *result[WAYS];
        for (int w = 0; w < WAYS; w++) analyse(analysis[w], threads, &interleave, &result[w]);
        for (int w = 1; w < WAYS; w++) same(result[0], result[w]);
        for (int w = 0; w < WAYS; w++) rsc_loops_result_free(result[w]);
    }
    for (int w = 0; w < WAYS; w++) rsc_loops_analysis_free(analysis[w]);
    rsc_loop_program_free(program);
}

static void models_are_the_same(void **state) {
    static const char *const names[] = {"lockstep", "iid", "drift", "bursty:50", "racetrack"};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) compare(texts[t], names[k], 0);
}

static void simulations_are_the_same(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) compare(texts[t], "drift", 1 << 19);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_are_the_same),
                                       cmocka_unit_test(simulations_are_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
