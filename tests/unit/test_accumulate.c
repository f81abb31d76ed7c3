/*
 * test_accumulate.c - distances and intervals of blocks into histograms, for every vector width, against adding them one
 * by one: repeats, first uses, taken lines, values on both sides of each change of the arithmetic, caps, kinds, threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/rng.h"
#include "distance/count/accumulate.h"

#define COUNT_MAX 1500u
#define COLD UINT32_MAX

static uint32_t rd[COUNT_MAX], who[COUNT_MAX];
static uint64_t ri[COUNT_MAX];

/* The same with the simplest of code. */
struct plain {
    struct rsc_histogram rd, ri, kind[RSC_KIND_SLOTS], thread[3], rd_binned, ri_binned;
    uint64_t cold, invalidated, capped, kind_cold[RSC_KIND_SLOTS], kind_invalidated[RSC_KIND_SLOTS], thread_cold[3];
};

static uint32_t slot_of(uint32_t kind) { return kind < RSC_KIND_SLOTS ? kind : RSC_KIND_SLOTS - 1; }

static void plain_init(struct plain *plain) {
    memset(plain, 0, sizeof *plain);
    assert_int_equal(rsc_histogram_init(&plain->rd, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&plain->ri, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&plain->rd_binned, rsc_bins_per_octave(5)), 0);
    assert_int_equal(rsc_histogram_init(&plain->ri_binned, rsc_bins_per_octave(5)), 0);
    for (uint32_t k = 0; k < RSC_KIND_SLOTS; k++)
        assert_int_equal(rsc_histogram_init(&plain->kind[k], RSC_BINS_FINE), 0);
    for (uint32_t t = 0; t < 3; t++) assert_int_equal(rsc_histogram_init(&plain->thread[t], RSC_BINS_COARSE), 0);
}

static void plain_free(struct plain *plain) {
    rsc_histogram_free(&plain->rd);
    rsc_histogram_free(&plain->ri);
    rsc_histogram_free(&plain->rd_binned);
    rsc_histogram_free(&plain->ri_binned);
    for (uint32_t k = 0; k < RSC_KIND_SLOTS; k++) rsc_histogram_free(&plain->kind[k]);
    for (uint32_t t = 0; t < 3; t++) rsc_histogram_free(&plain->thread[t]);
}

static void plain_add(struct plain *plain, uint32_t i, int with_ri, uint64_t cap) {
    const uint32_t kind = slot_of(who[i] & 0xff), thread = rsc_who_thread(who[i]);
    if (rd[i] == COLD) {
        plain->cold++;
        plain->kind_cold[kind]++;
        plain->thread_cold[thread]++;
        return;
    }
    if (rd[i] == RSC_RD_INVALIDATED) {
        plain->invalidated++;
        plain->kind_invalidated[kind]++;
        return;
    }
    const uint64_t distance = cap && rd[i] > cap ? cap : rd[i];
    if (cap && rd[i] >= cap) plain->capped++;
    else rsc_histogram_add(&plain->rd, distance, 1);
    rsc_histogram_add(&plain->kind[kind], distance, 1);
    rsc_histogram_add(&plain->thread[thread], distance, 1);
    rsc_histogram_add(&plain->rd_binned, distance, 1);
    if (with_ri) rsc_histogram_add(&plain->ri, ri[i], 1);
    if (with_ri) rsc_histogram_add(&plain->ri_binned, ri[i], 1);
}

static void same(const struct rsc_histogram *got, const struct rsc_histogram *wanted, const char *what) {
    for (uint32_t bin = 0; bin < wanted->bin_count; bin++)
        if (got->count[bin] != wanted->count[bin])
            fail_msg("%s, bin %u: %llu, not %llu", what, bin, (unsigned long long)got->count[bin],
                     (unsigned long long)wanted->count[bin]);
}

/* Of all sorts, each on both sides of where the arithmetic changes. */
static uint32_t any_distance(struct rsc_rng *rng) {
    static const uint32_t edges[] = {0, 1, 4, 1023, 1024, 1u << 20, (1u << 24) - 1, 1u << 24, 1u << 30, 1u << 31};
    const uint64_t sort = rsc_rng_below(rng, 12);
    if (sort < 4) return 0;
    if (sort == 4) return COLD;
    if (sort == 5) return RSC_RD_INVALIDATED;
    if (sort < 8) return (uint32_t)rsc_rng_below(rng, 3000);
    if (sort < 10) return edges[rsc_rng_below(rng, sizeof edges / sizeof *edges)] + (uint32_t)rsc_rng_below(rng, 3) - 1;
    return (uint32_t)(rsc_rng_u64(rng) >> (32 + rsc_rng_below(rng, 32)));
}

static void draw(struct rsc_rng *rng, uint32_t count, uint32_t kinds, uint32_t threads, int far) {
    for (uint32_t i = 0; i < count; i++) {
        rd[i] = any_distance(rng);
        /* a repeat has interval 1; other distances of 0 are of lines used alternately by the parts of a larger access */
        ri[i] = rd[i] == 0 && rsc_rng_below(rng, 4)
                    ? 1
                    : 1 + (rsc_rng_u64(rng) >> (far ? 1 : 33) >> rsc_rng_below(rng, 31));
        who[i] = (uint32_t)rsc_rng_below(rng, threads) << 8 | (uint32_t)rsc_rng_below(rng, kinds);
    }
}

static void compare(struct rsc_rng *rng, enum rsc_simd simd, uint32_t round) {
    const uint32_t kinds = 1 + round % 6, threads = 1 + round / 2 % 3, count = (uint32_t)rsc_rng_below(rng, COUNT_MAX);
    const int with_ri = round % 5 != 0;
    const uint64_t cap = round % 7 == 0 ? 1 + (rsc_rng_u64(rng) >> (32 + rsc_rng_below(rng, 31))) : 0;
    uint32_t seen = 0;
    struct rsc_accumulator sum;
    struct plain plain;
    assert_int_equal(rsc_accumulator_init(&sum, 0, cap, 5), 0);
    sum.count_values = RSC_WIDE_PICK(simd, rsc_accumulate_values);
    for (uint32_t k = 0; k < kinds; k++) seen |= 1u << slot_of(k);
    assert_int_equal(rsc_accumulator_need_rows(&sum, threads, seen), 0);
    plain_init(&plain);
    for (int part = 0; part < 3; part++) {
        draw(rng, count, kinds, threads, part == 2);
        rsc_accumulate_part(&sum, who, rd, with_ri ? ri : NULL, count);
        for (uint32_t i = 0; i < count; i++) plain_add(&plain, i, with_ri, cap);
    }
    assert_int_equal(sum.references, 3ull * count);
    assert_int_equal(sum.cold, plain.cold);
    assert_int_equal(sum.invalidated, plain.invalidated);
    assert_int_equal(sum.rd_capped, plain.capped);
    same(&sum.rd, &plain.rd, "distances");
    same(&sum.ri, &plain.ri, "intervals");
    same(&sum.rd_binned, &plain.rd_binned, "distances, binned");
    same(&sum.ri_binned, &plain.ri_binned, "intervals, binned");
    for (uint32_t k = 0; rsc_accumulator_by_kind(&sum) && k < RSC_KIND_SLOTS; k++) {
        if (!(seen >> k & 1)) continue;
        assert_int_equal(sum.kinds[k].cold, plain.kind_cold[k]);
        assert_int_equal(sum.kinds[k].invalidated, plain.kind_invalidated[k]);
        same(&sum.kinds[k].rd, &plain.kind[k], "distances of a kind");
    }
    for (uint32_t t = 0; threads > 1 && t < threads; t++) {
        assert_int_equal(sum.threads[t].cold, plain.thread_cold[t]);
        same(&sum.threads[t].rd, &plain.thread[t], "distances of a thread");
    }
    rsc_accumulator_free(&sum);
    plain_free(&plain);
}

static void every_width_counts_as_one_by_one(void **state) {
    (void)state;
    for (int simd = 0; simd < RSC_SIMD_COUNT; simd++) {
        struct rsc_rng rng;
        if (!rsc_simd_available((enum rsc_simd)simd)) continue;
        rsc_rng_seed(&rng, 11, 0);
        for (uint32_t round = 0; round < 200; round++) compare(&rng, (enum rsc_simd)simd, round);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_width_counts_as_one_by_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
