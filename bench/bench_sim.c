/*
 * bench_sim.c - the simulator on the usual hierarchy (32K+32K 8-way, 4M 16-way, LRU),
 * beside a plain one: arrays of tags in order of use, searched and shifted by loops.
 * Interleaved, best of N rounds: references per second from memory on one core, in CPU
 * time; on two cores, and a whole run from the file with decoding ahead, in wall time. Wall
 * time is unreliable on a shared machine, so CPU times are printed too, and the speed of two
 * independent simulations.
 *
 *   bench_sim ROUNDS TRACE [LIST]
 *
 * The plain one and the simulator must agree on every count, or the program fails. LIST
 * receives the references as u64s, kind << 62 | address (0 read, 1 write, 2 fetch), for
 * other simulators to be timed on.
 */
#include <pthread.h>
#include <reusescope/reusescope.h>
#include <string.h>

#include "bench/measure.h"
#include "simulate/simulator.h"
#include "trace/references.h"

#define ACCESSES_MAX 24000000u
#define LIST_MAX (ACCESSES_MAX + ACCESSES_MAX / 4)
#define BATCH (1u << 20)

static uint64_t *addr, *meta, *list;
static uint64_t count, references;

static void load(const char *path) {
    struct rsc_trace_options options = {.struct_bytes = sizeof options};
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    need(rsc_trace_open(&trace, path, &options, &error), path);
    while (count < ACCESSES_MAX && rsc_trace_next(trace, &batch, &error) > 0) {
        struct rsc_batch part = *batch;
        struct rsc_reference_cursor cursor;
        uint64_t lines[1024];
        uint32_t from[1024], filled;
        if (part.count > ACCESSES_MAX - count) part.count = (uint32_t)(ACCESSES_MAX - count);
        memcpy(addr + count, part.addr, part.count * sizeof *addr);
        memcpy(meta + count, part.meta, part.count * sizeof *meta);
        count += part.count;
        rsc_references_start(&cursor, &part, 6);
        while ((filled = rsc_references_fill(&cursor, lines, from, 1024)) > 0)
            for (uint32_t i = 0; i < filled && references < LIST_MAX; i++)
                list[references++] =
                    (uint64_t)rsc_meta_kind(part.meta[from[i]]) << 62 | (lines[i] << 6 & ~(3ull << 62));
    }
    rsc_trace_close(trace);
}

/* ---- the plain one ---- */

struct plain {
    uint64_t *tags; /* block + 1 << 1 | dirty, in order of use */
    uint64_t sets, ways, misses, writebacks;
};
static struct plain fetches, data, second;
static uint64_t second_writes;

static void plain_open(struct plain *cache, uint64_t bytes, uint64_t ways) {
    free(cache->tags);
    *cache = (struct plain){.sets = bytes / 64 / ways, .ways = ways};
    cache->tags = calloc(cache->sets * ways, sizeof *cache->tags);
    need(cache->tags ? 0 : -1, "memory");
}

/* Returns whether it missed; *gone is the tag that went. */
static int plain_use(struct plain *cache, uint64_t block, uint64_t write, uint64_t *gone) {
    uint64_t *set = cache->tags + (block & (cache->sets - 1)) * cache->ways, key = (block + 1) << 1, at = 0;
    while (at < cache->ways && (set[at] | 1) != (key | 1)) at++;
    int missed = at == cache->ways;
    if (missed) at--;
    uint64_t tag = missed ? key : set[at];
    *gone = missed ? set[at] : 0;
    for (; at > 0; at--) set[at] = set[at - 1];
    set[0] = tag | write;
    return missed;
}

static void plain_below(uint64_t block, uint64_t write) {
    uint64_t gone;
    if (plain_use(&second, block, write, &gone)) {
        if (write) second_writes++;
        else second.misses++;
        second.writebacks += gone & 1;
    }
}

static void run_plain(void) {
    plain_open(&fetches, 32768, 8);
    plain_open(&data, 32768, 8);
    plain_open(&second, 4 << 20, 16);
    for (uint64_t i = 0; i < references; i++) {
        uint64_t kind = list[i] >> 62, block = list[i] << 2 >> 8, gone;
        struct plain *first = kind == RSC_FETCH ? &fetches : &data;
        if (!plain_use(first, block, kind == RSC_WRITE, &gone)) continue;
        first->misses++;
        plain_below(block, 0);
        if (!(gone & 1)) continue;
        first->writebacks++;
        plain_below((gone >> 1) - 1, 1);
    }
}

/* ---- ours ---- */

static struct rsc_sim_config config;

static void configure(void) {
    static const char *const caches[][2] = {{"l1i", "32K,8,64"}, {"l1d", "32K,8,64"}, {"l2", "4M,16,64"}};
    struct rsc_cache_config cache;
    struct rsc_error error;
    for (int i = 0; i < 3; i++) {
        need(rsc_cache_config_parse(&cache, caches[i][0], caches[i][1], &error), caches[i][1]);
        need(rsc_sim_config_add(&config, &cache, &error), "configuration");
    }
}

static void check(const struct rsc_sim_result *result) {
    const struct plain *plain[] = {&fetches, &data, &second};
    for (int i = 0; i < 3; i++)
        if (rsc_kinds_sum(result->levels[i].counts.misses) != plain[i]->misses ||
            result->levels[i].counts.writebacks != plain[i]->writebacks) {
            fprintf(stderr, "bench: %s differs from the plain one\n", result->levels[i].cache.name);
            exit(1);
        }
}

static void run_ours(unsigned workers, int slow) {
    struct rsc_sim_options options = {.workers = workers, .slow = slow};
    struct rsc_sim_result result;
    struct rsc_sim *sim;
    struct rsc_error error;
    need(rsc_sim_new(&sim, &config, &options, &error), "simulator");
    for (uint64_t at = 0; at < count; at += BATCH) {
        struct rsc_batch batch = {
            .count = (uint32_t)(count - at < BATCH ? count - at : BATCH), .addr = addr + at, .meta = meta + at};
        need(rsc_sim_push(sim, &batch, &error), "push");
    }
    need(rsc_sim_finish(sim, &result, &error), "finish");
    check(&result);
    rsc_sim_result_free(&result);
    rsc_sim_free(sim);
}

static void *run_beside(void *unused) {
    run_ours(1, 0);
    return unused;
}

/* Two simulations of the same memory that have nothing else to do with each other: the most two workers could reach. */
static void run_two_beside(void) {
    pthread_t other;
    need(-pthread_create(&other, NULL, run_beside, NULL), "a thread");
    run_ours(1, 0);
    pthread_join(other, NULL);
}

/* As many accesses of the file as are in memory. */
static void run_file(const char *path) {
    struct rsc_trace_options options = {
        .struct_bytes = sizeof options, .decode_ahead = 1, .without_pcs = 1, .without_events = 1};
    uint64_t left = count;
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_sim_result result;
    struct rsc_sim *sim;
    struct rsc_error error;
    need(rsc_trace_open(&trace, path, &options, &error), path);
    need(rsc_sim_new(&sim, &config, NULL, &error), "simulator");
    while (left && rsc_trace_next(trace, &batch, &error) > 0) {
        struct rsc_batch part = *batch;
        if (part.count > left) part.count = (uint32_t)left;
        need(rsc_sim_push(sim, &part, &error), "push");
        left -= part.count;
    }
    need(rsc_sim_finish(sim, &result, &error), "finish");
    check(&result);
    rsc_sim_result_free(&result);
    rsc_sim_free(sim);
    rsc_trace_close(trace);
}

/* CPU time of this process, all threads. */
static double process_seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void decode_only(const char *path) {
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .without_pcs = 1, .without_events = 1};
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    uint64_t left = count;
    need(rsc_trace_open(&trace, path, &options, &error), path);
    while (left && rsc_trace_next(trace, &batch, &error) > 0) left -= batch->count < left ? batch->count : left;
    rsc_trace_close(trace);
}

static void keep_least(double *least, double seconds) {
    if (!*least || seconds < *least) *least = seconds;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bench_sim ROUNDS TRACE [LIST]\n");
        return 2;
    }
    int rounds = atoi(argv[1]);
    double plain = 0, ours = 0, slow = 0, wall = 0, two = 0, two_cpu = 0, file = 0, decode = 0, beside = 0;
    addr = malloc(ACCESSES_MAX * sizeof *addr);
    meta = malloc(ACCESSES_MAX * sizeof *meta);
    list = malloc(LIST_MAX * sizeof *list);
    need(addr && meta && list ? 0 : -1, "memory");
    load(argv[2]);
    configure();
    if (argc > 3) {
        FILE *out = fopen(argv[3], "we");
        if (!out || fwrite(list, sizeof *list, references, out) != references || fclose(out)) need(-1, argv[3]);
    }
    for (int round = 0; round < rounds; round++) {
        double start = cpu_seconds_now(), start_wall;
        run_plain();
        keep_least(&plain, cpu_seconds_now() - start);
        start = cpu_seconds_now();
        start_wall = seconds_now();
        run_ours(1, 0);
        keep_least(&ours, cpu_seconds_now() - start);
        keep_least(&wall, seconds_now() - start_wall);
        start = cpu_seconds_now();
        if (!round) run_ours(1, 1);
        if (!round) slow = cpu_seconds_now() - start;
        start_wall = seconds_now();
        start = process_seconds_now();
        run_ours(2, 0);
        keep_least(&two, seconds_now() - start_wall);
        keep_least(&two_cpu, process_seconds_now() - start);
        start_wall = seconds_now();
        run_two_beside();
        keep_least(&beside, seconds_now() - start_wall);
        start = cpu_seconds_now();
        decode_only(argv[2]);
        keep_least(&decode, cpu_seconds_now() - start);
        start_wall = seconds_now();
        run_file(argv[2]);
        keep_least(&file, seconds_now() - start_wall);
    }
    double million = (double)references / 1e6;
    printf("%.1f M references, %.1f M accesses, L1 misses %llu + %llu, L2 misses %llu\n", million, (double)count / 1e6,
           (unsigned long long)fetches.misses, (unsigned long long)data.misses, (unsigned long long)second.misses);
    printf("plain %.0f M/s, ours %.0f M/s (%.2fx), one at a time %.0f M/s\n", million / plain, million / ours,
           plain / ours, million / slow);
    printf("two workers %.0f M/s (%.2fx of one in wall time; by CPU time they could be %.2fx)\n", million / two,
           wall / two, 2 * ours / two_cpu);
    printf("two simulations side by side %.2fx of one: what this machine's two cores could reach\n", 2 * wall / beside);
    printf("from the file %.2fx the time of the simulation alone; by CPU time decoding takes %.2fx of it\n",
           file / wall, decode / ours);
    return 0;
}
