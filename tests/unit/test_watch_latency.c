/*
 * test_watch_latency.c - latencies and data sources from generated ring buffers of both layouts to
 * the pairs of a profile, by the code that decodes, drains and estimates for real.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/perf/watch_drain.h"
#include "featherlight/featherlight.h"
#include "profile/profile_model.h"
#include "runtime/watch/perf_records.h"

#define LOADS 71u
#define STORES 72u
#define RING 8192u
#define FIRST 0x401000ull  /* the instruction that uses first */
#define SECOND 0x402000ull /* the one that uses again, 7 bytes long */
#define THIRD 0x402007ull  /* right behind it */

/* Of union perf_mem_data_src: what Linux makes of a load. */
#define SOURCE(bits, number, remote) ((uint64_t)(bits) << 5 | (uint64_t)(number) << 33 | (uint64_t)(remote) << 37)
#define FROM_L1 SOURCE(0x0a, 1, 0)
#define FROM_MEMORY SOURCE(0x82, 13, 0)
#define FROM_REMOTE SOURCE(0x102, 13, 1)

static const struct rsc_perf_layouts intel = {RSC_PERF_INTEL, 1, LOADS, STORES};
static const struct rsc_perf_layouts ibs = {RSC_PERF_AMD_IBS, 1, LOADS, 0};

/* The kernel's ring buffer, and the program's stream. */
static struct {
    uint8_t ring[RING];
    uint64_t head, tail, count;
    struct rsc_ring *area;
    struct rsc_featherlight *feather;
    struct rsc_watch_drain *drain;
} world;

static struct rsc_watch_stream *stream(void) { return &world.area->watch.streams[0]; }

static int set_up(void **state) {
    struct rsc_featherlight_options options = {.model = RSC_RI_AET};
    struct rsc_error error;
    (void)state;
    memset(&world, 0, sizeof world);
    world.head = world.tail = RING - 72; /* so that records wrap */
    world.area =
        mmap(NULL, sizeof *world.area, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(world.area != MAP_FAILED);
    world.area->watch.streams_used = 1;
    *stream() = (struct rsc_watch_stream){
        .state = RSC_SLOT_LIVE, .pid = 100, .tid = 101, .image = 1, .generation = 1, .registers = 4};
    assert_int_equal(rsc_featherlight_new(&world.feather, &options, &error), 0);
    return rsc_watch_drain_new(&world.drain, world.area, &error);
}

static int tear_down(void **state) {
    (void)state;
    rsc_watch_drain_free(world.drain);
    rsc_featherlight_free(world.feather);
    munmap(world.area, sizeof *world.area);
    return 0;
}

/* What the kernel writes for one sample. */
static void sampled(const struct rsc_perf_layouts *layouts, uint64_t id, uint64_t ip, uint64_t weight,
                    uint64_t source) {
    uint64_t words[40] = {0}, used = 1, count = world.count += 1000;
    const uint64_t fixed[] = {id, ip, 4321ull << 32 | 1234, 99, layouts->layout == RSC_PERF_INTEL ? 0x7f0000001238 : 0};
    memcpy(words + used, fixed, sizeof fixed);
    used += 5;
    if (layouts->layout == RSC_PERF_INTEL) {
        const uint64_t group[] = {2, 500, 500, count, LOADS, 0, STORES};
        memcpy(words + used, group, sizeof group);
        used += 7;
    } else {
        const uint64_t group[] = {1, 500, 500, count, LOADS};
        memcpy(words + used, group, sizeof group);
        used += 5;
        words[used++] = (4 + 8 * 7) | 0x81ffull << 32;
        const uint64_t registers[7] = {0, ip, 0, 0, 1ull << 17 | 1 | weight << 32, 0x7f0000001238, 0};
        memcpy(words + used, registers, sizeof registers);
        used += 7;
    }
    words[used++] = layouts->layout == RSC_PERF_INTEL ? weight : 0;
    words[used++] = source;
    struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)(8 * used)};
    memcpy(words, &header, sizeof header);
    for (uint64_t i = 0; i < 8 * used; i++) world.ring[(world.head + i) % RING] = ((uint8_t *)words)[i];
    world.head += 8 * used;
}

static void put(const uint64_t *words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) stream()->words[stream()->written++ % RSC_WATCH_WORDS] = words[i];
}

/* What the program makes of the ring: a record for each sample, as perf_preload.c writes it; register 0, reused by `hit`. */
static void record(const struct rsc_perf_layouts *layouts, uint64_t hit) {
    uint64_t words[RSC_PERF_RECORD_MAX / 8], lost = 0;
    struct rsc_perf_sample sample;
    uint32_t bytes;
    while ((bytes = rsc_perf_ring_next(world.ring, RING, world.head, &world.tail, words))) {
        assert_int_equal(rsc_perf_decode(layouts, words, bytes, &sample, &lost), RSC_PERF_SAMPLE);
        uint64_t use[RSC_WATCHED_USE_WORDS] = {rsc_watch_head(RSC_WATCHED_USE, 0, 0, RSC_WATCHED_USE_WORDS, 0),
                                               sample.count,
                                               1000,
                                               sample.ip,
                                               sample.address & ~7ull,
                                               1,
                                               rsc_watch_bits(1),
                                               0,
                                               0,
                                               rsc_watch_cost(sample.latency, rsc_perf_source(sample.source))};
        put(use, RSC_WATCHED_USE_WORDS);
        uint64_t reuse[RSC_WATCHED_HIT_WORDS_RESOLVED] = {
            rsc_watch_head(RSC_WATCHED_HIT, 0, RSC_WATCH_RESOLVED, RSC_WATCHED_HIT_WORDS_RESOLVED, 0),
            sample.count + 10,
            0,
            rsc_watch_bits(1),
            0,
            0,
            hit};
        put(reuse, RSC_WATCHED_HIT_WORDS_RESOLVED);
    }
    assert_int_equal(world.tail, world.head);
}

static struct rsc_profile *finish(void) {
    struct rsc_profile *profile;
    const struct rsc_watch_record *records;
    size_t count;
    struct rsc_error error;
    stream()->state = RSC_SLOT_ENDED;
    stream()->position = world.count + 100;
    assert_int_equal(rsc_watch_drain_take(world.drain, 1, &records, &count, &error), 0);
    assert_int_equal(rsc_featherlight_take(world.feather, records, count, &error), 0);
    assert_int_equal(rsc_featherlight_finish(world.feather, &profile, &error), 0);
    assert_int_equal(rsc_watch_drain_fill(world.drain, profile), 0);
    return profile;
}

static const struct rsc_pair_row *pair_of(const struct rsc_profile *profile, uint64_t use, uint64_t reuse) {
    for (size_t i = 0; i < profile->pair_count; i++)
        if (profile->pairs[i].use.pc == use && profile->pairs[i].reuse.pc == reuse) return &profile->pairs[i];
    fail_msg("no such pair");
    return NULL;
}

static int is_near(double a, double b) { return a - b < 1e-9 && b - a < 1e-9; }

/* The first instruction's samples are reused by the second, whose own samples say what that takes. */
static void check(const struct rsc_perf_layouts *layouts) {
    uint64_t middle = SECOND + 6; /* a trap tells where the next instruction begins */
    for (int i = 0; i < 3; i++) sampled(layouts, LOADS, FIRST, 4, FROM_L1);
    record(layouts, middle);
    sampled(layouts, LOADS, SECOND, 300, FROM_MEMORY);
    sampled(layouts, LOADS, SECOND, 500, FROM_REMOTE);
    sampled(layouts, LOADS, SECOND, 0, FROM_MEMORY); /* its latency is not known, its source is */
    sampled(layouts, LOADS, SECOND, 100, 0); /* the other way round */
    record(layouts, FIRST);
    sampled(layouts, LOADS, THIRD, 9, FROM_L1);
    record(layouts, 0x500000); /* an instruction that was never sampled */
    struct rsc_profile *profile = finish();
    const struct rsc_pair_row *pair = pair_of(profile, FIRST, middle);
    assert_true(is_near(pair->latency, 300));
    assert_int_equal(pair->latency_samples, 3);
    assert_true(is_near(pair->sources[RSC_SOURCE_MEMORY], 2.0 / 3) &&
                is_near(pair->sources[RSC_SOURCE_REMOTE], 1.0 / 3));
    pair = pair_of(profile, SECOND, FIRST);
    assert_true(is_near(pair->latency, 4) && is_near(pair->sources[RSC_SOURCE_L1], 1));
    pair = pair_of(profile, THIRD, 0x500000);
    assert_true(pair->latency == 0 && !pair->latency_samples);
    for (int i = 0; i < RSC_SOURCES; i++) assert_true(pair->sources[i] == 0);
    rsc_profile_free(profile);
}

static void test_intel(void **state) {
    (void)state;
    check(&intel);
}

static void test_ibs(void **state) {
    (void)state;
    check(&ibs);
}

static void test_sources(void **state) {
    static const struct {
        uint64_t source;
        enum rsc_data_source means;
    } known[] = {
        {0, RSC_SOURCE_UNKNOWN},
        {SOURCE(0x01, 15, 0), RSC_SOURCE_UNKNOWN}, /* not available */
        {SOURCE(0x0a, 0, 0), RSC_SOURCE_L1}, /* the older field alone */
        {SOURCE(0x12, 0, 0), RSC_SOURCE_BUFFER},
        {SOURCE(0x22, 0, 0), RSC_SOURCE_L2},
        {SOURCE(0x42, 0, 0), RSC_SOURCE_L3},
        {SOURCE(0x82, 0, 0), RSC_SOURCE_MEMORY},
        {SOURCE(0x202, 0, 0), RSC_SOURCE_REMOTE},
        {SOURCE(0x802, 0, 0), RSC_SOURCE_REMOTE},
        {SOURCE(0x1002, 0, 0), RSC_SOURCE_OTHER},
        {SOURCE(0x44, 0, 0), RSC_SOURCE_UNKNOWN}, /* L3 missed: who had it is not said */
        {SOURCE(0x44, 3, 0), RSC_SOURCE_UNKNOWN},
        {SOURCE(0x02, 12, 0), RSC_SOURCE_BUFFER}, /* the newer alone */
        {SOURCE(0x02, 3, 0), RSC_SOURCE_L3},
        {SOURCE(0x02, 3, 1), RSC_SOURCE_REMOTE},
        {SOURCE(0x02, 9, 0), RSC_SOURCE_MEMORY},
        {SOURCE(0x02, 10, 0), RSC_SOURCE_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(rsc_perf_source(known[i].source), known[i].means);
    assert_int_equal(rsc_watch_cost_cycles(rsc_watch_cost(1ull << 40, RSC_SOURCE_L3)), UINT32_MAX);
    assert_int_equal(rsc_watch_cost_source(rsc_watch_cost(1ull << 40, RSC_SOURCE_L3)), RSC_SOURCE_L3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_intel, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_ibs, set_up, tear_down),
                                       cmocka_unit_test(test_sources)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
