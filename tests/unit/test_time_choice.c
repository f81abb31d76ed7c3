/* test_time_choice.c - where the intervals of a time sample stand, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "simulate/sampling/time_choice.h"

static void parsing(void **state) {
    (void)state;
    struct rsc_time_choice choice;
    struct rsc_error error;
    assert_int_equal(rsc_time_choice_parse(&choice, "30,10M", &error), 0);
    assert_true(choice.intervals == 30 && choice.length == 10 << 20 && !choice.random && !choice.in_accesses);
    assert_int_equal(rsc_time_choice_parse(&choice, "3,100,random:9,accesses", &error), 0);
    assert_true(choice.intervals == 3 && choice.length == 100 && choice.random && choice.in_accesses &&
                choice.seed == 9);
    assert_int_equal(rsc_time_choice_parse(&choice, "3,100,systematic,instructions", &error), 0);
    assert_true(!choice.random && !choice.in_accesses);
    static const char *const bad[] = {"",      "30",   "30,",         ",10",          "0,10", "10,0",
                                      "1,1,x", "1,1,", "1,1,random:", "1,1,randomly", "-1,5", "70000,1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&error, 0, sizeof error);
        assert_int_equal(rsc_time_choice_parse(&choice, bad[i], &error), RSC_EINVAL);
        assert_non_null(strstr(error.message, "--sample-time"));
        assert_null(strchr(error.message, '\n'));
    }
    assert_int_equal(rsc_cold_start_named("initmr"), RSC_START_INITMR);
    assert_int_equal(rsc_cold_start_named("tepid"), -1);
}

static void placing(void **state) {
    (void)state;
    struct rsc_error error;
    uint64_t starts[64];
    struct rsc_time_choice choice = {.intervals = 4, .length = 10};
    assert_int_equal(rsc_time_choice_place(&choice, 100, starts, &error), 0);
    assert_true(starts[0] == 7 && starts[1] == 32 && starts[2] == 57 && starts[3] == 82);
    for (uint64_t total = 40; total < 60; total++) { /* they fit, in order, and none overlaps */
        assert_int_equal(rsc_time_choice_place(&choice, total, starts, &error), 0);
        for (int i = 1; i < 4; i++) assert_true(starts[i] >= starts[i - 1] + 10);
        assert_true(starts[3] + 10 <= total);
    }
    assert_int_equal(rsc_time_choice_place(&choice, 39, starts, &error), RSC_EINVAL);

    choice = (struct rsc_time_choice){.intervals = 64, .length = 7, .random = 1, .seed = 3};
    uint64_t first[64];
    assert_int_equal(rsc_time_choice_place(&choice, 7 * 70 + 3, starts, &error), 0);
    assert_int_equal(rsc_time_choice_place(&choice, 7 * 70 + 3, first, &error), 0);
    assert_memory_equal(first, starts, sizeof starts);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(starts[i] % 7, 0);
        assert_true(starts[i] / 7 < 70 && (!i || starts[i] > starts[i - 1]));
    }
    /* Every place is as likely. */
    unsigned drawn[10] = {0};
    choice.intervals = 3;
    choice.length = 1;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        choice.seed = seed;
        assert_int_equal(rsc_time_choice_place(&choice, 10, starts, &error), 0);
        for (int i = 0; i < 3; i++) drawn[starts[i]]++;
    }
    for (int i = 0; i < 10; i++) assert_in_range(drawn[i], 1080, 1320); /* 1200, deviation 29 */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parsing), cmocka_unit_test(placing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
