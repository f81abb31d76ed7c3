/*
 * test_rsct.c - the native format: what is written comes back, whatever its
 * shape and however it is pushed, from a file and from a pipe; what the header
 * and the totals say; seeking. Damage is in test_rsct_damage.c, limits in
 * test_rsct_limits.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "scratch_folder.h"
#include "trace/native/rsct_format.h"
#include "trace/source.h"
#include "whole_trace.h"

static const uint32_t odd_steps[] = {1, 2, 0, 5, 16384, 3, 16385, 16383, 0, 0, 40000, 77};
#define ODD_STEPS (uint32_t)(sizeof odd_steps / sizeof *odd_steps)

static void write_plain(const struct whole_trace *trace, const char *path, uint32_t frame_accesses) {
    struct rsc_trace_writer_options options = whole_options("rsct", frame_accesses);
    whole_write(trace, path, &options, NULL, 0);
}

/* Writes the trace in one batch and in odd ones, and reads both back. */
static void round_trip(const struct whole_trace *trace, uint32_t frame_accesses) {
    const char *path = scratch_path("trace.rsct");
    struct rsc_trace_writer_options options = whole_options("rsct", frame_accesses);
    for (int odd = 0; odd < 2; odd++) {
        struct whole_trace got;
        whole_write(trace, path, &options, odd ? odd_steps : NULL, ODD_STEPS);
        whole_read(&got, path, NULL);
        assert_same_trace(&got, trace);
        assert_int_equal(got.before.accesses, trace->count);
        assert_int_equal(got.after.accesses, trace->count);
        assert_int_equal(got.after.full_accesses, trace->count);
        assert_true(got.before.instructions == got.after.instructions);
        if (trace->count) assert_true(got.after.instructions == trace->instructions);
        assert_int_equal(got.after.lost_frames + got.after.lost_bytes, 0);
        assert_int_equal(got.before.has_pc, trace->has_pc && trace->count);
        whole_free(&got);
    }
}

/* A trace of `count` accesses of a few kinds, sizes and threads, walking about. */
static struct whole_trace usual_trace(uint64_t count, uint64_t seed) {
    struct whole_trace trace = {.has_pc = 1, .instructions = count * 3 + 1};
    struct rsc_rng rng;
    uint64_t addr = 0x7f0000001000;
    rsc_rng_seed(&rng, seed, 0);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t thread = (uint32_t)(i / 13 % 3);
        addr += rsc_rng_below(&rng, 5) ? 8 : rsc_rng_u64(&rng) >> rsc_rng_below(&rng, 60);
        whole_add(&trace, addr, rsc_meta(1u << rsc_rng_below(&rng, 4), (enum rsc_kind)rsc_rng_below(&rng, 3), thread),
                  0x401000 + rsc_rng_below(&rng, 50) * 4);
    }
    return trace;
}

static void every_length_around_a_frame(void **state) {
    (void)state;
    static const uint32_t frames[] = {1, 7, 100, 20000};
    for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
        const uint64_t counts[] = {0, 1, 2, frames[f] - 1, frames[f], frames[f] + 1, 3 * frames[f], 3 * frames[f] + 2};
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct whole_trace trace = usual_trace(counts[c], c);
            round_trip(&trace, frames[f]);
            whole_free(&trace);
        }
    }
}

static void every_length_around_a_batch(void **state) {
    (void)state;
    for (int64_t off = -1; off <= 1; off++) {
        struct whole_trace trace = usual_trace((uint64_t)(2 * RSC_BATCH_ACCESSES + off), 5);
        round_trip(&trace, 0);
        whole_free(&trace);
        trace = usual_trace(3 * RSC_BATCH_ACCESSES, 6);
        round_trip(&trace, (uint32_t)(RSC_BATCH_ACCESSES + off));
        whole_free(&trace);
    }
}

static void sizes_of_all_lengths(void **state) {
    (void)state;
    static const uint32_t sizes[] = {0, 1, 255, 256, 257, 65535, 65536, 1u << 31, UINT32_MAX};
    struct whole_trace trace = {.instructions = RSC_UNKNOWN};
    for (uint32_t i = 0; i < 500; i++)
        whole_add(&trace, i * 64, rsc_meta(sizes[i * 7 % 9], (enum rsc_kind)(i % 3), i % 2), 0);
    round_trip(&trace, 0);
    round_trip(&trace, 7);
    whole_free(&trace);
}

/* More than the 232 codes that fit the dictionary. */
static void more_combinations_than_codes(void **state) {
    (void)state;
    struct whole_trace trace = {.instructions = 77};
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t size = 0; size < 300; size += 1 + round)
            for (uint32_t shift = 0; shift < 64; shift += 5)
                whole_add(&trace, (uint64_t)size << shift, rsc_meta(size, (enum rsc_kind)(size % 3), 0), 0);
    round_trip(&trace, 0);
    round_trip(&trace, 1000);
    whole_free(&trace);
}

/* Deltas of random lines hardly shrink: they are stored as they are, unless a high level asks for a small file. */
static void what_hardly_shrinks_is_stored(void **state) {
    (void)state;
    struct whole_trace trace = {0};
    struct rsc_rng rng;
    uint64_t bytes[2];
    rsc_rng_seed(&rng, 12, 0);
    for (uint32_t i = 0; i < 300000; i++)
        whole_add(&trace, rsc_rng_below(&rng, 1u << 20) * 64, rsc_meta(8, RSC_READ, 0), 0);
    for (int high = 0; high < 2; high++) {
        const char *path = scratch_path("random.rsct");
        struct rsc_trace_writer_options options = whole_options("rsct", 100000);
        struct whole_trace got;
        options.level = high ? RSCT_LEVEL + 1 : 0;
        whole_write(&trace, path, &options, NULL, 0);
        whole_read(&got, path, NULL);
        assert_same_trace(&got, &trace);
        bytes[high] = got.after.file_bytes;
        whole_free(&got);
    }
    assert_true(bytes[0] > bytes[1] && bytes[0] < bytes[1] + bytes[1] / 3);
    whole_free(&trace);
}

static void addresses_at_the_ends(void **state) {
    (void)state;
    static const uint64_t ends[] = {0, UINT64_MAX, 1, 1ull << 63, INT64_MAX, 0, (1ull << 63) + 1, UINT64_MAX - 1};
    struct whole_trace trace = {.instructions = 0};
    for (uint32_t i = 0; i < 300; i++)
        whole_add(&trace, ends[i * 5 % 8], rsc_meta(8, (enum rsc_kind)(i / 2 % 3), i / 100), ends[i % 8]);
    for (int bits = 0; bits < 64; bits++) { /* deltas of every length, up and down */
        whole_add(&trace, 1ull << bits, rsc_meta(UINT32_MAX, RSC_FETCH, 0), 1);
        whole_add(&trace, 0 - (1ull << bits), rsc_meta(4, RSC_FETCH, 0), 1);
    }
    trace.has_pc = 1;
    round_trip(&trace, 0);
    round_trip(&trace, 3);
    whole_free(&trace);
}

static void threads_with_sparse_numbers(void **state) {
    (void)state;
    for (uint32_t count = 1; count <= 300; count = count * 7 / 3 + 1) {
        struct whole_trace trace = {.instructions = 9};
        for (uint32_t i = 0; i < 2000; i++)
            whole_add(&trace, 64 * i, rsc_meta(4, RSC_READ, i % 37 % count * (1 + i % 2 * 40)), 0);
        round_trip(&trace, 0); /* numbers are their own tids */
        trace.thread_count = 300 * 41 + 1;
        trace.threads = calloc(trace.thread_count, sizeof *trace.threads);
        for (uint32_t i = 0; i < trace.thread_count; i++)
            trace.threads[i] = (struct rsc_thread){UINT64_MAX - i, (uint64_t)i << 40};
        round_trip(&trace, 100);
        whole_free(&trace);
    }
}

static void the_last_thread_number(void **state) {
    (void)state;
    struct whole_trace trace = {.instructions = 1};
    whole_add(&trace, 1, rsc_meta(1, RSC_READ, RSC_THREADS_MAX - 1), 0);
    round_trip(&trace, 0);
    whole_free(&trace);

    struct rsc_trace_writer *writer;
    struct rsc_error error;
    uint64_t addr = 0, meta = rsc_meta(1, RSC_READ, RSC_THREADS_MAX);
    const struct rsc_event event = {.type = RSC_EVENT_MARKER, .thread = UINT32_MAX};
    struct rsc_batch batch = {.count = 1, .addr = &addr, .meta = &meta, .instructions = 0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("trace.rsct"), NULL, &error), 0);
        assert_int_equal(rsc_trace_writer_push(writer, &batch, &error), RSC_ELIMIT);
        assert_int_equal(rsc_trace_writer_finish(writer, &error), RSC_ELIMIT);
        rsc_trace_writer_close(writer);
        batch = (struct rsc_batch){.event_count = 1, .events = &event};
    }
}

static void pcs_of_every_width(void **state) {
    (void)state;
    static const uint32_t distinct[] = {1, 2, 256, 257, 65536, 65537, 70000};
    for (size_t d = 0; d < sizeof distinct / sizeof *distinct; d++) {
        struct whole_trace trace = {.has_pc = 1, .instructions = 5};
        for (uint64_t i = 0; i < 2 * distinct[d] + 1; i++) {
            uint64_t n = i * 40503 % distinct[d];
            whole_add(&trace, i, rsc_meta(1, RSC_READ, 0), n % 2 ? UINT64_MAX - n : n * 0x10001);
        }
        round_trip(&trace, 0);
        whole_free(&trace);
    }
}

static void pcs_can_be_dropped(void **state) {
    (void)state;
    struct whole_trace trace = usual_trace(100, 1), got;
    struct rsc_trace_writer_options options = whole_options("rsct", 30);
    options.pcs = 0;
    whole_write(&trace, scratch_path("trace.rsct"), &options, NULL, 0);
    whole_read(&got, scratch_path("trace.rsct"), NULL);
    assert_int_equal(got.before.has_pc, 0);
    trace.has_pc = 0;
    assert_same_trace(&got, &trace);
    whole_free(&trace);
    whole_free(&got);
}

/* A recording opens with what is mapped, then come the accesses and their pcs. */
static void events_before_the_first_pc_do_not_cost_the_pcs(void **state) {
    (void)state;
    struct whole_trace trace = {.has_pc = 1, .instructions = 40}, got;
    whole_add_event(&trace, RSC_EVENT_MAP, 0, 0x400000, 0x1000, NULL, 30);
    for (uint32_t i = 0; i < 40; i++) whole_add(&trace, i, rsc_meta(4, RSC_READ, 0), 0x400000 + i);
    static const uint32_t steps[] = {0, 10};
    struct rsc_trace_writer_options options = whole_options("rsct", 16);
    whole_write(&trace, scratch_path("trace.rsct"), &options, steps, 2);
    whole_read(&got, scratch_path("trace.rsct"), NULL);
    assert_int_equal(got.before.has_pc, 1);
    assert_same_trace(&got, &trace);
    whole_free(&trace);
    whole_free(&got);
}

static void events_of_all_kinds_everywhere(void **state) {
    (void)state;
    static const uint32_t lengths[] = {0, 1, 8, 127, 128, 4096, 65535};
    static const uint32_t frames[] = {0, 1, 7, 50};
    struct whole_trace trace = {.instructions = 1000};
    for (uint32_t i = 0; i <= 300; i++) {
        uint32_t events = i == 0 || i == 300 ? 9 : i % 7 == 0 || i % 50 == 49 ? i % 4 : 0;
        for (uint32_t e = 0; e < events; e++)
            whole_add_event(&trace, (uint16_t)(1 + (i + e) % 11), (i * 31 + e) % 500, UINT64_MAX >> (i % 64),
                            (uint64_t)e << (i % 64), NULL, (uint16_t)lengths[(i + e) % 7]);
        if (i < 300) whole_add(&trace, i * 4096, rsc_meta(8, (enum rsc_kind)(i % 3), i % 5), 0);
    }
    for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) round_trip(&trace, frames[f]);
    trace.thread_count = 500;
    trace.threads = calloc(trace.thread_count, sizeof *trace.threads);
    for (uint32_t i = 0; i < 500; i++) trace.threads[i] = (struct rsc_thread){7, 1000 + i};
    round_trip(&trace, 7); /* threads that only have events are told too */
    whole_free(&trace);
}

static void events_alone(void **state) {
    (void)state;
    struct whole_trace trace = {.instructions = 0};
    for (uint32_t i = 0; i < 1000; i++)
        whole_add_event(&trace, RSC_EVENT_MARKER, i % 3, i, 0, NULL, (uint16_t)(i * 13 % 100));
    round_trip(&trace, 0);
    round_trip(&trace, 1);
    trace.instructions = 12345;
    round_trip(&trace, 0);
    whole_free(&trace);
}

/* More than fit a frame, by bytes: at the start, among the accesses and at the end. */
static void more_events_than_a_frame_holds(void **state) {
    (void)state;
    struct whole_trace trace = {.instructions = 1};
    for (uint32_t place = 0; place < 3; place++) {
        for (uint32_t i = 0; i < 200; i++) whole_add_event(&trace, RSC_EVENT_ALLOC, 0, i, place, NULL, 65535);
        if (place < 2) whole_add(&trace, place, rsc_meta(1, RSC_READ, 0), 0);
    }
    round_trip(&trace, 0);
    whole_free(&trace);
}

static void more_events_than_a_frame_counts(void **state) {
    (void)state;
    struct whole_trace trace = {.instructions = 1};
    for (uint32_t i = 0; i < RSCT_EVENTS_MAX + 10; i++) whole_add_event(&trace, RSC_EVENT_TIME, 0, 0, 0, NULL, 0);
    whole_add(&trace, 1, rsc_meta(1, RSC_READ, 0), 0);
    write_plain(&trace, scratch_path("trace.rsct"), 0);
    struct whole_trace got;
    whole_read(&got, scratch_path("trace.rsct"), NULL);
    assert_int_equal(got.status, 0);
    assert_int_equal(got.event_count, trace.event_count);
    assert_int_equal(got.after.frames, 2);
    whole_free(&got);
    whole_free(&trace);
}

static void instructions_that_nobody_knows(void **state) {
    (void)state;
    struct whole_trace trace = usual_trace(500, 3);
    trace.instructions = RSC_UNKNOWN;
    round_trip(&trace, 100);
    trace.instructions = UINT64_MAX - 1;
    round_trip(&trace, 100);
    trace.instructions = 0;
    round_trip(&trace, 100);
    whole_free(&trace);
}

/* A filter may leave nothing of a batch but its instructions. */
static void instructions_without_accesses_count(void **state) {
    (void)state;
    uint64_t addr = 5, meta = rsc_meta(1, RSC_READ, 0);
    const struct rsc_batch empty = {.instructions = 100};
    const struct rsc_batch one = {.count = 1, .addr = &addr, .meta = &meta, .instructions = 10};
    const struct rsc_batch unknown = {.instructions = RSC_UNKNOWN};
    const struct rsc_batch *const pushed[] = {&empty, &one, &empty, &one, &empty, &unknown, &empty};
    struct rsc_trace_writer_options options = whole_options("rsct", 1);
    struct rsc_trace_writer *writer;
    struct whole_trace got;
    assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("trace.rsct"), &options, NULL), 0);
    for (size_t i = 0; i < sizeof pushed / sizeof *pushed; i++)
        assert_int_equal(rsc_trace_writer_push(writer, pushed[i], NULL), 0);
    assert_int_equal(rsc_trace_writer_finish(writer, NULL), 0);
    rsc_trace_writer_close(writer);
    whole_read(&got, scratch_path("trace.rsct"), NULL);
    assert_int_equal(got.status, 0);
    assert_int_equal(got.count, 2);
    assert_int_equal(got.instructions, 420);
    assert_int_equal(got.before.instructions, 420);
    whole_free(&got);
}

/* ---- instructions inside a frame ---- */

#define PART 2000u  /* accesses of a batch: the last instruction counts are exact at its ends */
#define PARTS 6u
static const uint64_t executed[PARTS] = {0, 100000, 2000, 0, 7, 500};

static void push_part(struct rsc_trace_writer *writer, uint32_t number, int fetches, uint64_t instructions) {
    static uint64_t addr[PART], meta[PART];
    static const struct rsc_thread threads[2] = {{1, 1}, {1, 2}};
    for (uint32_t i = 0; i < PART; i++) {
        addr[i] = 64ull * (number * PART + i);
        meta[i] = rsc_meta(8, fetches && i % 4 == 0 ? RSC_FETCH : RSC_READ, 1);
    }
    struct rsc_batch batch = {
        .count = PART, .addr = addr, .meta = meta, .threads = threads, .thread_count = 2, .instructions = instructions};
    assert_int_equal(rsc_trace_writer_push(writer, &batch, NULL), 0);
}

static void expect_at(struct rsc_trace *trace, uint64_t instruction, uint64_t wanted) {
    uint64_t access = 0;
    struct rsc_error error;
    if (rsc_trace_locate(trace, instruction, &access, &error) < 0) fail_msg("%s", error.message);
    if (access != wanted)
        fail_msg("instruction %llu is at access %llu, not %llu", (unsigned long long)instruction,
                 (unsigned long long)access, (unsigned long long)wanted);
}

/* Batches with very different numbers of instructions in one frame; their ends are exact, inside they are even. */
static void instructions_inside_a_frame(void **state) {
    (void)state;
    const char *path = scratch_path("uneven.rsct");
    struct rsc_trace_writer_options options = whole_options("rsct", 100000);
    struct rsc_trace_writer *writer;
    struct rsc_trace *trace;
    struct rsc_error error;
    const struct rsc_batch *batch;
    assert_int_equal(rsc_trace_writer_open(&writer, path, &options, &error), 0);
    for (uint32_t i = 0; i < PARTS; i++) push_part(writer, i, 0, executed[i]);
    assert_int_equal(rsc_trace_writer_finish(writer, &error), 0);
    rsc_trace_writer_close(writer);
    assert_int_equal(rsc_trace_open(&trace, path, NULL, &error), 0);
    expect_at(trace, 0, 0);
    expect_at(trace, 1, PART);               /* none were executed in the first batch */
    expect_at(trace, 50000, PART + PART / 2); /* half of the second */
    expect_at(trace, 100000, 2 * PART);
    expect_at(trace, 101000, 2 * PART + PART / 2);
    expect_at(trace, 102000, 4 * PART); /* and none in the fourth */
    expect_at(trace, 102007, 5 * PART);
    expect_at(trace, 102507, 6 * PART);
    /* the marks are not events of the program, and batches have their share */
    uint64_t instructions = 0, at = 0, sum = 0;
    for (uint32_t i = 0; i < PARTS; i++) sum += executed[i];
    while (rsc_trace_next(trace, &batch, &error) > 0) {
        assert_int_equal(batch->event_count, 0);
        instructions += batch->instructions;
        at += batch->count;
    }
    assert_int_equal(at, PARTS * PART);
    assert_int_equal(instructions, sum);
    rsc_trace_close(trace);
}

/* Where there is a fetch for every instruction, fetches are the count. */
static void instructions_by_fetches(void **state) {
    (void)state;
    const char *path = scratch_path("fetches.rsct");
    struct rsc_trace_writer_options options = whole_options("rsct", 100000);
    struct rsc_trace_writer *writer;
    struct rsc_trace *trace;
    struct rsc_error error;
    assert_int_equal(rsc_trace_writer_open(&writer, path, &options, &error), 0);
    for (uint32_t i = 0; i < PARTS; i++) push_part(writer, i, i % 2, i % 2 ? PART / 4 : 0);
    assert_int_equal(rsc_trace_writer_finish(writer, &error), 0);
    rsc_trace_writer_close(writer);
    assert_int_equal(rsc_trace_open(&trace, path, NULL, &error), 0);
    expect_at(trace, 0, 0);
    expect_at(trace, 1, PART + 4);
    expect_at(trace, 499, PART + 1996);
    expect_at(trace, 500, 3 * PART);
    expect_at(trace, 501, 3 * PART + 4);
    expect_at(trace, 1499, 5 * PART + 1996);
    expect_at(trace, 1500, 6 * PART);
    rsc_trace_close(trace);
}

static void an_event_out_of_order_comes_late(void **state) {
    (void)state;
    uint64_t addr[4] = {1, 2, 3, 4}, meta[4] = {1, 1, 1, 1};
    const struct rsc_event events[] = {{.at = 3, .type = 1}, {.at = 1, .type = 2}, {.at = 99, .type = 3}};
    const struct rsc_batch batch = {.count = 4, .event_count = 3, .addr = addr, .meta = meta, .events = events};
    struct rsc_trace_writer *writer;
    struct whole_trace got;
    assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("trace.rsct"), NULL, NULL), 0);
    assert_int_equal(rsc_trace_writer_push(writer, &batch, NULL), 0);
    assert_int_equal(rsc_trace_writer_finish(writer, NULL), 0);
    rsc_trace_writer_close(writer);
    whole_read(&got, scratch_path("trace.rsct"), NULL);
    assert_int_equal(got.count, 4);
    assert_int_equal(got.event_count, 3);
    assert_int_equal(got.events[1].at, 3);
    assert_int_equal(got.events[2].at, 4);
    whole_free(&got);
}

/* ---- header and totals ---- */

static void header_and_totals_are_told(void **state) {
    (void)state;
    struct whole_trace trace = usual_trace(100, 9), got;
    struct rsc_trace_writer_options options = whole_options(NULL, 30);
    struct rsc_trace_writer *writer;
    options.source = "qemu";
    options.command = "./a.out -n 5";
    options.filter = "kinds=RW every=16";
    assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("trace.rsct"), &options, NULL), 0);
    assert_int_equal(whole_push(&trace, writer, NULL, 0, NULL), 0);
    rsc_trace_writer_set_full(writer, 1600, 1ull << 40);
    assert_int_equal(rsc_trace_writer_finish(writer, NULL), 0);
    rsc_trace_writer_close(writer);
    whole_read(&got, scratch_path("trace.rsct"), NULL);
    assert_same_trace(&got, &trace);
    assert_string_equal(got.source, "qemu");
    assert_string_equal(got.command, "./a.out -n 5");
    assert_string_equal(got.filter, "kinds=RW every=16");
    const struct rsc_trace_info *const infos[] = {&got.before, &got.after};
    for (int i = 0; i < 2; i++) {
        assert_string_equal(infos[i]->format, "rsct");
        assert_string_equal(infos[i]->compression, "none");
        assert_int_equal(infos[i]->accesses, 100);
        assert_int_equal(infos[i]->instructions, 301);
        assert_int_equal(infos[i]->full_accesses, 1600);
        assert_true(infos[i]->full_instructions == 1ull << 40);
        assert_int_equal(infos[i]->frames, 4);
        assert_int_equal(infos[i]->version, 1);
        assert_int_equal(infos[i]->has_pc, 1);
    }
    whole_free(&trace);
    whole_free(&got);
}

static void a_long_command_is_cut(void **state) {
    (void)state;
    struct rsc_trace_writer_options options = whole_options("rsct", 0);
    struct whole_trace trace = {0}, got;
    char *command = calloc(1, 2 << 20);
    memset(command, 'x', (2 << 20) - 1);
    options.source = options.command = options.filter = command;
    whole_write(&trace, scratch_path("trace.rsct"), &options, NULL, 0);
    whole_read(&got, scratch_path("trace.rsct"), NULL);
    assert_int_equal(got.status, 0);
    assert_int_equal(got.command[0], 'x');
    whole_free(&got);
    free(command);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    struct rsc_trace_writer_options options = whole_options("rsct", RSCT_FRAME_ACCESSES_MAX + 1);
    struct rsc_trace_writer *writer;
    struct rsc_trace *trace;
    struct rsc_error error;
    const struct rsc_trace_options short_options = {.struct_bytes = 3};
    assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("x"), &options, &error), RSC_EINVAL);
    options = whole_options("lackey", 0);
    assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("x"), &options, &error), RSC_EINVAL);
    options.struct_bytes = 0;
    assert_int_equal(rsc_trace_writer_open(&writer, scratch_path("x"), &options, &error), RSC_EINVAL);
    assert_int_equal(rsc_trace_open(&trace, scratch_path("x"), &short_options, &error), RSC_EINVAL);
    assert_null(writer);
}

/* ---- pipes ---- */

struct feed {
    int fd;
    const char *path;
};

static void *feed_pipe(void *argument) {
    struct feed *feed = argument;
    FILE *file = fopen(feed->path, "rb");
    char bytes[5000];
    for (size_t got; file && (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
        if (write(feed->fd, bytes, got) < 0) break;
    if (file) fclose(file);
    close(feed->fd);
    return NULL;
}

/* Opens the file through a pipe; *thread is to be joined after closing the trace and *pipe_end. */
static struct rsc_trace *open_piped(const char *path, struct feed *feed, pthread_t *thread, int *pipe_end,
                                    const struct rsc_trace_options *options, struct rsc_error *error) {
    int ends[2];
    char name[64];
    struct rsc_trace *trace;
    assert_int_equal(pipe(ends), 0);
    *feed = (struct feed){ends[1], path};
    assert_int_equal(pthread_create(thread, NULL, feed_pipe, feed), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    rsc_trace_open(&trace, name, options, error);
    *pipe_end = ends[0];
    return trace;
}

static void a_pipe_is_read_the_same(void **state) {
    (void)state;
    struct whole_trace trace = usual_trace(50000, 11), got = {0};
    struct feed feed;
    pthread_t thread;
    int end;
    struct rsc_error error;
    const char *path = scratch_path("trace.rsct");
    whole_add_event(&trace, RSC_EVENT_BARRIER, 1, 2, 3, NULL, 4);
    write_plain(&trace, path, 7000);
    struct rsc_trace *from = open_piped(path, &feed, &thread, &end, NULL, &error);
    assert_non_null(from);
    rsc_trace_get_info(from, &got.before);
    assert_true(got.before.accesses == RSC_UNKNOWN && got.before.full_accesses == RSC_UNKNOWN);
    assert_true(got.before.file_bytes == RSC_UNKNOWN);
    assert_int_equal(rsc_trace_seek(from, 5, &error), RSC_EUNSUPPORTED);
    whole_take(&got, from);
    assert_same_trace(&got, &trace);
    assert_int_equal(got.after.accesses, 50000);
    assert_int_equal(got.after.instructions, trace.instructions);
    assert_int_equal(got.after.frames, 8);
    rsc_trace_close(from);
    close(end);
    pthread_join(thread, NULL);
    whole_free(&got);

    /* nothing can be salvaged from a pipe */
    const struct rsc_trace_options salvage = {.struct_bytes = sizeof salvage, .salvage = 1};
    from = open_piped(path, &feed, &thread, &end, &salvage, &error);
    assert_null(from);
    assert_int_equal(error.code, RSC_EUNSUPPORTED);
    signal(SIGPIPE, SIG_IGN);
    close(end);
    pthread_join(thread, NULL);
    whole_free(&trace);
}

static void standard_input_and_output(void **state) {
    (void)state;
    struct whole_trace trace = usual_trace(1000, 12), got;
    struct rsc_trace_writer_options options = whole_options("rsct", 300);
    const char *path = scratch_path("trace.rsct");
    int saved_in = dup(0), saved_out = dup(1), file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    fflush(stdout);
    dup2(file, 1);
    whole_write(&trace, "-", &options, odd_steps, ODD_STEPS);
    dup2(saved_out, 1);
    close(saved_out);
    lseek(file, 0, SEEK_SET);
    dup2(file, 0);
    whole_read(&got, "-", NULL);
    dup2(saved_in, 0);
    close(saved_in);
    close(file);
    assert_same_trace(&got, &trace);
    whole_free(&got);
    whole_free(&trace);
}

/* ---- seeking ---- */

static void seek_and_compare(struct rsc_trace *from, const struct whole_trace *trace, uint64_t index) {
    struct whole_trace got = {0};
    struct rsc_error error;
    if (rsc_trace_seek(from, index, &error)) fail_msg("seek to %llu: %s", (unsigned long long)index, error.message);
    whole_take(&got, from);
    assert_int_equal(got.status, 0);
    assert_same_accesses(&got, trace, index, trace->count);
    assert_same_events(&got, trace, index, trace->count);
    assert_true(got.instructions <= trace->instructions);
    if (index == 0) assert_true(got.instructions == trace->instructions);
    whole_free(&got);
}

static void seek_to_every_access(void **state) {
    (void)state;
    static const uint32_t frames[] = {1, 7, 30, 200};
    struct whole_trace trace = {.has_pc = 1, .instructions = 900};
    for (uint32_t i = 0; i <= 200; i++) {
        for (uint32_t e = 0; e < (i % 7 == 0 ? 2u : 0u); e++)
            whole_add_event(&trace, RSC_EVENT_MARKER, 0, i, e, NULL, (uint16_t)i);
        if (i < 200) whole_add(&trace, i * 24, rsc_meta(8, (enum rsc_kind)(i % 3), i % 4), i % 9);
    }
    for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
        struct rsc_trace *from;
        struct rsc_error error;
        write_plain(&trace, scratch_path("trace.rsct"), frames[f]);
        assert_int_equal(rsc_trace_open(&from, scratch_path("trace.rsct"), NULL, NULL), 0);
        for (uint64_t index = 0; index < trace.count; index++) seek_and_compare(from, &trace, index * 73 % trace.count);
        assert_int_equal(rsc_trace_seek(from, trace.count, &error), RSC_EINVAL);
        assert_int_equal(rsc_trace_seek(from, UINT64_MAX, &error), RSC_EINVAL);
        assert_non_null(strstr(error.message, "past the end"));
        seek_and_compare(from, &trace, trace.count - 1); /* a refused seek does no harm */
        rsc_trace_close(from);
    }
    whole_free(&trace);
}

static void seek_inside_large_frames(void **state) {
    (void)state;
    struct whole_trace trace = usual_trace(150000, 13);
    const uint64_t places[] = {0, 1, 16383, 16384, 16385, 49999, 50000, 50001, 99999, 100000, 149999};
    struct rsc_trace *from;
    write_plain(&trace, scratch_path("trace.rsct"), 50000);
    assert_int_equal(rsc_trace_open(&from, scratch_path("trace.rsct"), NULL, NULL), 0);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) seek_and_compare(from, &trace, places[i]);
    rsc_trace_close(from);
    whole_free(&trace);
}

/* Frames that hold no access stand before the next one. */
static void seek_to_the_start_finds_the_events_there(void **state) {
    (void)state;
    struct whole_trace trace = {.instructions = 1};
    struct rsc_trace *from;
    for (uint32_t i = 0; i < 300; i++) whole_add_event(&trace, RSC_EVENT_ALLOC, 0, i, 0, NULL, 65535);
    whole_add(&trace, 1, rsc_meta(1, RSC_READ, 0), 0);
    write_plain(&trace, scratch_path("trace.rsct"), 0);
    assert_int_equal(rsc_trace_open(&from, scratch_path("trace.rsct"), NULL, NULL), 0);
    seek_and_compare(from, &trace, 0);
    rsc_trace_close(from);
    whole_free(&trace);
}

/* Everything but the pcs comes back, from every frame and wherever reading begins. */
static void pcs_need_not_be_read(void **state) {
    (void)state;
    const struct rsc_trace_options options = {.struct_bytes = sizeof options, .without_pcs = 1};
    struct whole_trace trace = usual_trace(100, 1), got;
    struct rsc_trace *from;
    write_plain(&trace, scratch_path("trace.rsct"), 30);
    whole_read(&got, scratch_path("trace.rsct"), &options);
    assert_int_equal(got.before.has_pc, 1); /* the file has them */
    trace.has_pc = 0;
    assert_same_trace(&got, &trace);
    assert_int_equal(rsc_trace_open(&from, scratch_path("trace.rsct"), &options, NULL), 0);
    seek_and_compare(from, &trace, 47);
    rsc_trace_close(from);
    whole_free(&trace);
    whole_free(&got);
}

/* Everything but the events; a frame of events alone is an empty batch. */
static void events_need_not_be_read(void **state) {
    (void)state;
    const struct rsc_trace_options options = {.struct_bytes = sizeof options, .without_events = 1};
    struct whole_trace trace = usual_trace(100, 1), got;
    whole_add_event(&trace, RSC_EVENT_ALLOC, 0, 64, 0, NULL, 5);
    write_plain(&trace, scratch_path("trace.rsct"), 30);
    whole_read(&got, scratch_path("trace.rsct"), &options);
    assert_int_equal(got.event_count, 0);
    struct whole_trace rest = trace;
    assert_true(rest.event_count > 0);
    rest.event_count = 0;
    assert_same_trace(&got, &rest);
    whole_free(&trace);
    whole_free(&got);
}

/* What is decoded eight at a time, in stretches of every length, is what was written: deltas of all lengths, all kinds. */
static void stretches_by_every_width(void **state) {
    (void)state;
    for (int simd = 0; simd < RSC_SIMD_COUNT; simd++) {
        if (!rsc_simd_available((enum rsc_simd)simd)) continue;
        setenv("REUSESCOPE_SIMD", rsc_simd_name((enum rsc_simd)simd), 1);
        for (uint32_t kinds = 1; kinds <= 3; kinds++) {
            struct whole_trace trace = {.instructions = 1};
            uint64_t random = 1 + kinds;
            for (uint32_t stretch = 1; stretch < 60; stretch++) {
                for (uint32_t i = 0; i < stretch; i++) {
                    random = random * 6364136223846793005u + 1442695040888963407u;
                    uint64_t addr = random >> (random >> 33 & 7) * 8 >> (random >> 37 & 7);
                    whole_add(&trace, addr,
                              rsc_meta(1u << (random >> 41 & 7), (enum rsc_kind)((random >> 45) % kinds), stretch & 1),
                              0);
                }
            }
            write_plain(&trace, scratch_path("trace.rsct"), 700);
            struct whole_trace got;
            whole_read(&got, scratch_path("trace.rsct"), NULL);
            assert_same_trace(&got, &trace);
            whole_free(&trace);
            whole_free(&got);
        }
    }
    unsetenv("REUSESCOPE_SIMD");
}

static void nothing_to_seek_in(void **state) {
    (void)state;
    struct whole_trace trace = {0};
    struct rsc_trace_options ahead = {.struct_bytes = sizeof ahead, .decode_ahead = 1};
    struct rsc_trace *from;
    struct rsc_error error;
    write_plain(&trace, scratch_path("trace.rsct"), 0);
    assert_int_equal(rsc_trace_open(&from, scratch_path("trace.rsct"), NULL, NULL), 0);
    assert_int_equal(rsc_trace_seek(from, 0, &error), RSC_EINVAL);
    rsc_trace_close(from);
    assert_int_equal(rsc_trace_open(&from, scratch_path("trace.rsct"), &ahead, NULL), 0);
    assert_int_equal(rsc_trace_seek(from, 0, &error), RSC_EUNSUPPORTED);
    rsc_trace_close(from);
    assert_int_equal(rsc_trace_open(&from, scratch_write("a.din", "0 10\n", 5), NULL, NULL), 0);
    assert_int_equal(rsc_trace_seek(from, 0, &error), RSC_EUNSUPPORTED);
    rsc_trace_close(from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_around_a_frame),
        cmocka_unit_test(every_length_around_a_batch),
        cmocka_unit_test(sizes_of_all_lengths),
        cmocka_unit_test(more_combinations_than_codes),
        cmocka_unit_test(what_hardly_shrinks_is_stored),
        cmocka_unit_test(addresses_at_the_ends),
        cmocka_unit_test(threads_with_sparse_numbers),
        cmocka_unit_test(the_last_thread_number),
        cmocka_unit_test(pcs_of_every_width),
        cmocka_unit_test(pcs_can_be_dropped),
        cmocka_unit_test(pcs_need_not_be_read),
        cmocka_unit_test(events_need_not_be_read),
        cmocka_unit_test(stretches_by_every_width),
        cmocka_unit_test(events_before_the_first_pc_do_not_cost_the_pcs),
        cmocka_unit_test(events_of_all_kinds_everywhere),
        cmocka_unit_test(events_alone),
        cmocka_unit_test(more_events_than_a_frame_holds),
        cmocka_unit_test(more_events_than_a_frame_counts),
        cmocka_unit_test(instructions_that_nobody_knows),
        cmocka_unit_test(instructions_without_accesses_count),
        cmocka_unit_test(instructions_inside_a_frame),
        cmocka_unit_test(instructions_by_fetches),
        cmocka_unit_test(an_event_out_of_order_comes_late),
        cmocka_unit_test(header_and_totals_are_told),
        cmocka_unit_test(a_long_command_is_cut),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(a_pipe_is_read_the_same),
        cmocka_unit_test(standard_input_and_output),
        cmocka_unit_test(seek_to_every_access),
        cmocka_unit_test(seek_inside_large_frames),
        cmocka_unit_test(seek_to_the_start_finds_the_events_there),
        cmocka_unit_test(nothing_to_seek_in),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
