/*
 * bench_mix_traces.c - interleaves native traces of single programs into one
 * multiprogrammed trace, as bench/sampling does:
 *
 *     bench_mix_traces [--scatter pages|offsets|both] OUT SWITCH TOTAL TRACE...
 *
 * The programs take turns of SWITCH instructions until they have all ended or
 * TOTAL accesses are written. Each is a process of its own: a pid and a tid, and
 * its number in the top 16 bits of its addresses. The collector records data
 * accesses with their pcs; a fetch of 4 bytes at the pc is put before each access
 * whose pc is not that of the one before it. Everything is streamed.
 *
 * --scatter tells causes of set sampling's variance apart: `pages` puts every page
 * of 4 KiB anywhere else, so that only the bits inside pages keep their meaning;
 * `offsets` exchanges the 128-byte blocks inside each page, in another way for each
 * page, so that only the bits above do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "base/numbers.h"

enum { PROGRAMS_MAX = 64, ROOM = 16384 };

struct program {
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    uint32_t next;    /* access of the batch */
    uint64_t last_pc;
    double each;      /* instructions an access of this batch stands for */
    int ended;
};

struct mix {
    struct rsc_trace_writer *writer;
    uint64_t addr[ROOM + 2], meta[ROOM + 2];
    uint32_t count;
    double instructions; /* not yet written */
    struct rsc_thread threads[PROGRAMS_MAX];
    uint32_t thread_count;
    uint64_t written, left;
    struct rsc_error error;
};

static int scatter_pages, scatter_offsets;

/* A bijection of 36 bits that leaves no pattern. */
static uint64_t mix_page(uint64_t page) {
    const uint64_t mask = (1ull << 36) - 1;
    for (int round = 0; round < 3; round++) {
        page = page * 0x9E3779B97F4A7C15ull & mask;
        page ^= page >> 17;
    }
    return page;
}

/* The address inside its space, moved as asked for. */
static uint64_t place(uint64_t addr, uint32_t space) {
    uint64_t page = addr >> 12 & ((1ull << 36) - 1), offset = addr & 4095,
             hash = mix_page(page ^ (uint64_t)space << 28);
    if (scatter_offsets) /* block b of 32 becomes b times an odd number plus another, modulo 32: neighbours part */
        offset = (offset & 127) | (((offset >> 7) * (hash >> 20 << 1 | 1) + (hash >> 30)) & 31) << 7;
    if (scatter_pages) page = mix_page(page + ((uint64_t)space << 24));
    return page << 12 | offset;
}

static void fail(const struct rsc_error *error) {
    fprintf(stderr, "bench_mix_traces: %s\n", error->message);
    exit(1);
}

static void flush(struct mix *mix) {
    struct rsc_batch batch = {.count = mix->count,
                              .addr = mix->addr,
                              .meta = mix->meta,
                              .threads = mix->threads,
                              .thread_count = mix->thread_count,
                              .instructions = (uint64_t)mix->instructions};
    if (rsc_trace_writer_push(mix->writer, &batch, &mix->error) < 0) fail(&mix->error);
    mix->instructions -= (double)batch.instructions;
    mix->written += mix->count;
    mix->count = 0;
}

/* One access of a program. Returns the instructions it stands for, or -1 at the end. */
static double step(struct mix *mix, struct program *program, uint32_t number) {
    while (!program->batch || program->next == program->batch->count) {
        int status = rsc_trace_next(program->trace, &program->batch, &mix->error);
        if (status < 0) fail(&mix->error);
        if (!status) return -1;
        program->next = 0;
        program->each = program->batch->count && program->batch->instructions != RSC_UNKNOWN
                            ? (double)program->batch->instructions / program->batch->count
                            : 1;
    }
    const uint32_t i = program->next++;
    const uint64_t space = (uint64_t)number << 48;
    if (program->batch->pc && program->batch->pc[i] != program->last_pc) {
        program->last_pc = program->batch->pc[i];
        mix->addr[mix->count] = place(program->last_pc, number) | space;
        mix->meta[mix->count++] = rsc_meta(4, RSC_FETCH, number);
    }
    uint64_t meta = program->batch->meta[i];
    mix->addr[mix->count] = place(program->batch->addr[i], number) | space;
    mix->meta[mix->count++] = rsc_meta(rsc_meta_size(meta), rsc_meta_kind(meta), number);
    mix->instructions += program->each;
    if (mix->count >= ROOM) flush(mix);
    return program->each;
}

int main(int argc, char **argv) {
    static struct mix mix;
    static struct program programs[PROGRAMS_MAX];
    uint64_t turn, total, switches = 0;
    if (argc > 2 && !strcmp(argv[1], "--scatter")) {
        scatter_pages = !strcmp(argv[2], "pages") || !strcmp(argv[2], "both");
        scatter_offsets = !strcmp(argv[2], "offsets") || !strcmp(argv[2], "both");
        argc -= 2;
        argv += 2;
    }
    if (argc < 5 || argc - 4 > PROGRAMS_MAX || rsc_parse_u64(argv[2], strlen(argv[2]), &turn) < 0 ||
        rsc_parse_u64(argv[3], strlen(argv[3]), &total) < 0 || !turn) {
        fprintf(stderr, "usage: bench_mix_traces [--scatter pages|offsets|both] OUT SWITCH TOTAL TRACE...\n");
        return 2;
    }
    mix.thread_count = (uint32_t)(argc - 4);
    struct rsc_trace_writer_options options = {.struct_bytes = sizeof options, .source = "bench_mix_traces", .pcs = 0};
    char command[256];
    snprintf(command, sizeof command, "%u programs in turns of %s instructions", mix.thread_count, argv[2]);
    options.command = command;
    if (rsc_trace_writer_open(&mix.writer, argv[1], &options, &mix.error) < 0) fail(&mix.error);
    for (uint32_t i = 0; i < mix.thread_count; i++) {
        /* Process ids as they come in life, some way from each other: the index hash takes their low eight bits. */
        mix.threads[i] = (struct rsc_thread){.pid = 100 + 37 * i, .tid = 100 + 37 * i};
        if (rsc_trace_open(&programs[i].trace, argv[4 + i], NULL, &mix.error) < 0) fail(&mix.error);
    }
    uint32_t running = mix.thread_count;
    for (uint32_t p = 0; running && mix.written + mix.count < total; p = (p + 1) % mix.thread_count) {
        double done = 0;
        if (programs[p].ended) continue;
        switches++;
        while (done < (double)turn && mix.written + mix.count < total) {
            double more = step(&mix, &programs[p], p);
            if (more < 0) {
                programs[p].ended = 1;
                running--;
                break;
            }
            done += more;
        }
    }
    flush(&mix);
    for (uint32_t i = 0; i < mix.thread_count; i++) rsc_trace_close(programs[i].trace);
    if (rsc_trace_writer_finish(mix.writer, &mix.error) < 0) fail(&mix.error);
    rsc_trace_writer_close(mix.writer);
    printf("%s: %llu accesses, %llu turns\n", argv[1], (unsigned long long)mix.written, (unsigned long long)switches);
    return 0;
}
