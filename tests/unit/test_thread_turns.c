/*
 * test_thread_turns.c - threads that ran one after the other, interleaved: known orders, and that random rounds keep the
 * order of every thread and of all accesses to the same data (seed: argv[1]).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collect/drain/thread_turns.h"

static unsigned seed = 1;

static void begin(struct rsc_turns *turns, uint32_t thread, uint64_t number) {
    uint64_t *words = rsc_turns_begin(turns, thread, 1);
    assert_non_null(words);
    words[0] = number;
}

/* A unit with one word, its number, and as many writes of cells from `cell` on. */
static void add(struct rsc_turns *turns, uint32_t thread, uint64_t number, uint64_t cell, uint32_t accesses) {
    begin(turns, thread, number);
    for (uint32_t i = 0; i < accesses; i++) assert_int_equal(rsc_turns_access(turns, (cell + i) * 4, 4, 1), 0);
    rsc_turns_end(turns, 1, 0);
}

/* The numbers of all units, in the order in which they are taken, as text. */
static const char *order(struct rsc_turns *turns) {
    static char text[200];
    struct rsc_turn_units units;
    size_t used = 0;
    text[0] = 0;
    while (rsc_turns_next(turns, &units))
        for (uint32_t i = 0; i < units.count; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", used ? " " : "", (int)units.words[i]);
    assert_false(rsc_turns_any(turns));
    return text;
}

static void turns_have_the_length_asked_for(void **state) {
    (void)state;
    for (uint64_t quantum = 2; quantum <= 4; quantum += 2) {
        struct rsc_turns *turns = rsc_turns_new(quantum, 0);
        assert_non_null(turns);
        for (int round = 0; round < 2; round++) {
            for (uint64_t i = 0; i < 4; i++) add(turns, 1, i, 10, 2);
            assert_true(rsc_turns_has(turns, 1) && !rsc_turns_has(turns, 2));
            for (uint64_t i = 0; i < 4; i++) add(turns, 2, 10 + i, 20, 2);
            assert_string_equal(order(turns), quantum == 2 ? "0 10 1 11 2 12 3 13" : "0 1 10 11 2 3 12 13");
        }
        rsc_turns_free(turns);
    }
}

/* Writes to a line that both use end a turn: cells 0 to 15 are one; 40 and 80 are others. */
static void turns_end_where_threads_write_to_one_line(void **state) {
    struct rsc_turns *turns = rsc_turns_new(4, 1);
    (void)state;
    assert_non_null(turns);
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 3; i++) add(turns, 1, i, 2, 1);
        add(turns, 1, 3, 40, 1);
        add(turns, 1, 4, 41, 1);
        for (uint64_t i = 0; i < 3; i++) add(turns, 2, 10 + i, 4, 1);
        add(turns, 2, 13, 80, 1);
        assert_string_equal(order(turns), "0 10 1 11 2 12 3 4 13");
    }
    begin(turns, 1, 1); /* only read: the turn goes on */
    assert_int_equal(rsc_turns_access(turns, 0, 4, 0), 0);
    rsc_turns_end(turns, 1, 0);
    add(turns, 1, 2, 40, 1);
    add(turns, 2, 3, 4, 1);
    add(turns, 2, 4, 80, 1);
    assert_string_equal(order(turns), "1 2 3 4");
    rsc_turns_free(turns);
}

/* Thread 2 uses in its second unit what thread 1 wrote in its last; and 1 overwrites what 2 read before. */
static void the_same_data_keeps_its_order(void **state) {
    struct rsc_turns *turns = rsc_turns_new(1, 0);
    (void)state;
    assert_non_null(turns);
    for (uint64_t i = 0; i < 3; i++) add(turns, 1, i, 10 + i, 1);
    add(turns, 2, 10, 20, 1);
    add(turns, 2, 11, 12, 1);
    add(turns, 2, 12, 30, 1);
    assert_string_equal(order(turns), "0 10 1 2 11 12");
    begin(turns, 2, 5);
    assert_int_equal(rsc_turns_access(turns, 400, 4, 0), 0);
    rsc_turns_end(turns, 1, 0);
    add(turns, 1, 6, 100, 1); /* its turn would come first */
    assert_string_equal(order(turns), "5 6");
    rsc_turns_free(turns);
}

/* A unit with one access, after others of which only the number is known. */
static void add_after(struct rsc_turns *turns, uint32_t thread, uint64_t number, uint64_t before) {
    begin(turns, thread, number);
    rsc_turns_pass(turns, before);
    assert_int_equal(rsc_turns_access(turns, (100 * thread + number) * 4, 4, 1), 0);
    rsc_turns_end(turns, 1, 0);
}

/* Each access comes in the turn that it would have if all accesses before it were known. */
static void accesses_pass_in_turns(void **state) {
    const struct {
        uint64_t quantum;
        const char *order;
    } cases[] = {{4, "10 0 11 12 1 2"}, {1000000, "0 1 10 11 12 2"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rsc_turns *turns = rsc_turns_new(cases[i].quantum, 0);
        assert_non_null(turns);
        add_after(turns, 1, 0, 9); /* its accesses number 9, 5010 and 1,005,011 */
        add_after(turns, 1, 1, 5000);
        add_after(turns, 1, 2, 1000000);
        add_after(turns, 2, 10, 0); /* 0, 1000, 1001 */
        add_after(turns, 2, 11, 999);
        add_after(turns, 2, 12, 0);
        struct rsc_turn_units units;
        char text[100] = "";
        uint64_t last = 0;
        for (size_t used = 0; rsc_turns_next(turns, &units);) {
            for (uint32_t k = 0; k < units.count; k++)
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", used ? " " : "", (int)units.words[k]);
            assert_true(units.passed >= last && (units.passed - last < 1000000 || units.words[0] == 2));
            last = units.passed;
        }
        assert_string_equal(text, cases[i].order);
        assert_int_equal(last, 1005011 + 1002);
        rsc_turns_free(turns);
    }
}

#define UNITS 120
#define CELLS 12

struct made {
    uint32_t thread, count, rank;
    uint64_t addr[4];
    uint32_t size[4];
    int is_write[4];
};

static int conflict(const struct made *a, const struct made *b) {
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if ((a->is_write[i] || b->is_write[k]) && a->addr[i] < b->addr[k] + b->size[k] &&
                b->addr[k] < a->addr[i] + a->size[i])
                return 1;
    return 0;
}

static void random_rounds_could_have_run_so(void **state) {
    static struct made made[UNITS];
    (void)state;
    srand(seed);
    for (int round = 0; round < 300; round++) {
        struct rsc_turns *turns = rsc_turns_new(1 + (uint64_t)rand() % 6, rand() % 2);
        struct rsc_turn_units units;
        uint32_t threads = 1 + (uint32_t)rand() % 5, thread = 0, taken = 0;
        assert_non_null(turns);
        for (uint64_t n = 0; n < UNITS; n++) {
            if (rand() % 8 == 0) thread = (uint32_t)rand() % threads;
            made[n] = (struct made){.thread = thread, .count = (uint32_t)rand() % 5, .rank = UINT32_MAX};
            begin(turns, thread, n);
            if (rand() % 4 == 0) rsc_turns_pass(turns, (uint64_t)rand() % (rand() % 2 ? 9 : 1000000000));
            for (uint32_t i = 0; i < made[n].count; i++) {
                made[n].addr[i] = 4 * (uint64_t)(rand() % CELLS);
                made[n].size[i] = 4u << rand() % 3;
                made[n].is_write[i] = rand() % 3 == 0;
                assert_int_equal(rsc_turns_access(turns, made[n].addr[i], made[n].size[i], made[n].is_write[i]), 0);
            }
            rsc_turns_end(turns, 1, rand() % 10 == 0);
        }
        while (rsc_turns_next(turns, &units))
            for (uint32_t i = 0; i < units.count; i++) {
                struct made *one = &made[units.words[i]];
                assert_int_equal(one->thread, units.thread);
                assert_int_equal(one->rank, UINT32_MAX);
                one->rank = taken++;
            }
        assert_int_equal(taken, UNITS);
        for (uint32_t a = 0; a < UNITS; a++)
            for (uint32_t b = a + 1; b < UNITS; b++)
                if (made[a].thread == made[b].thread || conflict(&made[a], &made[b]))
                    assert_true(made[a].rank < made[b].rank);
        rsc_turns_free(turns);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_have_the_length_asked_for), cmocka_unit_test(turns_end_where_threads_write_to_one_line),
        cmocka_unit_test(the_same_data_keeps_its_order),   cmocka_unit_test(accesses_pass_in_turns),
        cmocka_unit_test(random_rounds_could_have_run_so),
    };
    if (argc > 1) seed = (unsigned)strtoul(argv[1], NULL, 0);
    printf("seed %u\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
