/*
 * test_gpu_part.c - lines cut for a device: in order, whether they are cut where a trace is decoded or later, and in no
 * more page-locked memory than gpu_part.h states.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/rng.h"
#include "distance/count/accumulate.h"
#include "distance/gpu/gpu_part.h"

#define BLOCK 4096u
#define BATCH 300u

/* ---- a device that only has blocks ---- */

struct blocks {
    struct rsc_gpu_block *list[2 * RSC_GPU_PART_LINES / BLOCK];
    size_t count;
};

static int new_block(void *session, struct rsc_gpu_block **out, char *message) {
    struct blocks *blocks = session;
    struct rsc_gpu_block *block = calloc(1, sizeof *block);
    (void)message;
    assert_non_null(block);
    assert_true(blocks->count < sizeof blocks->list / sizeof *blocks->list);
    *block = (struct rsc_gpu_block){
        .words = calloc(BLOCK, sizeof *block->words), .who = calloc(BLOCK, sizeof *block->who), .room = BLOCK};
    blocks->list[blocks->count++] = *out = block;
    return 0;
}

static void free_blocks(struct blocks *blocks) {
    for (size_t i = 0; i < blocks->count; i++) {
        free(blocks->list[i]->words);
        free(blocks->list[i]->who);
        free(blocks->list[i]);
    }
    blocks->count = 0;
}

/* ---- */

/* Compares the part's lines with those of the trace from reference *done on. */
static void check_lines(struct rsc_gpu_part *part, struct rsc_reference_cursor *expected, uint64_t *done) {
    static uint64_t lines[BLOCK];
    static uint32_t from[BLOCK];
    for (size_t i = 0; i < part->filled_count; i++) {
        struct rsc_gpu_filled *filled = &part->filled[i];
        rsc_gpu_filled_mix(filled);
        for (size_t j = 0; j < filled->count;) {
            uint32_t count = rsc_references_fill(expected, lines, from, (uint32_t)(filled->count - j));
            assert_true(count > 0);
            assert_memory_equal(filled->block->words + j, lines, count * sizeof *lines);
            for (uint32_t k = 0; k < count; k++)
                assert_int_equal(filled->block->who[j + k], rsc_meta_who(expected->batch->meta[from[k]]));
            j += count;
            *done += count;
        }
    }
    part->filled_count = 0;
}

/* Pieces of accesses of up to `size` bytes: what is cut at once, and then the rest, is all of them in order. */
static void check_piece(uint64_t seed, uint32_t accesses, uint32_t size, int expect_late) {
    static struct blocks blocks;
    const struct rsc_gpu_plugin plugin = {.block = new_block};
    const struct rsc_gpu_feed feed = {.plugin = &plugin, .session = &blocks, .line_shift = 6};
    struct rsc_gpu_part *part = rsc_gpu_part_new(&feed), *own = rsc_gpu_part_new(&feed);
    uint64_t *addr = malloc(accesses * sizeof *addr), *meta = malloc(accesses * sizeof *meta), done = 0;
    struct rsc_rng rng;
    struct rsc_error error;
    assert_true(part && own && addr && meta);
    rsc_rng_seed(&rng, seed, 0);
    for (uint32_t i = 0; i < accesses; i++) {
        addr[i] = rsc_rng_below(&rng, 50) ? rsc_rng_below(&rng, 1ull << 40) : UINT64_MAX - rsc_rng_below(&rng, 100);
        meta[i] = rsc_meta((uint32_t)rsc_rng_below(&rng, size), i / 1000 % 2 ? RSC_WRITE : RSC_READ, 0);
    }
    const struct rsc_batch all = {.count = accesses, .addr = addr, .meta = meta};
    struct rsc_reference_cursor expected;
    rsc_references_start(&expected, &all, feed.line_shift);
    rsc_gpu_part_begin(part);
    for (uint32_t i = 0; i < accesses; i += BATCH) {
        const struct rsc_batch batch = {
            .count = accesses - i < BATCH ? accesses - i : BATCH, .addr = addr + i, .meta = meta + i};
        assert_int_equal(rsc_gpu_part_take(part, &batch, &error), 0);
    }
    assert_true(blocks.count <= RSC_GPU_PART_LINES / BLOCK);
    check_lines(part, &expected, &done);
    assert_true(done <= RSC_GPU_PART_LINES);
    free_blocks(&blocks);

    const struct rsc_batch late = rsc_gpu_part_late(part);
    struct rsc_gpu_cut cut;
    int status;
    assert_int_equal(late.count != 0, expect_late);
    assert_int_equal(rsc_gpu_part_start(own, &cut, &late, NULL, &error), 0);
    do {
        status = rsc_gpu_part_fill(own, &cut, &error);
        assert_true(status >= 0);
        assert_true(own->filled_count <= 1);
        check_lines(own, &expected, &done);
        free_blocks(&blocks);
    } while (status);
    assert_true(done >= accesses);
    assert_int_equal(expected.next, accesses);
    free(addr);
    free(meta);
    rsc_gpu_part_free(part);
    rsc_gpu_part_free(own);
}

static void test_usual_accesses(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) check_piece(seed, 20000 + 1000 * (uint32_t)seed, 130, 0);
}

/* 20,000 accesses of up to 128 KiB are 20 million lines. */
static void test_long_accesses(void **state) {
    (void)state;
    check_piece(1, 20000, 128 << 10, 1);
}

/* One of 1 MiB and more may be anything: it is cut where a limit on all of them is kept. */
static void test_wide_accesses(void **state) {
    (void)state;
    check_piece(2, 10, 1 << 24, 1);
    check_piece(3, 1000, 1200 << 10, 1);
}

static void test_too_wide(void **state) {
    struct blocks blocks = {.count = 0};
    const struct rsc_gpu_plugin plugin = {.block = new_block};
    const struct rsc_gpu_feed feed = {.plugin = &plugin, .session = &blocks, .line_shift = 0};
    struct rsc_gpu_part *part = rsc_gpu_part_new(&feed);
    const uint64_t addr[2] = {0, 0}, meta[2] = {rsc_meta(1 << 30, RSC_READ, 0), rsc_meta(1 << 30, RSC_READ, 0)};
    const struct rsc_batch batch = {.count = 2, .addr = addr, .meta = meta};
    struct rsc_gpu_cut cut;
    struct rsc_error error;
    (void)state;
    assert_non_null(part);
    assert_int_equal(rsc_gpu_part_start(part, &cut, &batch, NULL, &error), RSC_ELIMIT);
    rsc_gpu_part_free(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual_accesses),
        cmocka_unit_test(test_long_accesses),
        cmocka_unit_test(test_wide_accesses),
        cmocka_unit_test(test_too_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
