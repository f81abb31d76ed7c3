/*
 * property_trace.c - random traces through every format that can be written.
 *
 * What is written natively comes back whole: accesses, pcs, threads, events,
 * instructions, from the plain file and through gzip, zstd, xz and zip, decoded
 * ahead or not. CSV keeps all of an access, din its kind and address.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packed_file.h"
#include "property/random_traces.h"
#include "unit/scratch_folder.h"
#include "unit/whole_trace.h"

static uint64_t seed;
static unsigned long traces;

enum event_shape { NO_EVENTS, FEW_EVENTS, MANY_EVENTS, BUNCHES_OF_EVENTS, EVENT_SHAPES };

/* How many events stand before access `i` of `count`. */
static uint64_t events_here(struct rsc_rng *rng, enum event_shape shape, uint32_t i, uint32_t count) {
    switch (shape) {
    case FEW_EVENTS: return rsc_rng_below(rng, 100) == 0;
    case MANY_EVENTS: return rsc_rng_below(rng, 3);
    case BUNCHES_OF_EVENTS: return rsc_rng_below(rng, 200) == 0 || i == 0 || i == count ? rsc_rng_below(rng, 40) : 0;
    default: return 0;
    }
}

/* The accesses of random_traces.h, with pcs, events, thread names and instructions added. */
static struct whole_trace make_trace(struct rsc_rng *rng) {
    struct random_trace shape;
    struct whole_trace trace = {.has_pc = (int)rsc_rng_below(rng, 2)};
    enum event_shape events = (enum event_shape)rsc_rng_below(rng, EVENT_SHAPES);
    uint64_t pcs = 1 + (rsc_rng_u64(rng) >> (44 + rsc_rng_below(rng, 20)));
    random_trace_make(&shape, rng, rsc_rng_below(rng, 20) ? 3000 : 50000);
    for (uint32_t i = 0; i <= shape.count; i++) {
        for (uint64_t left = events_here(rng, events, i, shape.count); left; left--)
            whole_add_event(&trace, (uint16_t)(1 + rsc_rng_below(rng, 11)), (uint32_t)rsc_rng_below(rng, shape.threads),
                            rsc_rng_u64(rng) >> rsc_rng_below(rng, 64), rsc_rng_below(rng, 300), NULL,
                            (uint16_t)(rsc_rng_below(rng, 4) ? 0 : rsc_rng_below(rng, 300)));
        if (i == shape.count) break;
        uint64_t meta = shape.meta[i];
        if (rsc_rng_below(rng, 500) == 0) meta |= rsc_rng_u64(rng) & UINT32_MAX; /* any size at all */
        whole_add(&trace, shape.addr[i], meta, 0x400000 + rsc_rng_below(rng, pcs) * 3);
    }
    if (rsc_rng_below(rng, 2)) {
        trace.thread_count = shape.threads;
        trace.threads = whole_allocate(NULL, trace.thread_count, sizeof *trace.threads);
        for (uint32_t i = 0; i < trace.thread_count; i++)
            trace.threads[i] = (struct rsc_thread){rsc_rng_below(rng, 3), 100 + i * 1000003ull};
    }
    trace.instructions = rsc_rng_below(rng, 4) ? rsc_rng_below(rng, 10ull * shape.count + 1) : RSC_UNKNOWN;
    random_trace_free(&shape);
    return trace;
}

/* ---- compression around a file ---- */

static const char *packed(const char *path, enum packed_how how, uint64_t choices) {
    struct packed_bytes all = packed_load(path), packed = packed_as(&all, how, choices);
    const char *packed_path = scratch_write("packed", packed.data, packed.count);
    free(all.data);
    free(packed.data);
    return packed_path;
}

/* ---- the formats ---- */

static void through_rsct(const struct whole_trace *trace, struct rsc_rng *rng) {
    static const uint32_t frames[] = {0, 1, 7, 100, 1000, 16384, 16385};
    uint32_t steps[5];
    for (int i = 0; i < 5; i++) steps[i] = (uint32_t)(rsc_rng_u64(rng) >> (48 + rsc_rng_below(rng, 16)));
    steps[0]++; /* not all zero */
    /* frames of one access take a while */
    uint32_t frame = frames[trace->count > 5000 ? 3 + rsc_rng_below(rng, 4) : rsc_rng_below(rng, 7)];
    struct rsc_trace_writer_options options = whole_options("rsct", frame);
    options.level = (int)rsc_rng_below(rng, 4);
    struct rsc_trace_options reading = {.struct_bytes = sizeof reading, .decode_ahead = (int)rsc_rng_below(rng, 2)};
    const char *path = scratch_path("trace.rsct");
    struct whole_trace got;
    whole_write(trace, path, &options, steps, 5);
    whole_read(&got, path, &reading);
    assert_same_trace(&got, trace);
    assert_int_equal(got.before.accesses, trace->count);
    whole_free(&got);
    for (int how = 0; how < PACKED_HOWS; how++) {
        whole_read(&got, packed(path, (enum packed_how)how, rsc_rng_u64(rng)), &reading);
        assert_same_trace(&got, trace);
        assert_int_equal(got.after.accesses, trace->count);
        whole_free(&got);
    }
}

static void through_text(const struct whole_trace *trace, const char *format) {
    struct rsc_trace_writer_options options = whole_options(format, 0);
    const char *path = scratch_path("trace.txt");
    int csv = format[0] == 'c';
    struct whole_trace got;
    if (!csv && !trace->count) return; /* an empty din is no trace */
    whole_write(trace, path, &options, NULL, 0);
    whole_read(&got, path, NULL);
    if (got.status) fail_msg("%s: %s", format, got.error.message);
    assert_int_equal(got.count, trace->count);
    for (uint64_t i = 0; i < trace->count; i++) {
        assert_true(got.addr[i] == trace->addr[i]);
        assert_int_equal(rsc_meta_kind(got.meta[i]), rsc_meta_kind(trace->meta[i]));
        if (!csv) continue;
        assert_int_equal(rsc_meta_size(got.meta[i]), rsc_meta_size(trace->meta[i]));
        if (trace->has_pc) assert_true(got.pc[i] == trace->pc[i]);
        struct rsc_thread one = whole_thread(trace, rsc_meta_thread(trace->meta[i]));
        struct rsc_thread two = whole_thread(&got, rsc_meta_thread(got.meta[i]));
        assert_true(one.tid == two.tid && one.pid == two.pid);
    }
    whole_free(&got);
}

static void every_format_keeps_what_it_can(void **state) {
    (void)state;
    for (unsigned long i = 0; i < traces; i++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, i);
        struct whole_trace trace = make_trace(&rng);
        through_rsct(&trace, &rng);
        for (uint64_t a = 0; a < trace.count; a++) /* text knows no size of 0, which counts as 1 */
            if (!rsc_meta_size(trace.meta[a])) trace.meta[a]++;
        through_text(&trace, "csv");
        through_text(&trace, "din");
        whole_free(&trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_format_keeps_what_it_can)};
    seed = property_seed();
    traces = property_traces(400);
    int failed = cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
    if (failed) printf("failed with seed %llu\n", (unsigned long long)seed);
    return failed;
}
