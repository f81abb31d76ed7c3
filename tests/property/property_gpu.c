/*
 * property_gpu.c - the gpu engine against the exact one: the same profile, bit for
 * bit, through the library and the plugin. And hp-rda on the device against itself on
 * the CPU. The plugin is the one with an emulated
 * device, whose kernels are the device's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/gpu/gpu_load.h"
#include "profile/profile_model.h"
#include "property/random_traces.h"

#ifndef RSC_EMULATED_PLUGIN
int main(void) { return 77; } /* no C++ compiler, or a sanitizer that does not know fibers */
#else

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

static void same_profiles(const struct rsc_profile *gpu, const struct rsc_profile *exact, int no_ri) {
    assert_string_equal(gpu->made.by, "gpu");
    assert_string_equal(gpu->made.model, exact->made.model);
    assert_int_equal(gpu->made.line_bytes, exact->made.line_bytes);
    assert_int_equal(gpu->made.threads, exact->made.threads);
    assert_int_equal(gpu->accesses, exact->accesses);
    assert_int_equal(gpu->references, exact->references);
    assert_int_equal(gpu->cold, exact->cold);
    assert_int_equal(gpu->distinct, exact->distinct);
    assert_int_equal(gpu->rd_capped, exact->rd_capped);
    same_lists(gpu->rd_list, gpu->rd_list_count, exact->rd_list, exact->rd_list_count);
    if (no_ri) assert_int_equal(gpu->ri_list_count, 0);
    else same_lists(gpu->ri_list, gpu->ri_list_count, exact->ri_list, exact->ri_list_count);
    assert_int_equal(gpu->mrc_count, exact->mrc_count);
    if (gpu->mrc_count) assert_memory_equal(gpu->mrc, exact->mrc, gpu->mrc_count * sizeof *gpu->mrc);
    struct rsc_error error;
    assert_int_equal(rsc_profile_check_sum(gpu, "gpu", &error), 0);
    if (exact->made.threads > 1) {
        assert_int_equal(gpu->thread_count, 0);
        return;
    }
    assert_int_equal(gpu->thread_count, exact->thread_count);
    for (size_t t = 0; t < gpu->thread_count; t++) {
        assert_int_equal(gpu->threads[t].references, exact->threads[t].references);
        assert_int_equal(gpu->threads[t].cold, exact->threads[t].cold);
        assert_memory_equal(gpu->threads[t].rd.count, exact->threads[t].rd.count,
                            gpu->threads[t].rd.bin_count * sizeof *gpu->threads[t].rd.count);
    }
}

static void test_random_traces(void **state) {
    (void)state;
    uint64_t seed = property_seed();
    unsigned long traces = property_traces(400);
    for (unsigned long t = 0; t < traces; t++) {
        struct rsc_rng rng;
        struct random_trace trace;
        struct rsc_engine_options options = {.struct_bytes = sizeof options, .attribute = 2};
        rsc_rng_seed(&rng, seed, t);
        options.line_bytes = rsc_rng_below(&rng, 3) ? 64 : 1u << rsc_rng_below(&rng, 13);
        /* an access may have 4 KiB, each of its lines a reference */
        random_trace_make(&trace, &rng, options.line_bytes < 64 ? 3 * options.line_bytes + 2 : 2000);
        if (!rsc_rng_below(&rng, 3)) options.max_distance = 1 + rsc_rng_below(&rng, 200);
        if (rsc_rng_below(&rng, 2)) options.model = "shared";
        struct rsc_profile *exact = analyse(&trace, options, "exact", &rng);
        options.no_ri = !rsc_rng_below(&rng, 4);
        struct rsc_profile *gpu = analyse(&trace, options, "gpu", &rng);
        same_profiles(gpu, exact, (int)options.no_ri);
        rsc_profile_free(exact);
        rsc_profile_free(gpu);
        random_trace_free(&trace);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_traces), cmocka_unit_test(test_hprda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
