/*
 * bench_parallel.c - the parallel engine beside the serial one, whole engines from
 * batches to profile, interleaved, best of N rounds.
 *
 *   bench_parallel [ROUNDS [WORKERS,...|- [MILLIONS [TRACE|KIND,lines=...]...]]]
 *
 * Workers are 2, 4, 8, 16 up to the cores there are. Without traces: uniform over
 * 1/20, 1/100 and 1/400 of the 60 million references. All must give
 * the same histograms. "cpu" is the time of all threads together, against the serial
 * engine's: on a busy machine it is more reliable than the speed-up; below stands what each step of a round takes of it, in
 * the round that took least. Memory is the peak of a process that runs only that engine.
 */
#include <reusescope/reusescope.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "bench/measure.h"
#include "bench/numbers.h"
#include "profile/profile_model.h"
#include "trace/generate/generate.h"

#define BATCH 32768u
#define WAYS_MAX 16

/* Accesses of one size and kind: batches share one column of meta, which stays in cache as a reader's would. */
static uint64_t *addresses, meta[BATCH];
static uint64_t count, room;
static uint32_t ways[WAYS_MAX]; /* workers; 0: the serial engine */
static size_t way_count;

#define STEPS_BYTES 200
static void keep_steps(void *to, enum rsc_log_level level, const char *message) {
    const char *steps = strstr(message, "ns per reference");
    (void)level;
    if (steps) snprintf(to, STEPS_BYTES, "%s", steps);
}

/* `steps` is empty where there are no rounds. */
static struct rsc_profile *analyse(uint32_t workers, char steps[STEPS_BYTES]) {
    const struct rsc_log log = {keep_steps, steps};
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = workers ? "parallel" : "exact", .workers = workers, .log = &log};
    *steps = 0;
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    need(rsc_engine_new(&engine, &options, &error), "engine");
    for (uint64_t done = 0; done < count; done += BATCH) {
        uint32_t part = count - done < BATCH ? (uint32_t)(count - done) : BATCH;
        struct rsc_batch batch = {.count = part, .addr = addresses + done, .meta = meta, .instructions = RSC_UNKNOWN};
        need(rsc_engine_push(engine, &batch, &error), "push");
    }
    need(rsc_engine_finish(engine, &profile, &error), "finish");
    rsc_engine_free(engine);
    return profile;
}

/* MiB that the engine adds to a process of its own. */
static double engine_mib(uint32_t workers) {
    int pipe_ends[2];
    double mib = 0;
    char steps[STEPS_BYTES];
    need(pipe(pipe_ends), "pipe");
    pid_t child = fork();
    need(child, "fork");
    if (child == 0) {
        double before = peak_mib();
        rsc_profile_free(analyse(workers, steps));
        mib = peak_mib() - before;
        _exit(write(pipe_ends[1], &mib, sizeof mib) != sizeof mib);
    }
    close(pipe_ends[1]);
    if (read(pipe_ends[0], &mib, sizeof mib) != sizeof mib) need(-1, "the engine in a process of its own");
    close(pipe_ends[0]);
    waitpid(child, NULL, 0);
    return mib;
}

static void check_same(const struct rsc_profile *one, const struct rsc_profile *other) {
    if (one->cold != other->cold || one->references != other->references ||
        memcmp(one->rd.count, other->rd.count, one->rd.bin_count * sizeof *one->rd.count) ||
        memcmp(one->ri.count, other->ri.count, one->ri.bin_count * sizeof *one->ri.count))
        need(-1, "agreement with the serial engine");
}

/* Seconds of all threads together: what the parallel engine spends beside the serial one's work. */
static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void compare(const char *name, int rounds) {
    double best[WAYS_MAX] = {0}, best_cpu[WAYS_MAX] = {0};
    static char best_steps[WAYS_MAX][STEPS_BYTES], steps[STEPS_BYTES];
    struct rsc_profile *serial = NULL;
    for (int round = 0; round < rounds; round++)
        for (size_t way = 0; way < way_count; way++) {
            double start = seconds_now(), start_cpu = cpu_seconds();
            struct rsc_profile *profile = analyse(ways[way], steps);
            double took = seconds_now() - start, took_cpu = cpu_seconds() - start_cpu;
            if (!best[way] || took < best[way]) best[way] = took;
            if (!best_cpu[way] || took_cpu < best_cpu[way]) {
                best_cpu[way] = took_cpu;
                memcpy(best_steps[way], steps, sizeof steps);
            }
            if (!serial) {
                serial = profile;
                continue;
            }
            check_same(serial, profile);
            rsc_profile_free(profile);
        }
    printf("%-30s %10llu refs %9llu lines\n", name, (unsigned long long)count, (unsigned long long)serial->distinct);
    for (size_t way = 0; way < way_count; way++) {
        char label[32] = "serial";
        if (ways[way]) snprintf(label, sizeof label, "%u worker%s", ways[way], ways[way] == 1 ? "" : "s");
        printf("    %-11s %7.1f M/s  %5.2fx  cpu %4.2fx  %8.1f MiB\n", label, (double)count / best[way] / 1e6,
               best[0] / best[way], best_cpu[way] / best_cpu[0], engine_mib(ways[way]));
        if (*best_steps[way]) printf("                %s\n", best_steps[way]);
        put_number("M/s", (double)count / best[way] / 1e6, "%s/%s", name, label);
        put_number("times serial", best[0] / best[way], "%s/%s", name, label);
        put_number("processor time", best_cpu[way] / best_cpu[0], "%s/%s", name, label);
        put_number("MiB", engine_mib(ways[way]), "%s/%s", name, label);
    }
    fflush(stdout);
    rsc_profile_free(serial);
}

/* ---- traces ---- */

static void make_trace(const char *spec) {
    struct rsc_source *source;
    struct rsc_batch batch;
    struct rsc_error error;
    count = 0;
    need(rsc_generator_open(&source, spec, room, 1, &error), spec);
    while (source->ops->next(source, &batch, &error) > 0)
        for (uint32_t i = 0; i < batch.count && count < room; i++) addresses[count++] = batch.addr[i];
    source->ops->close(source);
}

static void load_trace(const char *path) {
    struct rsc_trace_options options = {.struct_bytes = sizeof options};
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    count = 0;
    need(rsc_trace_open(&trace, path, &options, &error), path);
    while (count < room && rsc_trace_next(trace, &batch, &error) > 0)
        for (uint32_t i = 0; i < batch->count && count < room; i++) addresses[count++] = batch->addr[i];
    rsc_trace_close(trace);
}

static void choose_ways(const char *list) {
    ways[way_count++] = 0;
    if (!list || !strcmp(list, "-")) {
        for (uint32_t workers = 2; workers <= 16 && workers <= rsc_pool_cpu_count(); workers *= 2)
            ways[way_count++] = workers;
        return;
    }
    for (char *next; *list && way_count < WAYS_MAX; list = *next ? next + 1 : next) {
        ways[way_count++] = (uint32_t)strtoul(list, &next, 10);
        if (next == list) need(-1, "list of workers");
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 2;
    choose_ways(argc > 2 ? argv[2] : NULL);
    room = (argc > 3 ? strtoull(argv[3], NULL, 10) : 60) * 1000000;
    addresses = malloc((size_t)room * sizeof *addresses);
    if (!addresses || rounds < 1 || !room) return 1;
    for (uint32_t i = 0; i < BATCH; i++) meta[i] = rsc_meta(1, RSC_READ, 0);
    printf("exact engines from batches in memory to a profile, %u cores, best of %d; ratios to the serial engine\n",
           rsc_pool_cpu_count(), rounds);
    static const struct {
        const char *kind;
        unsigned part; /* lines are 1/part of the references */
    } specs[] = {{"uniform", 20}, {"uniform", 100}, {"uniform", 400}};
    for (size_t i = 0; argc < 5 && i < sizeof specs / sizeof *specs; i++) {
        char spec[80];
        snprintf(spec, sizeof spec, "%s,lines=%llu", specs[i].kind, (unsigned long long)(room / specs[i].part));
        make_trace(spec);
        compare(spec, rounds);
    }
    for (int i = 4; i < argc; i++) {
        if (strstr(argv[i], ",lines=")) make_trace(argv[i]);
        else load_trace(argv[i]);
        compare(argv[i], rounds);
    }
    free(addresses);
    return 0;
}
