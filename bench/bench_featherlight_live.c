/*
 * bench_featherlight_live.c - `run --with perf` on rebuilt programs: how near to exact, at
 * what cost, in how much memory.
 *
 *   bench_featherlight_live TOOL SOURCE [RATE [ROUNDS [KERNEL... or memory]]]
 *
 * TOOL is the tool, SOURCE bench/programs/kernels.c. Each kernel is built at -O2, run
 * exactly (every reference, 8-byte lines) twice over, and sampled at RATE (300) samples a
 * second of processor time as many times over as take some 10 s: what is measured is how good
 * the answer gets, and a register that waits for a reuse of a tenth of a second catches ten a
 * second whatever the rate. Overlap is that of the two histograms of reuse intervals, in bins of
 * powers of two, below 4 Ki merged. Cost: processor time sampled less processor time in fast mode
 * (the countdown, no sampling), ROUNDS (5) of each alternating, the least of each; sampled at
 * ten times RATE, so that it stands out of the noise, and per sample. Then the
 * same with four threads, each with the intervals of one; then 64 threads for memory:
 * peak resident size less that in fast mode.
 * Bars: overlap 0.95 in the median and 0.90 in each, 3 % on top of fast mode, 16 MiB.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <reusescope/engine.h>

#include "bench/numbers.h"
#include "bench/watched.h"
#include "profile/profile_model.h"

static const struct kernel {
    const char *name;
    int repeat;  /* for some 10 s on a core of 2.8 GHz */
    int threads; /* may be run by several at once */
} all[] = {{"gemm", 90, 1},   {"jacobi", 60, 1}, {"stencil", 50, 0}, {"chase", 30, 0}, {"histogram", 40, 0},
           {"stream", 20, 1}, {"cg", 80, 1},     {"sort", 50, 0},    {"join", 90, 0}};
#define EXACT_REPEAT 2 /* the second time over is as all that follow */
#define COST_REPEAT 5  /* a fifth of the repetitions is enough for processor time */
#define COST_RATE 10u
#define KERNELS (sizeof all / sizeof *all)

static char folder[] = "/tmp/bench_live.XXXXXX";

static void build(const char *tool, const char *source, const struct kernel *kernel, int threads, char *path,
                  size_t room) {
    char command[8192], more[64] = "";
    if (threads) snprintf(more, sizeof more, "-pthread -DTHREADS=%d", threads);
    snprintf(path, room, "%s/%s.%d", folder, kernel->name, threads);
    snprintf(command, sizeof command, "'%s' cc -q gcc -O2 -g -w -DKERNEL_%s %s '%s' -o %s", tool, kernel->name, more,
             source, path);
    need(system(command) == 0 ? 0 : -1, command);
}

struct outcome {
    double cpu, handlers;
    long peak_kib;
    uint64_t samples;
    struct rsc_profile *profile; /* NULL: not wanted */
};

/* Its peak so far, in KiB; the kernel's own ru_maxrss begins with that of the process it was forked from. */
static long peak_of(pid_t pid) {
    char path[64], line[256];
    long peak = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "VmHWM:", 6)) peak = strtol(line + 6, NULL, 10);
    if (file) fclose(file);
    return peak;
}

/* Watches the program to its end; what it did goes to the engine, if there is one, whose profile is returned. */
static struct outcome watch(const struct rsc_collector_kind *kind, const struct rsc_collect_request *request,
                            struct rsc_engine *engine) {
    struct outcome outcome = {0};
    struct rsc_collector collector;
    struct rsc_batch batch;
    struct rsc_batch_columns columns;
    struct rsc_whole_run whole;
    struct rsc_error error;
    int status;
    rsc_collector_init(&collector, kind, request);
    need(rsc_collector_start(&collector, &error), "launch");
    while ((status = kind->next(&collector, &batch, &columns, &error)) != RSC_COLLECT_ENDED) {
        need(status, "collector");
        if (engine && status == RSC_COLLECT_BATCH)
            need(rsc_engine_push_columns(engine, &batch, &columns, &error), "push");
        long now = peak_of(collector.launch.pid);
        if (now > outcome.peak_kib) outcome.peak_kib = now;
    }
    need(kind->finish(&collector, &whole, &error), "end");
    outcome.cpu = rsc_collector_cpu_seconds(&collector);
    outcome.handlers = whole.handler_seconds;
    if (engine) {
        const struct rsc_batch nothing = {.instructions = RSC_UNKNOWN};
        const struct rsc_batch_columns end = {.whole = &whole};
        need(rsc_engine_push_columns(engine, &nothing, &end, &error), "push");
        need(rsc_engine_finish(engine, &outcome.profile, &error), "profile");
        outcome.samples = outcome.profile->made.watching.samples;
        rsc_engine_free(engine);
    }
    rsc_collector_close(&collector);
    return outcome;
}

/* Every reference. */
static struct rsc_profile *exactly(char *path, int times) {
    struct rsc_engine_options wanted = {
        .struct_bytes = sizeof wanted, .engine = "exact", .model = "shared", .line_bytes = 8, .attribute = 2};
    char repeat[16], *argv[] = {path, repeat, NULL};
    struct rsc_target target;
    struct rsc_collect_request request = {.target = &target, .command = argv, .contexts = 1};
    struct rsc_engine *engine;
    struct rsc_error error;
    snprintf(repeat, sizeof repeat, "%d", times);
    need(rsc_target_find(&target, path, &error), path);
    need(rsc_engine_new(&engine, &wanted, &error), "engine");
    return watch(&rsc_collector_rebuilt, &request, engine).profile;
}

/* Sampled, or with rate 0 in fast mode. */
static struct outcome sampled(char *path, int times, uint64_t rate, uint64_t seed, int wants_profile) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options};
    char repeat[16], *argv[] = {path, repeat, NULL};
    struct rsc_target target;
    struct rsc_collect_request request = {
        .target = &target, .command = argv, .contexts = 1, .seed = seed, .skip = rate ? 0 : 1ull << 60};
    struct rsc_engine_spec spec;
    struct rsc_engine *engine = NULL;
    struct rsc_error error;
    snprintf(repeat, sizeof repeat, "%d", times);
    need(rsc_target_find(&target, path, &error), path);
    need(rsc_engine_spec_parse(&spec, "featherlight", &error), "engine");
    if (rate) need(rsc_live_pairs_new(&engine, &spec, &options, rate, &request.wanted, &error), "engine");
    struct outcome outcome = watch(rate ? &rsc_collector_perf : &rsc_collector_rebuilt, &request, engine);
    if (!wants_profile) {
        rsc_profile_free(outcome.profile);
        outcome.profile = NULL;
    }
    return outcome;
}

/* Shares of reuses with intervals below 4 Ki, then by powers of two. */
static void shares(const struct rsc_profile *profile, double *share) {
    struct rsc_bin *bins;
    size_t count;
    double total = 0;
    need(rsc_histogram_list(&profile->ri, 0, &bins, &count), "bins");
    memset(share, 0, 64 * sizeof *share);
    for (size_t i = 0; i < count; i++) {
        share[bins[i].lo < 4096 ? 11 : 63 - __builtin_clzll(bins[i].lo)] += (double)bins[i].count;
        total += (double)bins[i].count;
    }
    for (int i = 0; i < 64; i++) share[i] /= total > 0 ? total : 1;
    free(bins);
}

static double overlap(const struct rsc_profile *a, const struct rsc_profile *b) {
    double one[64], other[64], sum = 0;
    shares(a, one);
    shares(b, other);
    for (int i = 0; i < 64; i++) sum += fmin(one[i], other[i]);
    return sum;
}

static int ascending(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

static double overlaps[4 * KERNELS], costs[KERNELS];
static size_t overlap_count, cost_count;

static void measure(const struct kernel *kernel, const char *tool, const char *source, uint64_t rate, int rounds) {
    char path[512];
    double fast = INFINITY, watched = INFINITY, handlers = 0;
    uint64_t taken = 0;
    build(tool, source, kernel, 0, path, sizeof path);
    struct rsc_profile *exact = exactly(path, EXACT_REPEAT);
    struct outcome outcome = sampled(path, kernel->repeat, rate, bench_seed(), 1);
    double near = overlap(exact, outcome.profile);
    uint64_t samples = outcome.samples;
    overlaps[overlap_count++] = near;
    rsc_profile_free(outcome.profile);
    for (int round = 0; round < rounds; round++) {
        fast = fmin(fast, sampled(path, kernel->repeat / COST_REPEAT, 0, 1, 0).cpu);
        outcome = sampled(path, kernel->repeat / COST_REPEAT, COST_RATE * rate, (uint64_t)round + 2, 0);
        if (outcome.cpu < watched) {
            watched = outcome.cpu;
            handlers = outcome.handlers;
            taken = outcome.samples;
        }
    }
    costs[cost_count++] = (watched - fast) / (double)(taken ? taken : 1) * (double)rate;
    printf("%-10s %9.3f %10llu %8.3f %+8.2f %% %10.4f", kernel->name, fast, (unsigned long long)samples, near,
           100 * costs[cost_count - 1], handlers);
    put_number("samples", (double)samples, "%s", kernel->name);
    put_number("overlap", near, "%s", kernel->name);
    put_number("cost", costs[cost_count - 1], "%s", kernel->name);
    unlink(path);
    if (kernel->threads) {
        build(tool, source, kernel, 4, path, sizeof path);
        outcome = sampled(path, kernel->repeat / 4, rate, bench_seed(), 1);
        near = overlap(exact, outcome.profile);
        overlaps[overlap_count++] = near;
        rsc_profile_free(outcome.profile);
        printf(" %12.3f", near);
        unlink(path);
    }
    printf("\n");
    fflush(stdout);
    rsc_profile_free(exact);
}

static void measure_memory(const char *tool, const char *source, uint64_t rate) {
    const struct kernel *kernel = &all[0];
    char path[512];
    build(tool, source, kernel, 64, path, sizeof path);
    long alone = sampled(path, 1, 0, 1, 0).peak_kib;
    struct outcome outcome = sampled(path, 1, rate, 1, 0);
    printf(
        "64 threads: %.1f MiB more resident at the peak than in fast mode (%.1f and %.1f) with %llu samples; bar 16\n",
        (double)(outcome.peak_kib - alone) / 1024, (double)outcome.peak_kib / 1024, (double)alone / 1024,
        (unsigned long long)outcome.samples);
    put_number("MiB", (double)(outcome.peak_kib - alone) / 1024, "memory");
    put_number("times", (double)outcome.peak_kib / (double)alone, "memory");
    unlink(path);
}

int main(int argc, char **argv) {
    uint64_t rate = argc > 3 ? strtoull(argv[3], NULL, 10) : 300;
    int rounds = argc > 4 ? atoi(argv[4]) : 5, out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
    if (argc < 3) {
        fprintf(stderr, "usage: bench_featherlight_live TOOL bench/programs/kernels.c [RATE [ROUNDS [KERNEL...]]]\n");
        return 2;
    }
    need(mkdtemp(folder) ? 0 : -1, "a folder in /tmp");
    /* What the kernels print is not to be among the numbers: they get nowhere, we print to what was our output. */
    dup2(null, STDOUT_FILENO);
    stdout = fdopen(out, "w");
    printf("%-10s %9s %10s %8s %10s %10s %12s\n", "kernel", "fast s", "samples", "overlap", "cost", "handlers s",
           "four threads");
    for (size_t i = 0; i < KERNELS; i++) {
        int chosen = argc <= 5;
        for (int k = 5; k < argc; k++) chosen |= !strcmp(argv[k], all[i].name);
        if (chosen) measure(&all[i], argv[1], argv[2], rate, rounds);
    }
    if (overlap_count) {
        qsort(overlaps, overlap_count, sizeof *overlaps, ascending);
        qsort(costs, cost_count, sizeof *costs, ascending);
        printf(
            "overlap: median %.3f (bar 0.95), least %.3f (bar 0.90); cost: median %+.2f %%, most %+.2f %% (bar 3 %%)\n",
            overlaps[overlap_count / 2], overlaps[0], 100 * costs[cost_count / 2], 100 * costs[cost_count - 1]);
        put_number("overlap", overlaps[overlap_count / 2], "median");
        put_number("least overlap", overlaps[0], "median");
        put_number("cost", costs[cost_count / 2], "median");
    }
    int only_memory = argc == 6 && !strcmp(argv[5], "memory");
    if (argc <= 5 || only_memory) measure_memory(argv[1], argv[2], rate);
    rmdir(folder);
    return 0;
}
