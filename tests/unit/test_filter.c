/*
 * test_filter.c - what a filter keeps, against the plain reading of each of its
 * fields, alone and together, on random traces with events; that going to a
 * window at once finds the same as reading up to it; what the totals say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <zlib.h>

#include "base/rng.h"
#include "scratch_folder.h"
#include "trace/filter.h"
#include "whole_trace.h"

static const uint64_t all_tids[] = {70, 71, 1000, UINT64_MAX};

static struct whole_trace random_trace(struct rsc_rng *rng, uint32_t accesses) {
    struct whole_trace trace = {
        .has_pc = (int)rsc_rng_below(rng, 2), .instructions = rsc_rng_below(rng, 5 * accesses + 1), .thread_count = 4};
    trace.threads = whole_allocate(NULL, 4, sizeof *trace.threads);
    for (uint32_t i = 0; i < 4; i++) trace.threads[i] = (struct rsc_thread){1, all_tids[i]};
    for (uint32_t i = 0; i <= accesses; i++) {
        while (rsc_rng_below(rng, 10) == 0)
            whole_add_event(&trace, (uint16_t)(1 + rsc_rng_below(rng, 11)), (uint32_t)rsc_rng_below(rng, 4), i, 7, NULL,
                            (uint16_t)rsc_rng_below(rng, 40));
        if (i == accesses) break;
        whole_add(&trace, rsc_rng_below(rng, 20) ? rsc_rng_below(rng, 1 << 16) : rsc_rng_u64(rng),
                  rsc_meta(8, (enum rsc_kind)rsc_rng_below(rng, 3), (uint32_t)rsc_rng_below(rng, 4)), i);
    }
    return trace;
}

static int naive_keeps(const struct whole_trace *trace, const struct rsc_filter *filter, uint64_t i) {
    uint64_t tid = whole_thread(trace, rsc_meta_thread(trace->meta[i])).tid;
    int thread = !filter->tid_count;
    for (uint32_t t = 0; t < filter->tid_count; t++) thread = thread || filter->tids[t] == tid;
    return thread && (filter->kinds & RSC_KIND_BIT(rsc_meta_kind(trace->meta[i]))) &&
           trace->addr[i] >= filter->addr_low && trace->addr[i] <= filter->addr_high &&
           (trace->addr[i] & filter->bits_mask) == filter->bits_value;
}

/* Is access or event place `i` inside the window? */
static int naive_in_window(const struct rsc_filter *filter, uint64_t i) {
    return i >= filter->first && i - filter->first < filter->count;
}

static struct whole_trace naive_filter(const struct whole_trace *trace, const struct rsc_filter *filter) {
    struct whole_trace kept = {
        .has_pc = trace->has_pc, .instructions = trace->instructions, .thread_count = trace->thread_count};
    uint64_t event = 0, passed = 0;
    kept.threads = whole_allocate(NULL, 4, sizeof *kept.threads);
    memcpy(kept.threads, trace->threads, 4 * sizeof *kept.threads);
    for (uint64_t i = 0; i <= trace->count; i++) {
        for (; event < trace->event_count && trace->events[event].at == i; event++) {
            const struct whole_event *from = &trace->events[event];
            if (naive_in_window(filter, i))
                whole_add_event(&kept, from->type, from->thread, from->a, from->b, from->data, from->data_bytes);
        }
        if (i == trace->count || !naive_in_window(filter, i) || !naive_keeps(trace, filter, i)) continue;
        if (filter->every > 1 && passed++ % filter->every) continue;
        whole_add(&kept, trace->addr[i], trace->meta[i], trace->pc[i]);
    }
    return kept;
}

/* The same bytes, gzipped: a file that cannot be sought in. */
static const char *gzipped(const char *path, const char *name) {
    const char *packed = scratch_path(name);
    FILE *from = fopen(path, "rb");
    gzFile to = gzopen(packed, "wb1");
    char bytes[65536];
    assert_true(from && to);
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, from)) > 0;)
        assert_int_equal(gzwrite(to, bytes, (unsigned)got), got);
    fclose(from);
    assert_int_equal(gzclose(to), Z_OK);
    return packed;
}

static void check(const struct whole_trace *trace, const char *path, const char *packed,
                  const struct rsc_filter *filter) {
    struct whole_trace wanted = naive_filter(trace, filter);
    int window = filter->first || filter->count != UINT64_MAX;
    uint64_t instructions[2];
    for (int slow = 0; slow < 4; slow++) { /* sought in or not, decoded ahead or not */
        struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = filter, .decode_ahead = slow / 2};
        struct whole_trace got;
        whole_read(&got, slow % 2 ? packed : path, &options);
        instructions[slow % 2] = got.instructions;
        if (window) got.instructions = wanted.instructions; /* see below */
        assert_same_trace(&got, &wanted);
        assert_int_equal(got.after.accesses, wanted.count);
        assert_int_equal(got.after.full_accesses, trace->count);
        if (trace->count) assert_true(got.after.full_instructions == trace->instructions);
        whole_free(&got);
    }
    /* a window counts the instructions of its part, but for rounding at its ends */
    if (window) {
        uint64_t least = instructions[0] < instructions[1] ? instructions[0] : instructions[1];
        assert_true(instructions[0] + instructions[1] - 2 * least <= 2);
        assert_true(least <= trace->instructions);
    }
    whole_free(&wanted);
}

static struct rsc_filter random_filter(struct rsc_rng *rng, uint64_t count, uint32_t fields) {
    struct rsc_filter filter = RSC_FILTER_ALL;
    if (fields & 1) filter.kinds = (uint32_t)rsc_rng_below(rng, 8);
    if (fields & 2) {
        filter.tid_count = 1 + (uint32_t)rsc_rng_below(rng, 3);
        filter.tids = all_tids + rsc_rng_below(rng, 2);
    }
    if (fields & 4) {
        filter.addr_low = rsc_rng_below(rng, 1 << 15);
        filter.addr_high = rsc_rng_below(rng, 4) ? filter.addr_low + rsc_rng_below(rng, 1 << 16) : UINT64_MAX;
    }
    if (fields & 8) {
        filter.bits_mask = 3ull << rsc_rng_below(rng, 16);
        filter.bits_value = rsc_rng_u64(rng) & filter.bits_mask;
    }
    if (fields & 16) {
        filter.first = rsc_rng_below(rng, count + 3);
        filter.count = rsc_rng_below(rng, 4) ? rsc_rng_below(rng, count + 3) : UINT64_MAX - rsc_rng_below(rng, 2);
    }
    if (fields & 32) filter.every = rsc_rng_below(rng, 20);
    return filter;
}

static void every_field_alone_and_together(void **state) {
    (void)state;
    static const uint32_t lengths[] = {0, 1, 50, 700, 40000}, frames[] = {7, 1, 7, 100, 20000};
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 1, 0);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        struct whole_trace trace = random_trace(&rng, lengths[l]);
        struct rsc_trace_writer_options options = whole_options("rsct", frames[l]);
        whole_write(&trace, scratch_path("trace.rsct"), &options, NULL, 0);
        const char *path = scratch_path("trace.rsct"), *packed = gzipped(path, "trace.rsct.gz");
        for (uint32_t fields = 0; fields < 64; fields++) {
            struct rsc_filter filter = random_filter(&rng, trace.count, fields);
            check(&trace, path, packed, &filter);
        }
        for (int i = 0; i < (lengths[l] < 1000 ? 60 : 10); i++) {
            struct rsc_filter filter = random_filter(&rng, trace.count, 16);
            check(&trace, path, packed, &filter);
        }
        whole_free(&trace);
    }
}

/* Windows one after the other: every access, event and instruction is in one of them. */
static void windows_cover_the_trace(void **state) {
    (void)state;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 2, 0);
    struct whole_trace trace = random_trace(&rng, 1000);
    struct rsc_trace_writer_options options = whole_options("rsct", 64);
    whole_write(&trace, scratch_path("trace.rsct"), &options, NULL, 0);
    const char *packed = gzipped(scratch_path("trace.rsct"), "trace.rsct.gz");
    for (uint64_t width = 7; width < 1200; width = width * 3 + 1) {
        uint64_t accesses = 0, events = 0, instructions = 0;
        for (uint64_t first = 0; first <= trace.count; first += width) {
            struct rsc_filter filter = RSC_FILTER_ALL;
            struct rsc_trace_options reading = {.struct_bytes = sizeof reading, .filter = &filter};
            struct whole_trace got;
            filter.first = first;
            filter.count = width;
            whole_read(&got, packed, &reading);
            assert_int_equal(got.status, 0);
            accesses += got.count;
            events += got.event_count;
            instructions += got.instructions;
            whole_free(&got);
        }
        assert_int_equal(accesses, trace.count);
        assert_int_equal(events, trace.event_count);
        assert_int_equal(instructions, trace.instructions);
    }
    whole_free(&trace);
}

static void text_formats_are_filtered_too(void **state) {
    (void)state;
    struct rsc_filter filter = RSC_FILTER_ALL;
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &filter};
    struct whole_trace got;
    static const char din[] = "0 10\n1 20\n2 30\n0 40\n1 50\n2 60\n";
    filter.kinds = RSC_KIND_BIT(RSC_WRITE) | RSC_KIND_BIT(RSC_FETCH);
    filter.first = 1;
    filter.count = 4;
    whole_read(&got, scratch_write("a.din", din, sizeof din - 1), &options);
    assert_int_equal(got.status, 0);
    assert_int_equal(got.count, 3);
    assert_true(got.addr[0] == 0x20 && got.addr[1] == 0x30 && got.addr[2] == 0x50);
    assert_int_equal(got.after.accesses, 3);
    assert_int_equal(got.after.full_accesses, 6);
    whole_free(&got);
    /* a number for a thread that the format does not name */
    static const uint64_t tid = 0, other = 5;
    filter = (struct rsc_filter)RSC_FILTER_ALL;
    filter.tid_count = 1;
    filter.tids = &tid;
    whole_read(&got, scratch_path("a.din"), &options);
    assert_int_equal(got.count, 6);
    whole_free(&got);
    filter.tids = &other;
    whole_read(&got, scratch_path("a.din"), &options);
    assert_int_equal(got.count, 0);
    assert_int_equal(got.status, 0);
    whole_free(&got);
}

static void seeking_through_a_filter(void **state) {
    (void)state;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 3, 0);
    struct whole_trace trace = random_trace(&rng, 500);
    struct rsc_trace_writer_options writing = whole_options("rsct", 64);
    struct rsc_filter filter = RSC_FILTER_ALL, from_there;
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &filter};
    struct rsc_trace *from;
    whole_write(&trace, scratch_path("trace.rsct"), &writing, NULL, 0);
    filter.kinds = RSC_KIND_BIT(RSC_WRITE);
    filter.first = 100;
    filter.count = 300;
    assert_int_equal(rsc_trace_open(&from, scratch_path("trace.rsct"), &options, NULL), 0);
    for (uint64_t index = 0; index < 500; index += 33) {
        struct whole_trace got = {0};
        from_there = filter;
        if (index > 100) from_there.first = index;
        from_there.count = 400 > from_there.first ? 400 - from_there.first : 0;
        struct whole_trace wanted = naive_filter(&trace, &from_there);
        assert_int_equal(rsc_trace_seek(from, index, NULL), 0);
        whole_take(&got, from);
        assert_same_accesses(&got, &wanted, 0, wanted.count);
        assert_same_events(&got, &wanted, 0, wanted.count);
        whole_free(&got);
        whole_free(&wanted);
    }
    rsc_trace_close(from);
    whole_free(&trace);
}

/* A window in a file whose index is damaged: salvage still finds it, reading reports it. */
static void a_window_in_a_damaged_file(void **state) {
    (void)state;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 4, 0);
    struct whole_trace trace = random_trace(&rng, 500), got;
    struct rsc_trace_writer_options writing = whole_options("rsct", 64);
    struct rsc_filter filter = RSC_FILTER_ALL;
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &filter, .salvage = 1};
    whole_write(&trace, scratch_path("trace.rsct"), &writing, NULL, 0);
    assert_int_equal(truncate(scratch_path("trace.rsct"), 3000), 0);
    filter.first = 100;
    filter.count = 50;
    struct whole_trace wanted = naive_filter(&trace, &filter);
    whole_read(&got, scratch_path("trace.rsct"), &options);
    assert_int_equal(got.status, 0);
    assert_same_accesses(&got, &wanted, 0, 50);
    whole_free(&got);
    options.salvage = 0;
    whole_read(&got, scratch_path("trace.rsct"), &options);
    assert_int_equal(got.status, RSC_EFORMAT);
    whole_free(&got);
    whole_free(&wanted);
    whole_free(&trace);
}

static void a_filter_in_words(void **state) {
    (void)state;
    static const uint64_t tids[] = {5, UINT64_MAX};
    struct rsc_filter filter = RSC_FILTER_ALL;
    char text[256];
    assert_true(rsc_filter_is_all(&filter));
    assert_int_equal(rsc_filter_text(&filter, text, sizeof text), 0);
    assert_string_equal(text, "");
    filter.every = 0;
    assert_true(rsc_filter_is_all(&filter));
    filter.bits_value = 1; /* no address has bits that are not looked at */
    assert_false(rsc_filter_is_all(&filter));
    filter = (struct rsc_filter){.kinds = 5,
                                 .tid_count = 2,
                                 .tids = tids,
                                 .addr_low = 0x10,
                                 .addr_high = 0xff,
                                 .bits_mask = 0xc0,
                                 .bits_value = 0x40,
                                 .first = 7,
                                 .count = UINT64_MAX,
                                 .every = 16};
    size_t length = rsc_filter_text(&filter, text, sizeof text);
    assert_string_equal(text,
                        "kinds=RI tid=5 tid=18446744073709551615 range=0x10-0xff bits=0xc0=0x40 window=7+ every=16");
    assert_int_equal(length, strlen(text));
    filter.count = 9;
    rsc_filter_text(&filter, text, sizeof text);
    assert_non_null(strstr(text, " window=7+9 "));
    for (size_t room = 0; room < sizeof text; room++) { /* never past its room */
        char *tight = malloc(room ? room : 1);
        length = rsc_filter_text(&filter, tight, room);
        assert_true(length == 0 || (length < room && length == strlen(tight)));
        free(tight);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_alone_and_together), cmocka_unit_test(windows_cover_the_trace),
        cmocka_unit_test(text_formats_are_filtered_too),  cmocka_unit_test(seeking_through_a_filter),
        cmocka_unit_test(a_window_in_a_damaged_file),     cmocka_unit_test(a_filter_in_words),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
