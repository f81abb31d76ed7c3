/*
 * property_gpu.c - the gpu engine against the exact one: the same profile, bit for bit, with
 * threads, kinds, phases, a second binning, code and data, of one stack and of private ones. And hp-rda on the device against
 * itself on the CPU. The plugin is the one with an emulated device, whose kernels are the
 * device's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/gpu/gpu_load.h"
#include "multicore/multicore_engines.h"
#include "property/traced.h"

#ifndef RSC_EMULATED_PLUGIN
int main(void) { return 77; } /* no C++ compiler, or a sanitizer that does not know fibers */
#else

/* In a third of the traces only the second half shows that there is more than one thread and kind. */
static void begin_alone(struct traced *traced, struct rsc_rng *rng) {
    if (rsc_rng_below(rng, 3)) return;
    for (uint32_t i = 0; i < traced->trace.count / 2; i++)
        traced->trace.meta[i] = rsc_meta(rsc_meta_size(traced->trace.meta[i]), RSC_WRITE, 0);
}

/* In a quarter of the traces the last third has more threads than the device has rows for. */
static void end_in_a_crowd(struct traced *traced, struct rsc_rng *rng) {
    if (rsc_rng_below(rng, 4)) return;
    for (uint32_t i = traced->trace.count / 3 * 2; i < traced->trace.count; i++)
        traced->trace.meta[i] = rsc_meta(rsc_meta_size(traced->trace.meta[i]), (enum rsc_kind)rsc_rng_below(rng, 3),
                                         (uint32_t)rsc_rng_below(rng, 2 * RSC_GPU_ROW_THREADS));
}

/* Options and a trace for them: an access may have 4 KiB, each of its lines a reference. */
static struct rsc_engine_options draw(struct rsc_rng *rng, struct traced *traced) {
    const struct rsc_engine_options options = {
        .struct_bytes = sizeof options,
        .line_bytes = rsc_rng_below(rng, 3) ? 64 : 1u << rsc_rng_below(rng, 13),
        .phases = rsc_rng_below(rng, 3) ? 0 : 1 + (uint32_t)rsc_rng_below(rng, 20),
        .max_distance = rsc_rng_below(rng, 3) ? 0 : 1 + rsc_rng_below(rng, 200),
        .bins_per_octave = rsc_rng_below(rng, 3) ? 0 : 1 + (uint32_t)rsc_rng_below(rng, 64),
        .attribute = rsc_rng_below(rng, 2) ? 0 : 1 + (uint32_t)rsc_rng_below(rng, 2),
        .no_ri = rsc_rng_below(rng, 4) == 0,
        .workers = 1,
    };
    traced_make(traced, rng, options.line_bytes < 64 ? 3 * options.line_bytes + 2 : 2000);
    return options;
}

/* Frees the trace. */
static void check_engines(const struct rsc_engine_kind *exact, const struct rsc_engine_kind *gpu,
                          const struct rsc_engine_options *options, struct traced *traced, struct rsc_rng *rng) {
    struct rsc_profile *wanted = traced_profile(exact, options, NULL, 0, traced, rng);
    struct rsc_profile *got = traced_profile(gpu, options, NULL, 0, traced, rng);
    check_same(wanted, got);
    rsc_profile_free(wanted);
    rsc_profile_free(got);
    traced_free(traced);
}

static void test_random_traces(void **state) {
    (void)state;
    uint64_t seed = property_seed();
    unsigned long traces = property_traces(400);
    for (unsigned long t = 0; t < traces; t++) {
        struct rsc_rng rng;
        struct traced traced;
        rsc_rng_seed(&rng, seed, t);
        const struct rsc_engine_options options = draw(&rng, &traced);
        begin_alone(&traced, &rng);
        end_in_a_crowd(&traced, &rng);
        check_engines(&rsc_engine_exact, &rsc_engine_gpu, &options, &traced, &rng);
    }
}

/* Threads that share lines all the time: most references are to a few lines, which any thread may write to. */
static void share_lines(struct traced *traced, struct rsc_rng *rng) {
    struct random_trace *trace = &traced->trace;
    const uint64_t lines = 1 + rsc_rng_below(rng, 60), threads = 1 + rsc_rng_below(rng, rsc_rng_below(rng, 8) ? 5 : 40);
    const uint64_t writes = rsc_rng_below(rng, 100), elsewhere = 1 + rsc_rng_below(rng, 20);
    for (uint32_t i = 0; i < trace->count; i++) {
        enum rsc_kind kind = rsc_rng_below(rng, 100) < writes ? RSC_WRITE : RSC_READ;
        uint32_t size =
            (uint32_t)rsc_rng_below(rng, 20) ? 1 + (uint32_t)rsc_rng_below(rng, 8) : rsc_meta_size(trace->meta[i]);
        trace->meta[i] = rsc_meta(size, kind, (uint32_t)rsc_rng_below(rng, threads));
        if (rsc_rng_below(rng, elsewhere)) trace->addr[i] = 64 * rsc_rng_below(rng, lines) + rsc_rng_below(rng, 64);
    }
}

/* Private stacks: also the sharing matrix, and falsely shared lines with their places and objects. */
static void test_private(void **state) {
    (void)state;
    static const char *const cores[] = {NULL, NULL, "0-1", "0+2,1+3", "1-2,0+3"};
    uint64_t seed = property_seed();
    unsigned long traces = property_traces(400);
    for (unsigned long t = 0; t < traces; t++) {
        struct rsc_rng rng;
        struct traced traced;
        rsc_rng_seed(&rng, seed + 77, t);
        struct rsc_engine_options options = draw(&rng, &traced);
        options.cores = cores[rsc_rng_below(&rng, sizeof cores / sizeof *cores)];
        if (rsc_rng_below(&rng, 4)) share_lines(&traced, &rng);
        check_engines(&rsc_engine_private, &rsc_engine_gpu_private, &options, &traced, &rng);
    }
}

static struct rsc_profile *analyse(const struct random_trace *trace, struct rsc_engine_options options,
                                   const char *name, struct rsc_rng *rng) {
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    options.engine = name;
    if (rsc_engine_new(&engine, &options, &error) < 0) fail_msg("%s", error.message);
    for (uint32_t done = 0; done < trace->count;) {
        uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, 3000);
        if (part > trace->count - done) part = trace->count - done;
        struct rsc_batch batch = {
            .count = part, .addr = trace->addr + done, .meta = trace->meta + done, .instructions = RSC_UNKNOWN};
        if (rsc_engine_push(engine, &batch, &error) < 0) fail_msg("%s", error.message);
        done += part;
    }
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_free(engine);
    return profile;
}

static void same_lists(const struct rsc_bin *a, size_t a_count, const struct rsc_bin *b, size_t b_count) {
    assert_int_equal(a_count, b_count);
    if (a_count) assert_memory_equal(a, b, a_count * sizeof *a);
}

/* The same profile but for what it says of how it was made. */
static void test_hprda(void **state) {
    (void)state;
    uint64_t seed = property_seed();
    unsigned long traces = property_traces(150);
    for (unsigned long t = 0; t < traces; t++) {
        struct rsc_rng rng;
        struct random_trace trace;
        struct rsc_engine_options options = {.struct_bytes = sizeof options, .attribute = 2};
        rsc_rng_seed(&rng, ~seed, t);
        options.line_bytes = rsc_rng_below(&rng, 3) ? 64 : 64u << rsc_rng_below(&rng, 7);
        char on_cpu[80], on_gpu[100];
        unsigned local = 2 + (unsigned)rsc_rng_below(&rng, 40);
        snprintf(on_cpu, sizeof on_cpu, "hp-rda:local=%u,adjust=%s", local, rsc_rng_below(&rng, 2) ? "off" : "on");
        snprintf(on_gpu, sizeof on_gpu, "%s,device=0", on_cpu);
        random_trace_make(&trace, &rng, 2000);
        struct rsc_profile *cpu = analyse(&trace, options, on_cpu, &rng);
        struct rsc_profile *gpu = analyse(&trace, options, on_gpu, &rng);
        assert_non_null(strstr(gpu->made.sampling, "; on a GPU"));
        assert_memory_equal(gpu->made.sampling, cpu->made.sampling, strlen(cpu->made.sampling));
        assert_string_equal(gpu->made.by, "hp-rda");
        assert_int_equal(gpu->accesses, cpu->accesses);
        assert_int_equal(gpu->references, cpu->references);
        assert_int_equal(gpu->cold, cpu->cold);
        assert_int_equal(gpu->distinct, cpu->distinct);
        assert_int_equal(gpu->made.threads, cpu->made.threads);
        same_lists(gpu->rd_list, gpu->rd_list_count, cpu->rd_list, cpu->rd_list_count);
        assert_int_equal(gpu->mrc_count, cpu->mrc_count); /* low and high are in it */
        if (gpu->mrc_count) assert_memory_equal(gpu->mrc, cpu->mrc, gpu->mrc_count * sizeof *gpu->mrc);
        rsc_profile_free(cpu);
        rsc_profile_free(gpu);
        random_trace_free(&trace);
    }
}

int main(void) {
    setenv(RSC_GPU_PLUGIN_VARIABLE, RSC_EMULATED_PLUGIN, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_traces), cmocka_unit_test(test_private),
                                       cmocka_unit_test(test_hprda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
