/*
 * test_block_sample.c - what a sample of sets keeps, against every byte of every
 * access looked at by itself; all builds of the loop against each other; texts of
 * headers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "trace/block_sample.h"

enum { COUNT = 1000 };

struct made {
    uint64_t addr[COUNT], meta[COUNT], pc[COUNT];
    struct rsc_event events[20];
    struct rsc_batch batch;
};

static void make(struct made *made, struct rsc_rng *rng) {
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t size = rsc_rng_below(rng, 50) ? (uint32_t)rsc_rng_below(rng, 17) : (uint32_t)rsc_rng_below(rng, 3000);
        made->addr[i] = rsc_rng_below(rng, 1 << 16);
        if (!rsc_rng_below(rng, 200)) made->addr[i] = UINT64_MAX - rsc_rng_below(rng, 300);
        made->meta[i] = rsc_meta(size, (enum rsc_kind)rsc_rng_below(rng, 3), (uint32_t)rsc_rng_below(rng, 5));
        made->pc[i] = i;
    }
    for (uint32_t e = 0; e < 20; e++)
        made->events[e] = (struct rsc_event){.at = e * 50, .type = RSC_EVENT_MARKER, .a = e};
    made->events[19].at = COUNT;
    made->batch = (struct rsc_batch){.count = COUNT,
                                     .addr = made->addr,
                                     .meta = made->meta,
                                     .pc = made->pc,
                                     .events = made->events,
                                     .event_count = 20,
                                     .instructions = 12345};
}

/* The parts kept, by going through all bytes of each access. */
static uint32_t slowly(const struct made *made, const struct rsc_block_sample *sample, uint64_t *addr, uint64_t *meta,
                       uint64_t *pc, uint32_t *before_event) {
    uint32_t count = 0, event = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t size = rsc_meta_size(made->meta[i]);
        uint64_t at = made->addr[i], left = size ? size : 1;
        while (event < 20 && made->events[event].at <= i) before_event[event++] = count;
        if (at + left - 1 < at) left = UINT64_MAX - at + 1;
        while (left) {
            uint64_t part = 0, from = at;
            do {
                at++;
                left--;
                part++;
            } while (left && at & ((1ull << sample->low) - 1));
            if (!rsc_block_sample_has(sample, from)) continue;
            addr[count] = from;
            meta[count] = (made->meta[i] & ~0xffffffffull) | (size ? part : 0);
            pc[count++] = i;
        }
    }
    while (event < 20) before_event[event++] = count;
    return count;
}

static void against_bytes(void **state) {
    (void)state;
    struct made *made = malloc(sizeof *made);
    uint64_t *addr = malloc(3 * 100000 * sizeof *addr), *meta = addr + 100000, *pc = meta + 100000;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 11, 0);
    for (int round = 0; round < 60; round++) {
        struct rsc_block_sample sample;
        uint32_t width = 1 + (uint32_t)rsc_rng_below(&rng, 9), low = 4 + (uint32_t)rsc_rng_below(&rng, 5);
        uint64_t values = round % 3 ? 1 : 1 + rsc_rng_below(&rng, 1ull << width);
        uint32_t before_event[20];
        assert_int_equal(rsc_block_sample_init(&sample, low, width, RSC_UNKNOWN, NULL), 0);
        for (uint64_t i = 0; i < values; i++) rsc_block_sample_add(&sample, rsc_rng_below(&rng, 1ull << width));
        make(made, &rng);
        uint32_t wanted = slowly(made, &sample, addr, meta, pc, before_event);
        uint64_t fetches = 0;
        for (uint32_t i = 0; i < COUNT; i++) fetches += rsc_meta_kind(made->meta[i]) == RSC_FETCH;
        for (int simd = 0; simd < RSC_SIMD_COUNT; simd++) {
            struct rsc_block_sampler sampler;
            struct rsc_batch out;
            if (!rsc_simd_available((enum rsc_simd)simd)) continue;
            rsc_block_sampler_start(&sampler, &sample, (enum rsc_simd)simd);
            assert_int_equal(rsc_block_sampler_take(&sampler, &made->batch, &out, NULL), 0);
            assert_int_equal(out.count, wanted);
            assert_memory_equal(out.addr, addr, wanted * sizeof *addr);
            assert_memory_equal(out.meta, meta, wanted * sizeof *meta);
            assert_memory_equal(out.pc, pc, wanted * sizeof *pc);
            assert_int_equal(out.event_count, 20);
            assert_int_equal(out.instructions, 12345);
            assert_int_equal(sampler.fetches, fetches);
            for (int e = 0; e < 20; e++) {
                assert_int_equal(out.events[e].at, before_event[e]);
                assert_int_equal(out.events[e].a, e);
            }
            rsc_block_sampler_free(&sampler);
        }
        rsc_block_sample_free(&sample);
    }
    free(addr);
    free(made);
}

static void texts(void **state) {
    (void)state;
    struct rsc_block_sample sample;
    char text[64];
    uint32_t low, width;
    uint64_t value;
    assert_int_equal(rsc_block_sample_init(&sample, 8, 9, 300, NULL), 0);
    assert_int_equal(rsc_block_sample_text(&sample, text, sizeof text), strlen("sets=8-16=300"));
    assert_string_equal(text, "sets=8-16=300");
    assert_int_equal(rsc_block_sample_parse(text, &low, &width, &value), 1);
    assert_int_equal(low, 8);
    assert_int_equal(width, 9);
    assert_int_equal(value, 300);
    assert_int_equal(rsc_block_sample_text(&sample, text, 5), 0);
    rsc_block_sample_add(&sample, 7);
    assert_int_equal(rsc_block_sample_text(&sample, text, sizeof text), 0);
    rsc_block_sample_free(&sample);
    assert_int_equal(rsc_block_sample_parse("", &low, &width, &value), 0);
    assert_int_equal(rsc_block_sample_parse("kinds=RW", &low, &width, &value), 0);
    assert_int_equal(rsc_block_sample_parse("kinds=RW, then sets=8-11=3", &low, &width, &value), 1);
    assert_true(low == 8 && width == 4 && value == 3);
    static const char *const bad[] = {"every=3, then sets=8-11=3",
                                      "sets=8-11=3, then every=4",
                                      "bits=0xf=0x1, then sets=8-11=3",
                                      "sets=8-11=3, then sets=12-13=0",
                                      "window=4+9, then sets=8-11=3",
                                      "sets=8-11=16",
                                      "sets=11-8=1",
                                      "sets=",
                                      "sets=8-99=1",
                                      "sets=1-40=1",
                                      "sets=8-11"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(rsc_block_sample_parse(bad[i], &low, &width, &value), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_bytes), cmocka_unit_test(texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
