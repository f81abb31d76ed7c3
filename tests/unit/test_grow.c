/* test_grow.c - arrays that grow: the room, what they held, and sizes that no memory has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/grow.h"

static void items_stay_as_the_array_grows(void **state) {
    (void)state;
    uint32_t *list = NULL, room = 0;
    for (uint32_t i = 0; i < 5000; i++) {
        assert_int_equal(RSC_GROW(list, room, i + 1), 0);
        assert_true(room > i);
        list[i] = 3 * i;
    }
    assert_int_equal(room, 8192);
    for (uint32_t i = 0; i < 5000; i++) assert_int_equal(list[i], 3 * i);
    const uint32_t *before = list;
    assert_int_equal(RSC_GROW(list, room, 8192), 0);
    assert_ptr_equal(list, before); /* it has the room */
    free(list);
}

static void impossible_sizes_leave_it_alone(void **state) {
    (void)state;
    uint64_t *list = NULL;
    size_t room = 0;
    assert_int_equal(RSC_GROW(list, room, 1), 0);
    list[0] = 7;
    assert_int_not_equal(RSC_GROW(list, room, SIZE_MAX), 0);
    assert_int_not_equal(RSC_GROW(list, room, SIZE_MAX / 8), 0);
    assert_int_equal(room, 8);
    assert_int_equal(list[0], 7);
    free(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_as_the_array_grows),
        cmocka_unit_test(impossible_sizes_leave_it_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
