/*
 * bench_mpi.c - what the mpi engine costs, measured in parts on one core, and what
 * follows for a big job. No MPI is needed: a rank's work is the same wherever touches
 * come from.
 *
 *   bench_mpi [ROUNDS [REFERENCES RANKS [GIGABYTES_PER_SECOND]]]
 *
 * Measured in processor time, best of ROUNDS: a reference of a rank's own part (read from a native trace,
 * counted, first touches kept), a touch that the rank holds, one that it does not, and
 * memory a line. The arithmetic is that of docs/design/mpi.md; the speed of the network is not
 * measured but taken as given.
 */
#include <reusescope/reusescope.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench/measure.h"
#include "distance/ranks/engine_mpi.h"
#include "distance/ranks/ranks_exchange.h"
#include "distance/ranks/ranks_sums.h"
#include "trace/generate/generate.h"

#define ACCESSES 8000000u
#define LINES 4000000u
#define PART_LINES_MAX 2.9e9 /* an exact state has places for 3.7e9, a quarter more than lines */

/* Processor time: all that is measured here runs in one thread, and a busy machine shall not count. */
static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- a rank's own part ---- */

static void make_trace(const char *path, const char *spec) {
    struct rsc_trace_writer_options options = {.struct_bytes = sizeof options};
    struct rsc_trace_writer *writer;
    struct rsc_source *source;
    struct rsc_batch batch;
    struct rsc_error error;
    need(rsc_generator_open(&source, spec, ACCESSES, 1, &error), spec);
    need(rsc_trace_writer_open(&writer, path, &options, &error), path);
    while (source->ops->next(source, &batch, &error) > 0) need(rsc_trace_writer_push(writer, &batch, &error), path);
    need(rsc_trace_writer_finish(writer, &error), path);
    rsc_trace_writer_close(writer);
    source->ops->close(source);
}

/* Seconds a reference. The rank is the second of two: the first keeps no touches. Nothing is sent. */
static double measure_part(const char *path, int rounds) {
    double best = 0;
    for (int round = 0; round < rounds; round++) {
        struct rsc_engine_options options = {.struct_bytes = sizeof options, .line_bytes = 64};
        struct rsc_ranks ranks = {.rank = 1, .size = 2};
        struct rsc_trace *trace;
        const struct rsc_batch *batch;
        struct rsc_error error;
        void *engine;
        need(rsc_trace_open(&trace, path, NULL, &error), path);
        need(rsc_ranked_create(&engine, &options, &ranks, &error), "engine");
        double start = processor_seconds();
        while (rsc_trace_next(trace, &batch, &error) > 0) need(rsc_ranked_push(engine, batch, &error), "engine");
        double took = processor_seconds() - start;
        if (!best || took < best) best = took;
        rsc_ranked_destroy(engine);
        rsc_trace_close(trace);
    }
    return best / ACCESSES;
}

/* ---- touches of the ranks behind ---- */

/* Ranks of which this is the first: the second sends touches that lie ready. */
struct ready {
    struct rsc_ranks ranks;
    const struct rsc_touch *touches;
    uint32_t count, sent;
    void *to;
};

static int ready_receive(struct rsc_ranks *ranks, uint32_t ticket, uint32_t from, void *data, size_t room,
                         struct rsc_error *error) {
    (void)ticket, (void)from, (void)room, (void)error;
    ((struct ready *)ranks)->to = data;
    return 0;
}

static int ready_wait(struct rsc_ranks *ranks, uint32_t tickets, size_t *bytes, struct rsc_error *error) {
    struct ready *ready = (struct ready *)ranks;
    uint32_t part = ready->count - ready->sent < RSC_TOUCH_BLOCK ? ready->count - ready->sent : RSC_TOUCH_BLOCK;
    (void)error;
    *bytes = part * sizeof *ready->touches;
    if (part) memcpy(ready->to, ready->touches + ready->sent, *bytes);
    ready->sent += part;
    return __builtin_ctz(tickets);
}

static int settle(void *user, uint32_t thread, uint32_t kind, uint64_t rd, uint64_t ri) {
    return rd == RSC_RD_UNKNOWN ? rsc_sums_add_cold(user, thread, kind)
                                : rsc_sums_add_reuse(user, thread, kind, rd, ri);
}

static void shuffle(uint64_t *lines, uint32_t count, struct rsc_rng *rng) {
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t other = (uint32_t)rsc_rng_below(rng, i + 1);
        uint64_t line = lines[i];
        lines[i] = lines[other];
        lines[other] = line;
    }
}

/* Seconds a touch; `first` 0: all are held, LINES: none is. */
static double measure_touches(uint64_t *lines, uint64_t first, int rounds, double *bytes_per_line) {
    static uint32_t rd[4096];
    static uint64_t ri[4096];
    struct rsc_touch *touches = malloc(LINES * sizeof *touches);
    double best = 0;
    if (!touches) need(-1, "memory");
    for (int round = 0; round < rounds; round++) {
        struct rsc_rng rng;
        struct rsc_exact exact;
        struct rsc_accumulator sum;
        struct rsc_touch_queue queue = {.per_block = RSC_TOUCH_BLOCK};
        struct rsc_error error;
        rsc_rng_seed(&rng, 3, (uint64_t)round);
        need(rsc_exact_init(&exact, rsc_simd_best(), 0), "state");
        need(rsc_accumulator_init(&sum, 0, 0, 0), "counts");
        for (uint32_t i = 0; i < LINES; i++) lines[i] = i;
        shuffle(lines, LINES, &rng);
        for (uint32_t done = 0; done < LINES; done += 4000)
            need(rsc_exact_run(&exact, lines + done, 4000, rd, ri), "state");
        *bytes_per_line = (double)exact.peak_bytes / LINES;
        shuffle(lines, LINES, &rng);
        for (uint32_t i = 0; i < LINES; i++) touches[i] = (struct rsc_touch){lines[i] + first, i, i};
        struct ready ready = {.ranks = {.rank = 0, .size = 2, .start_receive = ready_receive, .wait_any = ready_wait},
                              .touches = touches,
                              .count = LINES};
        struct rsc_exchange exchange = {.ranks = &ready.ranks,
                                        .exact = &exact,
                                        .references = LINES,
                                        .queue = &queue,
                                        .settle = settle,
                                        .user = &sum};
        double start = processor_seconds();
        need(rsc_exchange_run(&exchange, &error), "exchange");
        double took = processor_seconds() - start;
        if (!best || took < best) best = took;
        if (sum.cold != (first ? LINES : 0)) need(-1, "agreement");
        rsc_exchange_free(&exchange);
        rsc_accumulator_free(&sum);
        rsc_exact_free(&exact);
    }
    free(touches);
    return best / LINES;
}

/* ---- what follows ---- */

struct constants {
    double reference, held, not_held; /* seconds */
    double bytes_per_line;            /* memory of a rank, its touches included */
    double network;                   /* bytes a second */
};

static double larger(double a, double b) { return a > b ? a : b; }

/*
 * Every part uses all lines: each rank sends them all to the one before, which holds them.
 * No line is used in two parts: each rank has its share of them, and rank 0 is asked for
 * all but its own.
 */
static void extrapolate(const struct constants *c, double references, double ranks, double lines) {
    double wire = sizeof(struct rsc_touch), part = references / ranks * c->reference;
    double shared = lines * larger(c->held, wire / c->network);
    double apart = lines * (ranks - 1) / ranks * larger(c->not_held, wire / c->network);
    printf("%7.0e lines, all in every part: ", lines);
    if (lines > PART_LINES_MAX) printf("more than a part can have\n");
    else
        printf("parts %6.0f s, exchange %5.0f s; %.2e bytes a link, %.2e in all; %.1f GiB a rank\n", part, shared,
               lines * wire, lines * wire * (ranks - 1), lines * c->bytes_per_line / (1 << 30));
    printf(
        "%7.0e lines, none in two parts: parts %6.0f s, exchange %5.0f s; %.2e bytes a link, %.2e in all; %.1f GiB a rank\n",
        lines, part, apart, lines * (ranks - 1) / ranks * wire, lines * wire * (ranks - 1) / 2,
        lines / ranks * c->bytes_per_line / (1 << 30));
}

int main(int argc, char **argv) {
    static const char *const specs[] = {"zipf,lines=10000000,skew=0.99", "uniform,lines=4000000"};
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    double references = argc > 3 ? atof(argv[2]) : 1e12, ranks = argc > 3 ? atof(argv[3]) : 64;
    struct constants c = {.network = 1e9 * (argc > 4 ? atof(argv[4]) : 12.5)};
    char path[64];
    uint64_t *lines = malloc(LINES * sizeof *lines);
    if (rounds < 1 || !lines || ranks < 1) return 1;
    snprintf(path, sizeof path, "bench-mpi-%ld.rsct", (long)getpid());
    printf("mpi engine: costs of one rank in processor time, best of %d\n", rounds);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        make_trace(path, specs[i]);
        double seconds = measure_part(path, rounds);
        remove(path);
        if (seconds > c.reference) c.reference = seconds;
        printf("a reference, %-30s %6.1f ns\n", specs[i], 1e9 * seconds);
    }
    c.not_held = measure_touches(lines, LINES, rounds, &c.bytes_per_line);
    c.held = measure_touches(lines, 0, rounds, &c.bytes_per_line);
    c.bytes_per_line += sizeof(struct rsc_touch);
    printf("a first touch, held                         %6.1f ns\n", 1e9 * c.held);
    printf("a first touch, not held                     %6.1f ns\n", 1e9 * c.not_held);
    printf("a first touch on the wire                   %6zu bytes\n", sizeof(struct rsc_touch));
    printf("memory a distinct line of a part (%u)  %6.1f bytes\n", LINES, c.bytes_per_line);
    printf("%.0e references, %.0f ranks, network %.1f GB/s (given, not measured):\n", references, ranks,
           c.network / 1e9);
    extrapolate(&c, references, ranks, 1e8);
    extrapolate(&c, references, ranks, 1e9);
    extrapolate(&c, references, ranks, 1e10);
    free(lines);
    return 0;
}
