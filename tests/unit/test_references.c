/*
 * test_references.c - accesses cut into lines, against counting in 128 bits:
 * straddling accesses, size 0, the end of the address space, and a stop at
 * every place where the caller's room can end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "trace/references.h"

#define ACCESSES_MAX 300u
#define REFERENCES_MAX 200000u

static uint64_t addr[ACCESSES_MAX], meta[ACCESSES_MAX];
static uint64_t wanted_line[REFERENCES_MAX];
static uint32_t wanted_from[REFERENCES_MAX];
static uint32_t wanted;

static void cut_naively(uint32_t accesses, uint32_t shift) {
    const unsigned __int128 space = (unsigned __int128)1 << 64;
    wanted = 0;
    for (uint32_t i = 0; i < accesses; i++) {
        unsigned __int128 first = addr[i], size = rsc_meta_size(meta[i]), end = first + (size ? size : 1);
        if (end > space) end = space;
        for (unsigned __int128 line = first >> shift; line << shift < end; line++) {
            assert_true(wanted < REFERENCES_MAX);
            wanted_line[wanted] = (uint64_t)line;
            wanted_from[wanted++] = i;
        }
    }
}

/* Cuts the batch with `room` for each call (0: a different one each time) and compares. */
static void compare_width(uint32_t accesses, uint32_t shift, uint32_t room, enum rsc_simd simd) {
    const struct rsc_batch batch = {.count = accesses, .addr = addr, .meta = meta};
    struct rsc_reference_cursor cursor;
    uint32_t done = 0, turn = 0;
    rsc_references_start(&cursor, &batch, shift);
    cursor.cut = RSC_WIDE_PICK(simd, rsc_references_cut);
    for (;;) {
        uint32_t here = room ? room : 1 + ++turn * 7 % 23;
        /* a block of just this size: what is written past it is caught */
        uint64_t *lines = malloc(here * sizeof *lines);
        uint32_t *from = malloc(here * sizeof *from);
        uint32_t got = rsc_references_fill(&cursor, lines, from, here);
        assert_true(got <= here && done + got <= wanted);
        if (got < here) assert_int_equal(done + got, wanted); /* it only stops short at the end */
        if (got && memcmp(lines, wanted_line + done, got * sizeof *lines)) fail_msg("lines differ after %u", done);
        if (got && memcmp(from, wanted_from + done, got * sizeof *from)) fail_msg("accesses differ after %u", done);
        free(lines);
        free(from);
        done += got;
        if (!got) break;
    }
    assert_int_equal(done, wanted);
    uint64_t line;
    uint32_t access;
    assert_int_equal(rsc_references_fill(&cursor, &line, &access, 1), 0);
}

static void compare(uint32_t accesses, uint32_t shift, uint32_t room) {
    for (int simd = 0; simd < RSC_SIMD_COUNT; simd++)
        if (rsc_simd_available((enum rsc_simd)simd)) compare_width(accesses, shift, room, (enum rsc_simd)simd);
}

static void compare_all(uint32_t accesses, uint32_t shift) {
    cut_naively(accesses, shift);
    for (uint32_t room = 0; room <= 20; room++) compare(accesses, shift, room);
    for (uint32_t room = wanted > 3 ? wanted - 3 : 1; room <= wanted + 2; room++) compare(accesses, shift, room);
}

static void random_accesses(void **state) {
    (void)state;
    static const uint32_t shifts[] = {0, 3, 6, 12, 21}, sizes[] = {0, 1, 2, 7, 8, 63, 64, 65, 100};
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 7, 0);
    for (uint32_t round = 0; round < 100; round++) {
        uint32_t accesses = (uint32_t)rsc_rng_below(&rng, round % 2 ? 60 : ACCESSES_MAX);
        const uint32_t usual = (uint32_t)rsc_rng_below(&rng, 3); /* 0: any may cross a line, else few do */
        uint64_t base = round % 3 == 0 ? 0 : round % 3 == 1 ? UINT64_MAX - 200 : rsc_rng_u64(&rng);
        for (uint32_t i = 0; i < accesses; i++) {
            uint64_t step = rsc_rng_below(&rng, 200);
            addr[i] = base > UINT64_MAX - step ? UINT64_MAX : base + step;
            const uint64_t size = usual && rsc_rng_below(&rng, 50) ? 1 : rsc_rng_below(&rng, 9);
            meta[i] = rsc_meta(sizes[size], (enum rsc_kind)rsc_rng_below(&rng, 3), i);
        }
        compare_all(accesses, shifts[round % 5]);
    }
}

static void the_end_of_the_address_space(void **state) {
    (void)state;
    static const uint64_t places[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 63, UINT64_MAX - 64, UINT64_MAX - 65};
    static const uint32_t sizes[] = {0, 1, 2, 63, 64, 65, 66, 1000, UINT32_MAX};
    uint32_t n = 0;
    for (size_t p = 0; p < 5; p++) {
        for (size_t s = 0; s < 9; s++, n++) {
            addr[n] = places[p];
            meta[n] = rsc_meta(sizes[s], RSC_READ, 0);
        }
    }
    compare_all(n, 6);
    compare_all(n, 0);
    compare_all(n, 12);
    compare_all(n, 63);
}

static void the_largest_access(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        addr[i] = i * 0x7fffffff;
        meta[i] = rsc_meta(UINT32_MAX, RSC_WRITE, 0);
    }
    cut_naively(3, 20);
    compare(3, 20, 0);
    compare(3, 20, 1000);
    assert_int_equal(wanted, 4096 + 4097 + 4097);
}

static void nothing(void **state) {
    (void)state;
    compare_all(0, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_accesses),
        cmocka_unit_test(the_end_of_the_address_space),
        cmocka_unit_test(the_largest_access),
        cmocka_unit_test(nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
