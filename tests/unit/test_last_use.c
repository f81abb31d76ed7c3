/* test_last_use.c - intervals from the table of last uses against a plain array, across widening and growth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "distance/time/last_use.h"

#define KEYS 50000u

static uint64_t sum_of_times;
static uint64_t lines_visited;
static void visit(void *context, uint64_t line, uint64_t time) {
    (void)line;
    (void)context;
    sum_of_times += time;
    lines_visited++;
}

/* Key k stands for a line: dense, scattered over all of memory, or at its very end. */
static uint64_t line_of(uint64_t key, int spread) {
    if (spread == 0) return key;
    if (spread == 1) return key * 0x9E3779B97F4A7C15ull;
    return UINT64_MAX - key * 37;
}

static void against_an_array(enum rsc_simd simd, uint32_t time_bits, int spread) {
    struct rsc_last_use *last = malloc(sizeof *last);
    uint64_t *then = calloc(KEYS, sizeof *then), now = 0, distinct = 0, expected_sum = 0;
    uint64_t lines[RSC_LAST_USE_RUN], keys[RSC_LAST_USE_RUN];
    static struct rsc_intervals found;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 11 + (uint64_t)spread, time_bits);
    assert_int_equal(rsc_last_use_init(last, simd, 5, time_bits), 0);
    for (int block = 0; block < 100; block++) {
        uint32_t count = (uint32_t)rsc_rng_below(&rng, RSC_LAST_USE_RUN + 1);
        if (block == 33) last->rate_shift = 2;
        if (block == 66) last->rate_shift = 5;
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = rsc_rng_below(&rng, 1 + KEYS * (uint64_t)(block + 1) / 100);
            if (rsc_rng_below(&rng, 3) == 0) keys[i] %= 20;
            if (i && rsc_rng_below(&rng, 3) == 0) keys[i] = keys[i - 1];
            lines[i] = line_of(keys[i], spread);
        }
        assert_int_equal(rsc_last_use_run(last, lines, count, &found), 0);
        assert_int_equal(found.count, count);
        for (uint32_t i = 0, s = 0, listed = 0; i < count; i++) {
            assert_int_equal(found.ri[i], then[keys[i]] ? now + 1 - then[keys[i]] : 0);
            if (!i || lines[i] != lines[i - 1]) {
                assert_int_equal(found.index[listed], i);
                assert_int_equal(found.listed_ri[listed++], found.ri[i]);
            }
            if (i + 1 == count) assert_int_equal(found.listed_count, listed);
            distinct += !then[keys[i]];
            then[keys[i]] = ++now;
            int wanted = rsc_hash_in_share(rsc_line_hash(lines[i], last->offset), last->rate_shift);
            if (wanted) assert_int_equal(found.sampled[s], i);
            s += (uint32_t)wanted;
            if (i + 1 == count) assert_int_equal(found.sampled_count, s);
        }
        assert_int_equal(last->now, now);
        assert_int_equal(last->distinct, distinct);
    }
    if (time_bits) assert_non_null(last->map.extra);
    else assert_null(last->map.extra);
    sum_of_times = lines_visited = 0;
    for (uint32_t key = 0; key < KEYS; key++) expected_sum += then[key];
    rsc_last_use_visit(last, visit, NULL);
    assert_int_equal(lines_visited, distinct);
    assert_int_equal(sum_of_times, expected_sum);
    assert_true(rsc_last_use_bytes(last) >= 4 * distinct);
    rsc_last_use_free(last);
    rsc_last_use_free(last);
    free(last);
    free(then);
}

static void intervals(void **state) {
    (void)state;
    for (int simd = 0; simd < RSC_SIMD_COUNT; simd++)
        for (int spread = 0; rsc_simd_available((enum rsc_simd)simd) && spread < 3; spread++) {
            against_an_array((enum rsc_simd)simd, 0, spread);
            against_an_array((enum rsc_simd)simd, 1, spread);
            against_an_array((enum rsc_simd)simd, 14, spread);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
