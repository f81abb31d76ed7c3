/*
 * test_loops_watch.c - long work on loops ends when its watch says so, wherever it is, and an idle watch changes nothing;
 * where several threads work, only the one that called is asked to look at the watch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "loops/model/loops_model.h"
#include "loops/tree/loop_text.h"

/* Triangular, with a condition: counting, numbering, sampling, simulation and the private view all take part. */
static const char text[] =
    "loops 1\narray a 8 [90][90]\narray b 8 [90]\nnest n { parallel { for i = 0 to 89 share static { for j = i to 89 {\n"
    "read a[j][i] when (i + 2*j) % 3 == 0 { write b[j] } write a[i][j] } } } }\n";

struct patience {
    uint32_t asked, most;
    pthread_t asker;
    int others; /* asked too */
};

static int go_on(void *context) {
    struct patience *patience = context;
    patience->others |= !pthread_equal(patience->asker, pthread_self());
    return ++patience->asked <= patience->most;
}

/* Analyses at 1 and 4 threads; returns how many results there are. */
static int analyse(struct rsc_loop_program *program, uint64_t whole_limit, uint32_t workers, double *misses) {
    struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
    struct rsc_loops_analysis *analysis;
    struct rsc_interleave interleave;
    struct rsc_error error = {0};
    int results = 0, status;
    options.whole_limit = whole_limit;
    options.workers = workers;
    assert_int_equal(rsc_interleave_parse(&interleave, "drift", &error), 0);
    status = rsc_loops_analysis_new(&analysis, program, 0, &options, &error);
    for (uint32_t threads = 1; !status && threads <= 4; threads += 3) {
        struct rsc_loops_result *result;
        status = rsc_loops_analyse(analysis, threads, &interleave, &result, &error);
        if (status) break;
        misses[results++] = rsc_loops_result_at(result, 60).miss_ratio + result->own.cold;
        rsc_loops_result_free(result);
    }
    if (status) {
        assert_int_equal(status, RSC_ELIMIT);
        assert_string_equal(error.message, "n: out of time");
        if (results) rsc_loops_analysis_free(analysis);
        else if (!program->watch->stopped) fail_msg("%s", error.message);
    } else rsc_loops_analysis_free(analysis);
    return results;
}

static void ends_wherever_it_is(void **state) {
    (void)state;
    for (uint64_t whole_limit = 0; whole_limit < 2; whole_limit++) {
        struct rsc_loop_program *program;
        struct rsc_error error;
        double alone[2], watched[2];
        assert_int_equal(rsc_loop_text_read(text, strlen(text), "test", NULL, 0, &program, &error), 0);
        assert_int_equal(rsc_loop_layout(program, 64, &error), 0);
        assert_int_equal(analyse(program, whole_limit << 30, 1, alone), 2);
        struct patience patience = {.most = UINT32_MAX, .asker = pthread_self()};
        struct rsc_loop_watch watch = {.go_on = go_on, .context = &patience};
        program->watch = &watch;
        assert_int_equal(analyse(program, whole_limit << 30, 1, watched), 2);
        assert_memory_equal(alone, watched, sizeof alone);
        uint32_t all = patience.asked;
        assert_true(all > 8);
        int before = 0;
        for (uint32_t most = 0; most <= all; most++) {
            patience = (struct patience){.most = most, .asker = pthread_self()};
            watch = (struct rsc_loop_watch){.go_on = go_on, .context = &patience};
            int results = analyse(program, whole_limit << 30, 1, watched);
            assert_true(results >= before); /* more time, never fewer results */
            before = results;
            assert_memory_equal(alone, watched, (size_t)results * sizeof *alone);
        }
        assert_int_equal(before, 2);
        rsc_loop_program_free(program);
    }
}

/* How often several threads' caller asks depends on the time they take, but it asks at least once. */
static void threads_end_too(void **state) {
    (void)state;
    struct rsc_loop_program *program;
    struct rsc_error error;
    double alone[2], watched[2];
    assert_int_equal(rsc_loop_text_read(text, strlen(text), "test", NULL, 0, &program, &error), 0);
    assert_int_equal(rsc_loop_layout(program, 64, &error), 0);
    assert_int_equal(analyse(program, 0, 1, alone), 2);
    for (uint32_t most = 0, patient = 0; !patient; most++) {
        struct patience patience = {.most = most, .asker = pthread_self()};
        struct rsc_loop_watch watch = {.go_on = go_on, .context = &patience};
        program->watch = &watch;
        int results = analyse(program, 0, 3, watched);
        assert_memory_equal(alone, watched, (size_t)results * sizeof *alone);
        assert_int_equal(results<2, patience.asked> most);
        assert_false(patience.others);
        patient = results == 2;
    }
    rsc_loop_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_wherever_it_is), cmocka_unit_test(threads_end_too)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
