/*
 * bench_multicore_exact.c - the private stacks beside the one stack of the exact
 * engine: processor time per reference over whole analyses in memory, interleaved,
 * best of N rounds.
 *
 *   bench_multicore_exact [ROUNDS] [TRACE...]
 *
 * Without traces: uniform over 1 M lines and zipf 0.99 over 10 M, with 1, 4 and 16
 * threads and 10 % writes (each thread uses all lines: the most sharing there can
 * be), 4 threads without writes, a stencil that threads walk together, and blocks
 * that threads have to themselves for a while.
 */
#include "bench/patterns.h"

#define BATCH 65536u

static const char *const specs[] = {
    "uniform,lines=1000000,threads=1,write=0.1",          "uniform,lines=1000000,threads=4,write=0.1",
    "uniform,lines=1000000,threads=16,write=0.1",         "uniform,lines=1000000,threads=4,write=0",
    "zipf,lines=10000000,skew=0.99,threads=1,write=0.1",  "zipf,lines=10000000,skew=0.99,threads=4,write=0.1",
    "zipf,lines=10000000,skew=0.99,threads=16,write=0.1", "zipf,lines=10000000,skew=0.99,threads=4,write=0",
    "stencil,lines=200000,threads=4,write=0.1",           "cyclic,lines=1000000,threads=4,write=0.1",
};

/* Threads each on a part of their own, of few lines for long, with a shared counter now and then: as programs are. */
static void own_parts(uint32_t threads) {
    struct rsc_rng rng;
    uint64_t at[64] = {0};
    rsc_rng_seed(&rng, 11, 0);
    for (uint64_t i = 0; access_count < access_most; i++) {
        uint32_t thread = (uint32_t)(i / 20 % threads);
        uint64_t line = thread * 100000ull + at[thread] / 8 % 50000;
        if (i % 3) at[thread]++;
        else line = thread * 100000ull + 60000 + rsc_rng_below(&rng, 64);
        if (i % 1000 == 0) line = 7;
        addresses[access_count] = line * 64 + 8 * (at[thread] % 8);
        metas[access_count++] = rsc_meta(8, i % 10 == 0 ? RSC_WRITE : RSC_READ, thread);
    }
}

static double analyse(const char *model, struct rsc_profile_totals *totals) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = "exact", .model = model};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    double start = cpu_seconds_now();
    need(rsc_engine_new(&engine, &options, &error), "engine");
    for (uint64_t done = 0; done < access_count; done += BATCH) {
        uint32_t part = access_count - done < BATCH ? (uint32_t)(access_count - done) : BATCH;
        struct rsc_batch batch = {
            .count = part, .addr = addresses + done, .meta = metas + done, .instructions = RSC_UNKNOWN};
        need(rsc_engine_push(engine, &batch, &error), "push");
    }
    need(rsc_engine_finish(engine, &profile, &error), "finish");
    rsc_engine_free(engine);
    double took = cpu_seconds_now() - start;
    rsc_profile_get_totals(profile, totals);
    rsc_profile_free(profile);
    return took;
}

static void compare(const char *name, int rounds) {
    double one = 0, each = 0;
    struct rsc_profile_totals totals;
    for (int round = 0; round < rounds; round++) {
        double took = analyse("single", &totals);
        if (!one || took < one) one = took;
        took = analyse("private", &totals);
        if (!each || took < each) each = took;
    }
    double count = (double)totals.references;
    printf("%-52s one stack %5.1f ns  private %5.1f ns  %.2fx  (%.1f %% invalidated)\n", name, one / count * 1e9,
           each / count * 1e9, each / one, 100 * (double)totals.invalidated / count);
    fflush(stdout);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    access_most = 10000000;
    addresses = malloc(access_most * sizeof *addresses);
    metas = malloc(access_most * sizeof *metas);
    if (!addresses || !metas || rounds < 1) return 1;
    printf("exact private stacks beside one stack, one core, processor time, best of %d\n", rounds);
    for (int i = 2; i < argc; i++) {
        make_trace(argv[i], 1);
        compare(argv[i], rounds);
    }
    for (size_t i = 0; argc < 3 && i < sizeof specs / sizeof *specs; i++) {
        make_trace(specs[i], 1);
        compare(specs[i], rounds);
    }
    for (uint32_t threads = 1; argc < 3 && threads <= 16; threads *= 4) {
        char name[64];
        access_count = 0;
        own_parts(threads);
        snprintf(name, sizeof name, "own parts, %u threads", (unsigned)threads);
        compare(name, rounds);
    }
    free(addresses);
    free(metas);
    return 0;
}
