/*
 * test_loops_beside.c - the private view and the band of rectangular loops are made in a thread beside the curve where
 * there are two processors: every number is the same with one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
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
};

static void analyse_on(const cpu_set_t *processors, struct rsc_loops_analysis *analysis, uint32_t threads,
                       const struct rsc_interleave *interleave, struct rsc_loops_result **result) {
    struct rsc_error error;
    assert_int_equal(sched_setaffinity(0, sizeof *processors, processors), 0);
    if (rsc_loops_analyse(analysis, threads, interleave, result, &error) < 0) fail_msg("%s", error.message);
}

static void same(const struct rsc_loops_result *a, const struct rsc_loops_result *b) {
    assert_true(a->mrc_count && a->own.mrc_count);
    assert_int_equal(a->mrc_count, b->mrc_count);
    assert_int_equal(a->own.mrc_count, b->own.mrc_count);
    assert_memory_equal(a->mrc, b->mrc, a->mrc_count * sizeof *a->mrc);
    assert_memory_equal(a->own.mrc, b->own.mrc, a->own.mrc_count * sizeof *a->own.mrc);
    assert_true(a->own.cold == b->own.cold && a->own.invalidated == b->own.invalidated);
}

static void one_processor_makes_the_same(void **state) {
    static const char *const names[] = {"lockstep", "iid", "drift", "bursty:50"};
    cpu_set_t all, one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
        struct rsc_loops_analysis *analysis;
        struct rsc_loop_program *program;
        struct rsc_error error;
        options.whole_limit = 0; /* models, also of so few references */
        options.band = options.private_view = 1;
        if (rsc_loop_text_read(texts[t], strlen(texts[t]), "test", NULL, 0, &program, &error) < 0 ||
            rsc_loop_layout(program, 64, &error) < 0)
            fail_msg("%s", error.message);
        assert_int_equal(rsc_loops_analysis_new(&analysis, program, 0, &options, &error), 0);
        for (uint32_t threads = 4; threads <= 64; threads *= 4)
            for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
                struct rsc_loops_result *two_ways[2];
                struct rsc_interleave interleave;
                assert_int_equal(rsc_interleave_parse(&interleave, names[k], &error), 0);
                analyse_on(&all, analysis, threads, &interleave, &two_ways[0]);
                analyse_on(&one, analysis, threads, &interleave, &two_ways[1]);
                same(two_ways[0], two_ways[1]);
                for (int w = 0; w < 2; w++) rsc_loops_result_free(two_ways[w]);
            }
        rsc_loops_analysis_free(analysis);
        rsc_loop_program_free(program);
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_processor_makes_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
