/*
 * test_first_level.c - the fast first level against one access at a time: every vector
 * width the machine has, every associativity it takes, long accesses, kinds nobody takes,
 * big and small batches, and several workers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "simulate/simulator.h"

#define ACCESSES 160000u
static uint64_t addr[ACCESSES], meta[ACCESSES];

static const struct rsc_thread threads[3] = {{100, 1}, {200, 2}, {100, 3}};

static void make_trace(uint64_t seed, int long_ones) {
    struct rsc_rng rng;
    uint64_t pc = 0x400000;
    rsc_rng_seed(&rng, seed, 0);
    for (uint32_t i = 0; i < ACCESSES; i++) {
        uint64_t draw = rsc_rng_below(&rng, 100);
        if (draw < 60) { /* code runs on, and jumps */
            pc = draw < 3 ? 0x400000 + rsc_rng_below(&rng, 1 << 17) : pc + 4;
            addr[i] = pc;
            meta[i] = rsc_meta(4 + (uint32_t)rsc_rng_below(&rng, 4), RSC_FETCH, 0);
            continue;
        }
        addr[i] = 0x10000000 + rsc_rng_below(&rng, draw < 90 ? 1 << 12 : 1 << 20);
        meta[i] = rsc_meta((uint32_t)rsc_rng_below(&rng, 17), draw % 3 ? RSC_READ : RSC_WRITE,
                           (uint32_t)rsc_rng_below(&rng, 3));
        if (long_ones && rsc_rng_below(&rng, 5000) == 0)
            meta[i] = rsc_meta(1 + (uint32_t)rsc_rng_below(&rng, 70000), RSC_WRITE, 0);
        if (long_ones && rsc_rng_below(&rng, 20000) == 0) addr[i] = UINT64_MAX - rsc_rng_below(&rng, 8);
        if (long_ones && rsc_rng_below(&rng, 20000) == 0) { /* past the end of memory, or of a process's part of it */
            addr[i] = UINT64_MAX - rsc_rng_below(&rng, 50000);
            meta[i] =
                rsc_meta(50000 + (uint32_t)rsc_rng_below(&rng, 20000), RSC_READ, (uint32_t)rsc_rng_below(&rng, 3));
        }
    }
}

static void run(const struct rsc_sim_config *config, struct rsc_sim_options options, uint32_t batch_size,
                struct rsc_sim_result *result) {
    struct rsc_sim *sim;
    struct rsc_error error;
    assert_int_equal(rsc_sim_new(&sim, config, &options, &error), 0);
    for (uint32_t at = 0; at < ACCESSES; at += batch_size) {
        struct rsc_batch batch = {.count = ACCESSES - at < batch_size ? ACCESSES - at : batch_size,
                                  .addr = addr + at,
                                  .meta = meta + at,
                                  .threads = threads,
                                  .thread_count = 3,
                                  .instructions = 7};
        assert_int_equal(rsc_sim_push(sim, &batch, &error), 0);
    }
    assert_int_equal(rsc_sim_finish(sim, result, &error), 0);
    rsc_sim_free(sim);
}

static void same(const struct rsc_sim_result *got, const struct rsc_sim_result *wanted) {
    assert_int_equal(got->level_count, wanted->level_count);
    assert_int_equal(got->references, wanted->references);
    assert_int_equal(got->left_out, wanted->left_out);
    assert_int_equal(got->memory_reads, wanted->memory_reads);
    assert_int_equal(got->memory_writes, wanted->memory_writes);
    for (size_t i = 0; i < got->level_count; i++)
        assert_memory_equal(&got->levels[i].counts, &wanted->levels[i].counts, sizeof got->levels[i].counts);
}

static void configure(struct rsc_sim_config *config, const char *const (*caches)[2]) {
    struct rsc_cache_config cache;
    struct rsc_error error;
    memset(config, 0, sizeof *config);
    for (; (*caches)[0]; caches++) {
        if (rsc_cache_config_parse(&cache, (*caches)[0], (*caches)[1], &error) < 0) fail_msg("%s", error.message);
        assert_int_equal(rsc_sim_config_add(config, &cache, &error), 0);
    }
}

static void compare(const char *const (*caches)[2], int long_ones, int all_widths) {
    static const char *const widths[] = {"plain", "avx2", "avx512"};
    static const struct {
        unsigned workers;
        uint32_t batch;
    } ways[] = {{1, 1000}, {2, ACCESSES}, {4, 16384}, {3, 75001}};
    struct rsc_sim_config config;
    struct rsc_sim_result wanted, got;
    make_trace(long_ones ? 5 : 6, long_ones);
    unsetenv("REUSESCOPE_SIMD");
    configure(&config, caches);
    run(&config, (struct rsc_sim_options){.slow = 1, .warm_accesses = 1234}, ACCESSES, &wanted);
    for (int width = 0; width < RSC_SIMD_COUNT; width++) {
        if (!rsc_simd_available((enum rsc_simd)width) || (!all_widths && width != (int)rsc_simd_best())) continue;
        if (all_widths) setenv("REUSESCOPE_SIMD", widths[width], 1);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            run(&config, (struct rsc_sim_options){.workers = ways[i].workers, .warm_accesses = 1234}, ways[i].batch,
                &got);
            same(&got, &wanted);
            rsc_sim_result_free(&got);
        }
    }
    unsetenv("REUSESCOPE_SIMD");
    rsc_sim_result_free(&wanted);
}

static void usual_hierarchy(void **state) {
    (void)state;
    static const char *const caches[][2] = {
        {"l1i", "32K,8,64"}, {"l1d", "32K,8,64"}, {"l2", "256K,16,64"}, {NULL, NULL}};
    compare(caches, 0, 0);
    compare(caches, 1, 1);
}

static void other_shapes(void **state) {
    (void)state;
    static const char *const unified[][2] = {
        {"l1", "12K,3,64"}, {"l2", "128K,8,128,plru"}, {"l3", "1M,16,128,random"}, {NULL, NULL}};
    static const char *const data_only[][2] = {{"l1d", "1K,1,32"}, {NULL, NULL}};
    static const char *const second_only[][2] = {{"l2", "88K,11,64"}, {NULL, NULL}};
    static const char *const uneven[][2] = {
        {"l1i", "8K,16,64"}, {"l1d", "10K,5,64"}, {"l2", "96K,12,64,drrip"}, {NULL, NULL}};
    static const char *const processes[][2] = {
        {"l1i", "8K,4,64"}, {"l1d", "8K,8,64,lru"}, {"l2", "128K,4,128,pid"}, {"l3", "1M,8,128,pages"}, {NULL, NULL}};
    /* more sets than are remembered one by one */
    static const char *const many_sets[][2] = {
        {"l1i", "512K,1,64"}, {"l1d", "1M,2,64"}, {"l2", "2M,4,64"}, {NULL, NULL}};
    compare(many_sets, 1, 1);
    compare(processes, 0, 1);
    compare(processes, 1, 1);
    compare(unified, 1, 1);
    compare(data_only, 1, 0);
    compare(second_only, 1, 0);
    compare(uneven, 0, 0);
}

static void every_associativity(void **state) {
    (void)state;
    for (uint32_t ways = 1; ways <= 16; ways++) {
        char text[40];
        snprintf(text, sizeof text, "%u,%u,64", ways * 32 * 64, ways);
        const char *const caches[][2] = {{"l1", text}, {NULL, NULL}};
        struct rsc_sim_config config;
        struct rsc_sim_result wanted, got;
        make_trace(ways, 0);
        configure(&config, caches);
        run(&config, (struct rsc_sim_options){.slow = 1}, ACCESSES, &wanted);
        run(&config, (struct rsc_sim_options){0}, 16384, &got);
        same(&got, &wanted);
        rsc_sim_result_free(&got);
        rsc_sim_result_free(&wanted);
    }
}

/* Every access goes to one set, each to another block than the one before: lists of one part fill up, and rounds end early. */
static void one_part_takes_all(void **state) {
    (void)state;
    static const char *const caches[][2] = {
        {"l1i", "32K,8,64"}, {"l1d", "32K,8,64"}, {"l2", "256K,16,64"}, {NULL, NULL}};
    static const uint32_t batches[] = {ACCESSES, 16384, 70000};
    struct rsc_sim_config config;
    struct rsc_sim_result wanted, got;
    struct rsc_rng rng;
    uint64_t block = 0;
    rsc_rng_seed(&rng, 8, 0);
    for (uint32_t i = 0; i < ACCESSES; i++) {
        block += 1 + rsc_rng_below(&rng, 20);
        addr[i] = block % 24 << 20;
        meta[i] = rsc_meta(8, !i ? RSC_FETCH : i % 3 ? RSC_READ : RSC_WRITE, 0); /* one fetch: every cache is used */
    }
    configure(&config, caches);
    run(&config, (struct rsc_sim_options){.slow = 1}, ACCESSES, &wanted);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        run(&config, (struct rsc_sim_options){.workers = 16}, batches[i], &got);
        same(&got, &wanted);
        rsc_sim_result_free(&got);
    }
    rsc_sim_result_free(&wanted);
}

/* Caches that nothing reaches have as many blocks, all empty, in either way. */
static void nothing_comes(void **state) {
    (void)state;
    static const char *const caches[][2] = {{"l1d", "1K,2,64"}, {"l2", "4K,4,64,plru"}, {NULL, NULL}};
    struct rsc_sim_config config;
    struct rsc_sim_result got;
    for (uint32_t i = 0; i < ACCESSES; i++) {
        addr[i] = i;
        meta[i] = rsc_meta(1, RSC_FETCH, 0);
    }
    configure(&config, caches);
    for (int slow = 0; slow < 2; slow++) {
        run(&config, (struct rsc_sim_options){.slow = slow}, ACCESSES, &got);
        assert_int_equal(got.left_out, ACCESSES);
        assert_int_equal(got.levels[0].counts.blocks, 16);
        assert_int_equal(got.levels[1].counts.blocks, 64);
        assert_int_equal(got.levels[0].counts.blocks_at_end + got.levels[1].counts.blocks_at_end, 0);
        rsc_sim_result_free(&got);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_hierarchy),    cmocka_unit_test(other_shapes),  cmocka_unit_test(every_associativity),
        cmocka_unit_test(one_part_takes_all), cmocka_unit_test(nothing_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
