/* test_space_saving.c - the bounds of space_saving.h, its heap, and the counters of tally.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "distance/count/narrow_tally.h"
#include "distance/count/space_saving.h"

static void few_keys_are_exact(void **state) {
    struct rsc_space_saving table;
    (void)state;
    assert_int_equal(rsc_space_saving_init(&table, 8), 0);
    for (uint64_t i = 0; i < 1000; i++) rsc_space_saving_count(&table, i % 8 << 40, (uint32_t)(i % 3));
    assert_int_equal(table.used, 8);
    for (uint32_t row = 0; row < 8; row++) {
        uint64_t cold;
        assert_int_equal(table.rows[row].count, 125);
        assert_int_equal(table.error[row], 0);
        assert_int_equal(rsc_tally_read(&table.tally, row, &cold, NULL), 125);
        assert_true(cold >= 41 && cold <= 42);
    }
    rsc_space_saving_free(&table);
}

static void the_smallest_row_gives_way(void **state) {
    struct rsc_space_saving table;
    uint64_t cold;
    (void)state;
    assert_int_equal(rsc_space_saving_init(&table, 3), 0);
    for (int i = 0; i < 5; i++) rsc_space_saving_count(&table, 1, 1);
    for (int i = 0; i < 2; i++) rsc_space_saving_count(&table, 2, 1);
    for (int i = 0; i < 9; i++) rsc_space_saving_count(&table, 3, 1);
    rsc_space_saving_count(&table, 4, 7);
    assert_int_equal(rsc_space_saving_find(&table, 2), RSC_SPACE_NO_ROW);
    uint32_t row = rsc_space_saving_find(&table, 4);
    assert_int_equal(table.rows[row].count, 3);
    assert_int_equal(table.error[row], 2);
    assert_int_equal(rsc_tally_read(&table.tally, row, &cold, NULL), 1);
    for (int i = 0; i < 4; i++) rsc_space_saving_count(&table, 4, 7); /* 7: now key 1 is the smallest */
    rsc_space_saving_count(&table, 5, 0);
    assert_int_equal(rsc_space_saving_find(&table, 1), RSC_SPACE_NO_ROW);
    assert_int_equal(table.error[rsc_space_saving_find(&table, 5)], 5);
    rsc_space_saving_free(&table);
}

/* Every row that gives way has the smallest count there is, and all bounds hold throughout. */
static void bounds_hold(struct rsc_rng *rng, uint32_t rows, uint32_t keys, uint32_t count) {
    struct rsc_space_saving table;
    uint64_t *truth = calloc(keys, sizeof *truth), total = 0;
    uint32_t skew = 1 + (uint32_t)rsc_rng_below(rng, 4);
    assert_int_equal(rsc_space_saving_init(&table, rows), 0);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = rsc_rng_below(rng, keys);
        for (uint32_t k = 1; k < skew; k++) key = rsc_rng_below(rng, key + 1);
        uint64_t smallest = UINT64_MAX;
        for (uint32_t row = 0; row < rows; row++)
            if (table.rows[row].count < smallest) smallest = table.rows[row].count;
        int is_new = rsc_space_saving_find(&table, key << 32 | 7) == RSC_SPACE_NO_ROW;
        rsc_space_saving_count(&table, key << 32 | 7, (uint32_t)rsc_rng_below(rng, RSC_TALLY_BINS));
        uint32_t row = rsc_space_saving_find(&table, key << 32 | 7);
        if (is_new) assert_int_equal(table.error[row], smallest);
        if (is_new) assert_int_equal(table.rows[row].count, smallest + 1);
        truth[key]++;
    }
    for (uint32_t key = 0; key < keys; key++) {
        uint32_t row = rsc_space_saving_find(&table, (uint64_t)key << 32 | 7);
        uint64_t cold;
        if (row == RSC_SPACE_NO_ROW) {
            assert_true(truth[key] <= count / rows);
            continue;
        }
        assert_true(truth[key] <= table.rows[row].count);
        assert_true(truth[key] >= table.rows[row].count - table.error[row]);
        assert_int_equal(rsc_tally_read(&table.tally, row, &cold, NULL), table.rows[row].count - table.error[row]);
    }
    for (uint32_t row = 0; row < table.used; row++) total += table.rows[row].count;
    assert_int_equal(total, count);
    rsc_space_saving_free(&table);
    free(truth);
}

/* The same bounds for a filtered table, which replaces fewer rows. */
static void filtered_bounds_hold(struct rsc_rng *rng, uint32_t rows, uint32_t keys, uint32_t count) {
    struct rsc_space_saving table;
    uint64_t *truth = calloc(keys, sizeof *truth), unkept = 0, total = 0, all = 0;
    uint32_t skew = 1 + (uint32_t)rsc_rng_below(rng, 4);
    uint64_t most = rsc_rng_below(rng, 2) ? 1 : 1 + rsc_rng_below(rng, 100); /* counted at once */
    assert_int_equal(rsc_space_saving_init_filtered(&table, rows), 0);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = rsc_rng_below(rng, keys);
        for (uint32_t k = 1; k < skew; k++) key = rsc_rng_below(rng, key + 1);
        uint64_t hash = rsc_space_saving_hash(key << 32 | 7);
        uint32_t row = rsc_space_saving_find_filtered(&table, key << 32 | 7, hash);
        assert_int_equal(row, rsc_space_saving_find_hashed(&table, key << 32 | 7, hash));
        uint32_t times = 1 + (uint32_t)rsc_rng_below(rng, most), bin = (uint32_t)rsc_rng_below(rng, RSC_TALLY_BINS);
        if (row == RSC_SPACE_NO_ROW) row = rsc_space_saving_offer(&table, key << 32 | 7, hash, times);
        if (row != RSC_SPACE_NO_ROW) rsc_space_saving_add_sum(&table, row, bin, times);
        truth[key] += times;
        all += times;
    }
    for (uint32_t key = 0; key < keys; key++) {
        uint32_t row = rsc_space_saving_find(&table, (uint64_t)key << 32 | 7);
        if (row == RSC_SPACE_NO_ROW) {
            assert_true(truth[key] <= all / rows);
            unkept += truth[key];
            continue;
        }
        uint64_t counted = table.rows[row].count;
        assert_true(truth[key] <= counted && truth[key] >= counted - table.error[row]);
        total += counted;
    }
    assert_true(total <= all);
    if (keys <= rows) assert_int_equal(total, all);
    assert_true(table.used == rows || unkept == 0);
    rsc_space_saving_free(&table);
    free(truth);
}

/* A key that comes once does not replace a row; one that keeps coming does. */
static void a_filter_keeps_rows(void **state) {
    struct rsc_space_saving table;
    (void)state;
    assert_int_equal(rsc_space_saving_init_filtered(&table, 2), 0);
    for (uint64_t i = 0; i < 20; i++) {
        uint32_t row = rsc_space_saving_find(&table, 1 + i % 2);
        if (row == RSC_SPACE_NO_ROW)
            row = rsc_space_saving_offer(&table, 1 + i % 2, rsc_space_saving_hash(1 + i % 2), 1);
        rsc_space_saving_add(&table, row, 1);
    }
    for (int i = 0; i < 10; i++)
        assert_int_equal(rsc_space_saving_offer(&table, 9, rsc_space_saving_hash(9), 1), RSC_SPACE_NO_ROW);
    assert_int_equal(table.replaced, 0);
    uint32_t row = rsc_space_saving_offer(&table, 9, rsc_space_saving_hash(9), 1);
    assert_int_not_equal(row, RSC_SPACE_NO_ROW);
    rsc_space_saving_add(&table, row, 1);
    assert_int_equal(table.replaced, 1);
    assert_int_equal(table.error[row], 10);
    assert_int_equal(table.rows[row].count, 11);
    rsc_space_saving_free(&table);
}

static void random_streams(void **state) {
    struct rsc_rng rng;
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        rsc_rng_seed(&rng, 20, i);
        uint32_t rows = 1 + (uint32_t)rsc_rng_below(&rng, 60), keys = 1 + (uint32_t)rsc_rng_below(&rng, 300);
        bounds_hold(&rng, rows, keys, (uint32_t)rsc_rng_below(&rng, 5000));
        filtered_bounds_hold(&rng, rows, keys, (uint32_t)rsc_rng_below(&rng, 5000));
    }
}

static void counters_carry(void **state) {
    struct rsc_tally tally;
    struct rsc_narrow_tally sum;
    struct rsc_histogram rd;
    uint64_t cold;
    (void)state;
    assert_int_equal(rsc_tally_init(&tally, 4), 0);
    assert_int_equal(rsc_narrow_tally_init(&sum, 1), 0);
    assert_int_equal(rsc_histogram_init(&rd, RSC_BINS_COARSE), 0);
    rsc_tally_add(&tally, 2, rsc_tally_bin(100, UINT32_MAX));
    rsc_tally_add(&tally, 2, rsc_tally_bin(UINT32_MAX, UINT32_MAX));
    tally.rows[2].count[rsc_tally_bin(100, UINT32_MAX)] = UINT32_MAX;
    rsc_tally_add(&tally, 2, rsc_tally_bin(100, UINT32_MAX));
    rsc_tally_add_sum(&tally, 3, 5, UINT32_MAX);
    rsc_tally_add_sum(&tally, 3, 5, 7);
    assert_int_equal(rsc_tally_count(&tally, 3, 5), UINT32_MAX + 7ull);
    assert_int_equal(rsc_tally_read(&tally, 2, &cold, &rd), (1ull << 32) + 1);
    assert_int_equal(cold, 1);
    assert_int_equal(rd.count[rsc_bin_of_coarse(100)], 1ull << 32);
    for (int i = 0; i < 3; i++) rsc_narrow_tally_add_row(&sum, 0, &tally, 2);
    cold = 0;
    assert_int_equal(rsc_narrow_tally_read(&sum, 0, &cold, NULL, NULL), 3 * ((1ull << 32) + 1));
    assert_int_equal(cold, 3);
    for (int i = 0; i < 2; i++) rsc_narrow_tally_add(&sum, 0, 77, UINT32_MAX);
    assert_int_equal(rsc_narrow_tally_read(&sum, 0, NULL, NULL, NULL), 3 * ((1ull << 32) + 1) + 2ull * UINT32_MAX);
    struct rsc_narrow_tally copy;
    assert_int_equal(rsc_narrow_tally_copy(&copy, &sum, 1), 0);
    rsc_narrow_tally_add(&copy, 0, 77, 1);
    assert_int_equal(rsc_narrow_tally_read(&copy, 0, NULL, NULL, NULL), 3 * ((1ull << 32) + 1) + 2ull * UINT32_MAX + 1);
    rsc_narrow_tally_free(&copy);
    rsc_tally_clear(&tally, 2);
    assert_int_equal(rsc_tally_read(&tally, 2, &cold, NULL), 0);
    /* a cap, and the largest distance */
    assert_int_equal(rsc_tally_bin(5000, 30), 1 + rsc_bin_of_coarse(30));
    assert_true(rsc_tally_bin(UINT32_MAX - 1, UINT32_MAX) < RSC_TALLY_BINS);
    assert_int_equal(rsc_tally_bin(3000000000u, UINT32_MAX), 1 + rsc_bin_of_coarse(3000000000u));
    rsc_histogram_free(&rd);
    rsc_tally_free(&tally);
    rsc_narrow_tally_free(&sum);
}

static void narrow_rows_hold_every_bin(void **state) {
    struct rsc_narrow_tally tally;
    struct rsc_histogram rd;
    (void)state;
    assert_int_equal(rsc_narrow_tally_init(&tally, 3), 0);
    assert_int_equal(rsc_histogram_init(&rd, RSC_BINS_COARSE), 0);
    for (uint32_t times = 1; times <= 3; times++)
        for (uint32_t bin = 0; bin < RSC_TALLY_BINS; bin++) rsc_narrow_tally_add(&tally, times % 2, bin, bin + 1ull);
    uint64_t cold = 0, invalidated = 0, one = RSC_TALLY_BINS * (RSC_TALLY_BINS + 1ull) / 2;
    assert_int_equal(rsc_narrow_tally_read(&tally, 1, &cold, &invalidated, &rd), 2 * one);
    assert_int_equal(rsc_narrow_tally_read(&tally, 0, NULL, NULL, NULL), one);
    assert_int_equal(rsc_narrow_tally_read(&tally, 2, NULL, NULL, NULL), 0);
    assert_int_equal(cold, 2);
    assert_int_equal(invalidated, 2 * RSC_TALLY_BINS);
    for (uint32_t bin = 1; bin < RSC_TALLY_INVALIDATED; bin++) assert_int_equal(rd.count[bin - 1], 2 * (bin + 1));
    assert_false(tally.failed);
    rsc_histogram_free(&rd);
    rsc_narrow_tally_free(&tally);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_keys_are_exact),
        cmocka_unit_test(the_smallest_row_gives_way),
        cmocka_unit_test(random_streams),
        cmocka_unit_test(a_filter_keeps_rows),
        cmocka_unit_test(narrow_rows_hold_every_bin),
        cmocka_unit_test(counters_carry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
