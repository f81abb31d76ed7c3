/*
 * property_parallel.c - the parallel engine against the serial one and brute force.
 *
 * Random traces of all shapes, with several threads, instructions, events and
 * accesses that straddle lines, go through 1 to 5 workers, in each of the ways, in slices
 * of 1 reference and more, chosen around the trace's own length too. Every number of the profile
 * must be that of the serial engine; distances, intervals, threads and pairs are
 * counted by brute force as well. The exact engine that counts in a second thread is the
 * serial one, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/parallel/engine_parallel.h"
#include "distance/exact/exact_state.h"
#include "property/traced.h"
#include "trace/generate/generate.h"
#include "trace/references.h"

#define BLOCK 512

/* A slice that says: in two threads. */
#define TWO_THREADS UINT32_MAX

static void set_slice(void *state, uint32_t slice) {
    if (slice) rsc_rounds_set_slice(state, slice);
}
static void set_two_threads(void *state, uint32_t unused) {
    (void)unused;
    rsc_engine_exact.two_threads(state);
}

static struct rsc_profile *analyse(const struct rsc_engine_kind *kind, const struct rsc_engine_options *options,
                                   uint32_t slice, const struct traced *traced, struct rsc_rng *rng) {
    void (*prepare)(void *, uint32_t) = slice == TWO_THREADS           ? set_two_threads
                                        : kind == &rsc_parallel_rounds ? set_slice
                                                                       : NULL;
    return traced_profile(kind, options, prepare, slice, traced, rng);
}

/* ---- brute force ---- */

struct truth {
    struct rsc_histogram rd, ri, thread_rd[16];
    uint64_t references, cold, capped, thread_cold[16];
    uint64_t pair[PCS_MAX][PCS_MAX]; /* [use][reuse] */
};

static void truth_free(struct truth *truth) {
    rsc_histogram_free(&truth->rd);
    rsc_histogram_free(&truth->ri);
    for (int i = 0; i < 16; i++) rsc_histogram_free(&truth->thread_rd[i]);
}

/* A list of lines, most recently used first; its position is a line's distance. */
static void brute_force(struct truth *truth, const struct traced *traced, uint32_t line_bytes, uint64_t cap) {
    struct rsc_batch batch = {.count = traced->trace.count, .addr = traced->trace.addr, .meta = traced->trace.meta};
    struct rsc_reference_cursor cursor;
    struct used {
        uint64_t line, time, pc;
    } *stack = malloc(sizeof *stack);
    uint64_t lines[BLOCK], depth = 0;
    uint32_t from[BLOCK], count;
    memset(truth, 0, sizeof *truth);
    assert_int_equal(rsc_histogram_init(&truth->rd, RSC_BINS_FINE), 0);
    assert_int_equal(rsc_histogram_init(&truth->ri, RSC_BINS_FINE), 0);
    for (int i = 0; i < 16; i++) assert_int_equal(rsc_histogram_init(&truth->thread_rd[i], RSC_BINS_COARSE), 0);
    rsc_references_start(&cursor, &batch, (uint32_t)__builtin_ctz(line_bytes));
    while ((count = rsc_references_fill(&cursor, lines, from, BLOCK)) > 0)
        for (uint32_t i = 0; i < count; i++, truth->references++) {
            uint32_t thread = rsc_meta_thread(traced->trace.meta[from[i]]);
            struct used now = {lines[i], truth->references, traced->pc ? (traced->pc[from[i]] - pc_of(0)) / 16 : 0};
            uint64_t at = 0;
            while (at < depth && stack[at].line != lines[i]) at++;
            if (at == depth) {
                stack = realloc(stack, (++depth + 1) * sizeof *stack);
                truth->cold++;
                truth->thread_cold[thread]++;
            } else {
                rsc_histogram_add(&truth->ri, truth->references - stack[at].time, 1);
                if (at >= cap) truth->capped++;
                else rsc_histogram_add(&truth->rd, at, 1);
                rsc_histogram_add(&truth->thread_rd[thread], at < cap ? at : cap, 1);
                truth->pair[stack[at].pc][now.pc]++;
            }
            memmove(stack + 1, stack, at * sizeof *stack);
            stack[0] = now;
        }
    free(stack);
}

static void check_truth(const struct truth *truth, const struct rsc_profile *profile, int pairs, int no_ri) {
    assert_int_equal(profile->references, truth->references);
    assert_int_equal(profile->cold, truth->cold);
    assert_int_equal(profile->distinct, truth->cold);
    assert_int_equal(profile->rd_capped, truth->capped);
    assert_memory_equal(profile->rd.count, truth->rd.count, truth->rd.bin_count * sizeof *truth->rd.count);
    if (no_ri) assert_int_equal(rsc_histogram_total(&profile->ri), 0);
    else assert_memory_equal(profile->ri.count, truth->ri.count, truth->ri.bin_count * sizeof *truth->ri.count);
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct rsc_histogram *wanted = &truth->thread_rd[i];
        assert_int_equal(profile->threads[i].cold, truth->thread_cold[i]);
        assert_memory_equal(profile->threads[i].rd.count, wanted->count, wanted->bin_count * sizeof *wanted->count);
    }
    uint64_t found[PCS_MAX][PCS_MAX] = {{0}};
    for (size_t i = 0; pairs && i < profile->pair_count; i++) {
        const struct rsc_pair_row *row = &profile->pairs[i];
        found[(row->use.pc - pc_of(0)) / 16][(row->reuse.pc - pc_of(0)) / 16] += row->references; /* over call paths */
    }
    if (pairs && profile->pair_count < 1024) assert_memory_equal(found, truth->pair, sizeof found);
}

/* ---- properties ---- */

static uint32_t some_slice(struct rsc_rng *rng, uint64_t references) {
    uint32_t length = (uint32_t)(references ? references : 1);
    switch (rsc_rng_below(rng, 8)) {
    case 0: return 1;
    case 1: return length > 1 ? length - 1 : 1;
    case 2: return length;
    case 3: return length + 1;
    case 4: return 1 + (uint32_t)rsc_rng_below(rng, 4);
    case 5: return 1 + length / (1 + (uint32_t)rsc_rng_below(rng, 12));
    default: return 1 + (uint32_t)rsc_rng_below(rng, 500);
    }
}

/* Any of the ways, but for stages where something is to be counted by code. */
static const struct rsc_engine_kind *some_way(struct rsc_rng *rng, const struct traced *traced, uint32_t attribute) {
    int by_code = attribute == 1 || (attribute == 0 && (traced->pc || traced->event_count));
    return by_code || rsc_rng_below(rng, 3) ? &rsc_parallel_rounds : &rsc_parallel_stages;
}

static void one_trace(struct rsc_rng *rng, uint32_t most) {
    static const uint32_t line_sizes[] = {8, 64, 64, 64, 4096};
    struct traced traced;
    traced_make(&traced, rng, most);
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options,
        .line_bytes = line_sizes[rsc_rng_below(rng, 5)],
        .phases = rsc_rng_below(rng, 2) ? 1 + (uint32_t)rsc_rng_below(rng, 20) : 0,
        .max_distance = rsc_rng_below(rng, 4) ? 0 : 1 + rsc_rng_below(rng, 3000),
        .bins_per_octave = rsc_rng_below(rng, 3) ? 0 : 1 + (uint32_t)rsc_rng_below(rng, 64),
        .attribute = rsc_rng_below(rng, 4) ? 0 : 1 + (uint32_t)rsc_rng_below(rng, 2),
        .no_ri = rsc_rng_below(rng, 4) == 0,
        .workers = 1,
    };
    struct truth truth;
    brute_force(&truth, &traced, options.line_bytes, options.max_distance ? options.max_distance : UINT64_MAX);
    struct rsc_profile *serial = analyse(&rsc_engine_exact, &options, 0, &traced, rng);
    struct rsc_profile *apart = analyse(&rsc_engine_exact, &options, TWO_THREADS, &traced, rng);
    check_truth(&truth, apart, traced.pc && options.attribute != 2, options.no_ri);
    check_same(serial, apart);
    rsc_profile_free(apart);
    options.workers = 1 + (uint32_t)rsc_rng_below(rng, 5);
    struct rsc_profile *parallel =
        analyse(some_way(rng, &traced, options.attribute), &options, some_slice(rng, truth.references), &traced, rng);
    check_truth(&truth, parallel, traced.pc && options.attribute != 2, options.no_ri);
    check_same(serial, parallel);
    rsc_profile_free(serial);
    rsc_profile_free(parallel);
    truth_free(&truth);
    traced_free(&traced);
}

static void small_traces(void **state) {
    unsigned long traces = property_traces(150);
    uint64_t seed = property_seed();
    (void)state;
    for (unsigned long i = 0; i < traces; i++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, i);
        one_trace(&rng, i % 50 == 0 ? 10000 : 1500);
    }
    printf("%lu traces\n", traces);
}

/* Lengths at which the serial engine's table of phases is just full: 32 for each one asked for, and one in progress. */
static void phases_where_they_double(void **state) {
    (void)state;
    for (uint32_t phases = 2; phases < 6; phases++)
        for (uint32_t i = 0; i < 9; i++) {
            struct rsc_rng rng;
            struct traced traced = {.trace = {.count = ((32 * phases + 1) << i / 3) + i % 3 - 1, .threads = 1}};
            struct rsc_engine_options options = {
                .struct_bytes = sizeof options, .line_bytes = 64, .phases = phases, .workers = 1};
            rsc_rng_seed(&rng, phases, i);
            traced.trace.addr = malloc(traced.trace.count * sizeof *traced.trace.addr);
            traced.trace.meta = malloc(traced.trace.count * sizeof *traced.trace.meta);
            for (uint32_t k = 0; k < traced.trace.count; k++) {
                traced.trace.addr[k] = 64 * rsc_rng_below(&rng, 1 + k);
                traced.trace.meta[k] = rsc_meta(1, RSC_READ, 0);
            }
            struct rsc_profile *serial = analyse(&rsc_engine_exact, &options, 0, &traced, &rng);
            options.workers = 1 + i % 4;
            uint32_t slice = i % 2 ? 1 + traced.trace.count / 7 : traced.trace.count;
            const struct rsc_engine_kind *way = i % 3 ? &rsc_parallel_rounds : &rsc_parallel_stages;
            struct rsc_profile *parallel = analyse(way, &options, slice, &traced, &rng);
            check_same(serial, parallel);
            rsc_profile_free(serial);
            rsc_profile_free(parallel);
            traced_free(&traced);
        }
}

/* Long enough for several rounds as users have them, and for places to be given anew. */
static void long_traces(void **state) {
    static const char *const specs[] = {"uniform,lines=20000", "zipf,lines=300000,skew=0.9", "cyclic,lines=70000",
                                        "stride,lines=1000000", "mix,lines=50000,threads=3"};
    const int slow = property_traces(150) < 100; /* sanitizers */
    const uint32_t count = slow ? 700000 : 1500000;
    const size_t used = slow ? 2 : sizeof specs / sizeof *specs;
    (void)state;
    for (size_t s = 0; s < used; s++) {
        struct rsc_rng rng;
        struct rsc_generator *generator;
        struct traced traced = {.trace = {.count = count, .threads = 3}};
        rsc_rng_seed(&rng, 7, s);
        traced.trace.addr = malloc(count * sizeof *traced.trace.addr);
        traced.trace.meta = malloc(count * sizeof *traced.trace.meta);
        assert_int_equal(rsc_generator_new(&generator, specs[s], 42 + s, NULL), 0);
        rsc_generator_fill(generator, traced.trace.addr, traced.trace.meta, count);
        rsc_generator_free(generator);
        if (s == 0) {
            traced.pc = malloc(count * sizeof *traced.pc);
            for (uint32_t i = 0; i < count; i++) traced.pc[i] = pc_of(rsc_rng_below(&rng, 1000));
        }
        struct rsc_engine_options options = {
            .struct_bytes = sizeof options, .line_bytes = 64, .phases = 9, .workers = 1};
        struct rsc_profile *serial = analyse(&rsc_engine_exact, &options, 0, &traced, &rng);
        options.workers = 1 + (uint32_t)(s + 1) % 5;
        static const struct rsc_engine_kind *const ways[] = {&rsc_parallel_rounds, &rsc_parallel_stages};
        for (int way = 0; way < (traced.pc ? 1 : 2); way++) {
            struct rsc_profile *parallel = analyse(ways[way], &options, 0, &traced, &rng);
            check_same(serial, parallel);
            rsc_profile_free(parallel);
        }
        rsc_profile_free(serial);
        traced_free(&traced);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_traces),
        cmocka_unit_test(phases_where_they_double),
        cmocka_unit_test(long_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
