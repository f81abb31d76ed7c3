/*
 * test_take_behind.c - slots are taken once each, in order; the caller waits for a free one, and for the end; after an
 * error nothing more is taken. Meant for ThreadSanitizer as much as for itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/take_behind.h"

#define DEPTH 4u

struct taker {
    uint64_t slots[DEPTH]; /* what the caller put there */
    uint64_t taken, sum;
    uint64_t fails_at; /* UINT64_MAX: never */
};

static int take(void *context, uint32_t slot, struct rsc_error *error) {
    struct taker *taker = context;
    if (slot != taker->taken % DEPTH || taker->slots[slot] != taker->taken)
        return rsc_fail(error, RSC_EINVAL, "slot %u out of order", slot);
    if (taker->taken == taker->fails_at) return rsc_fail(error, RSC_ENOMEM, "slot %u fails", slot);
    taker->sum += taker->slots[slot];
    taker->slots[slot] = UINT64_MAX; /* it is the thread's */
    taker->taken++;
    return 0;
}

static void give(struct rsc_take_behind *behind, struct taker *taker, uint64_t number, int expected) {
    struct rsc_error error;
    taker->slots[rsc_take_behind_slot(behind)] = number;
    int status = rsc_take_behind_give(behind, &error);
    if (expected == 0) assert_int_equal(status, 0);
}

static void in_order(void **state) {
    (void)state;
    for (uint64_t count = 0; count < 400; count = 3 * count + 1) {
        struct taker taker = {.fails_at = UINT64_MAX};
        struct rsc_take_behind behind;
        struct rsc_error error;
        assert_int_equal(rsc_take_behind_start(&behind, DEPTH, take, &taker, &error), 0);
        for (uint64_t i = 0; i < count; i++) {
            give(&behind, &taker, i, 0);
            if (i % 7 != 3) continue;
            assert_int_equal(rsc_take_behind_wait(&behind, &error), 0);
            assert_int_equal(taker.taken, i + 1);
        }
        assert_int_equal(rsc_take_behind_wait(&behind, &error), 0);
        assert_int_equal(taker.taken, count);
        assert_int_equal(taker.sum, count ? count * (count - 1) / 2 : 0);
        rsc_take_behind_stop(&behind);
    }
}

static void stopped_with_slots_left(void **state) {
    (void)state;
    for (uint64_t count = 0; count <= DEPTH; count++) {
        struct taker taker = {.fails_at = UINT64_MAX};
        struct rsc_take_behind behind;
        struct rsc_error error;
        assert_int_equal(rsc_take_behind_start(&behind, DEPTH, take, &taker, &error), 0);
        for (uint64_t i = 0; i < count; i++) give(&behind, &taker, i, 0);
        rsc_take_behind_stop(&behind);
        assert_int_equal(taker.taken, count);
    }
}

static void an_error(void **state) {
    struct taker taker = {.fails_at = 5};
    struct rsc_take_behind behind;
    struct rsc_error error;
    (void)state;
    assert_int_equal(rsc_take_behind_start(&behind, DEPTH, take, &taker, &error), 0);
    for (uint64_t i = 0; i < 50; i++) give(&behind, &taker, i, 1);
    assert_int_equal(rsc_take_behind_wait(&behind, &error), RSC_ENOMEM);
    assert_string_equal(error.message, "slot 1 fails");
    assert_int_equal(rsc_take_behind_give(&behind, &error), RSC_ENOMEM);
    rsc_take_behind_stop(&behind);
    assert_int_equal(taker.taken, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order), cmocka_unit_test(stopped_with_slots_left),
                                       cmocka_unit_test(an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
