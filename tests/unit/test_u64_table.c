/* test_u64_table.c - the hash table: growth, neighbours, and keys made to collide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/u64_table.h"

static void add(struct rsc_u64_table *table, uint64_t key, uint64_t value) {
    if (rsc_u64_table_needs_rebuild(table)) assert_int_equal(rsc_u64_table_rebuild(table), 0);
    struct rsc_u64_entry *entry = rsc_u64_table_find(table, key);
    if (!entry->value) {
        entry->key = key;
        table->used++;
    }
    entry->value = value;
}

static void check_all(uint64_t (*key_of)(uint64_t), uint64_t count) {
    struct rsc_u64_table table;
    assert_int_equal(rsc_u64_table_init(&table, 0), 0);
    for (uint64_t i = 0; i < count; i++) add(&table, key_of(i), i + 1);
    assert_int_equal(table.used, count);
    for (uint64_t i = 0; i < count; i++) assert_int_equal(rsc_u64_table_find(&table, key_of(i))->value, i + 1);
    assert_int_equal(rsc_u64_table_find(&table, key_of(count))->value, 0);
    assert_true(table.used * 8 <= (table.mask + 1) * 5);
    rsc_u64_table_free(&table);
}

static uint64_t in_a_row(uint64_t i) { return i; }
static uint64_t from_the_end(uint64_t i) { return UINT64_MAX - i; }
static uint64_t far_apart(uint64_t i) { return i << 40; }
static uint64_t every_fourth(uint64_t i) { return i * 4 + 1; }

/* The inverse of the table's first hash step: keys whose home is one and the same place. */
static uint64_t colliding(uint64_t i) {
    uint64_t inverse = 1; /* of 0x9E37... modulo 2^64, by Newton's iteration */
    for (int k = 0; k < 6; k++) inverse *= 2 - 0x9E3779B97F4A7C15ull * inverse;
    /* Low product word i, high word small: both halves of the mix stay in the low bits. */
    return (inverse * (i << 3)) << 2;
}

static void all_shapes(void **state) {
    (void)state;
    check_all(in_a_row, 200000);
    check_all(from_the_end, 200000);
    check_all(far_apart, 200000);
    check_all(every_fourth, 200000);
    check_all(colliding, 20000);
}

/* Keys found by search to share one home under the first seed: a rebuild must scatter them. */
static void a_hostile_set_is_scattered(void **state) {
    struct rsc_u64_table table;
    struct rsc_rng rng;
    enum { HOSTILE = 700 };
    static uint64_t keys[HOSTILE];
    (void)state;
    rsc_rng_seed(&rng, 5, 0);
    assert_int_equal(rsc_u64_table_init(&table, HOSTILE * 2), 0);
    struct rsc_u64_entry *home = NULL;
    for (size_t found = 0; found < HOSTILE;) {
        uint64_t key = rsc_rng_u64(&rng);
        struct rsc_u64_entry *at = rsc_u64_table_home(&table, key);
        if (!home) home = at;
        if (at - home > 15 || home - at > 15) continue; /* a narrow neighbourhood is bad enough */
        keys[found++] = key;
    }
    int rebuilt = 0;
    for (size_t i = 0; i < HOSTILE; i++) {
        rebuilt |= table.long_probe != 0;
        add(&table, keys[i], i + 1);
    }
    assert_true(rebuilt);
    assert_true(table.seed != 0);
    for (size_t i = 0; i < HOSTILE; i++) assert_int_equal(rsc_u64_table_find(&table, keys[i])->value, i + 1);
    rsc_u64_table_free(&table);
}

/* Groups of four neighbours at random places fill cache lines whole: probes get long by chance, growth stays cheap. */
static void groups_of_four(void **state) {
    struct rsc_u64_table table;
    struct rsc_rng rng;
    unsigned rebuilds = 0;
    (void)state;
    rsc_rng_seed(&rng, 9, 0);
    assert_int_equal(rsc_u64_table_init(&table, 0), 0);
    for (uint64_t i = 0; i < 300000; i++) {
        uint64_t group = rsc_rng_below(&rng, 1ull << 40) * 4;
        for (uint64_t k = 0; k < 4; k++) {
            rebuilds += (unsigned)rsc_u64_table_needs_rebuild(&table);
            add(&table, group + k, i + 1);
        }
    }
    assert_true(rebuilds <= 14); /* from 1,024 entries to 2 or 4 million is 11 or 12 doublings */
    rsc_u64_table_free(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes),
        cmocka_unit_test(a_hostile_set_is_scattered),
        cmocka_unit_test(groups_of_four),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
