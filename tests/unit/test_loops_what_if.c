/* test_loops_what_if.c - other orders of loops make the same references, and what makes no sense is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loops/tree/loop_text.h"
#include "loops/model/loops_model.h"
#include "loops/nest/walk.h"

static const char gemm[] =
    "loops 1\narray a 8 [20][24]\narray b 8 [24][28]\narray c 8 [20][28]\n"
    "nest gemm { parallel { for i = 0 to 19 share static { for j = 27 to 0 step -1 { for k = 0 to 23 {\n"
    "read a[i][k] read b[k][j] read c[i][j] write c[i][j] } } } } }\n";
static const char by_pairs[] = "loops 1\narray c 8 [40]\nnest n { parallel { for i = 0 to 29 share static collapse 2 "
                               "{ for j = 0 to 3 { for k = 0 to 2 { read c[i] } } } } }\n";
static const char triangle[] =
    "loops 1\narray a 8 [40][40]\nnest n { parallel { for i = 0 to 39 share dynamic { for j = i to 39 { read a[j][i] write a[i][j] } } } }\n";
static const char uneven[] =
    "loops 1\narray a 8 [40]\nnest n { for i = 1 to 30 { read a[0] for j = 0 to 3 { write a[i] } } }\n";

static struct rsc_loop_program *read_text(const char *text) {
    struct rsc_loop_program *program;
    struct rsc_error error;
    if (rsc_loop_text_read(text, strlen(text), "test", NULL, 0, &program, &error) < 0) fail_msg("%s", error.message);
    assert_int_equal(rsc_loop_layout(program, 64, &error), 0);
    return program;
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Every thread's references as reference and byte, sorted; the number of them. */
static uint32_t all_references(const struct rsc_loop_program *program, uint32_t threads, uint64_t *out, uint32_t room) {
    struct rsc_error error;
    struct rsc_nest *nest;
    struct rsc_plan *plan;
    uint32_t count = 0;
    assert_int_equal(rsc_nest_new(&nest, program, 0, UINT32_MAX, 8, &error), 0);
    assert_int_equal(rsc_plan_new(&plan, nest, threads, NULL, &error), 0);
    for (uint32_t t = 0; t < threads; t++) {
        struct rsc_walk *walk;
        uint32_t reference;
        assert_int_equal(rsc_walk_new(&walk, plan, t, 8, NULL, &error), 0);
        for (uint32_t p = 0; p < nest->phase_count; p++) {
            rsc_walk_start(walk, p);
            while (count < room && rsc_walk_next(walk, &out[count], &reference, 1)) {
                out[count] |= (uint64_t)reference << 48;
                count++;
            }
        }
        rsc_walk_free(walk);
    }
    rsc_plan_free(plan);
    rsc_nest_free(nest);
    qsort(out, count, sizeof *out, ascending);
    return count;
}

#define ROOM 100000u

static void same_references_in_another_order(void **state) {
    (void)state;
    /* With i and k interchanged, threads would add to the same c[i][j]. */
    static const struct {
        const char *text, *what;
        int proved;
    } cases[] = {{gemm, "tile=i:8,j:5", 1},     {gemm, "tile=k:7,j:4,i:100", 1}, {gemm, "interchange=j,k", 1},
                 {gemm, "interchange=i,k", 0},  {gemm, "interchange=i,j", 1},    {gemm, "chunk=3", 1},
                 {triangle, "tile=i:8,j:8", 0}, {triangle, "tile=j:16", 0},      {triangle, "chunk=5", 1}};
    uint64_t *before = malloc(ROOM * sizeof *before), *after = malloc(ROOM * sizeof *after);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rsc_loop_program *program = read_text(cases[i].text), *changed;
        struct rsc_error error;
        const char *note;
        if (rsc_loops_what_if(&changed, program, 0, cases[i].what, &note, &error) < 0) fail_msg("%s", error.message);
        assert_int_equal(note == NULL, cases[i].proved);
        assert_int_equal(rsc_loop_layout(changed, 64, &error), 0);
        for (uint32_t threads = 1; threads < 4; threads += 2) {
            uint32_t count = all_references(program, threads, before, ROOM);
            assert_true(count > 0 && count < ROOM);
            assert_int_equal(all_references(changed, threads, after, ROOM), count);
            assert_memory_equal(before, after, count * sizeof *before);
        }
        rsc_loop_program_free(changed);
        rsc_loop_program_free(program);
    }
    free(before);
    free(after);
}

/* Changes that make another tree: the text of what they must give. */
static void trees_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *before, *what, *after;
        int proved;
    } cases[] = {
        {"array a 8 [9] nest n { for i = 0 to 8 { read a[i] } for j = 0 to 8 { read a[8 - j] } }", "fuse=i",
         "array a 8 [9] nest n { for i = 0 to 8 { read a[i] read a[8 - i] } }", 1},
        {"array a 8 [9] nest n { parallel { for i = 0 to 8 share static nowait { write a[i] } } parallel { for i = 0 to 8 "
         "share static { read a[i] } } }",
         "fuse=i", "array a 8 [9] nest n { parallel { for i = 0 to 8 share static { write a[i] read a[i] } } }", 0},
        {"array a 8 [9][4] array b 8 [4] nest n { for i = 0 to 8 { for j = 0 to 3 { read a[i][j] write b[j] } } }",
         "pad=a:3",
         "array a 8 [9][7] array b 8 [4] nest n { for i = 0 to 8 { for j = 0 to 3 { read a[i][j] write b[j] } } }", 1},
        {"array a 8 [9] nest n { parallel { for i = 0 to 8 share static { read a[i] } } }", "schedule=dynamic,4",
         "array a 8 [9] nest n { parallel { for i = 0 to 8 share dynamic 4 { read a[i] } } }", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2][400], *written[2];
        size_t bytes;
        struct rsc_error error;
        const char *note;
        struct rsc_loop_program *program, *changed, *wanted;
        snprintf(text[0], sizeof text[0], "loops 1\n%s\n", cases[i].before);
        snprintf(text[1], sizeof text[1], "loops 1\n%s\n", cases[i].after);
        program = read_text(text[0]);
        wanted = read_text(text[1]);
        if (rsc_loops_what_if(&changed, program, 0, cases[i].what, &note, &error) < 0) fail_msg("%s", error.message);
        assert_int_equal(note == NULL, cases[i].proved);
        assert_int_equal(rsc_loop_text_write(changed, &written[0], &bytes), 0);
        assert_int_equal(rsc_loop_text_write(wanted, &written[1], &bytes), 0);
        assert_string_equal(written[0], written[1]);
        free(written[0]);
        free(written[1]);
        rsc_loop_program_free(changed);
        rsc_loop_program_free(wanted);
        rsc_loop_program_free(program);
    }
}

/* Tiles of a matrix product make a cache of few lines miss less. */
static void tiles_help(void **state) {
    (void)state;
    static const char text[] =
        "loops 1\narray a 8 [64][64]\narray b 8 [64][64]\narray c 8 [64][64]\n"
        "nest gemm { parallel { for i = 0 to 63 share static { for j = 0 to 63 { for k = 0 to 63 {\n"
        "read a[i][k] read b[k][j] read c[i][j] write c[i][j] } } } } }\n";
    struct rsc_loop_program *program = read_text(text), *changed;
    struct rsc_error error;
    const char *note;
    double ratio[2];
    assert_int_equal(rsc_loops_what_if(&changed, program, 0, "tile=i:8,j:8,k:8", &note, &error), 0);
    assert_int_equal(rsc_loop_layout(changed, 64, &error), 0);
    for (int i = 0; i < 2; i++) {
        struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
        struct rsc_loops_analysis *analysis;
        struct rsc_loops_result *result;
        struct rsc_interleave drift;
        assert_int_equal(rsc_interleave_parse(&drift, "drift", &error), 0);
        assert_int_equal(rsc_loops_analysis_new(&analysis, i ? changed : program, 0, &options, &error), 0);
        assert_int_equal(rsc_loops_analyse(analysis, 4, &drift, &result, &error), 0);
        ratio[i] = rsc_loops_result_at(result, 128).miss_ratio;
        struct rsc_mrc_point point = rsc_loops_result_at(result, 128);
        assert_true(point.low <= point.miss_ratio && point.miss_ratio <= point.high);
        rsc_loops_result_free(result);
        rsc_loops_analysis_free(analysis);
    }
    assert_true(ratio[1] < 0.5 * ratio[0]);
    rsc_loop_program_free(changed);
    rsc_loop_program_free(program);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    static const char *const refused[] = {"",          "tile=",         "tile=i",          "tile=i:0",
                                          "tile=x:8",  "tile=i:8,i:8",  "chunk=",          "chunk=0",
                                          "chunk=4x",  "interchange=i", "interchange=i,i", "skew=i,j",
                                          "tile=i:8,", "tile=i:8;j:8",  "interchange=j,x", "fuse=i",
                                          "fuse=i,j",  "fuse=",         "pad=a",           "pad=a:0",
                                          "pad=x:8",   "pad=:8",        "schedule=",       "schedule=fast"};
    struct rsc_error error;
    const char *note;
    struct rsc_loop_program *changed;
    struct rsc_loop_program *program = read_text(gemm);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        changed = program;
        if (rsc_loops_what_if(&changed, program, 0, refused[i], &note, &error) != RSC_EINVAL)
            fail_msg("'%s' was taken", refused[i]);
        assert_null(changed);
        assert_non_null(strstr(error.message, refused[i]));
    }
    rsc_loop_program_free(program);
    program = read_text(triangle);
    assert_int_equal(rsc_loops_what_if(&changed, program, 0, "interchange=i,j", &note, &error), RSC_EINVAL);
    assert_non_null(strstr(error.message, "depend"));
    rsc_loop_program_free(program);
    program = read_text(by_pairs);
    assert_int_equal(rsc_loops_what_if(&changed, program, 0, "tile=j:2", &note, &error), RSC_EINVAL);
    assert_int_equal(rsc_loops_what_if(&changed, program, 0, "tile=k:2", &note, &error), 0);
    rsc_loop_program_free(changed);
    rsc_loop_program_free(program);
    program = read_text(uneven);
    assert_int_equal(rsc_loops_what_if(&changed, program, 0, "interchange=i,j", &note, &error), RSC_EINVAL);
    assert_int_equal(rsc_loops_what_if(&changed, program, 0, "chunk=2", &note, &error), RSC_EINVAL);
    rsc_loop_program_free(program);
}

static void names_are_read(void **state) {
    (void)state;
    struct rsc_error error;
    struct rsc_interleave interleave;
    char text[64];
    static const char *const good[] = {"drift", "iid", "lockstep", "racetrack", "bursty:500", "drift:3.5"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(rsc_interleave_parse(&interleave, good[i], &error), 0);
        assert_string_equal(rsc_interleave_name(&interleave, text, sizeof text), good[i]);
    }
    static const char *const bad[] = {"", "drif", "bursty:", "bursty:0", "bursty:x", "iid:3", "drift:-1", "bursty:nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(rsc_interleave_parse(&interleave, bad[i], &error), RSC_EINVAL);
    enum rsc_schedule schedule;
    uint64_t chunk;
    assert_int_equal(rsc_schedule_parse("dynamic,4", &schedule, &chunk, &error), 0);
    assert_true(schedule == RSC_SCHEDULE_DYNAMIC && chunk == 4);
    static const char *const bad_schedules[] = {"", "dynamik", "static,", "static,0", "guided,-1", "static,2,2"};
    for (size_t i = 0; i < sizeof bad_schedules / sizeof *bad_schedules; i++)
        assert_int_equal(rsc_schedule_parse(bad_schedules[i], &schedule, &chunk, &error), RSC_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_references_in_another_order),
                                       cmocka_unit_test(trees_by_hand), cmocka_unit_test(tiles_help),
                                       cmocka_unit_test(nonsense_is_refused), cmocka_unit_test(names_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
