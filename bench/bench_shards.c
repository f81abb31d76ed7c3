/*
 * bench_shards.c - references per second of line sampling by hash, from columns in
 * memory, including the whole push() of every batch, beside a loop that only reads
 * the same columns.
 *
 *   bench_shards [ROUNDS] [TRACE...]
 *
 * Without traces: uniform over 1 M lines and zipf 0.99 over 10 M, 20 M accesses.
 * One core, processor time; engines and the plain loop alternate, best of ROUNDS.
 */
#include <reusescope/reusescope.h>
#include <string.h>

#include "base/cpu.h"
#include "bench/measure.h"
#include "profile/profile_model.h"
#include "trace/generate/generate.h"

#define ACCESSES 20000000u
#define BATCH 32768u

static uint64_t *addr, *meta;
static uint32_t access_count;

static void load(const char *path) {
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    const struct rsc_filter data_only = {
        RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE), 0, NULL, 0, UINT64_MAX, 0, 0, 0, UINT64_MAX, 1};
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &data_only};
    access_count = 0;
    need(rsc_trace_open(&trace, path, &options, &error), path);
    while (access_count < ACCESSES && rsc_trace_next(trace, &batch, &error) > 0) {
        uint32_t part = ACCESSES - access_count < batch->count ? ACCESSES - access_count : batch->count;
        memcpy(addr + access_count, batch->addr, part * sizeof *addr);
        memcpy(meta + access_count, batch->meta, part * sizeof *meta);
        access_count += part;
    }
    rsc_trace_close(trace);
}

static void generate(const char *spec) {
    struct rsc_generator *generator;
    struct rsc_error error;
    access_count = ACCESSES;
    need(rsc_generator_new(&generator, spec, 1, &error), spec);
    rsc_generator_fill(generator, addr, meta, access_count);
    rsc_generator_free(generator);
}

/* Seconds to push everything; *references and *end receive what there was and how long finishing took. */
static double run_engine(const char *name, uint64_t *references, double *end) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = name};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    need(rsc_engine_new(&engine, &options, &error), name);
    double start = cpu_seconds_now();
    for (uint32_t done = 0; done < access_count; done += BATCH) {
        struct rsc_batch batch = {.count = access_count - done < BATCH ? access_count - done : BATCH,
                                  .addr = addr + done,
                                  .meta = meta + done,
                                  .instructions = RSC_UNKNOWN};
        need(rsc_engine_push(engine, &batch, &error), name);
    }
    double took = cpu_seconds_now() - start;
    need(rsc_engine_finish(engine, &profile, &error), name);
    *end = cpu_seconds_now() - start - took;
    *references = profile->references;
    rsc_profile_free(profile);
    rsc_engine_free(engine);
    return took;
}

static double run_plain(void) {
    static volatile uint64_t seen;
    uint64_t any = 0;
    double start = cpu_seconds_now();
    for (uint32_t i = 0; i < access_count; i++) any ^= addr[i] + meta[i];
    seen = any;
    (void)seen;
    return cpu_seconds_now() - start;
}

static void compare(const char *name, int rounds) {
    static const char *const engines[] = {"shards:0.001", "shards:0.01", "shards:0.1", "shards-max:8192"};
    double best[5] = {0}, end[5] = {0}, last;
    uint64_t references = 0;
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < 5; way++) {
            double took = way ? run_engine(engines[way - 1], &references, &last) : run_plain();
            if (!best[way] || took < best[way]) best[way] = took;
            if (way && (!end[way] || last < end[way])) end[way] = last;
        }
    printf("%s: %u accesses, %llu references\n  %-16s %7.1f M references/s\n", name, access_count,
           (unsigned long long)references, "reading alone", (double)references / best[0] / 1e6);
    for (int way = 1; way < 5; way++)
        printf("  %-16s %7.1f M references/s (%.2f of reading alone), then %.1f ms to end\n", engines[way - 1],
               (double)references / best[way] / 1e6, best[0] / best[way], 1e3 * end[way]);
}

int main(int argc, char **argv) {
    static const char *const specs[] = {"uniform,lines=1000000", "zipf,lines=10000000,skew=0.99"};
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    addr = malloc(ACCESSES * sizeof *addr);
    meta = malloc(ACCESSES * sizeof *meta);
    if (!addr || !meta || rounds < 1) return 1;
    printf("sampling by hash, one core, %s, best of %d\n", rsc_simd_name(rsc_simd_best()), rounds);
    for (size_t i = 0; argc < 3 && i < sizeof specs / sizeof *specs; i++) {
        generate(specs[i]);
        compare(specs[i], rounds);
    }
    for (int i = 2; i < argc; i++) {
        load(argv[i]);
        compare(argv[i], rounds);
    }
    free(addr);
    free(meta);
    return 0;
}
