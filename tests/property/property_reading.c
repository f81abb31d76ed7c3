/*
 * property_reading.c - a trace read by any number of threads is the same trace: random
 * traces in every format, whole, filtered, cut and damaged, against one thread. The same
 * for what the decoding threads make of it: a sample of lines, a sample of sets. Meant
 * for ThreadSanitizer as much as for itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "engine/engine_spec.h"
#include "foreign_traces.h"
#include "profile/profile_model.h"
#include "property/random_traces.h"
#include "simulate/sampling/set_sample.h"
#include "trace/source.h"
#include "unit/scratch_folder.h"
#include "unit/whole_trace.h"

static uint64_t seed;
static unsigned long traces;

static const char *const own_formats[] = {"rsct", "rsct", "rsct", "din", "csv", "raw64", "list", "lackey"};
#define OWN_FORMATS (sizeof own_formats / sizeof *own_formats)

static struct whole_trace make_trace(struct rsc_rng *rng) {
    struct random_trace shape;
    struct whole_trace trace = {.has_pc = 1};
    random_trace_make(&shape, rng, rsc_rng_below(rng, 4) ? 3000 : 70000);
    for (uint32_t i = 0; i < shape.count; i++) {
        if (!rsc_rng_below(rng, 60))
            whole_add_event(&trace, RSC_EVENT_MARKER, rsc_meta_thread(shape.meta[i]), i, 0, NULL,
                            (uint16_t)rsc_rng_below(rng, 40));
        whole_add(&trace, shape.addr[i], shape.meta[i], 0x400000 + rsc_rng_below(rng, 4000) * 3);
    }
    trace.instructions = rsc_rng_below(rng, 3) ? 3ull * shape.count : RSC_UNKNOWN;
    trace.thread_count = shape.threads;
    trace.threads = whole_allocate(NULL, trace.thread_count, sizeof *trace.threads);
    for (uint32_t i = 0; i < trace.thread_count; i++) trace.threads[i] = (struct rsc_thread){4 + i / 3, 100 + i * 11};
    random_trace_free(&shape);
    return trace;
}

/* Formats that the library does not write. */
static void write_text(FILE *file, const char *format, const struct whole_trace *trace) {
    static const char *const lackey[] = {" L", " S", "I "};
    int lines = !strcmp(format, "lackey"), raw = !strcmp(format, "raw64");
    if (lines) fputs("==1== Lackey\n", file);
    for (uint64_t i = 0; i < trace->count; i++) {
        unsigned kind = rsc_meta_kind(trace->meta[i]) % 3, size = rsc_meta_size(trace->meta[i]);
        if (raw) fwrite(&trace->addr[i], 8, 1, file);
        else if (lines)
            fprintf(file, "%s %08llx,%u\n", lackey[kind], (unsigned long long)trace->addr[i], size ? size : 1);
        else fprintf(file, "%c 0x%llx %u\n", "rwi"[kind], (unsigned long long)trace -> addr[i], size ? size : 1);
        if (!raw && i % 5000 == 77) fputs(lines ? "the program's own\n" : "# a comment\n", file);
    }
    if (lines) fputs("==1== Exit code:       0\n", file);
}

/* Writes the trace in a random format, whose name it returns. NULL: it has nothing to say there. */
static const char *write_somehow(struct whole_trace *trace, const char *path, struct rsc_rng *rng) {
    uint64_t choice = rsc_rng_below(rng, OWN_FORMATS + FOREIGN_FORMATS);
    if (choice >= OWN_FORMATS) {
        enum foreign_format format = (enum foreign_format)(choice - OWN_FORMATS);
        struct foreign_accesses all = {trace->count, trace->addr, trace->meta, trace->pc, trace->threads};
        if (!trace->count) return NULL;
        foreign_fit(format, &all);
        FILE *file = fopen(path, "wb");
        foreign_write(file, format, &all, rng);
        fclose(file);
        return foreign_names[format];
    }
    const char *format = own_formats[choice];
    if (!trace->count && strcmp(format, "rsct") && strcmp(format, "csv")) return NULL;
    if (!strcmp(format, "raw64") || !strcmp(format, "list") || !strcmp(format, "lackey")) {
        FILE *file = fopen(path, "wb");
        write_text(file, format, trace);
        fclose(file);
        return format;
    }
    static const uint32_t frames[] = {100, 1000, 7000, 20000};
    struct rsc_trace_writer_options options = whole_options(format, frames[rsc_rng_below(rng, 4)]);
    const uint32_t steps[] = {1 + (uint32_t)rsc_rng_below(rng, 9000), 500};
    whole_write(trace, path, &options, steps, 2);
    return format;
}

static struct rsc_filter random_filter(struct rsc_rng *rng, uint64_t *tids) {
    struct rsc_filter filter = RSC_FILTER_ALL;
    if (!rsc_rng_below(rng, 2)) return filter;
    if (!rsc_rng_below(rng, 3)) filter.kinds = 1 + (uint32_t)rsc_rng_below(rng, 6);
    if (!rsc_rng_below(rng, 4)) filter.bits_mask = 0x40, filter.bits_value = rsc_rng_below(rng, 2) << 6;
    if (!rsc_rng_below(rng, 4)) filter.addr_high = rsc_rng_below(rng, 1 << 20);
    if (!rsc_rng_below(rng, 4)) filter.first = rsc_rng_below(rng, 9000);
    if (!rsc_rng_below(rng, 4)) filter.count = rsc_rng_below(rng, 9000);
    if (!rsc_rng_below(rng, 6)) filter.every = 1 + rsc_rng_below(rng, 5);
    if (!rsc_rng_below(rng, 6)) {
        tids[0] = 100, tids[1] = 122;
        filter.tids = tids;
        filter.tid_count = 2;
    }
    return filter;
}

/* Cuts the file or writes over a few bytes of it. */
static void harm(const char *path, struct rsc_rng *rng) {
    FILE *file = fopen(path, "r+b");
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file), at = (long)rsc_rng_below(rng, (uint64_t)bytes);
    fseek(file, at, SEEK_SET);
    if (rsc_rng_below(rng, 2)) fwrite("?\n?", 1, 3, file);
    else if (at) assert_int_equal(ftruncate(fileno(file), at), 0);
    fclose(file);
}

static void assert_same_reading(const char *path, struct rsc_trace_options *options, struct rsc_rng *rng) {
    static const int threads[] = {1, 2, 3, 8};
    struct whole_trace one, more;
    options->decode_ahead = 0;
    whole_read(&one, path, options);
    for (int round = 0; round < 2; round++) {
        options->decode_ahead = threads[rsc_rng_below(rng, 4)];
        whole_read(&more, path, options);
        assert_int_equal(more.status, one.status);
        if (one.status) {
            assert_string_equal(more.error.message, one.error.message);
            assert_true(more.error.offset == one.error.offset && more.error.line == one.error.line);
        } else {
            assert_true(more.after.accesses == one.after.accesses);
            assert_true(more.after.full_accesses == one.after.full_accesses);
            assert_true(more.after.instructions == one.after.instructions);
            assert_true(more.after.full_instructions == one.after.full_instructions);
        }
        assert_int_equal(more.count, one.count);
        assert_same_accesses(&more, &one, 0, one.count);
        assert_same_events(&more, &one, 0, one.count);
        assert_int_equal(more.thread_count, one.thread_count);
        if (one.thread_count) assert_memory_equal(more.threads, one.threads, one.thread_count * sizeof *one.threads);
        whole_free(&more);
    }
    whole_free(&one);
}

static void any_number_of_threads_reads_the_same(void **state) {
    (void)state;
    for (unsigned long i = 0; i < traces; i++) {
        struct rsc_rng rng;
        uint64_t tids[2];
        rsc_rng_seed(&rng, seed, i);
        struct whole_trace trace = make_trace(&rng);
        const char *path = scratch_path("trace"), *format = write_somehow(&trace, path, &rng);
        struct rsc_filter filter = random_filter(&rng, tids);
        struct rsc_trace_options options = {.struct_bytes = sizeof options, .format = format, .filter = &filter};
        options.without_pcs = !rsc_rng_below(&rng, 3);
        options.without_events = !rsc_rng_below(&rng, 3);
        if (format) assert_same_reading(path, &options, &rng);
        if (format && !rsc_rng_below(&rng, 3)) {
            harm(path, &rng);
            assert_same_reading(path, &options, &rng);
        }
        whole_free(&trace);
    }
}

/* ---- what the decoding threads make of a trace ---- */

static char *profile_text(const char *path, struct rsc_trace_options *options, const char *engine_name, int *parts) {
    struct rsc_engine_options how = {.struct_bytes = sizeof how, .engine = engine_name, .seed = 5};
    struct rsc_error error;
    struct rsc_trace *trace;
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    const struct rsc_batch *batch;
    void *part;
    char *text;
    size_t bytes;
    int status;
    assert_int_equal(rsc_trace_open(&trace, path, options, &error), 0);
    assert_int_equal(rsc_engine_new(&engine, &how, &error), 0);
    *parts = rsc_engine_use_parts(engine, trace);
    while ((status =
                *parts ? rsc_trace_next_part(trace, &part, &batch, &error) : rsc_trace_next(trace, &batch, &error)) > 0)
        assert_int_equal(
            *parts ? rsc_engine_push_part(engine, part, batch, &error) : rsc_engine_push(engine, batch, &error), 0);
    assert_int_equal(status, 0);
    assert_int_equal(rsc_engine_finish(engine, &profile, &error), 0);
    profile->made.seconds = 0;
    assert_int_equal(rsc_profile_json(profile, &text, &bytes, &error), 0);
    rsc_profile_free(profile);
    rsc_trace_end_parts(trace);
    rsc_engine_free(engine);
    rsc_trace_close(trace);
    return text;
}

static void count_sets(const char *path, struct rsc_trace_options *options, const struct rsc_sim_config *config,
                       const struct rsc_set_choice *choice, struct rsc_set_result *result, int *parts) {
    struct rsc_error error;
    struct rsc_trace *trace;
    struct rsc_set_sample *sets;
    const struct rsc_batch *batch;
    void *part;
    int status;
    assert_int_equal(rsc_trace_open(&trace, path, options, &error), 0);
    assert_int_equal(rsc_set_sample_new(&sets, config, choice, 0, 0, &error), 0);
    *parts = rsc_set_sample_use_parts(sets, trace);
    while ((status =
                *parts ? rsc_trace_next_part(trace, &part, &batch, &error) : rsc_trace_next(trace, &batch, &error)) > 0)
        assert_int_equal(
            *parts ? rsc_set_sample_push_part(sets, part, batch, &error) : rsc_set_sample_push(sets, batch, &error), 0);
    assert_int_equal(status, 0);
    assert_int_equal(rsc_set_sample_finish(sets, 1000, 1000, 90, result, &error), 0);
    rsc_trace_end_parts(trace);
    rsc_set_sample_free(sets);
    rsc_trace_close(trace);
}

static void samples_are_the_same(const char *path, struct rsc_trace_options *options, struct rsc_rng *rng) {
    static const char *const engines[] = {"shards:0.5", "shards:0.05", "shards:1"};
    const char *engine = engines[rsc_rng_below(rng, 3)];
    int parts;
    options->decode_ahead = 0;
    char *one = profile_text(path, options, engine, &parts);
    assert_false(parts);
    options->decode_ahead = 1 + (int)rsc_rng_below(rng, 4);
    char *more = profile_text(path, options, engine, &parts);
    assert_true(parts);
    assert_string_equal(more, one);
    rsc_text_free(one);
    rsc_text_free(more);

    struct rsc_sim_config config = {0};
    struct rsc_cache_config cache;
    struct rsc_set_choice choice;
    struct rsc_error error;
    static struct rsc_set_result first, second;
    assert_int_equal(rsc_cache_config_parse(&cache, "l2", "64K,4,64", &error), 0);
    assert_int_equal(rsc_sim_config_add(&config, &cache, &error), 0);
    assert_int_equal(rsc_set_choice_parse(&choice, rsc_rng_below(rng, 2) ? "1/4" : "1/8,random", &error), 0);
    assert_int_equal(rsc_set_choice_settle(&choice, &config, &error), 0);
    options->without_events = 1;
    count_sets(path, options, &config, &choice, &first, &parts);
    assert_true(parts);
    options->decode_ahead = 0;
    count_sets(path, options, &config, &choice, &second, &parts);
    assert_false(parts);
    assert_int_equal(first.sampled, second.sampled);
    assert_int_equal(first.references, second.references);
    assert_memory_equal(first.counts, second.counts, sizeof first.counts[0]);
    assert_true(first.estimates[0].misses == second.estimates[0].misses &&
                first.estimates[0].low == second.estimates[0].low);
    double by_first = first.estimates[0].sampled_instructions, by_second = second.estimates[0].sampled_instructions;
    assert_true(by_first == by_second || (isnan(by_first) && isnan(by_second)));
    rsc_set_result_free(&first, 1);
    rsc_set_result_free(&second, 1);
}

static void parts_are_the_same_as_batches(void **state) {
    (void)state;
    for (unsigned long i = 0; i < traces / 2; i++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, 1000000 + i);
        struct whole_trace trace = make_trace(&rng);
        struct rsc_filter filter = RSC_FILTER_ALL;
        if (!rsc_rng_below(&rng, 3)) filter.kinds = 3;
        if (!rsc_rng_below(&rng, 4)) filter.first = rsc_rng_below(&rng, 2000);
        struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &filter};
        struct rsc_trace_writer_options how = whole_options("rsct", 100 + (uint32_t)rsc_rng_below(&rng, 9000));
        const char *path = scratch_path("parts.rsct");
        whole_write(&trace, path, &how, NULL, 0);
        samples_are_the_same(path, &options, &rng);
        whole_free(&trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_number_of_threads_reads_the_same),
                                       cmocka_unit_test(parts_are_the_same_as_batches)};
    seed = property_seed();
    traces = property_traces(200);
    int failed = cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
    if (failed) printf("failed with seed %llu\n", (unsigned long long)seed);
    return failed;
}
