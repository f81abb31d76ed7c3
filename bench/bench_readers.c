/*
 * bench_readers.c - how fast each text format is read, one core, from memory-
 * cached files made of the same trace.
 *
 *   bench_readers TRACE [ROUNDS]
 *
 * TRACE (any format, the first 8 M accesses) is written as din and CSV, plain
 * and as it is; each is then read to the end. Bar: 30 M lines/s. The first 2 M
 * are also written in the formats of other tools.
 */
#include <reusescope/reusescope.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/measure.h"
#include "tests/foreign_traces.h"

#define ACCESSES_MAX (8u << 20)
#define FOREIGN_MAX (2u << 20)

static const struct rsc_filter window = {RSC_KINDS_ALL, 0, NULL, 0, UINT64_MAX, 0, 0, 0, ACCESSES_MAX, 1};

/* Reads a trace, or its first accesses; returns how many. */
static uint64_t read_all(const char *path, const char *format, const struct rsc_filter *filter,
                         struct rsc_trace_writer *copy) {
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .format = format, .filter = filter};
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    uint64_t count = 0;
    int status;
    need(rsc_trace_open(&trace, path, &options, &error), path);
    while ((status = rsc_trace_next(trace, &batch, &error)) > 0) {
        if (copy) need(rsc_trace_writer_push(copy, batch, &error), "copy");
        count += batch->count;
        if (filter && count >= ACCESSES_MAX) break;
    }
    need(status, path);
    rsc_trace_close(trace);
    return count;
}

static void measure(const char *name, const char *path, const char *format, int rounds) {
    struct stat file;
    double best = 0;
    uint64_t count = 0;
    for (int round = 0; round < rounds; round++) {
        double start = seconds_now();
        count = read_all(path, format, NULL, NULL);
        double took = seconds_now() - start;
        if (!best || took < best) best = took;
    }
    need(stat(path, &file), path);
    printf("%-13s %6.1f M accesses/s  %6.0f MB/s\n", name, count / best / 1e6, (double)file.st_size / best / 1e6);
}

static void measure_copy(const char *from, const char *format, int rounds) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/bench-readers-%d.%s", (int)getpid(), format);
    struct rsc_trace_writer_options options = {.struct_bytes = sizeof options, .format = format};
    struct rsc_trace_writer *writer;
    struct rsc_error error;
    need(rsc_trace_writer_open(&writer, path, &options, &error), path);
    read_all(from, NULL, &window, writer);
    need(rsc_trace_writer_finish(writer, &error), path);
    rsc_trace_writer_close(writer);
    measure(format, path, format, rounds);
    unlink(path);
}

/* The first accesses of a trace, in columns. */
static struct foreign_accesses load_accesses(const char *path) {
    struct rsc_filter first = window;
    first.count = FOREIGN_MAX;
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &first};
    static const struct rsc_thread thread = {1, 1};
    size_t bytes = FOREIGN_MAX * sizeof(uint64_t);
    struct foreign_accesses all = {0, malloc(bytes), malloc(bytes), malloc(bytes), &thread};
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    need(all.addr && all.meta && all.pc ? 0 : -1, "memory");
    need(rsc_trace_open(&trace, path, &options, &error), path);
    while (all.count < FOREIGN_MAX && rsc_trace_next(trace, &batch, &error) > 0)
        for (uint32_t i = 0; i < batch->count && all.count < FOREIGN_MAX; i++, all.count++) {
            all.addr[all.count] = batch->addr[i];
            all.meta[all.count] = batch->meta[i] & ((1ull << 40) - 1); /* one thread */
            all.pc[all.count] = batch->pc ? batch->pc[i] : 0x400000;
        }
    rsc_trace_close(trace);
    return all;
}

static void measure_foreign(const char *from, enum foreign_format format, int rounds) {
    char path[64];
    struct rsc_rng rng;
    struct foreign_accesses all = load_accesses(from);
    snprintf(path, sizeof path, "/tmp/bench-readers-%d.%s", (int)getpid(), foreign_names[format]);
    FILE *file = fopen(path, "wb");
    need(file ? 0 : -1, path);
    rsc_rng_seed(&rng, 1, format);
    foreign_fit(format, &all);
    foreign_write(file, format, &all, &rng);
    need(fclose(file), path);
    measure(foreign_names[format], path, foreign_names[format], rounds);
    unlink(path);
    free(all.addr);
    free(all.meta);
    free(all.pc);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: bench_readers TRACE [ROUNDS]\n");
        return 2;
    }
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    printf("reading the first %u accesses of %s (best of %d)\n", ACCESSES_MAX, argv[1], rounds);
    measure_copy(argv[1], "din", rounds);
    measure_copy(argv[1], "csv", rounds);
    measure_copy(argv[1], "rsct", rounds);
    measure("as given", argv[1], NULL, rounds);
    for (int format = 0; format < FOREIGN_FORMATS; format++)
        measure_foreign(argv[1], (enum foreign_format)format, rounds);
    return 0;
}
