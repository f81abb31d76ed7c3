/*
 * test_watch_drain.c - streams as watched programs leave them become samples and endings:
 * positions from countdowns in memory and in registers, words from accesses, ranges,
 * reuses by calls, inserted code, lost records, threads that end, and any words at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "collect/perf/watch_drain.h"
#include "profile/profile_model.h"
#include "runtime/pieces/asm_abi.h"

#define TABLES 0x10000ull /* in the program */
#define CODE 0x20000ull

static struct {
    struct rsc_ring *ring;
    struct rsc_watch_drain *drain;
    struct rsc_watch_sample samples[64];
    struct rsc_watch_end ends[64];
    uint32_t sample_count, end_count;
    uint64_t references, accesses;
} world;

static struct rsc_watch_stream *stream(void) { return &world.ring->watch.streams[0]; }

/* Two pieces: at CODE three accesses of 8 bytes, instructions of 4 bytes, the countdown in memory; at CODE + 64 two of 16 with it in r11. */
static void put_tables(void) {
    struct {
        struct rsc_asm_block one;
        struct rsc_asm_entry first[3];
        struct rsc_asm_block other;
        struct rsc_asm_entry second[2];
    } tables = {{(int32_t)(CODE - TABLES), 12, 4, 3, 4, 0, RSC_ASM_ABI, 4},
                {{0, 0, RSC_ASM_PLAIN, RSC_ASM_READS, 1, 0, 0, 8, 1, 0},
                 {4, 1, RSC_ASM_PLAIN, RSC_ASM_READS, 2, 0, 0, 8, 1, 0},
                 {8, 2, RSC_ASM_PLAIN, RSC_ASM_WRITES, 3, 0, 0, 8, 1, 0}},
                {0, 8, 3, 2, 3, 12 << RSC_ASM_COUNTER_SHIFT, RSC_ASM_ABI, 3},
                {{0, 0, RSC_ASM_PLAIN, RSC_ASM_READS, 1, 0, 0, 16, 1, 0},
                 {4, 1, RSC_ASM_PLAIN, RSC_ASM_WRITES, 2, 0, 0, 16, 1, 0}}};
    struct rsc_asm_module module = {TABLES, TABLES + sizeof tables, 0};
    tables.other.pc = (int32_t)(CODE + 64 - (TABLES + ((char *)&tables.other - (char *)&tables)));
    memcpy(world.ring->plans, &tables, sizeof tables);
    world.ring->plan_words = sizeof tables / 8;
    assert_true(rsc_ring_note(world.ring, RSC_NOTE_MODULE, rsc_process_id(1, 100), &module, sizeof module) > 0);
}

static int set_up(void **state) {
    struct rsc_error error;
    (void)state;
    memset(&world, 0, sizeof world);
    world.ring =
        mmap(NULL, sizeof *world.ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(world.ring != MAP_FAILED);
    world.ring->watch.streams_used = 1;
    *stream() = (struct rsc_watch_stream){
        .state = RSC_SLOT_LIVE, .pid = 100, .tid = 101, .image = 1, .generation = 1, .registers = 4};
    put_tables();
    return rsc_watch_drain_new(&world.drain, world.ring, &error);
}

static int tear_down(void **state) {
    (void)state;
    rsc_watch_drain_free(world.drain);
    munmap(world.ring, sizeof *world.ring);
    return 0;
}

static void put(const uint64_t *words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) stream()->words[stream()->written++ % RSC_WATCH_WORDS] = words[i];
}

static void put_use(uint32_t reg, uint64_t position, uint64_t address, uint64_t words, uint64_t accesses,
                    uint64_t all_words, uint32_t flags) {
    uint64_t record[RSC_WATCHED_USE_WORDS + 2] = {
        rsc_watch_head(RSC_WATCHED_USE, reg, flags, RSC_WATCHED_USE_WORDS + 2, 2),
        position,
        1000,
        CODE,
        address,
        words | accesses << 16 | all_words << 32,
        rsc_watch_bits(0.5),
        0,
        0,
        0,
        0x30005,
        0x40005};
    put(record, RSC_WATCHED_USE_WORDS + 2);
}

/* The countdown would be zero at `reach` and stands at `counter`; r11 and the stack pointer as given. */
static void put_hit(uint32_t reg, uint64_t reach, uint64_t counter, uint64_t r11, uint64_t stack, uint64_t pc) {
    uint64_t record[RSC_WATCHED_HIT_WORDS] = {rsc_watch_head(RSC_WATCHED_HIT, reg, 0, RSC_WATCHED_HIT_WORDS, 0),
                                              reach,
                                              counter,
                                              rsc_watch_bits(0.25),
                                              0,
                                              0,
                                              pc};
    record[RSC_WATCHED_HIT_GENERAL + 11] = r11;
    record[RSC_WATCHED_HIT_GENERAL + 4] = stack;
    put(record, RSC_WATCHED_HIT_WORDS);
}

static void take(int ended) {
    const struct rsc_watch_record *records;
    size_t count;
    struct rsc_error error;
    assert_int_equal(rsc_watch_drain_take(world.drain, ended, &records, &count, &error), 0);
    for (size_t i = 0; i < count; i++) {
        if (records[i].type == RSC_WATCH_RECORD_SAMPLE && world.sample_count < 64)
            world.samples[world.sample_count++] = records[i].sample;
        else if (records[i].type == RSC_WATCH_RECORD_END && world.end_count < 64)
            world.ends[world.end_count++] = records[i].end;
        else if (records[i].type == RSC_WATCH_RECORD_PROGRESS) {
            world.references = records[i].progress.references;
            world.accesses = records[i].progress.accesses;
        }
    }
}

static void test_positions(void **state) {
    (void)state;
    put_use(0, 100, 0x5000, 1, 3, 3, 0);
    /* Behind the second access of the first piece, which was counted whole: 3 accesses up to 1000 - 700, this is the second of them. */
    put_hit(0, 1000, 700, 0, 0x9000, CODE + 8);
    put_use(1, 400, 0x6000, 1, 3, 3, 0);
    /* Behind the last access, right before what was inserted: in it too. */
    put_hit(1, 1000, 500, 0, 0x9000, CODE + 12);
    put_use(2, 600, 0x7000, 1, 3, 3, 0);
    put_hit(2, 1000, 300, 0, 0x7000, 0x777777); /* a call that pushed there: the last of its piece */
    put_use(3, 700, 0x7000, 1, 3, 3, 0);
    put_hit(3, 1000, 200, 0, 0x9000, CODE + 40); /* between the pieces: inserted */
    take(0);
    assert_int_equal(world.sample_count, 4);
    assert_int_equal(world.samples[0].count, 101);
    assert_int_equal(world.samples[0].stands_for, 1000);
    assert_int_equal(world.end_count, 4);
    assert_int_equal(world.ends[0].count, 300 - 3 + 1 + 1);
    assert_int_equal(world.ends[0].pc, CODE + 4);
    assert_int_equal(world.ends[0].ending, RSC_WATCH_REUSED);
    assert_true(world.ends[0].chance == 0.25);
    assert_int_equal(world.ends[1].count, 500 - 3 + 2 + 1);
    assert_int_equal(world.ends[2].count, 700 - 1 + 1);
    assert_int_equal(world.ends[3].ending, RSC_WATCH_REPLACED);
}

/* 16 bytes are two words; the countdown is in r11. */
static void test_words(void **state) {
    (void)state;
    put_use(0, 100, 0x5000, 2, 2, 4, 0);
    put_hit(0, 1000, 12345678, 700, 0x9000, CODE + 64 + 4);
    take(0);
    assert_int_equal(world.samples[0].count, 201);
    assert_int_equal(world.samples[0].stands_for, 2000);
    assert_int_equal(world.ends[0].count, 2 * (300 - 2) + 1);
}

static void test_endings(void **state) {
    uint64_t end[RSC_WATCHED_END_WORDS] = {rsc_watch_head(RSC_WATCHED_END, 1, 0, RSC_WATCHED_END_WORDS, 0), 900,
                                           rsc_watch_bits(0.125), 0, 0};
    (void)state;
    put_use(0, 10, 0x5000, 1, 1, 1, 0);
    put_use(0, 20, 0x6000, 1, 1, 1, RSC_WATCH_TOOK); /* gives way */
    put_use(0, 30, 0x7000, 1, 1, 1, 0); /* the record of the trap before was dropped */
    put_use(1, 40, 0x8000, 1, 1, 1, 0);
    put(end, RSC_WATCHED_END_WORDS);
    put_use(RSC_WATCH_NO_REGISTER, 50, 0x8000, 1, 1, 1, 0);
    put_hit(2, 1000, 0, 0, 0x9000, CODE + 8); /* of a use that was dropped */
    stream()->position = 1000;
    stream()->state = RSC_SLOT_ENDED;
    take(0);
    assert_int_equal(world.sample_count, 5);
    assert_int_equal(world.samples[4].slot, RSC_NO_SLOT);
    assert_int_equal(world.end_count, 4);
    assert_int_equal(world.ends[0].ending, RSC_WATCH_REPLACED);
    assert_int_equal(world.ends[1].ending, RSC_WATCH_DROPPED);
    assert_int_equal(world.ends[2].ending, RSC_WATCH_UNUSED);
    assert_int_equal(world.ends[2].count, 900);
    assert_int_equal(world.ends[3].ending,
                     RSC_WATCH_DROPPED); /* the thread's end reports all watches: no room for it */
    assert_int_equal(world.ends[3].slot, 0);
    assert_int_equal(world.accesses, 1000);
    assert_int_equal(world.references, 1000);
    assert_int_equal(stream()->state, RSC_SLOT_FREE);
}

static void test_paths(void **state) {
    struct rsc_profile *profile = rsc_profile_new();
    (void)state;
    put_use(0, 10, 0x5000, 1, 1, 1, 0);
    put_use(1, 20, 0x5000, 1, 1, 1, 0);
    take(1);
    assert_int_equal(world.samples[0].path, world.samples[1].path);
    assert_int_equal(world.samples[0].context, world.samples[1].context);
    assert_int_equal(rsc_watch_drain_fill(world.drain, profile), 0);
    assert_int_equal(profile->context_count, 2);
    assert_int_equal(profile->contexts[world.samples[0].path].place.pc, 0x30004); /* of the call, innermost */
    assert_int_equal(profile->contexts[0].place.pc, 0x40004);
    assert_int_equal(profile->contexts[0].parent, RSC_NO_CONTEXT);
    rsc_profile_free(profile);
}

/* Whatever a program writes there: no crash, no end that comes before its sample. */
static void test_any_words(void **state) {
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 5, 0);
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 500; i++) {
            uint64_t word = rsc_rng_u64(&rng);
            if (rsc_rng_below(&rng, 3) == 0)
                word = rsc_watch_head((uint32_t)rsc_rng_below(&rng, 5), (uint32_t)rsc_rng_below(&rng, 6),
                                      (uint32_t)word & 0xff, (uint32_t)rsc_rng_below(&rng, 80),
                                      (uint32_t)rsc_rng_below(&rng, 90));
            put(&word, 1);
        }
        if (rsc_rng_below(&rng, 10) == 0) stream()->written += rsc_rng_u64(&rng);
        take(0);
        world.sample_count = world.end_count = 0;
    }
}

/* A thread that was killed: its watches end where it had got to, with the chances that it left. */
static void test_killed(void **state) {
    (void)state;
    put_use(0, 100, 0x5000, 1, 1, 1, 0);
    put_use(2, 200, 0x6000, 1, 1, 1, 0);
    put_hit(0, 1000, 700, 0, 0x9000, CODE + 8);
    stream()->position = 5000;
    stream()->chances[2] = rsc_watch_bits(0.125);
    take(0);
    assert_int_equal(world.end_count, 1);
    take(1);
    assert_int_equal(world.end_count, 2);
    assert_int_equal(world.ends[1].slot, 2);
    assert_int_equal(world.ends[1].ending, RSC_WATCH_UNUSED);
    assert_int_equal(world.ends[1].count, 5000);
    assert_true(world.ends[1].chance == 0.125);
    assert_int_equal(world.accesses, 5000);
    assert_int_equal(world.references, 5000);
}

/* What no program can have made is left out and counted; the sums of all threads are numbers that a profile holds. */
static void test_bounds(void **state) {
    struct rsc_watch_stats stats;
    (void)state;
    put_use(0, 100, 0x5000, 1, 1, 1, 0);
    put_use(1, 1ull << 60, 0x6000, 1, 1, 1, 0);
    put_use(2, 150, 0x6000, 1, 1, 1, 0);
    take(0);
    assert_int_equal(world.samples[1].count, 101); /* where it was last */
    assert_int_equal(world.samples[2].count, 151);
    stream()->position = ~0ull;
    stream()->samples = stream()->busy_ns = stream()->hits = ~0ull;
    stream()->state = RSC_SLOT_ENDED;
    take(0);
    assert_int_equal(world.accesses, 150);
    assert_int_equal(world.references, 150);
    for (uint64_t i = 0; i < 100; i++) { /* as much as one thread can have, in each of 100 */
        stream()->state = RSC_SLOT_LIVE;
        stream()->generation++;
        stream()->position = 1ull << 53;
        take(1);
    }
    rsc_watch_drain_stats(world.drain, &stats);
    assert_true(stats.accesses > 1ull << 55 && stats.accesses <= 1ull << 56);
    assert_true(stats.samples == INT64_MAX && stats.busy_ns == INT64_MAX && stats.hits == INT64_MAX);
    assert_true(stats.corrupt > 90);
}

/* A program that says that the tool is one of its threads, or no process is. */
static void test_living(void **state) {
    const pid_t named[] = {getpid(), getppid(), 1, 0, -1};
    (void)state;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        stream()->pid = stream()->tid = (uint32_t)named[i];
        assert_int_equal(rsc_watch_drain_living(world.drain), 0);
    }
    pid_t child = fork();
    if (child == 0) pause();
    stream()->pid = stream()->tid = (uint32_t)child;
    assert_int_equal(rsc_watch_drain_living(world.drain), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT), 0);
    assert_int_equal(rsc_watch_drain_living(world.drain), 0); /* nobody has waited for it yet */
    waitpid(child, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_positions, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_words, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_endings, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_bounds, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_living, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_any_words, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
