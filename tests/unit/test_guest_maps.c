/* test_guest_maps.c - where the stack of a process's first thread is found in what the process told of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "collect/drain/guest_maps.h"

#define PROCESS 0x7ffffff0u /* no such pid: nothing can be read of it */

static const char text[] = "555555554000-555555555000 rw-p 00000000 00:00 0 [heap]\n"
                           "7ffffffdd000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n";

static const char *name_of(const struct rsc_guest_map *map, char *name) {
    size_t start = 9u + map->data[8];
    memcpy(name, map->data + start, map->data_bytes - start);
    name[map->data_bytes - start] = 0;
    return name;
}

static void the_stack_is_known_of_a_process_that_is_gone(void **state) {
    struct rsc_guest_maps *maps = rsc_guest_maps_new();
    struct rlimit limit = {.rlim_cur = 8u << 20, .rlim_max = RLIM_INFINITY}, before;
    char name[64];
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_STACK, &before), 0);
    limit.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_STACK, &limit), 0);
    assert_int_equal(rsc_guest_maps_first_stack(maps, PROCESS, 1), 0);
    assert_int_equal(rsc_guest_maps_text(maps, PROCESS, 1, text, strlen(text)), 0);
    assert_null(rsc_guest_maps_next(maps)); /* not before it is asked for */
    assert_int_equal(rsc_guest_maps_stack(maps, PROCESS, 1, 0x7fffffffe000), 0);
    assert_null(rsc_guest_maps_next(maps)); /* too late for that */
    assert_int_equal(rsc_guest_maps_first_stack(maps, PROCESS + 1, 1), 0);
    assert_int_equal(rsc_guest_maps_first_stack(maps, PROCESS, 3), 1);
    const struct rsc_guest_map *map = rsc_guest_maps_next(maps);
    assert_non_null(map);
    assert_string_equal(name_of(map, name), "[stack:3]");
    assert_int_equal(map->start + map->bytes, 0x7ffffffff000);
    assert_int_equal(map->bytes, 8u << 20); /* it may grow so far */
    assert_null(rsc_guest_maps_next(maps));
    rsc_guest_maps_free(maps);
    setrlimit(RLIMIT_STACK, &before);
}

/* QEMU's own stack is none of the guest's. */
static void of_a_guest_nothing_is_taken(void **state) {
    struct rsc_guest_maps *maps = rsc_guest_maps_new();
    (void)state;
    assert_int_equal(rsc_guest_maps_text(maps, PROCESS, 0, text, strlen(text)), 0);
    assert_int_equal(rsc_guest_maps_first_stack(maps, PROCESS, 1), 0);
    rsc_guest_maps_free(maps);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stack_is_known_of_a_process_that_is_gone),
        cmocka_unit_test(of_a_guest_nothing_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
