/* test_arena.c - pieces that do not overlap, aligned, and freed at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "base/rng.h"

#define PIECES 5000

static void pieces_are_aligned_and_apart(void **state) {
    (void)state;
    static unsigned char *piece[PIECES];
    static size_t length[PIECES];
    struct rsc_arena arena;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 1, 0);
    rsc_arena_init(&arena);
    for (size_t i = 0; i < PIECES; i++) {
        length[i] = rsc_rng_below(&rng, i % 100 == 0 ? 100000 : 200);
        piece[i] = rsc_arena_alloc(&arena, length[i]);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % RSC_ARENA_ALIGNMENT, 0);
        memset(piece[i], (int)(i % 251), length[i]);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t j = 0; j < length[i]; j++) assert_int_equal(piece[i][j], i % 251);
    rsc_arena_free(&arena);
}

static void strings(void **state) {
    (void)state;
    struct rsc_arena arena;
    rsc_arena_init(&arena);
    char *a = rsc_arena_strdup(&arena, "reuse"), *b = rsc_arena_strndup(&arena, "distance", 4);
    char *c = rsc_arena_strdup(&arena, "");
    assert_string_equal(a, "reuse");
    assert_string_equal(b, "dist");
    assert_string_equal(c, "");
    rsc_arena_free(&arena);
}

static void large_pieces_do_not_waste_the_block(void **state) {
    (void)state;
    struct rsc_arena arena;
    rsc_arena_init(&arena);
    char *first = rsc_arena_alloc(&arena, 16);
    assert_non_null(rsc_arena_alloc(&arena, 10 << 20));
    char *second = rsc_arena_alloc(&arena, 16);
    assert_ptr_equal(second, first + 16);
    assert_true(arena.total_bytes >= 10 << 20);
    rsc_arena_free(&arena);
    assert_int_equal(arena.total_bytes, 0);
}

static void nothing_asked_is_still_a_piece(void **state) {
    (void)state;
    struct rsc_arena arena;
    rsc_arena_init(&arena);
    void *a = rsc_arena_alloc(&arena, 0), *b = rsc_arena_alloc(&arena, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    rsc_arena_free(&arena);
    assert_non_null(rsc_arena_alloc(&arena, 1)); /* and again after it was freed */
    rsc_arena_free(&arena);
}

static void too_much_is_null(void **state) {
    (void)state;
    struct rsc_arena arena;
    rsc_arena_init(&arena);
    assert_null(rsc_arena_alloc(&arena, SIZE_MAX));
    assert_null(rsc_arena_alloc(&arena, SIZE_MAX - 8));
    assert_null(rsc_arena_alloc(&arena, SIZE_MAX / 2 + 1));
    assert_null(rsc_arena_strndup(&arena, "x", SIZE_MAX));
    assert_non_null(rsc_arena_alloc(&arena, 100));
    rsc_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_apart),
        cmocka_unit_test(strings),
        cmocka_unit_test(large_pieces_do_not_waste_the_block),
        cmocka_unit_test(nothing_asked_is_still_a_piece),
        cmocka_unit_test(too_much_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
