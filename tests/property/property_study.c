/*
 * property_study.c - what `--study sampling` finds in its one pass is what the
 * simulator finds of the whole trace, and what samples of sets and of time find
 * when they are simulated one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "simulate/sampling/set_sample.h"
#include "simulate/sampling/study.h"
#include "simulate/sampling/time_sample.h"

enum { ACCESSES = 40000, EACH = 25 /* instructions an access */ };

static uint64_t addr[ACCESSES], meta[ACCESSES];
static const struct rsc_thread threads[2] = {{17, 1}, {200, 2}};

static void write_trace(const char *path, uint64_t seed) {
    struct rsc_trace_writer *writer;
    struct rsc_error error;
    struct rsc_rng rng;
    struct rsc_trace_writer_options options = {.struct_bytes = sizeof options, .frame_accesses = 1000};
    rsc_rng_seed(&rng, seed, 0);
    for (uint32_t i = 0; i < ACCESSES; i++) {
        enum rsc_kind kind = (enum rsc_kind)rsc_rng_below(&rng, 3);
        uint64_t block = rsc_rng_below(&rng, 4) ? rsc_rng_below(&rng, 1500) : rsc_rng_below(&rng, 20000);
        addr[i] = block * 32 + rsc_rng_below(&rng, 32) + (kind == RSC_FETCH ? 1u << 24 : 0);
        meta[i] = rsc_meta(1 + (uint32_t)rsc_rng_below(&rng, 8), kind, i / 5000 % 2);
    }
    assert_int_equal(rsc_trace_writer_open(&writer, path, &options, &error), 0);
    for (uint32_t at = 0; at < ACCESSES; at += 1000) {
        struct rsc_batch batch = {.count = 1000,
                                  .addr = addr + at,
                                  .meta = meta + at,
                                  .threads = threads,
                                  .thread_count = 2,
                                  .instructions = 1000 * EACH};
        assert_int_equal(rsc_trace_writer_push(writer, &batch, &error), 0);
    }
    assert_int_equal(rsc_trace_writer_finish(writer, &error), 0);
    rsc_trace_writer_close(writer);
}

static void make_config(struct rsc_sim_config *sim, int with_l1, const char *const *l2, size_t count) {
    struct rsc_cache_config cache;
    memset(sim, 0, sizeof *sim);
    sim->seed = 3;
    if (with_l1) {
        assert_int_equal(rsc_cache_config_parse(&cache, "l1", "2K,1,32", NULL), 0);
        assert_int_equal(rsc_sim_config_add(sim, &cache, NULL), 0);
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rsc_cache_config_parse(&cache, "l2", l2[i], NULL), 0);
        assert_int_equal(rsc_sim_config_add(sim, &cache, NULL), 0);
    }
}

static struct rsc_trace *open_trace(const char *path) {
    struct rsc_trace *trace;
    assert_int_equal(rsc_trace_open(&trace, path, NULL, NULL), 0);
    return trace;
}

static void simulate(const char *path, const struct rsc_sim_config *config, struct rsc_sim_result *result) {
    struct rsc_trace *trace = open_trace(path);
    struct rsc_sim *sim;
    const struct rsc_batch *batch;
    assert_int_equal(rsc_sim_new(&sim, config, NULL, NULL), 0);
    while (rsc_trace_next(trace, &batch, NULL) > 0) assert_int_equal(rsc_sim_push(sim, batch, NULL), 0);
    assert_int_equal(rsc_sim_finish(sim, result, NULL), 0);
    rsc_sim_free(sim);
    rsc_trace_close(trace);
}

/* Estimates by what a sample's own sets have of the references of `kinds`, counted from the trace itself. */
static double cv_of(const struct rsc_study_cache *cache, const struct rsc_study_bits *bits, uint32_t kinds) {
    double own[16] = {0}, all = 0, sum = 0;
    for (uint32_t i = 0; i < ACCESSES; i++)
        if (kinds & RSC_KIND_BIT(rsc_meta_kind(meta[i]))) own[addr[i] >> bits->low & 15]++, all++;
    for (int v = 0; v < 16; v++) {
        double misses = bits->mpi[v] * ACCESSES * EACH / 16;             /* of the sample's sets */
        double estimate = misses / (ACCESSES * (double)EACH * own[v] / all); /* per instruction of its share */
        sum += (estimate - cache->mpi) * (estimate - cache->mpi);
    }
    return sqrt(sum / 16) / cache->mpi;
}

static void check_normalised(const struct rsc_study_cache *cache) {
    const uint32_t data = RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE), fetches = RSC_KIND_BIT(RSC_FETCH);
    const struct rsc_study_bits *bits = &cache->sets[0].paper;
    assert_true(fabs(bits->cv_sampled - cv_of(cache, bits, fetches)) <= 1e-9);
    assert_true(fabs(bits->cv_references - cv_of(cache, bits, data | fetches)) <= 1e-9);
    assert_true(fabs(bits->cv_data - cv_of(cache, bits, data)) <= 1e-9);
    assert_true(bits->cv_data != bits->cv_sampled);
}

/* The study's set samples of cache i against the samples themselves. */
static void check_sets(const char *path, const struct rsc_sim_config *config, const struct rsc_study_cache *cache) {
    static struct rsc_sim_config one;
    static struct rsc_set_result result;
    struct rsc_set_choice choice;
    char text[64];
    assert_true(cache->sets[0].available);
    const struct rsc_study_bits *bits = &cache->sets[0].paper;
    check_normalised(cache);
    one = *config;
    one.count = config->caches[0].level == 1 ? 2 : 1;
    /* as the only lowest one */
    assert_int_equal(rsc_cache_config_parse(&one.caches[one.count - 1], cache->cache.name, cache->cache.text, NULL), 0);
    snprintf(text, sizeof text, "1/16,bits:%u-%u=all", bits->low, bits->low + 3);
    assert_int_equal(rsc_set_choice_parse(&choice, text, NULL), 0);
    if (rsc_set_choice_settle(&choice, &one, NULL) < 0) return; /* the level above has not so many index bits */
    struct rsc_trace *trace = open_trace(path);
    struct rsc_set_sample *sets;
    const struct rsc_batch *batch;
    assert_int_equal(rsc_set_sample_new(&sets, &one, &choice, 0, 0, NULL), 0);
    while (rsc_trace_next(trace, &batch, NULL) > 0) assert_int_equal(rsc_set_sample_push(sets, batch, NULL), 0);
    assert_int_equal(rsc_set_sample_finish(sets, (uint64_t)ACCESSES * EACH, ACCESSES, 90, &result, NULL), 0);
    const struct rsc_estimate *estimate = &result.estimates[one.count - 1];
    for (size_t v = 0; v < 16; v++) assert_true(fabs(estimate->parts[v].mpi - bits->mpi[v]) <= 1e-12);
    assert_true(fabs(estimate->cv - bits->cv) <= 1e-9);
    assert_true(fabs(estimate->variance_ratio - bits->variance_ratio) <= 1e-9);
    rsc_set_sample_free(sets);
    rsc_set_result_free(&result, one.count);
    rsc_trace_close(trace);
}

/* Intervals of the study against time samples of all of them; a single level, so that nothing above is cold. */
static void check_times(const char *path, const struct rsc_sim_config *config, const struct rsc_study_cache *cache) {
    static struct rsc_sim_config one;
    static struct rsc_time_result result;
    const struct rsc_study_time *time = &cache->times[0];
    assert_int_equal(time->length, 100000);
    assert_int_equal(time->count, 10);
    assert_int_equal(time->sampled, 5);
    one = *config;
    assert_int_equal(rsc_cache_config_parse(&one.caches[0], cache->cache.name, cache->cache.text, NULL), 0);
    one.count = 1;
    static const enum rsc_cold_start starts[] = {RSC_START_COLD, RSC_START_HALF, RSC_START_PRIME, RSC_START_INITMR,
                                                 RSC_START_WARM};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        struct rsc_time_options options = {
            .choice = {.intervals = 10, .length = 100000, .random = 1}, .cold_start = starts[s], .confidence = 90};
        struct rsc_trace *trace = open_trace(path);
        struct rsc_error error;
        if (rsc_time_sample(&one, &options, trace, &result, &error) < 0) fail_msg("%s", error.message);
        rsc_trace_close(trace);
        for (size_t i = 0; i < 10; i++) {
            double misses = result.estimates[0].parts[i].mpi * 100000;
            double found = starts[s] == RSC_START_WARM ? (double)time->intervals[i].misses
                                                       : time->intervals[i].estimate[starts[s]];
            if (!(isnan(misses) && isnan(found)) && !(fabs(misses - found) <= 1e-6))
                fail_msg("interval %zu, %s: %g, not %g", i, rsc_cold_start_names[starts[s]], found, misses);
        }
        rsc_time_result_free(&result, 1);
    }
}

static void one_pass(void **state) {
    (void)state;
    /* An index that depends on the process makes blocks of two processes differ in all caches. */
    static const char *const alike[] = {"64K,1,64", "64K,4,64,random", "128K,2,64,srrip", "64K,2,32"};
    static const char *const by_process[] = {"64K,1,64", "64K,4,64,random", "128K,2,64,srrip,pages", "64K,2,32,pid"};
    static struct rsc_sim_config config;
    char path[] = "/tmp/property_study.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct rsc_study study;
        struct rsc_sim_result whole;
        struct rsc_error error;
        int with_l1 = seed % 2 == 0;
        make_config(&config, with_l1, seed <= 2 ? alike : by_process, 4);
        write_trace(path, seed);
        simulate(path, &config, &whole);
        struct rsc_trace *trace = open_trace(path);
        if (rsc_study_run(&study, &config, trace, 2, 0, NULL, NULL, &error) < 0) fail_msg("%s", error.message);
        rsc_trace_close(trace);
        assert_int_equal(study.instructions, ACCESSES * EACH);
        assert_int_equal(study.cache_count, 4);
        for (size_t i = 0; i < 4; i++) {
            const struct rsc_sim_level_result *level = &whole.levels[i + (size_t)with_l1];
            assert_int_equal(study.caches[i].misses, rsc_kinds_sum(level->counts.misses));
            assert_int_equal(study.caches[i].references, rsc_kinds_sum(level->counts.accesses));
            uint64_t sum = 0;
            for (size_t k = 0; k < 10; k++) sum += study.caches[i].times[0].intervals[k].misses;
            assert_int_equal(sum, study.caches[i].misses); /* ten intervals are the whole trace */
            if (seed <= 2) check_sets(path, &config, &study.caches[i]);
            if (seed <= 2 && !with_l1) check_times(path, &config, &study.caches[i]);
        }
        rsc_study_free(&study);
        rsc_sim_result_free(&whole);
    }
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
