/*
 * bench_trace.c - the native format on a real trace: size, speed of encoding and
 * decoding on one core, time to seek.
 *
 *   bench_trace TRACE [ROUNDS]
 *
 * The trace (any format, the first 32 M accesses) is held in memory, written with
 * and without pcs, read back, and sought in. Bars: decode 350 M accesses/s for
 * address and kind, encode 80 M/s, 2 bits per access without pcs and 8 with them,
 * seek under 10 ms.
 */
#include <reusescope/reusescope.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/measure.h"

#define ACCESSES_MAX (32u << 20)
#define BATCH 16384u

static struct {
    uint64_t *addr, *meta, *pc;
    uint32_t count;
    int has_pc;
} held;

static void hold(const char *path) {
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    held.addr = malloc((size_t)ACCESSES_MAX * 8);
    held.meta = malloc((size_t)ACCESSES_MAX * 8);
    held.pc = malloc((size_t)ACCESSES_MAX * 8);
    need(rsc_trace_open(&trace, path, NULL, &error), path);
    while (held.count < ACCESSES_MAX && rsc_trace_next(trace, &batch, &error) > 0) {
        uint32_t part = ACCESSES_MAX - held.count < batch->count ? ACCESSES_MAX - held.count : batch->count;
        memcpy(held.addr + held.count, batch->addr, part * 8);
        memcpy(held.meta + held.count, batch->meta, part * 8);
        if (batch->pc) memcpy(held.pc + held.count, batch->pc, part * 8);
        held.has_pc = batch->pc != NULL;
        held.count += part;
    }
    rsc_trace_close(trace);
}

static double encode(const char *path, int pcs) {
    struct rsc_trace_writer_options options = {.struct_bytes = sizeof options, .pcs = pcs};
    struct rsc_trace_writer *writer;
    struct rsc_error error;
    double start = seconds_now();
    need(rsc_trace_writer_open(&writer, path, &options, &error), path);
    for (uint32_t at = 0; at < held.count; at += BATCH) {
        struct rsc_batch batch = {.count = held.count - at < BATCH ? held.count - at : BATCH,
                                  .addr = held.addr + at,
                                  .meta = held.meta + at,
                                  .pc = pcs ? held.pc + at : NULL,
                                  .instructions = RSC_UNKNOWN};
        need(rsc_trace_writer_push(writer, &batch, &error), "encode");
    }
    need(rsc_trace_writer_finish(writer, &error), "encode");
    rsc_trace_writer_close(writer);
    return seconds_now() - start;
}

/* Reads it all; the sum keeps the compiler honest and is checked. */
static double decode(const char *path, int check) {
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    uint64_t at = 0;
    int status;
    double start = seconds_now();
    need(rsc_trace_open(&trace, path, NULL, &error), path);
    while ((status = rsc_trace_next(trace, &batch, &error)) > 0) {
        if (check && memcmp(batch->addr, held.addr + at, batch->count * 8)) need(-1, "decoding what was encoded");
        at += batch->count;
    }
    need(status, "decode");
    if (at != held.count) need(-1, "decoding all of it");
    rsc_trace_close(trace);
    return seconds_now() - start;
}

static void seek_around(const char *path) {
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    double worst = 0, sum = 0;
    enum { SEEKS = 200 };
    need(rsc_trace_open(&trace, path, NULL, &error), path);
    for (uint32_t i = 0; i < SEEKS; i++) {
        uint64_t index = (uint64_t)i * 2654435761u % held.count;
        double start = seconds_now();
        need(rsc_trace_seek(trace, index, &error), "seek");
        need(rsc_trace_next(trace, &batch, &error), "seek");
        double took = seconds_now() - start;
        if (batch->addr[0] != held.addr[index]) need(-1, "finding the right access");
        sum += took;
        if (took > worst) worst = took;
    }
    rsc_trace_close(trace);
    printf("  seek and first batch: mean %.2f ms, worst %.2f ms of %d\n", 1e3 * sum / SEEKS, 1e3 * worst, SEEKS);
}

static void measure(const char *what, int pcs, int rounds) {
    char path[] = "/tmp/bench-trace-XXXXXX";
    struct stat file;
    double encoded = 0, decoded = 0;
    int fd = mkstemp(path);
    need(fd, "temporary file");
    close(fd);
    for (int round = 0; round < rounds; round++) {
        double took = encode(path, pcs);
        if (!encoded || took < encoded) encoded = took;
        decode(path, round == 0);
        took = decode(path, 0);
        if (!decoded || took < decoded) decoded = took;
    }
    need(stat(path, &file), path);
    printf("%s: %.2f bits per access; encode %.0f M/s, decode %.0f M/s (best of %d)\n", what,
           8.0 * (double)file.st_size / held.count, held.count / encoded / 1e6, held.count / decoded / 1e6, rounds);
    seek_around(path);
    unlink(path);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: bench_trace TRACE [ROUNDS]\n");
        return 2;
    }
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    hold(argv[1]);
    if (!held.count || rounds < 1) return 1;
    printf("%s, %u accesses\n", argv[1], held.count);
    measure("address, kind, size", 0, rounds);
    if (held.has_pc) measure("the same with pcs", 1, rounds);
    printf("peak memory %.0f MiB, %.0f of it the trace held\n", peak_mib(), 24.0 * ACCESSES_MAX / (1 << 20));
    return 0;
}
