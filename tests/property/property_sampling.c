/*
 * property_sampling.c - samples of sets and of time against whole simulations and
 * against a naive simulator:
 *
 *  - constant bits, all values in turn, add up to the simulation of all sets, in
 *    random hierarchies; the sets of any sample do what they do in the whole;
 *    a filtered trace in a file gives what the sample of the whole gives;
 *  - intervals with their true state miss what the whole simulation misses there;
 *    cold, half, prime, stitch and initmr count what a simulator counts that keeps
 *    lists of blocks;
 *  - stated 90% intervals contain the truth 86 to 94% of the time.
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
#include "random_traces.h"
#include "simulate/sampling/set_sample.h"
#include "simulate/sampling/time_sample.h"

#define ACCESSES 20000u

static uint64_t addr[ACCESSES], meta[ACCESSES];
static const struct rsc_thread threads[4] = {{17, 1}, {17, 2}, {200, 3}, {200, 4}};

static uint64_t below(struct rsc_rng *rng, uint64_t n) { return rsc_rng_below(rng, n); }
static int one_in(struct rsc_rng *rng, uint64_t n) { return below(rng, n) == 0; }

static void make_trace(struct rsc_rng *rng) {
    unsigned shape = (unsigned)below(rng, 8);
    uint64_t at = 0, lines = 64 + below(rng, 8000);
    for (uint32_t i = 0; i < ACCESSES; i++) {
        enum rsc_kind kind = one_in(rng, 3) ? RSC_FETCH : one_in(rng, 3) ? RSC_WRITE : RSC_READ;
        uint32_t size = one_in(rng, 20) ? 1 + (uint32_t)below(rng, 300) : 1 + (uint32_t)below(rng, 16);
        addr[i] = random_line(rng, shape, &at, lines, i) * 16 + below(rng, 16) + (kind == RSC_FETCH ? 1u << 20 : 0);
        meta[i] = rsc_meta(size, kind, (uint32_t)below(rng, 4));
    }
}

static struct rsc_batch batch_of(uint32_t first, uint32_t end) {
    return (struct rsc_batch){.count = end - first,
                              .addr = addr + first,
                              .meta = meta + first,
                              .threads = threads,
                              .thread_count = 4,
                              .instructions = 3ull * (end - first)};
}

static void add(struct rsc_sim_config *sim, const char *name, const char *text) {
    struct rsc_cache_config cache;
    struct rsc_error error;
    if (rsc_cache_config_parse(&cache, name, text, &error) < 0) fail_msg("%s", error.message);
    if (rsc_sim_config_add(sim, &cache, &error) < 0) fail_msg("%s", error.message);
}

/* A hierarchy that can be sampled by sets. */
static void random_hierarchy(struct rsc_rng *rng, struct rsc_sim_config *sim) {
    static const char *const policies[] = {"lru", "random", "fifo", "plru", "nru", "srrip", "brrip"};
    static const char *const indexing[] = {"", ",pid", ",pages"};
    static const char *const writing[] = {"", "", ",wt", ",nwa", ",wt,nwa"};
    static const char *const sectors[] = {"", "", "", ",sector=8", ",sector=16"};
    char text[100];
    memset(sim, 0, sizeof *sim);
    sim->seed = rsc_rng_u64(rng);
    int private_levels = one_in(rng, 3);
    const char *each = private_levels ? ",private" : "";
    int has_sectors = !private_levels && one_in(rng, 2);
    snprintf(text, sizeof text, "%u,%u,%u,%s%s%s%s", 64u * 64u << below(rng, 3), 1u << below(rng, 3),
             32u << below(rng, 2), policies[below(rng, 7)], writing[below(rng, 5)], each,
             has_sectors ? sectors[below(rng, 5)] : "");
    if (one_in(rng, 2)) {
        add(sim, "l1i", text);
        add(sim, "l1d", text);
    } else if (!one_in(rng, 3)) {
        add(sim, "l1", text);
    }
    for (int alternatives = 1 + (int)below(rng, 3); alternatives; alternatives--) {
        snprintf(text, sizeof text, "%u,%u,%u,%s%s%s%s", 256u * 1024u << below(rng, 2), 1u << below(rng, 4),
                 64u << below(rng, 2), policies[below(rng, 7)], writing[below(rng, 5)], indexing[below(rng, 3)],
                 has_sectors ? sectors[below(rng, 5)] : "");
        if (alternatives > 1 || one_in(rng, 2)) add(sim, "l2", text);
        else add(sim, "l2", "128K,8,64,lru");
    }
    if (sim->count && sim->caches[sim->count - 1].level == 2 && one_in(rng, 3)) add(sim, "l3", "1M,16,64,srrip");
    if (private_levels && one_in(rng, 2)) sim->coherent = 1;
}

static void simulate(const struct rsc_sim_config *config, struct rsc_sim_result *result) {
    struct rsc_sim *sim;
    struct rsc_error error;
    struct rsc_batch batch = batch_of(0, ACCESSES);
    if (rsc_sim_new(&sim, config, NULL, &error) < 0) fail_msg("%s", error.message);
    assert_int_equal(rsc_sim_push(sim, &batch, &error), 0);
    assert_int_equal(rsc_sim_finish(sim, result, &error), 0);
    rsc_sim_free(sim);
}

static void expect_same(const struct rsc_level_counts *sampled, const struct rsc_level_counts *whole,
                        const char *name) {
    for (int kind = 0; kind < RSC_KINDS; kind++)
        if (sampled->accesses[kind] != whole->accesses[kind] || sampled->misses[kind] != whole->misses[kind])
            fail_msg("%s, kind %d: %llu accesses, %llu misses; whole %llu, %llu", name, kind,
                     (unsigned long long)sampled->accesses[kind], (unsigned long long)sampled->misses[kind],
                     (unsigned long long)whole->accesses[kind], (unsigned long long)whole->misses[kind]);
    assert_int_equal(sampled->writes_in, whole->writes_in);
    assert_int_equal(sampled->writes_in_missed, whole->writes_in_missed);
    assert_int_equal(sampled->writebacks, whole->writebacks);
    assert_int_equal(sampled->sector_misses, whole->sector_misses);
    assert_int_equal(sampled->writethroughs, whole->writethroughs);
    assert_int_equal(sampled->dirty_at_end, whole->dirty_at_end);
    assert_int_equal(sampled->blocks_at_end, whole->blocks_at_end);
    assert_int_equal(sampled->invalidated, whole->invalidated);
}

/* Runs a set sample in batches of random sizes. */
static void sample_sets(struct rsc_rng *rng, const struct rsc_sim_config *config, const struct rsc_set_choice *choice,
                        struct rsc_set_result *result) {
    struct rsc_set_sample *sets;
    struct rsc_error error;
    if (rsc_set_sample_new(&sets, config, choice, 0, 0, &error) < 0) fail_msg("%s", error.message);
    for (uint32_t at = 0; at < ACCESSES;) {
        uint32_t end = at + 1 + (uint32_t)below(rng, ACCESSES - at);
        struct rsc_batch batch = batch_of(at, end);
        assert_int_equal(rsc_set_sample_push(sets, &batch, &error), 0);
        at = end;
    }
    assert_int_equal(rsc_set_sample_finish(sets, 3ull * ACCESSES, ACCESSES, 90, result, &error), 0);
    rsc_set_sample_free(sets);
}

static void values_add_up(void **state) {
    (void)state;
    static struct rsc_sim_config config;
    static struct rsc_set_result sampled;
    struct rsc_rng rng;
    int done = 0;
    for (uint64_t seed = 1; done < 60; seed++) {
        struct rsc_set_choice choice;
        struct rsc_sim_result whole;
        char text[40];
        uint32_t low, width;
        rsc_rng_seed(&rng, seed, 0);
        random_hierarchy(&rng, &config);
        if (rsc_sim_config_check(&config, NULL) < 0 || rsc_set_bits(&config, &low, &width, NULL) < 0) continue;
        make_trace(&rng);
        uint32_t bits = 1 + (uint32_t)below(&rng, width < 5 ? width : 5),
                 from = low + (uint32_t)below(&rng, width - bits + 1);
        snprintf(text, sizeof text, "1/%u,bits:%u-%u=all", 1u << bits, from, from + bits - 1);
        assert_int_equal(rsc_set_choice_parse(&choice, text, NULL), 0);
        assert_int_equal(rsc_set_choice_settle(&choice, &config, NULL), 0);
        simulate(&config, &whole);
        sample_sets(&rng, &config, &choice, &sampled);
        for (size_t i = 0; i < config.count; i++) {
            char name[200];
            size_t used =
                (size_t)snprintf(name, sizeof name, "seed %llu, %s, cache %zu: ", (unsigned long long)seed, text, i);
            rsc_cache_config_text(&config.caches[i], name + used, sizeof name - used);
            expect_same(&sampled.counts[i], &whole.levels[i].counts, name);
            double sum = 0, mpi = rsc_sim_mpi(&whole, &whole.levels[i]);
            assert_int_equal(sampled.estimates[i].part_count, 1u << bits);
            for (size_t k = 0; k < 1u << bits; k++) sum += sampled.estimates[i].parts[k].mpi / (1u << bits);
            assert_true(fabs(sum - mpi) <= 1e-12 && fabs(sampled.estimates[i].mpi - mpi) <= 1e-12);
        }
        rsc_set_result_free(&sampled, config.count);
        rsc_sim_result_free(&whole);
        done++;
    }
}

/* A trace that convert would write, read back, against the sample taken from the whole. */
static void filtered_trace(void **state) {
    (void)state;
    static struct rsc_sim_config config;
    static struct rsc_set_result sampled, filtered;
    char path[] = "/tmp/property_sampling.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (uint64_t seed = 1; seed < 6; seed++) {
        struct rsc_rng rng;
        struct rsc_error error;
        struct rsc_set_choice choice;
        struct rsc_block_sample sample;
        struct rsc_block_sampler sampler;
        struct rsc_trace_writer *writer;
        struct rsc_trace *trace;
        struct rsc_trace_info info;
        struct rsc_batch kept, all = batch_of(0, ACCESSES);
        const struct rsc_batch *batch;
        struct rsc_set_sample *sets;
        char text[64];
        rsc_rng_seed(&rng, seed, 1);
        memset(&config, 0, sizeof config);
        add(&config, "l1", "8K,2,32");
        add(&config, "l2", "64K,4,64,random,pid");
        make_trace(&rng);
        assert_int_equal(rsc_set_choice_parse(&choice, seed % 2 ? "1/4,bits:6-7=2" : "1/2", NULL), 0);
        if (!(seed % 2)) { /* one index bit is left below the hashed ones: 256 sets */
            assert_int_equal(rsc_set_bits_check(&config, 6, 2, NULL), RSC_EINVAL);
            continue;
        }
        config.caches[1].indexing = RSC_INDEX_PAGES;
        assert_int_equal(rsc_set_choice_settle(&choice, &config, &error), 0);
        sample_sets(&rng, &config, &choice, &sampled);

        assert_int_equal(rsc_set_choice_sample(&choice, &config, &sample, &error), 0);
        rsc_block_sampler_start(&sampler, &sample, rsc_simd_best());
        rsc_block_sample_text(&sample, text, sizeof text);
        struct rsc_trace_writer_options options = {.struct_bytes = sizeof options, .filter = text};
        assert_int_equal(rsc_trace_writer_open(&writer, path, &options, &error), 0);
        assert_int_equal(rsc_block_sampler_take(&sampler, &all, &kept, &error), 0);
        assert_int_equal(rsc_trace_writer_push(writer, &kept, &error), 0);
        rsc_trace_writer_set_full(writer, ACCESSES, 3ull * ACCESSES);
        assert_int_equal(rsc_trace_writer_finish(writer, &error), 0);
        rsc_trace_writer_close(writer);
        rsc_block_sampler_free(&sampler);
        rsc_block_sample_free(&sample);

        assert_int_equal(rsc_trace_open(&trace, path, NULL, &error), 0);
        rsc_trace_get_info(trace, &info);
        assert_string_equal(info.filter, "sets=6-7=2");
        assert_int_equal(info.full_instructions, 3ull * ACCESSES);
        assert_int_equal(info.full_accesses, ACCESSES);
        assert_int_equal(rsc_set_sample_new(&sets, &config, &choice, 1, 0, &error), 0);
        while (rsc_trace_next(trace, &batch, &error) > 0) assert_int_equal(rsc_set_sample_push(sets, batch, &error), 0);
        assert_int_equal(rsc_set_sample_finish(sets, info.full_instructions, info.full_accesses, 90, &filtered, &error),
                         0);
        for (size_t i = 0; i < config.count; i++) {
            expect_same(&filtered.counts[i], &sampled.counts[i], config.caches[i].name);
            assert_true(filtered.estimates[i].mpi == sampled.estimates[i].mpi);
            assert_true(filtered.estimates[i].low == sampled.estimates[i].low);
            assert_true(filtered.estimates[i].high == sampled.estimates[i].high);
        }
        rsc_set_sample_free(sets);
        rsc_set_result_free(&filtered, config.count);
        rsc_set_result_free(&sampled, config.count);
        rsc_trace_close(trace);
    }
    unlink(path);
}

/* ---- time ---- */

/* Writes the trace to a file in frames of 700 accesses, for seeking. */
static void write_trace(const char *path) {
    struct rsc_trace_writer *writer;
    struct rsc_error error;
    struct rsc_trace_writer_options options = {.struct_bytes = sizeof options, .frame_accesses = 700};
    assert_int_equal(rsc_trace_writer_open(&writer, path, &options, &error), 0);
    for (uint32_t at = 0; at < ACCESSES; at += 100) {
        struct rsc_batch batch = batch_of(at, at + 100);
        assert_int_equal(rsc_trace_writer_push(writer, &batch, &error), 0);
    }
    assert_int_equal(rsc_trace_writer_finish(writer, &error), 0);
    rsc_trace_writer_close(writer);
}

/* One LRU cache as lists of blocks, newest first, with times in instructions; what it saw since it was emptied. */
struct naive {
    uint64_t sets, ways, block;
    struct {
        uint64_t block, fill, last;
    } at[64][8];
    uint64_t used[64];
    int primed[64];
    uint64_t references, misses, cold_misses, loaded, prime_references, prime_misses, generations;
    double dead, lifetime;
};

static void naive_empty(struct naive *naive) {
    uint64_t sets = naive->sets, ways = naive->ways, block = naive->block;
    memset(naive, 0, sizeof *naive);
    naive->sets = sets;
    naive->ways = ways;
    naive->block = block;
}

static void naive_reference(struct naive *naive, uint64_t block, uint64_t now) {
    uint64_t set = block % naive->sets, found = 0;
    int full = naive->used[set] == naive->ways, counts = naive->primed[set];
    while (found < naive->used[set] && naive->at[set][found].block != block) found++;
    int hit = found < naive->used[set];
    naive->references++;
    naive->misses += !hit;
    naive->cold_misses += !hit && !full;
    naive->prime_references += (uint64_t)counts;
    naive->prime_misses += counts && !hit;
    /* The most recent block is first. */
    if (full && !(hit && found == 0)) naive->primed[set] = 1;
    uint64_t fill = hit ? naive->at[set][found].fill : now;
    if (!hit) {
        if (full) {
            found = naive->ways - 1;
            naive->generations++;
            naive->dead += (double)(now - naive->at[set][found].last);
            naive->lifetime += (double)(now - naive->at[set][found].fill);
        } else {
            found = naive->used[set]++;
            naive->loaded++;
            if (naive->ways == 1) naive->primed[set] = 1;
        }
    }
    for (; found; found--) naive->at[set][found] = naive->at[set][found - 1];
    naive->at[set][0].block = block;
    naive->at[set][0].fill = fill;
    naive->at[set][0].last = now;
}

static void naive_access(struct naive *naive, uint32_t i) {
    uint64_t size = rsc_meta_size(meta[i]), last = addr[i] + (size ? size - 1 : 0);
    for (uint64_t block = addr[i] / naive->block; block <= last / naive->block; block++)
        naive_reference(naive, block, 3ull * i);
}

static double naive_estimate(const struct naive *naive, enum rsc_cold_start start) {
    double frames = (double)(naive->sets * naive->ways), f = (double)naive->loaded / frames;
    double d = naive->generations < 10 || naive->lifetime == 0 ? 0.7 : naive->dead / naive->lifetime;
    double last = f > 0 ? (d - (1 - f)) / f : 0;
    double mu = (d + (last < 0 ? 0 : last)) / 2;
    if (start == RSC_START_PRIME)
        return naive->prime_references
                   ? (double)naive->prime_misses / (double)naive->prime_references * (double)naive->references
                   : NAN;
    if (start == RSC_START_INITMR)
        return (double)(naive->misses - naive->cold_misses) + mu * (double)naive->cold_misses;
    return (double)naive->misses;
}

static void against_lists(void **state) {
    (void)state;
    static struct rsc_sim_config config;
    static struct rsc_time_result result;
    static struct naive naive;
    char path[] = "/tmp/property_sampling.XXXXXX";
    int file = mkstemp(path);
    struct rsc_rng rng;
    assert_true(file >= 0);
    close(file);
    for (uint64_t seed = 1; seed < 40; seed++) {
        struct rsc_error error;
        char text[60];
        rsc_rng_seed(&rng, seed, 2);
        make_trace(&rng);
        write_trace(path);
        memset(&config, 0, sizeof config);
        naive.sets = 8ull << below(&rng, 4);
        naive.ways = 1ull << below(&rng, 4);
        naive.block = 32ull << below(&rng, 2);
        snprintf(text, sizeof text, "%llu,%llu,%llu", (unsigned long long)(naive.sets * naive.ways * naive.block),
                 (unsigned long long)naive.ways, (unsigned long long)naive.block);
        add(&config, "l1", text);
        struct rsc_time_options options = {.confidence = 90};
        options.choice = (struct rsc_time_choice){.intervals = 2 + below(&rng, 9),
                                                  .length = 3 * (1 + below(&rng, 2000)),
                                                  .random = one_in(&rng, 2),
                                                  .seed = seed};
        if (options.choice.length % 6) options.choice.length += 3; /* an even number of accesses */
        if (options.choice.intervals * options.choice.length > 3 * ACCESSES) continue;
        uint64_t starts[16];
        assert_int_equal(rsc_time_choice_place(&options.choice, 3ull * ACCESSES, starts, &error), 0);
        for (int start = 0; start < RSC_START_COUNT; start++) {
            struct rsc_trace *trace;
            options.cold_start = (enum rsc_cold_start)start;
            assert_int_equal(rsc_trace_open(&trace, path, NULL, &error), 0);
            if (rsc_time_sample(&config, &options, trace, &result, &error) < 0) fail_msg("%s", error.message);
            rsc_trace_close(trace);
            uint64_t next = 0, simulated = 0;
            double sum = 0;
            uint64_t told = 0;
            naive_empty(&naive);
            for (uint64_t k = 0; k < options.choice.intervals; k++) {
                uint64_t first = starts[k] / 3, end = (starts[k] + options.choice.length) / 3;
                uint64_t middle = (starts[k] + options.choice.length / 2) / 3, half = 0, before;
                if (start == RSC_START_WARM) {
                    for (; next < first; next++) naive_access(&naive, (uint32_t)next);
                } else if (start != RSC_START_STITCH) {
                    naive_empty(&naive);
                }
                before = naive.misses;
                for (next = first; next < end; next++) {
                    if (next == middle) half = naive.misses;
                    naive_access(&naive, (uint32_t)next);
                }
                simulated += end - first;
                double misses = naive_estimate(&naive, (enum rsc_cold_start)start) - (double)before;
                if (start == RSC_START_HALF) misses = 2 * (double)(naive.misses - half);
                double mpi = misses / (double)options.choice.length, got = result.estimates[0].parts[k].mpi;
                if (!(isnan(mpi) && isnan(got)) && !(fabs(mpi - got) <= 1e-9))
                    fail_msg("seed %llu, %s, %s, interval %llu: %g, not %g", (unsigned long long)seed, text,
                             rsc_cold_start_names[start], (unsigned long long)k, got, mpi);
                assert_int_equal(result.estimates[0].parts[k].at, first);
                if (!isnan(mpi)) {
                    sum += mpi;
                    told++;
                }
                if (start == RSC_START_COLD) {
                    double loaded = (double)naive.loaded / (double)(naive.sets * naive.ways);
                    assert_true(result.estimates[0].parts[k].loaded == loaded);
                    assert_int_equal(result.estimates[0].parts[k].reliable,
                                     2 * naive.loaded >= naive.sets * naive.ways && naive.misses &&
                                         naive.misses >= 2 * naive.cold_misses);
                }
            }
            assert_int_equal(result.counted, simulated);
            if (start != RSC_START_WARM)
                assert_int_equal(result.simulated, simulated); /* what lies between is not read */
            if (told) assert_true(fabs(result.estimates[0].mpi - sum / (double)told) <= 1e-9);
            assert_int_equal(result.estimates[0].left_out, options.choice.intervals - told);
            rsc_time_result_free(&result, 1);
        }
    }
    unlink(path);
}

/* Intervals that cover the trace end to end, with their true state, miss all that the whole simulation misses. */
static void warm_is_the_truth(void **state) {
    (void)state;
    static struct rsc_sim_config config;
    static struct rsc_time_result result;
    char path[] = "/tmp/property_sampling.XXXXXX";
    int file = mkstemp(path);
    struct rsc_rng rng;
    int done = 0;
    assert_true(file >= 0);
    close(file);
    for (uint64_t seed = 1; done < 20; seed++) {
        struct rsc_error error;
        struct rsc_sim_result whole;
        struct rsc_trace *trace;
        rsc_rng_seed(&rng, seed, 3);
        random_hierarchy(&rng, &config);
        if (rsc_sim_config_check(&config, NULL) < 0) continue;
        make_trace(&rng);
        write_trace(path);
        simulate(&config, &whole);
        struct rsc_time_options options = {.choice = {.intervals = 20, .length = ACCESSES / 20, .in_accesses = 1},
                                           .cold_start = seed % 2 ? RSC_START_WARM : RSC_START_STITCH,
                                           .confidence = 90};
        assert_int_equal(rsc_trace_open(&trace, path, NULL, &error), 0);
        if (rsc_time_sample(&config, &options, trace, &result, &error) < 0) fail_msg("%s", error.message);
        rsc_trace_close(trace);
        for (size_t i = 0; i < config.count; i++) {
            assert_int_equal(rsc_kinds_sum(result.counts[i].misses), rsc_kinds_sum(whole.levels[i].counts.misses));
            assert_int_equal(rsc_kinds_sum(result.counts[i].accesses), rsc_kinds_sum(whole.levels[i].counts.accesses));
            assert_int_equal(result.counts[i].writebacks, whole.levels[i].counts.writebacks);
            assert_int_equal(result.counts[i].sector_misses, whole.levels[i].counts.sector_misses);
            double mpa = (double)rsc_kinds_sum(whole.levels[i].counts.misses) / ACCESSES;
            assert_true(fabs(result.estimates[i].mpi - mpa) <= 1e-12);
            assert_true(result.estimates[i].low == result.estimates[i].high); /* the whole population */
        }
        rsc_time_result_free(&result, config.count);
        rsc_sim_result_free(&whole);
        done++;
    }
    unlink(path);
}

/* ---- stated intervals ---- */

/* A trace whose sets differ, but none is hot: blocks drawn at random, some regions more often. */
static void make_even_trace(struct rsc_rng *rng) {
    for (uint32_t i = 0; i < ACCESSES; i++) {
        uint64_t block = below(rng, 3) ? below(rng, 4096) : 4096 + below(rng, 65536);
        addr[i] = block * 64;
        meta[i] = rsc_meta(8, one_in(rng, 3) ? RSC_WRITE : RSC_READ, 0);
    }
}

static void coverage_of_sets(void **state) {
    (void)state;
    static struct rsc_sim_config config;
    static struct rsc_set_result sampled;
    struct rsc_rng rng;
    int covered = 0, rounds = 500;
    memset(&config, 0, sizeof config);
    add(&config, "l2", "128K,4,64");
    rsc_rng_seed(&rng, 99, 0);
    make_even_trace(&rng);
    struct rsc_sim_result whole;
    simulate(&config, &whole);
    double truth = rsc_sim_mpi(&whole, &whole.levels[0]);
    for (int round = 0; round < rounds; round++) {
        struct rsc_set_choice choice = {.denominator = 16, .random = 1, .seed = (uint64_t)round};
        assert_int_equal(rsc_set_choice_settle(&choice, &config, NULL), 0);
        sample_sets(&rng, &config, &choice, &sampled);
        covered += sampled.estimates[0].low <= truth && truth <= sampled.estimates[0].high;
        assert_int_equal(sampled.estimates[0].observations, 32);
        assert_int_equal(sampled.estimates[0].population, 512);
        rsc_set_result_free(&sampled, 1);
    }
    rsc_sim_result_free(&whole);
    print_message("sets: %d of %d\n", covered, rounds);
    assert_in_range(covered, rounds * 86 / 100, rounds * 94 / 100);
}

static void coverage_of_time(void **state) {
    (void)state;
    static struct rsc_sim_config config;
    static struct rsc_time_result result;
    char path[] = "/tmp/property_sampling.XXXXXX";
    int file = mkstemp(path), covered = 0, rounds = 500;
    struct rsc_rng rng;
    struct rsc_error error;
    struct rsc_sim_result whole;
    assert_true(file >= 0);
    close(file);
    memset(&config, 0, sizeof config);
    add(&config, "l2", "64K,4,64");
    rsc_rng_seed(&rng, 7, 5);
    make_even_trace(&rng);
    /* phases, and so intervals that differ */
    for (uint32_t i = 0; i < ACCESSES; i++)
        if (i / 500 % 3 == 0) addr[i] = addr[i] / 64 % 512 * 64;
    write_trace(path);
    simulate(&config, &whole);
    double truth = (double)rsc_kinds_sum(whole.levels[0].counts.misses) / ACCESSES;
    for (int round = 0; round < rounds; round++) {
        struct rsc_time_options options = {
            .choice = {.intervals = 30, .length = 100, .in_accesses = 1, .random = 1, .seed = (uint64_t)round},
            .cold_start = RSC_START_WARM,
            .confidence = 90};
        struct rsc_trace *trace;
        assert_int_equal(rsc_trace_open(&trace, path, NULL, &error), 0);
        if (rsc_time_sample(&config, &options, trace, &result, &error) < 0) fail_msg("%s", error.message);
        rsc_trace_close(trace);
        covered += result.estimates[0].low <= truth && truth <= result.estimates[0].high;
        rsc_time_result_free(&result, 1);
    }
    unlink(path);
    rsc_sim_result_free(&whole);
    print_message("time: %d of %d\n", covered, rounds);
    assert_in_range(covered, rounds * 86 / 100, rounds * 94 / 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_add_up),     cmocka_unit_test(filtered_trace),   cmocka_unit_test(against_lists),
        cmocka_unit_test(warm_is_the_truth), cmocka_unit_test(coverage_of_sets), cmocka_unit_test(coverage_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
