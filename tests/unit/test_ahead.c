/*
 * test_ahead.c - decoding in a thread of its own gives the same trace as
 * decoding in the caller's, for readers that keep their batches and those that
 * do not; it can be left at any time; an error comes after all that was good.
 * Meant for ThreadSanitizer as much as for itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>

#include "base/rng.h"
#include "scratch_folder.h"
#include "whole_trace.h"

static const struct rsc_trace_options ahead = {.struct_bytes = sizeof ahead, .decode_ahead = 1};
static const struct rsc_trace_options plain = {.struct_bytes = sizeof plain};
static const char *const formats[] = {"rsct", "din", "csv"};

/* New threads and events turn up until the end, so that tables grow while batches are being read. */
static struct whole_trace random_trace(uint32_t accesses, uint64_t seed) {
    struct whole_trace trace = {.has_pc = 1, .instructions = accesses};
    struct rsc_rng rng;
    rsc_rng_seed(&rng, seed, 0);
    for (uint32_t i = 0; i < accesses; i++) {
        if (rsc_rng_below(&rng, 50) == 0)
            whole_add_event(&trace, RSC_EVENT_MARKER, i / 100, i, 0, NULL, (uint16_t)rsc_rng_below(&rng, 200));
        whole_add(&trace, rsc_rng_u64(&rng) >> 20, rsc_meta(4, (enum rsc_kind)rsc_rng_below(&rng, 3), i / 97),
                  rsc_rng_below(&rng, 1000));
    }
    return trace;
}

static const char *write_as(const struct whole_trace *trace, const char *format, uint32_t frame) {
    struct rsc_trace_writer_options options = whole_options(format, frame);
    const char *path = scratch_path(format);
    whole_write(trace, path, &options, NULL, 0);
    return path;
}

static void the_same_stream(void **state) {
    (void)state;
    static const uint32_t lengths[] = {0, 1, 16384, 16385, 120000}, frames[] = {0, 1, 700, 5000, 50000};
    for (size_t f = 0; f < 3; f++) {
        for (size_t l = 0; l < 5; l++) {
            if (f == 1 && lengths[l] == 0) continue; /* an empty din is no trace */
            struct whole_trace trace = random_trace(lengths[l], l), one, two;
            const char *path = write_as(&trace, formats[f], frames[l]);
            whole_read(&one, path, &plain);
            whole_read(&two, path, &ahead);
            assert_same_trace(&two, &one);
            assert_int_equal(one.batches, two.batches);
            assert_true(one.after.accesses == two.after.accesses && one.before.accesses == two.before.accesses);
            assert_true(one.after.instructions == two.after.instructions);
            assert_string_equal(one.after.format, two.after.format);
            assert_int_equal(one.before.file_bytes, two.before.file_bytes);
            assert_int_equal(one.before.has_pc, two.before.has_pc);
            whole_free(&one);
            whole_free(&two);
            whole_free(&trace);
        }
    }
}

/* A batch stays as it was until the next call, whatever the decoder does meanwhile. */
static void a_batch_stays_while_it_is_read(void **state) {
    (void)state;
    struct whole_trace trace = random_trace(200000, 20);
    for (size_t f = 0; f < 3; f++) {
        struct rsc_trace *from;
        const struct rsc_batch *batch;
        uint64_t done = 0;
        assert_int_equal(rsc_trace_open(&from, write_as(&trace, formats[f], 3000), &ahead, NULL), 0);
        while (rsc_trace_next(from, &batch, NULL) > 0) {
            for (int i = 0; i < 20; i++) sched_yield(); /* lets the decoder run as far as it may */
            for (uint32_t i = 0; i < batch->count; i++) assert_true(batch->addr[i] == trace.addr[done + i]);
            for (uint32_t i = 0; f == 2 && i < batch->count; i++) {
                assert_true(batch->pc[i] == trace.pc[done + i]);
                assert_true(batch->threads[rsc_meta_thread(batch->meta[i])].tid == (done + i) / 97);
            }
            done += batch->count;
        }
        assert_int_equal(done, trace.count);
        rsc_trace_close(from);
    }
    whole_free(&trace);
}

static void left_early(void **state) {
    (void)state;
    struct whole_trace trace = random_trace(150000, 21);
    for (size_t f = 0; f < 3; f++) {
        const char *path = write_as(&trace, formats[f], 2000);
        for (int batches = 0; batches < 8; batches++) {
            struct rsc_trace *from;
            const struct rsc_batch *batch;
            struct rsc_trace_info info;
            assert_int_equal(rsc_trace_open(&from, path, &ahead, NULL), 0);
            for (int i = 0; i < batches; i++) {
                assert_int_equal(rsc_trace_next(from, &batch, NULL), 1);
                rsc_trace_get_info(from, &info);
            }
            rsc_trace_close(from);
        }
    }
    whole_free(&trace);
}

static void an_error_comes_after_what_was_good(void **state) {
    (void)state;
    struct whole_trace trace = random_trace(100000, 22);
    for (size_t f = 0; f < 3; f++) {
        struct whole_trace one, two;
        const char *path = write_as(&trace, formats[f], 3000);
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        fseek(file, 0, SEEK_END);
        long bytes = ftell(file);
        fseek(file, bytes / 2, SEEK_SET);
        fwrite("????", 1, 4, file);
        fclose(file);
        whole_read(&one, path, &plain);
        whole_read(&two, path, &ahead);
        assert_int_equal(one.status, RSC_EFORMAT);
        assert_int_equal(two.status, RSC_EFORMAT);
        assert_string_equal(one.error.message, two.error.message);
        assert_true(one.error.offset == two.error.offset && one.error.line == two.error.line);
        assert_true(one.count > 10000);
        assert_same_accesses(&two, &one, 0, one.count);
        assert_same_events(&two, &one, 0, one.count);
        whole_free(&one);
        whole_free(&two);
    }
    whole_free(&trace);
}

/* Damage that salvage skips, one frame after the other, while batches are out. */
static void salvage_ahead(void **state) {
    (void)state;
    const struct rsc_trace_options both = {.struct_bytes = sizeof both, .decode_ahead = 1, .salvage = 1};
    const struct rsc_trace_options one_by_one = {.struct_bytes = sizeof both, .salvage = 1};
    struct whole_trace trace = random_trace(60000, 23), one, two;
    const char *path = write_as(&trace, "rsct", 1000);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    for (long at = bytes / 5; at < bytes; at += bytes / 11) {
        fseek(file, at, SEEK_SET);
        fwrite("????", 1, 4, file);
    }
    fclose(file);
    whole_read(&one, path, &one_by_one);
    whole_read(&two, path, &both);
    assert_int_equal(one.status, 0);
    assert_int_equal(two.status, 0);
    assert_true(one.count > 20000 && one.count < 60000);
    assert_same_accesses(&two, &one, 0, one.count);
    assert_true(two.after.lost_frames > 3 && two.after.lost_frames == one.after.lost_frames);
    assert_true(two.after.lost_bytes == one.after.lost_bytes);
    whole_free(&one);
    whole_free(&two);
    whole_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_stream), cmocka_unit_test(a_batch_stays_while_it_is_read),
        cmocka_unit_test(left_early),      cmocka_unit_test(an_error_comes_after_what_was_good),
        cmocka_unit_test(salvage_ahead),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
