/*
 * bench_time.c - the one pass behind the time models, taken apart: the table of
 * last uses alone, with its histogram, with the sample of true distances; a sample
 * of watched uses alone, with the sample of true distances; and the engines. The
 * exact one beside them. Interleaved, best of N rounds, in CPU time, so that other
 * work on the machine disturbs less.
 *
 *   bench_time [ROUNDS] [TRACE...]
 */
#include <reusescope/reusescope.h>
#include <string.h>

#include "base/histogram.h"
#include "bench/measure.h"
#include "distance/time/last_use.h"
#include "distance/time/truth_sample.h"
#include "trace/generate/generate.h"

#define BLOCK RSC_LAST_USE_RUN
#define WATCHED 512u
#define ACCESSES_MAX 20000000u
#define BATCH 65536u

static uint64_t *addresses, *metas;
static uint64_t count;

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int add_batch(const struct rsc_batch *batch) {
    for (uint32_t i = 0; i < batch->count && count < ACCESSES_MAX; i++) {
        addresses[count] = batch->addr[i];
        metas[count++] = batch->meta[i];
    }
    return count < ACCESSES_MAX;
}

static void make_trace(const char *name, int is_file) {
    struct rsc_error error;
    count = 0;
    if (is_file) {
        const struct rsc_filter data_only = {
            RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE), 0, NULL, 0, UINT64_MAX, 0, 0, 0, UINT64_MAX, 1};
        struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &data_only};
        struct rsc_trace *trace;
        const struct rsc_batch *batch;
        need(rsc_trace_open(&trace, name, &options, &error), name);
        while (rsc_trace_next(trace, &batch, &error) > 0 && add_batch(batch)) {
        }
        rsc_trace_close(trace);
        return;
    }
    struct rsc_source *source;
    struct rsc_batch batch;
    need(rsc_generator_open(&source, name, ACCESSES_MAX, 1, &error), name);
    while (source->ops->next(source, &batch, &error) > 0 && add_batch(&batch)) {
    }
    source->ops->close(source);
}

/* level 0: the table; 1: and the histogram of intervals; 2: and the sample. */
static void run_pass(int level) {
    static struct rsc_last_use last;
    static struct rsc_truth_sample sample;
    static struct rsc_intervals found;
    static uint64_t lines[BLOCK];
    struct rsc_histogram sum;
    need(rsc_last_use_init(&last, rsc_simd_best(), 1, 0), "table");
    need(rsc_truth_sample_init(&sample, 1), "sample");
    need(rsc_histogram_init(&sum, RSC_BINS_FINE), "histogram");
    for (uint64_t done = 0; done < count; done += BLOCK) {
        uint32_t part = count - done < BLOCK ? (uint32_t)(count - done) : BLOCK;
        for (uint32_t i = 0; i < part; i++) lines[i] = addresses[done + i] >> 6;
        uint64_t before = last.distinct;
        need(rsc_last_use_run(&last, lines, part, &found), "table");
        if (level >= 1)
            for (uint32_t k = 0; k < found.listed_count; k++) sum.count[rsc_bin_of_fine_any(found.listed_ri[k])]++;
        if (level >= 2) need(rsc_truth_sample_take(&sample, &last, before, lines, &found), "sample");
    }
    rsc_last_use_free(&last);
    rsc_truth_sample_free(&sample);
    rsc_histogram_free(&sum);
}

/* As the engines do from 128 Ki lines on, but from the beginning; gap 16 and 16 Ki uses at most, as there. */
static void run_watch(int has_sample) {
    static struct rsc_use_watch watch;
    static struct rsc_truth_sample sample;
    static struct rsc_watch_found found;
    static uint64_t lines[WATCHED];
    need(rsc_use_watch_init(&watch, rsc_simd_best(), 1, 16, 1 << 14), "watch");
    need(rsc_truth_sample_init(&sample, 1), "sample");
    for (uint64_t done = 0; done < count; done += WATCHED) {
        uint32_t part = count - done < WATCHED ? (uint32_t)(count - done) : WATCHED;
        for (uint32_t i = 0; i < part; i++) lines[i] = addresses[done + i] >> 6;
        double before = rsc_use_watch_lines(&watch);
        need(rsc_use_watch_run(&watch, lines, part, &found), "watch");
        if (has_sample) need(rsc_truth_sample_take_watched(&sample, &watch, before, lines, part, &found), "sample");
    }
    rsc_use_watch_free(&watch);
    rsc_truth_sample_free(&sample);
}

static void run_engine(const char *name) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = name, .seed = 1, .attribute = 2};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    need(rsc_engine_new(&engine, &options, &error), name);
    for (uint64_t done = 0; done < count; done += BATCH) {
        struct rsc_batch batch = {.addr = addresses + done, .meta = metas + done, .instructions = RSC_UNKNOWN};
        batch.count = count - done < BATCH ? (uint32_t)(count - done) : BATCH;
        need(rsc_engine_push(engine, &batch, &error), name);
    }
    need(rsc_engine_finish(engine, &profile, &error), name);
    rsc_profile_free(profile);
    rsc_engine_free(engine);
}

static void compare(const char *name, int rounds) {
    static const char *const ways[] = {"table",     "+ intervals", "+ sample", "watch", "+ sample", "aet:1",
                                       "statstack", "aet",         "hotl",     "shen",  "exact"};
    enum { WAYS = sizeof ways / sizeof *ways };
    double best[WAYS] = {0};
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < WAYS; way++) {
            double start = cpu_seconds();
            if (way < 3) run_pass(way);
            else if (way < 5) run_watch(way == 4);
            else run_engine(ways[way]);
            double took = cpu_seconds() - start;
            if (!best[way] || took < best[way]) best[way] = took;
        }
    printf("%-30s", name);
    for (int way = 0; way < WAYS; way++) printf("  %s %.1f", ways[way], (double)count / best[way] / 1e6);
    printf("  M/s\n");
}

int main(int argc, char **argv) {
    static const char *const specs[] = {"uniform,lines=1000000", "zipf,lines=10000000,skew=0.99",
                                        "cyclic,lines=1000000"};
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    addresses = malloc(ACCESSES_MAX * sizeof *addresses);
    metas = malloc(ACCESSES_MAX * sizeof *metas);
    if (!addresses || !metas || rounds < 1) return 1;
    for (size_t i = 0; argc < 3 && i < sizeof specs / sizeof *specs; i++) {
        make_trace(specs[i], 0);
        compare(specs[i], rounds);
    }
    for (int i = 2; i < argc; i++) {
        make_trace(argv[i], 1);
        compare(argv[i], rounds);
    }
    free(addresses);
    free(metas);
    return 0;
}
