/* test_instruction_share.c - where in a batch or a frame its instructions are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <reusescope/trace.h>

#include "base/cpu.h"
#include "scratch_folder.h"
#include "trace/instruction_share.h"

#define ACCESSES 50000u

static uint64_t addrs[ACCESSES], metas[ACCESSES];

/* Fetches are ever rarer, so that an even spread would be far off. `sizes` different ones. */
static uint64_t fill(uint32_t sizes) {
    uint64_t random = 88172645463325252u, fetches = 0;
    for (uint32_t i = 0; i < ACCESSES; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        const int fetch = random % ACCESSES > i;
        addrs[i] = random >> (random >> 8 & 31);
        metas[i] = rsc_meta(1 + (uint32_t)(random >> 20) % sizes, fetch ? RSC_FETCH : RSC_READ + (random >> 50 & 1), 0);
        fetches += (uint64_t)fetch;
    }
    return fetches;
}

static struct rsc_batch whole(uint64_t instructions) {
    return (struct rsc_batch){.count = ACCESSES, .addr = addrs, .meta = metas, .instructions = instructions};
}

static uint64_t fetches_between(uint32_t low, uint32_t high) {
    uint64_t fetches = 0;
    for (uint32_t i = low; i < high; i++) fetches += rsc_meta_kind(metas[i]) == RSC_FETCH;
    return fetches;
}

static void shares_of_a_batch(void **state) {
    (void)state;
    const uint64_t fetches = fill(8);
    struct rsc_batch batch = whole(fetches);
    assert_int_equal(rsc_fetches_are_instructions(&batch), 1);
    assert_int_equal(rsc_instruction_share(&batch, 1, 0, UINT64_MAX), fetches);
    assert_int_equal(rsc_instruction_share(&batch, 1, 100, 200), fetches_between(100, 200));
    assert_int_equal(rsc_instruction_share(&batch, 1, 40000, UINT64_MAX), fetches_between(40000, ACCESSES));
    assert_int_equal(rsc_instruction_share(&batch, 1, 0, 0), 0);
    assert_int_equal(rsc_instruction_share(&batch, 1, 200, 100), 0);
    assert_int_equal(rsc_instruction_share(&batch, 1, ACCESSES, UINT64_MAX), 0);
    batch.instructions = 10 * ACCESSES + 1;
    assert_int_equal(rsc_fetches_are_instructions(&batch), 0);
    assert_int_equal(rsc_instruction_share(&batch, 0, 100, 200), 1000);
    assert_int_equal(rsc_instruction_share(&batch, 0, 100, ACCESSES), 10 * (ACCESSES - 100) + 1);
    batch.instructions = RSC_UNKNOWN;
    assert_int_equal(rsc_fetches_are_instructions(&batch), 0);
    assert_true(rsc_instruction_share(&batch, 0, 100, 200) == RSC_UNKNOWN);
    const struct rsc_batch empty = {.instructions = 7};
    assert_int_equal(rsc_instruction_share(&empty, 0, 0, 1), 7);
    assert_int_equal(rsc_instruction_share(&empty, 0, 0, 0), 0);
}

/* Writes and reads a native trace; every batch, also after a seek, must have as many instructions as fetches. */
static void check_batches(uint32_t frame_accesses, uint64_t fetches) {
    const char *path = scratch_path("fetches.rsct");
    struct rsc_trace_writer_options options = {
        .struct_bytes = sizeof options, .format = "rsct", .frame_accesses = frame_accesses};
    struct rsc_trace_writer *writer;
    struct rsc_trace *trace;
    struct rsc_error error;
    const struct rsc_batch *batch, all = whole(fetches);
    assert_int_equal(rsc_trace_writer_open(&writer, path, &options, &error), 0);
    assert_int_equal(rsc_trace_writer_push(writer, &all, &error), 0);
    assert_int_equal(rsc_trace_writer_finish(writer, &error), 0);
    rsc_trace_writer_close(writer);
    assert_int_equal(rsc_trace_open(&trace, path, NULL, &error), 0);
    for (uint32_t from = 0; from < ACCESSES; from += 17001) {
        if (from) assert_int_equal(rsc_trace_seek(trace, from, &error), 0);
        uint32_t at = from, batches = 0;
        for (; rsc_trace_next(trace, &batch, &error) > 0; at += batch->count, batches++)
            assert_int_equal(batch->instructions, fetches_between(at, at + batch->count));
        assert_int_equal(at, ACCESSES);
    }
    rsc_trace_close(trace);
}

/* With few codes, with more than fit into two vectors, and with sizes of their own. */
static void batches_of_a_frame(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 8, 40, 1000};
    for (int simd = 0; simd < RSC_SIMD_COUNT; simd++) {
        if (!rsc_simd_available((enum rsc_simd)simd)) continue;
        setenv("REUSESCOPE_SIMD", rsc_simd_name((enum rsc_simd)simd), 1);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const uint64_t fetches = fill(sizes[i]);
            check_batches(1u << 20, fetches);
            check_batches(20011, fetches);
        }
    }
    unsetenv("REUSESCOPE_SIMD");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_a_batch),
        cmocka_unit_test(batches_of_a_frame),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
