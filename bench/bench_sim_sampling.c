/*
 * bench_sim_sampling.c - the cost of a sample of sets beside the whole simulation:
 *
 *     bench_sim_sampling ROUNDS TRACE.rsct
 *
 * From a file, on one thread, decoding included; interleaved, the best of ROUNDS.
 * The bars: from a trace that is 1/16 of the sets, at most 1/12 of the whole
 * simulation; from the whole trace, at most its decoding plus 1/8 of the
 * simulation alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <reusescope/reusescope.h>

#include "bench/measure.h"
#include "bench/numbers.h"
#include "simulate/sampling/set_sample.h"

static void fail(const char *what) {
    fprintf(stderr, "bench_sim_sampling: %s\n", what);
    exit(1);
}

static struct rsc_trace *open_trace(const char *path) {
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .without_pcs = 1, .without_events = 1};
    struct rsc_trace *trace;
    struct rsc_error error;
    if (rsc_trace_open(&trace, path, &options, &error) < 0) fail(error.message);
    return trace;
}

static double decode(const char *path) {
    double before = cpu_seconds_now();
    struct rsc_trace *trace = open_trace(path);
    const struct rsc_batch *batch;
    uint64_t sum = 0;
    while (rsc_trace_next(trace, &batch, NULL) > 0) sum += batch->count ? batch->addr[0] : 0;
    rsc_trace_close(trace);
    if (sum == 1) fail("unlikely");
    return cpu_seconds_now() - before;
}

static double simulate(const char *path, const struct rsc_sim_config *config, uint64_t *misses) {
    double before = cpu_seconds_now();
    struct rsc_trace *trace = open_trace(path);
    struct rsc_sim *sim;
    struct rsc_sim_result result;
    const struct rsc_batch *batch;
    if (rsc_sim_new(&sim, config, NULL, NULL) < 0) fail("caches");
    while (rsc_trace_next(trace, &batch, NULL) > 0)
        if (rsc_sim_push(sim, batch, NULL) < 0) fail("push");
    if (rsc_sim_finish(sim, &result, NULL) < 0) fail("finish");
    *misses = rsc_kinds_sum(result.levels[result.level_count - 1].counts.misses);
    rsc_sim_result_free(&result);
    rsc_sim_free(sim);
    rsc_trace_close(trace);
    return cpu_seconds_now() - before;
}

static double sample(const char *path, const struct rsc_sim_config *config, const struct rsc_set_choice *choice,
                     int filtered, double *estimate) {
    static struct rsc_set_result result;
    double before = cpu_seconds_now();
    struct rsc_trace *trace = open_trace(path);
    struct rsc_set_sample *sets;
    const struct rsc_batch *batch;
    struct rsc_trace_info info;
    if (rsc_set_sample_new(&sets, config, choice, filtered, 0, NULL) < 0) fail("sample");
    while (rsc_trace_next(trace, &batch, NULL) > 0)
        if (rsc_set_sample_push(sets, batch, NULL) < 0) fail("push");
    rsc_trace_get_info(trace, &info);
    if (rsc_set_sample_finish(sets, info.full_instructions, info.full_accesses, 90, &result, NULL) < 0) fail("finish");
    *estimate = result.estimates[config->count - 1].misses;
    rsc_set_result_free(&result, config->count);
    rsc_set_sample_free(sets);
    rsc_trace_close(trace);
    return cpu_seconds_now() - before;
}

/* A trace that is the sample. */
static void write_sample(const char *from, const char *to, const struct rsc_set_choice *choice,
                         const struct rsc_sim_config *config) {
    struct rsc_trace *trace = open_trace(from);
    struct rsc_block_sample sample;
    struct rsc_block_sampler sampler;
    struct rsc_trace_writer *writer;
    struct rsc_trace_info info;
    struct rsc_error error;
    struct rsc_batch kept;
    const struct rsc_batch *batch;
    char text[64];
    if (rsc_set_choice_sample(choice, config, &sample, &error) < 0) fail(error.message);
    rsc_block_sampler_start(&sampler, &sample, rsc_simd_best());
    rsc_block_sample_text(&sample, text, sizeof text);
    struct rsc_trace_writer_options options = {.struct_bytes = sizeof options, .filter = text};
    if (rsc_trace_writer_open(&writer, to, &options, &error) < 0) fail(error.message);
    while (rsc_trace_next(trace, &batch, NULL) > 0)
        if (rsc_block_sampler_take(&sampler, batch, &kept, &error) < 0 ||
            rsc_trace_writer_push(writer, &kept, &error) < 0)
            fail(error.message);
    rsc_trace_get_info(trace, &info);
    rsc_trace_writer_set_full(writer, info.full_accesses, info.full_instructions);
    if (rsc_trace_writer_finish(writer, &error) < 0) fail(error.message);
    rsc_trace_writer_close(writer);
    rsc_block_sampler_free(&sampler);
    rsc_block_sample_free(&sample);
    rsc_trace_close(trace);
}

/* The value whose sample is of middling size: hot loops make some values' samples larger than 1/16 of the trace. */
static uint64_t middling(const char *path, const struct rsc_set_choice *choice) {
    struct rsc_trace *trace = open_trace(path);
    const struct rsc_batch *batch;
    uint64_t counts[16] = {0}, best = 0;
    while (rsc_trace_next(trace, &batch, NULL) > 0)
        for (uint32_t i = 0; i < batch->count; i++) counts[batch->addr[i] >> choice->low & 15]++;
    rsc_trace_close(trace);
    for (uint64_t v = 0; v < 16; v++) {
        int smaller = 0;
        for (int k = 0; k < 16; k++) smaller += counts[k] < counts[v];
        if (smaller == 8) best = v;
    }
    return best;
}

static double least(double a, double b) { return a < b ? a : b; }

static void compare(const char *name, const char *path, const char *l1, const char *l2, int rounds) {
    static struct rsc_sim_config config;
    struct rsc_cache_config cache;
    struct rsc_set_choice constant, random;
    struct rsc_error error;
    char filtered[] = "/tmp/bench_sim_sampling.XXXXXX";
    double whole = 1e9, decoding = 1e9, from_whole = 1e9, from_random = 1e9, from_filtered = 1e9, estimates[3];
    uint64_t misses = 0;
    memset(&config, 0, sizeof config);
    if (l1 &&
        (rsc_cache_config_parse(&cache, "l1i", l1, &error) < 0 || rsc_sim_config_add(&config, &cache, &error) < 0 ||
         rsc_cache_config_parse(&cache, "l1d", l1, &error) < 0 || rsc_sim_config_add(&config, &cache, &error) < 0))
        fail(error.message);
    if (rsc_cache_config_parse(&cache, "l2", l2, &error) < 0 || rsc_sim_config_add(&config, &cache, &error) < 0 ||
        rsc_set_choice_parse(&constant, "1/16", &error) < 0 || rsc_set_choice_settle(&constant, &config, &error) < 0 ||
        rsc_set_choice_parse(&random, "1/16,random", &error) < 0 || rsc_set_choice_settle(&random, &config, &error) < 0)
        fail(error.message);
    constant.value = middling(path, &constant);
    close(mkstemp(filtered));
    write_sample(path, filtered, &constant, &config);
    for (int round = 0; round < rounds; round++) {
        decoding = least(decoding, decode(path));
        whole = least(whole, simulate(path, &config, &misses));
        from_whole = least(from_whole, sample(path, &config, &constant, 0, &estimates[0]));
        from_random = least(from_random, sample(path, &config, &random, 0, &estimates[1]));
        from_filtered = least(from_filtered, sample(filtered, &config, &constant, 1, &estimates[2]));
    }
    unlink(filtered);
    double alone = whole - decoding;
    printf("%-28s whole %.3f s, of it decoding %.3f s; misses %llu, estimated %+.1f %%, %+.1f %%\n", name, whole,
           decoding, (unsigned long long)misses, 100 * (estimates[0] / (double)misses - 1),
           100 * (estimates[1] / (double)misses - 1));
    printf("  1/16 from its own trace:   %.3f s, 1/%.1f of the whole (bar 1/12)\n", from_filtered,
           whole / from_filtered);
    put_number("whole / its own trace", whole / from_filtered, "%s", name);
    put_number("simulation on top of decoding", (from_whole - decoding) / alone, "%s", name);
    printf("  1/16 from the whole trace: %.3f s, decoding plus %.3f of the simulation (bar 0.125); random sets %.3f\n",
           from_whole, (from_whole - decoding) / alone, (from_random - decoding) / alone);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: bench_sim_sampling ROUNDS TRACE.rsct\n");
        return 2;
    }
    int rounds = atoi(argv[1]);
    compare("32K,8,64 + 4M,16,64 LRU", argv[2], "32K,8,64", "4M,16,64", rounds);
    compare("32K,1,32 + 4M,1,128", argv[2], "32K,1,32", "4M,1,128", rounds);
    compare("4M,16,64 alone", argv[2], NULL, "4M,16,64", rounds);
    return 0;
}
