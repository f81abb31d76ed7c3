/*
 * test_line_filter.c - what the filter keeps, against cutting every access with
 * rsc_references_fill() and hashing every line; each vector width, every line
 * size, accesses that cross lines, little room. And that the hash draws lines as
 * chance would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "distance/shards/line_filter.h"
#include "trace/references.h"

#define ACCESSES 1500u
#define ROOM 4096u

static uint64_t addr[ACCESSES], meta[ACCESSES];

struct found {
    uint64_t line[ROOM * 16], time[ROOM * 16];
    uint32_t from[ROOM * 16];
    uint32_t count;
    uint64_t references;
};
static struct found wanted, got;

static void make_accesses(struct rsc_rng *rng, uint32_t count, int style) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = (uint32_t)rsc_rng_below(rng, style == 2 && !rsc_rng_below(rng, 40) ? 1000 : style ? 17 : 2);
        addr[i] = 0x1000000 + rsc_rng_below(rng, 1 << 18);
        if (!style) addr[i] &= ~7ull;
        if (!rsc_rng_below(rng, 200)) addr[i] = UINT64_MAX - rsc_rng_below(rng, 4);
        meta[i] = rsc_meta(size, RSC_WRITE, (uint32_t)rsc_rng_below(rng, 3));
    }
}

static void filter_naively(uint32_t count, uint32_t shift, uint64_t limit, uint64_t offset) {
    const struct rsc_batch batch = {.count = count, .addr = addr, .meta = meta};
    struct rsc_reference_cursor cursor;
    uint64_t lines[256];
    uint32_t from[256], filled;
    wanted.count = 0;
    wanted.references = 0;
    rsc_references_start(&cursor, &batch, shift);
    while ((filled = rsc_references_fill(&cursor, lines, from, 256)) > 0)
        for (uint32_t i = 0; i < filled; i++, wanted.references++) {
            if (rsc_line_hash(lines[i], offset) > limit) continue;
            assert_true(wanted.count < ROOM * 16);
            wanted.line[wanted.count] = lines[i];
            wanted.time[wanted.count] = wanted.references;
            wanted.from[wanted.count++] = from[i];
        }
}

static void filter_and_compare(enum rsc_simd simd, uint32_t count, uint32_t shift, uint64_t seed, uint64_t limit,
                               uint32_t room) {
    static uint64_t line[ROOM], hash[ROOM], time[ROOM];
    static uint32_t from[ROOM];
    struct rsc_kept kept = {.line = line, .hash = hash, .time = time, .from = from, .room = room};
    struct rsc_line_filter filter;
    uint64_t any = 0, all = UINT64_MAX;
    rsc_line_filter_init(&filter, simd, shift, seed, limit);
    filter_naively(count, shift, limit, filter.offset);
    got.count = 0;
    for (uint32_t i = 0; i < count; i++) any |= meta[i], all &= meta[i];
    for (uint32_t at = 0; at < count;) {
        kept.count = 0;
        at = rsc_line_filter_run(&filter, addr, meta, at, count, &kept);
        assert_true(kept.count <= room);
        assert_true(got.count + kept.count <= wanted.count);
        memcpy(got.line + got.count, line, kept.count * sizeof *line);
        memcpy(got.time + got.count, time, kept.count * sizeof *time);
        memcpy(got.from + got.count, from, kept.count * sizeof *from);
        for (uint32_t i = 0; i < kept.count; i++) assert_true(hash[i] == rsc_line_hash(line[i], filter.offset));
        got.count += kept.count;
    }
    assert_int_equal(filter.references, wanted.references);
    assert_int_equal(got.count, wanted.count);
    assert_memory_equal(got.line, wanted.line, wanted.count * sizeof *got.line);
    assert_memory_equal(got.time, wanted.time, wanted.count * sizeof *got.time);
    assert_memory_equal(got.from, wanted.from, wanted.count * sizeof *got.from);
    assert_true(filter.meta_any == any && filter.meta_all == all);
}

static void widths_keep_the_same(void **state) {
    static const double rates[] = {1, 0.5, 0.1, 0.01};
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 11, 0);
    for (uint32_t trial = 0; trial < 120; trial++) {
        uint32_t shift = trial % 3 ? 6 : (uint32_t)rsc_rng_below(&rng, 13),
                 count = (uint32_t)rsc_rng_below(&rng, ACCESSES);
        double rate = rates[trial % 4];
        uint64_t limit = rate < 1 ? (uint64_t)(rate * 0x1p64) - 1 : UINT64_MAX;
        make_accesses(&rng, count, (int)(trial / 4 % 3));
        for (int simd = 0; simd < RSC_SIMD_COUNT; simd++)
            if (rsc_simd_available((enum rsc_simd)simd)) {
                filter_and_compare((enum rsc_simd)simd, count, shift, trial, limit, RSC_KEPT_ROOM_LEAST);
                filter_and_compare((enum rsc_simd)simd, count, shift, trial, limit, ROOM);
            }
    }
}

/* An access of a MiB is 16,384 references of 64 bytes; where the limit is reached it is left out, and the filter reports that. */
static void too_wide_is_left_out(void **state) {
    uint64_t line[RSC_KEPT_ROOM_LEAST], hash[RSC_KEPT_ROOM_LEAST], time[RSC_KEPT_ROOM_LEAST];
    uint32_t from[RSC_KEPT_ROOM_LEAST];
    struct rsc_kept kept = {.line = line, .hash = hash, .time = time, .from = from, .room = RSC_KEPT_ROOM_LEAST};
    (void)state;
    for (int simd = 0; simd < RSC_SIMD_COUNT; simd++) {
        if (!rsc_simd_available((enum rsc_simd)simd)) continue;
        struct rsc_line_filter filter;
        rsc_line_filter_init(&filter, (enum rsc_simd)simd, 6, 1, 0);
        for (uint32_t i = 0; i < 100; i++) addr[i] = 64 * i, meta[i] = rsc_meta(i == 70 ? 1u << 20 : 8, RSC_READ, 0);
        assert_int_equal(rsc_line_filter_run(&filter, addr, meta, 0, 100, &kept), 100);
        assert_int_equal(filter.references, 99 + 16384);
        assert_false(rsc_line_filter_left_out(&filter));
        filter.wide_references = RSC_WIDE_REFERENCES_MOST;
        assert_int_equal(rsc_line_filter_run(&filter, addr, meta, 0, 70, &kept), 70);
        assert_false(rsc_line_filter_left_out(&filter));
        assert_int_equal(rsc_line_filter_run(&filter, addr, meta, 70, 71, &kept), 71);
        assert_true(rsc_line_filter_left_out(&filter));
        assert_int_equal(filter.references, 99 + 16384 + 70);
    }
}

/* Lines of a range that are kept: as many as chance would, whatever the stride, and others with another seed. */
static void hash_draws_like_chance(void **state) {
    const uint32_t lines = 20000, seeds = 200;
    const double rate = 0.05;
    (void)state;
    for (uint64_t stride = 1; stride <= 4096; stride *= 8) {
        double sum = 0, square = 0, both = 0;
        for (uint64_t seed = 0; seed < seeds; seed++) {
            struct rsc_line_filter filter, other;
            rsc_line_filter_init(&filter, RSC_SIMD_PLAIN, 6, seed, (uint64_t)(rate * 0x1p64) - 1);
            rsc_line_filter_init(&other, RSC_SIMD_PLAIN, 6, seed + 1, filter.limit);
            double kept = 0;
            for (uint64_t i = 0; i < lines; i++) {
                int is_kept = rsc_line_hash(0x7f0000000 + i * stride, filter.offset) <= filter.limit;
                kept += is_kept;
                both += is_kept && rsc_line_hash(0x7f0000000 + i * stride, other.offset) <= filter.limit;
            }
            sum += kept;
            square += kept * kept;
        }
        double mean = sum / seeds, variance = square / seeds - mean * mean, chance = lines * rate * (1 - rate);
        /* five standard errors each */
        assert_true(fabs(mean - lines * rate) < 5 * sqrt(chance / seeds));
        assert_true(variance > chance * (1 - 5 * sqrt(2.0 / seeds)) && variance < chance * (1 + 5 * sqrt(2.0 / seeds)));
        double expected = (double)lines * seeds * rate * rate;
        assert_true(fabs(both - expected) < 5 * sqrt(expected));
    }
}

static void groups_are_even(void **state) {
    double count[32] = {0}, kept = 0, chi = 0;
    struct rsc_line_filter filter;
    (void)state;
    rsc_line_filter_init(&filter, RSC_SIMD_PLAIN, 6, 0, (uint64_t)(0.01 * 0x1p64));
    for (uint64_t line = 0; line < 2000000; line++) {
        uint64_t hash = rsc_line_hash(line, filter.offset);
        if (hash > filter.limit) continue;
        count[rsc_hash_group(hash, 32)]++;
        kept++;
    }
    for (int g = 0; g < 32; g++) chi += (count[g] - kept / 32) * (count[g] - kept / 32) / (kept / 32);
    assert_true(chi > 8 && chi < 75); /* 31 degrees of freedom: one in a hundred thousand on each side */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_keep_the_same),
        cmocka_unit_test(too_wide_is_left_out),
        cmocka_unit_test(hash_draws_like_chance),
        cmocka_unit_test(groups_are_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
