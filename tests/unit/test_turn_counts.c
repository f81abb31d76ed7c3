/* test_turn_counts.c - turns of threads whose order is known, and the interleaving that is nearest to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/trace.h>

#include "base/rng.h"
#include "profile/turn_counts.h"

#define ACCESSES 400000u
#define BATCH 4099u

enum order { LOCKSTEP, IID, BURSTY };

/* Threads in an order, `burst` accesses at a time; `alone`: accesses of thread 0 that come first, and again last. */
static struct rsc_turns turns_of(enum order order, uint32_t threads, double burst, uint32_t alone) {
    struct rsc_turn_counter counter = {0};
    struct rsc_turns turns;
    struct rsc_rng rng;
    uint64_t *meta = malloc((ACCESSES + 2 * alone) * sizeof *meta), left = 0;
    uint32_t now = 0, count = ACCESSES + 2 * alone;
    rsc_rng_seed(&rng, 7, 1);
    for (uint32_t i = 0; i < count; i++) {
        if (i < alone || i >= ACCESSES + alone) now = 0;
        else if (order == LOCKSTEP) now = i % threads;
        else if (order == IID) now = (uint32_t)rsc_rng_below(&rng, threads);
        else if (!left--) {
            now = (uint32_t)rsc_rng_below(&rng, threads);
            left = rsc_rng_geometric(&rng, burst) - 1;
        }
        meta[i] = rsc_meta(8, RSC_READ, now);
    }
    for (uint32_t at = 0; at < count; at += BATCH)
        assert_int_equal(rsc_turns_count(&counter, meta + at, count - at < BATCH ? count - at : BATCH), 0);
    rsc_turns_finish(&counter, &turns);
    free(meta);
    return turns;
}

static void counts_are_exact(void **state) {
    (void)state;
    struct rsc_turns turns = turns_of(LOCKSTEP, 4, 0, 0);
    assert_int_equal(turns.accesses, ACCESSES);
    assert_int_equal(turns.turns, ACCESSES);
    assert_int_equal(turns.mixed, ACCESSES);
    assert_int_equal(turns.mixed_turns, ACCESSES);
    assert_int_equal(turns.threads, 4 * ACCESSES);
    assert_int_equal(turns.others, ACCESSES / 4 * 3);
    assert_int_equal(turns.regular,
                     ACCESSES - 5); /* four first turns, and the one after them has none to compare with */
}

static void one_thread_says_nothing(void **state) {
    (void)state;
    char name[40];
    double threads;
    struct rsc_turns turns = turns_of(IID, 1, 0, 0), none = {0};
    assert_int_equal(turns.turns, 1);
    assert_int_equal(rsc_turns_nearest(&turns, &threads, name, sizeof name), -1);
    assert_int_equal(rsc_turns_nearest(&none, &threads, name, sizeof name), -1);
}

static void the_nearest_is_the_one_it_was_made_by(void **state) {
    (void)state;
    static const uint32_t threads[] = {2, 3, 4, 16, 64};
    char name[40];
    double at_once;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        for (uint32_t alone = 0; alone < 2; alone++) { /* what one thread does before and after changes nothing */
            struct rsc_turns turns = turns_of(LOCKSTEP, threads[i], 0, alone * 10 * RSC_TURNS_WINDOW);
            assert_int_equal(rsc_turns_nearest(&turns, &at_once, name, sizeof name), 0);
            assert_string_equal(name, "lockstep");
            turns = turns_of(IID, threads[i], 0, alone * 10 * RSC_TURNS_WINDOW);
            assert_int_equal(rsc_turns_nearest(&turns, &at_once, name, sizeof name), 0);
            assert_string_equal(name, "iid");
            for (double burst = 8; burst <= 2000; burst *= 5) {
                unsigned found;
                turns = turns_of(BURSTY, threads[i], burst, alone * 10 * RSC_TURNS_WINDOW);
                assert_int_equal(rsc_turns_nearest(&turns, &at_once, name, sizeof name), 0);
                assert_int_equal(sscanf(name, "bursty:%u", &found), 1);
                if (found < 0.75 * burst || found > 1.25 * burst)
                    fail_msg("%u threads, bursts of %g: %s", threads[i], burst, name);
            }
        }
    /* Turns longer than a window. */
    struct rsc_turns turns = turns_of(BURSTY, 2, 1e5, 0);
    unsigned found;
    assert_int_equal(rsc_turns_nearest(&turns, &at_once, name, sizeof name), 0);
    assert_int_equal(sscanf(name, "bursty:%u", &found), 1);
    assert_true(found > 20000 && found < 200000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_exact), cmocka_unit_test(one_thread_says_nothing),
                                       cmocka_unit_test(the_nearest_is_the_one_it_was_made_by)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
