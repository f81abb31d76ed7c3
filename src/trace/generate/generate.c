/*
 * generate.c - the patterns of generate.h, written in stretches.
 *
 * A stretch is a number of accesses of one pattern by one thread: as long as the
 * thread's run, the mix's phase and the columns allow. The result must not depend on
 * where stretches end, so addresses, writes, runs and phases each have their own
 * random stream, and each thread has a position in each walk.
 *
 * Scattering, for zipf's ranks and for the chase, is a bijection computed on the
 * fly (see scatter_all()): one cycle through 2^40 lines takes no memory.
 */
#include "trace/generate/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/rng.h"
#include "trace/generate/generate_spec.h"

#define LINE RSC_GENERATOR_LINE
#define RUN_MEAN 16.0 /* accesses per run of a thread */
#define GRID_ELEMENT 8 /* bytes of a double */
#define POINT_ACCESSES 6

/* With 4, steps of a chase over 1,024 lines fail a chi-square test at 1% for one seed in 20; with 6, for one in 100. */
#define SCATTER_ROUNDS 6

/* Phases of a mix are half to one and a half times twice its lines, within this range. */
#define PHASE_MIN 4096ull
#define PHASE_MAX (1ull << 20)

/* Streams of the seed. */
enum { STREAM_ADDRESS = 1, STREAM_WRITE, STREAM_RUN, STREAM_PHASE, STREAM_SCATTER };

/* Where a thread is in each kind of walk. */
struct walker {
    uint64_t cyclic; /* line */
    uint64_t stride; /* byte */
    uint64_t chase; /* position along the cycle */
    uint64_t point; /* inner point of the grid, row by row */
    uint32_t step; /* the next of the point's accesses */
};

/* A bijection of 0 .. 2^bits - 1 that, walked until it falls below lines, is one of 0 .. lines - 1. */
struct scatter {
    uint64_t lines, mask;
    uint64_t add[SCATTER_ROUNDS], factor[SCATTER_ROUNDS]; /* factors are odd */
    uint32_t shift;
};

struct rsc_generator {
    struct rsc_generator_spec spec;
    struct rsc_rng address, write, run, phase;
    struct rsc_zipf zipf;
    struct scatter scatter;
    uint64_t write_limit; /* a 53-bit draw below it is a write */
    uint64_t side; /* points of the grid along one edge */
    uint64_t phase_mean;

    enum rsc_pattern pattern; /* of this phase */
    uint64_t phase_left, run_left;
    uint64_t thread; /* whose run it is */
    uint64_t threads_begun; /* threads are numbered in order of first appearance */
    struct walker walkers[];
};

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* share/of of `whole`, which may be large. */
static uint64_t share_of(uint64_t whole, uint64_t share, uint64_t of) {
    return (uint64_t)((unsigned __int128)whole * share / of);
}

static void scatter_init(struct scatter *scatter, uint64_t lines, uint64_t seed) {
    struct rsc_rng rng;
    uint32_t bits = lines > 1 ? 64 - (uint32_t)__builtin_clzll(lines - 1) : 1;
    rsc_rng_seed(&rng, seed, STREAM_SCATTER);
    scatter->lines = lines;
    scatter->mask = (1ull << bits) - 1;
    scatter->shift = (bits + 1) / 2;
    for (int i = 0; i < SCATTER_ROUNDS; i++) {
        scatter->add[i] = rsc_rng_u64(&rng);
        scatter->factor[i] = rsc_rng_u64(&rng) | 1;
    }
}

/* Folding the upper half onto the lower and multiplying by an odd number are both invertible modulo 2^bits. */
static inline uint64_t permute(const struct scatter *s, uint64_t x) {
    for (int i = 0; i < SCATTER_ROUNDS; i++) {
        x = (x + s->add[i]) * s->factor[i] & s->mask;
        x ^= x >> s->shift;
    }
    return x;
}

/*
 * Replaces numbers below s->lines by the addresses of the lines they are scattered
 * to. A result of s->lines or more is permuted again (cycle walking): fewer than two
 * rounds on average, and still a bijection, since each value is on one cycle only.
 * The first round is a separate loop, so that the processor works on several numbers
 * at a time.
 */
static void scatter_all(const struct scatter *s, uint64_t base, uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = permute(s, values[i]);
    for (size_t i = 0; i < count; i++) {
        uint64_t line = values[i];
        while (line >= s->lines) line = permute(s, line);
        values[i] = base + line * LINE;
    }
}

static void fill_uniform(struct rsc_generator *g, uint64_t *addr, size_t count) {
    uint64_t base = g->spec.base, lines = g->spec.lines;
    struct rsc_rng rng = g->address;
    for (size_t i = 0; i < count; i++) addr[i] = base + rsc_rng_below(&rng, lines) * LINE;
    g->address = rng;
}

static void fill_zipf(struct rsc_generator *g, uint64_t *addr, size_t count) {
    for (size_t i = 0; i < count; i++) addr[i] = rsc_zipf_next(&g->zipf, &g->address) - 1;
    scatter_all(&g->scatter, g->spec.base, addr, count);
}

static void fill_cyclic(const struct rsc_generator *g, struct walker *walker, uint64_t *addr, size_t count) {
    while (count) {
        size_t stretch = smaller(count, g->spec.lines - walker->cyclic);
        uint64_t first = g->spec.base + walker->cyclic * LINE;
        for (size_t i = 0; i < stretch; i++) addr[i] = first + i * LINE;
        walker->cyclic += stretch;
        if (walker->cyclic == g->spec.lines) walker->cyclic = 0;
        addr += stretch;
        count -= stretch;
    }
}

static void fill_stride(const struct rsc_generator *g, struct walker *walker, uint64_t *addr, size_t count) {
    uint64_t bytes = g->spec.lines * LINE, step = g->spec.stride % bytes, at = walker->stride;
    for (size_t i = 0; i < count; i++) {
        addr[i] = g->spec.base + at;
        at += step;
        if (at >= bytes) at -= bytes;
    }
    walker->stride = at;
}

static void fill_chase(const struct rsc_generator *g, struct walker *walker, uint64_t *addr, size_t count) {
    for (size_t i = 0; i < count; i++) {
        addr[i] = walker->chase;
        if (++walker->chase == g->spec.lines) walker->chase = 0;
    }
    scatter_all(&g->scatter, g->spec.base, addr, count);
}

/* North, south, west, east, centre, and the second grid's point: writes the kinds too. */
static void fill_stencil(const struct rsc_generator *g, struct walker *walker, uint64_t *addr, uint64_t *meta,
                         size_t count) {
    uint64_t inner = g->side - 2, row_bytes = g->side * GRID_ELEMENT;
    uint64_t offset[POINT_ACCESSES] = {-row_bytes,   row_bytes, (uint64_t)-GRID_ELEMENT,
                                       GRID_ELEMENT, 0,         g->spec.lines * LINE};
    uint64_t read = rsc_meta((uint32_t)g->spec.size, RSC_READ, (uint32_t)g->thread);
    uint64_t write = rsc_meta((uint32_t)g->spec.size, RSC_WRITE, (uint32_t)g->thread);
    for (size_t i = 0; i < count;) {
        uint64_t row = walker->point / inner + 1, column = walker->point % inner + 1;
        uint64_t centre = g->spec.base + row * row_bytes + column * GRID_ELEMENT;
        for (; walker->step < POINT_ACCESSES && i < count; walker->step++, i++) {
            addr[i] = centre + offset[walker->step];
            meta[i] = walker->step == POINT_ACCESSES - 1 ? write : read;
        }
        if (walker->step < POINT_ACCESSES) break;
        walker->step = 0;
        if (++walker->point == inner * inner) walker->point = 0;
    }
}

static void fill_meta(struct rsc_generator *g, uint64_t *meta, size_t count) {
    uint64_t read = rsc_meta((uint32_t)g->spec.size, RSC_READ, (uint32_t)g->thread);
    uint64_t to_write = rsc_meta(0, RSC_WRITE, 0) - rsc_meta(0, RSC_READ, 0);
    if (g->write_limit == 0 || g->write_limit == 1ull << 53) {
        uint64_t same = g->write_limit ? read + to_write : read;
        for (size_t i = 0; i < count; i++) meta[i] = same;
        return;
    }
    struct rsc_rng rng = g->write;
    for (size_t i = 0; i < count; i++) meta[i] = read + (rsc_rng_u64(&rng) >> 11 < g->write_limit ? to_write : 0);
    g->write = rng;
}

/* Whose turn is next: each thread once, in order; from then on, any of the others. */
static void next_run(struct rsc_generator *g) {
    uint64_t threads = g->spec.threads;
    if (threads == 1) {
        g->run_left = UINT64_MAX;
        return;
    }
    if (g->threads_begun < threads) {
        g->thread = g->threads_begun++;
    } else {
        uint64_t other = rsc_rng_below(&g->run, threads - 1);
        g->thread = other < g->thread ? other : other + 1;
    }
    g->run_left = rsc_rng_geometric(&g->run, RUN_MEAN);
}

/* Draws any pattern except the current one. */
static void next_phase(struct rsc_generator *g) {
    if (g->spec.pattern != RSC_PATTERN_MIX) {
        g->phase_left = UINT64_MAX;
        return;
    }
    uint64_t had = g->pattern;
    uint64_t other = rsc_rng_below(&g->phase, had == RSC_PATTERN_MIX ? RSC_PATTERN_MIX : RSC_PATTERN_MIX - 1);
    g->pattern = (enum rsc_pattern)(other < had ? other : other + 1);
    g->phase_left = g->phase_mean / 2 + rsc_rng_below(&g->phase, g->phase_mean);
}

static void fill_stretch(struct rsc_generator *g, uint64_t *addr, uint64_t *meta, size_t count) {
    struct walker *walker = &g->walkers[g->thread];
    switch (g->pattern) {
    case RSC_PATTERN_UNIFORM: fill_uniform(g, addr, count); break;
    case RSC_PATTERN_ZIPF: fill_zipf(g, addr, count); break;
    case RSC_PATTERN_CYCLIC: fill_cyclic(g, walker, addr, count); break;
    case RSC_PATTERN_STRIDE: fill_stride(g, walker, addr, count); break;
    case RSC_PATTERN_CHASE: fill_chase(g, walker, addr, count); break;
    default: fill_stencil(g, walker, addr, meta, count); return;
    }
    fill_meta(g, meta, count);
}

void rsc_generator_fill(struct rsc_generator *g, uint64_t *addr, uint64_t *meta, size_t count) {
    while (count) {
        if (!g->run_left) next_run(g);
        if (!g->phase_left) next_phase(g);
        size_t stretch = smaller(count, smaller(g->run_left, g->phase_left));
        fill_stretch(g, addr, meta, stretch);
        /* an endless run or phase simply restarts after 2^64 - 1 accesses */
        g->run_left -= stretch;
        g->phase_left -= stretch;
        addr += stretch;
        meta += stretch;
        count -= stretch;
    }
}

/* The largest side whose square of doubles fits in `lines`; sqrt() is correctly rounded, and lines * 8 below 2^53. */
static uint64_t grid_side(uint64_t lines) { return (uint64_t)sqrt((double)(lines * (LINE / GRID_ELEMENT))); }

static void place_walkers(struct rsc_generator *g) {
    const struct rsc_generator_spec *spec = &g->spec;
    uint64_t inner = g->side > 2 ? g->side - 2 : 0;
    for (uint64_t t = 0; t < spec->threads; t++) {
        uint64_t line = share_of(spec->lines, t, spec->threads);
        g->walkers[t] = (struct walker){
            .cyclic = line, .stride = line * LINE, .chase = line, .point = share_of(inner * inner, t, spec->threads)};
    }
}

int rsc_generator_new(struct rsc_generator **out, const char *text, uint64_t seed, struct rsc_error *error) {
    struct rsc_generator_spec spec;
    *out = NULL;
    int status = rsc_generator_spec_parse(&spec, text, error);
    if (status < 0) return status;
    struct rsc_generator *g = calloc(1, sizeof *g + spec.threads * sizeof g->walkers[0]);
    if (!g) return rsc_fail_memory(error, "generator");
    g->spec = spec;
    g->pattern = spec.pattern;
    rsc_rng_seed(&g->address, seed, STREAM_ADDRESS);
    rsc_rng_seed(&g->write, seed, STREAM_WRITE);
    rsc_rng_seed(&g->run, seed, STREAM_RUN);
    rsc_rng_seed(&g->phase, seed, STREAM_PHASE);
    rsc_zipf_init(&g->zipf, spec.lines, spec.skew);
    scatter_init(&g->scatter, spec.lines, seed);
    g->write_limit = (uint64_t)(spec.write * 0x1p53);
    g->side = grid_side(spec.lines);
    g->phase_mean = smaller(spec.lines * 2, PHASE_MAX);
    if (g->phase_mean < PHASE_MIN) g->phase_mean = PHASE_MIN;
    place_walkers(g);
    *out = g;
    return 0;
}

void rsc_generator_free(struct rsc_generator *generator) { free(generator); }

/* The generator as a source of a trace. */
struct generated {
    struct rsc_source source;
    struct rsc_generator *generator;
    uint64_t count, left;
    char *text; /* the specification */
    uint64_t addr[RSC_BATCH_ACCESSES], meta[RSC_BATCH_ACCESSES];
};

static int generated_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct generated *self = (struct generated *)source;
    (void)error;
    uint32_t count = (uint32_t)smaller(self->left, RSC_BATCH_ACCESSES);
    if (!count) return 0;
    rsc_generator_fill(self->generator, self->addr, self->meta, count);
    self->left -= count;
    *batch = (struct rsc_batch){.count = count, .addr = self->addr, .meta = self->meta, .instructions = RSC_UNKNOWN};
    return 1;
}

static void generated_info(struct rsc_source *source, struct rsc_trace_info *info) {
    struct generated *self = (struct generated *)source;
    info->format = "generated";
    info->source = "reusescope gen";
    info->command = self->text;
    info->accesses = info->full_accesses = self->count;
    info->has_pc = 0;
}

static void generated_close(struct rsc_source *source) {
    struct generated *self = (struct generated *)source;
    rsc_generator_free(self->generator);
    free(self->text);
    free(self);
}

static const struct rsc_source_ops GENERATED_OPS = {generated_next, NULL, generated_info, generated_close, NULL};

int rsc_generator_open(struct rsc_source **out, const char *spec, uint64_t count, uint64_t seed,
                       struct rsc_error *error) {
    struct rsc_generator *generator;
    *out = NULL;
    int status = rsc_generator_new(&generator, spec, seed, error);
    if (status < 0) return status;
    struct generated *self = calloc(1, sizeof *self);
    char *text = strdup(spec);
    if (!self || !text) {
        free(self);
        free(text);
        rsc_generator_free(generator);
        return rsc_fail_memory(error, "generator");
    }
    self->source.ops = &GENERATED_OPS;
    self->generator = generator;
    self->count = self->left = count;
    self->text = text;
    *out = &self->source;
    return 0;
}
