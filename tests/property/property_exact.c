/*
 * property_exact.c - the exact engine against brute force.
 *
 * Small random traces of all shapes: a list kept in order of last use gives every
 * distance by counting. Everything the engine reports is compared: totals, both
 * histograms, the second binning, the cap, threads, phases, the curve. Each vector
 * width is run. Big traces are compared with a second algorithm (a Fenwick tree
 * over time).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "base/u64_table.h"
#include "distance/exact/exact_state.h"
#include "profile/profile_model.h"
#include "property/random_traces.h"
#include "trace/generate/generate.h"

/* ---- brute force ---- */

struct reference {
    uint64_t line;
    uint32_t thread;
    uint32_t kind;
    uint32_t rd; /* RSC_RD_COLD: first use */
    uint64_t ri;
};

struct reference_list {
    struct reference *items;
    size_t count;
};

static struct reference_list cut_into_lines(const struct random_trace *trace, uint64_t line_bytes) {
    struct reference_list list = {0};
    size_t room = 16;
    list.items = malloc(room * sizeof *list.items);
    for (uint32_t i = 0; i < trace->count; i++) {
        uint64_t size = rsc_meta_size(trace->meta[i]) ? rsc_meta_size(trace->meta[i]) : 1;
        uint64_t end = trace->addr[i] > UINT64_MAX - (size - 1) ? UINT64_MAX : trace->addr[i] + size - 1;
        for (uint64_t line = trace->addr[i] / line_bytes;; line++) {
            if (list.count == room) list.items = realloc(list.items, (room *= 2) * sizeof *list.items);
            list.items[list.count++] = (struct reference){
                .line = line, .thread = rsc_meta_thread(trace->meta[i]), .kind = rsc_meta_kind(trace->meta[i])};
            if (line == end / line_bytes) break;
        }
    }
    return list;
}

/* A list of lines, most recently used first; its position is a line's distance. */
static uint64_t brute_force(struct reference_list list) {
    uint64_t *stack = malloc((list.count + 1) * sizeof *stack), *times = malloc((list.count + 1) * sizeof *times);
    uint64_t depth = 0;
    for (size_t i = 0; i < list.count; i++) {
        uint64_t at = 0;
        while (at < depth && stack[at] != list.items[i].line) at++;
        list.items[i].rd = at == depth ? RSC_RD_COLD : (uint32_t)at;
        list.items[i].ri = at == depth ? 0 : i - times[at];
        if (at == depth) depth++;
        memmove(stack + 1, stack, at * sizeof *stack);
        memmove(times + 1, times, at * sizeof *times);
        stack[0] = list.items[i].line;
        times[0] = i;
    }
    free(stack);
    free(times);
    return depth;
}

/* The same for long traces: a tree of counts over time. */
static uint64_t fenwick(struct reference_list list) {
    struct rsc_u64_table last;
    uint32_t *tree = calloc(list.count + 1, sizeof *tree);
    assert_int_equal(rsc_u64_table_init(&last, 1 << 20), 0);
    uint64_t live = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (rsc_u64_table_needs_rebuild(&last)) rsc_u64_table_rebuild(&last);
        struct rsc_u64_entry *entry = rsc_u64_table_find(&last, list.items[i].line);
        list.items[i].rd = RSC_RD_COLD;
        list.items[i].ri = 0;
        if (entry->value) {
            uint64_t then = entry->value - 1, upto = 0;
            for (uint64_t k = then + 1; k; k &= k - 1) upto += tree[k];
            list.items[i].rd = (uint32_t)(live - upto);
            list.items[i].ri = i - then;
            for (uint64_t k = then + 1; k <= list.count; k += k & -k) tree[k]--;
        } else {
            entry->key = list.items[i].line;
            last.used++;
            live++;
        }
        entry->value = i + 1;
        for (uint64_t k = i + 1; k <= list.count; k += k & -k) tree[k]++;
    }
    rsc_u64_table_free(&last);
    free(tree);
    return live;
}

/* ---- the kernels, distance by distance ---- */

static void kernels_agree(struct reference_list truth, uint64_t places, struct rsc_rng *rng) {
    uint64_t *lines = malloc((truth.count + 1) * sizeof *lines), *ri = malloc((truth.count + 1) * sizeof *ri);
    uint32_t *rd = malloc((truth.count + 1) * sizeof *rd);
    for (size_t i = 0; i < truth.count; i++) lines[i] = truth.items[i].line;
    for (int way = 0; way < 2 * RSC_SIMD_COUNT; way++) {
        struct rsc_exact exact;
        enum rsc_simd simd = (enum rsc_simd)(way / 2);
        int with_ri = way % 2;
        if (!rsc_simd_available(simd)) continue;
        assert_int_equal(rsc_exact_init(&exact, simd, places), 0);
        if (!with_ri) rsc_exact_leave_out_ri(&exact);
        for (size_t done = 0; done < truth.count;) {
            uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, 5000);
            if (part > truth.count - done) part = (uint32_t)(truth.count - done);
            assert_int_equal(rsc_exact_run(&exact, lines + done, part, rd + done, with_ri ? ri + done : NULL), 0);
            done += part;
        }
        for (size_t i = 0; i < truth.count; i++) {
            assert_int_equal(rd[i], truth.items[i].rd);
            if (with_ri) assert_int_equal(ri[i], truth.items[i].ri);
        }
        rsc_exact_free(&exact);
    }
    free(lines);
    free(rd);
    free(ri);
}

/* ---- the engine, number by number ---- */

static struct rsc_profile *analyse(const struct random_trace *trace, const struct rsc_engine_options *options,
                                   struct rsc_rng *rng) {
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    if (rsc_engine_new(&engine, options, &error) < 0) fail_msg("%s", error.message);
    for (uint32_t done = 0; done < trace->count;) {
        uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, 3000);
        if (part > trace->count - done) part = trace->count - done;
        struct rsc_batch batch = {
            .count = part, .addr = trace->addr + done, .meta = trace->meta + done, .instructions = RSC_UNKNOWN};
        assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
        done += part;
    }
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_free(engine);
    return profile;
}

static void check_histogram(const struct rsc_histogram *got, struct reference_list truth, int of_ri, uint64_t cap) {
    struct rsc_histogram wanted;
    assert_int_equal(rsc_histogram_init(&wanted, got->bins), 0);
    for (size_t i = 0; i < truth.count; i++) {
        if (truth.items[i].rd == RSC_RD_COLD || (!of_ri && truth.items[i].rd >= cap)) continue;
        rsc_histogram_add(&wanted, of_ri ? truth.items[i].ri : truth.items[i].rd, 1);
    }
    assert_memory_equal(wanted.count, got->count, wanted.bin_count * sizeof *wanted.count);
    rsc_histogram_free(&wanted);
}

static void check_threads(const struct rsc_profile *profile, struct reference_list truth, uint64_t cap) {
    uint64_t references = 0, cold = 0, reuses = 0;
    for (size_t t = 0; t < profile->thread_count; t++) {
        struct rsc_histogram wanted;
        uint64_t own_references = 0, own_cold = 0;
        assert_int_equal(rsc_histogram_init(&wanted, RSC_BINS_COARSE), 0);
        for (size_t i = 0; i < truth.count; i++) {
            if (truth.items[i].thread != t) continue;
            own_references++;
            if (truth.items[i].rd == RSC_RD_COLD) own_cold++;
            else rsc_histogram_add(&wanted, truth.items[i].rd < cap ? truth.items[i].rd : cap, 1);
        }
        assert_int_equal(profile->threads[t].references, own_references);
        assert_int_equal(profile->threads[t].cold, own_cold);
        /* with one thread, fine bins are merged into coarse ones: those nest, so both agree */
        assert_memory_equal(wanted.count, profile->threads[t].rd.count, wanted.bin_count * sizeof *wanted.count);
        references += own_references;
        cold += own_cold;
        reuses += rsc_histogram_total(&wanted);
        rsc_histogram_free(&wanted);
    }
    assert_int_equal(references, profile->references);
    assert_int_equal(cold + reuses, references);
}

/* A row for each kind that made a reference, if there are two or more. */
static void check_kinds(const struct rsc_profile *profile, struct reference_list truth, uint64_t cap) {
    size_t rows = 0, kinds = 0;
    for (uint32_t kind = 0; kind < RSC_KIND_NAMES; kind++) {
        size_t made = 0;
        for (size_t i = 0; i < truth.count; i++) made += truth.items[i].kind == kind;
        kinds += made != 0;
    }
    assert_int_equal(profile->kind_count, kinds > 1 ? kinds : 0);
    for (uint32_t kind = 0; kinds > 1 && kind < RSC_KIND_NAMES; kind++) {
        struct rsc_histogram coarse, fine;
        uint64_t references = 0, cold = 0;
        assert_int_equal(rsc_histogram_init(&coarse, RSC_BINS_COARSE), 0);
        assert_int_equal(rsc_histogram_init(&fine, RSC_BINS_FINE), 0);
        for (size_t i = 0; i < truth.count; i++) {
            if (truth.items[i].kind != kind) continue;
            references++;
            if (truth.items[i].rd == RSC_RD_COLD) {
                cold++;
                continue;
            }
            rsc_histogram_add(&coarse, truth.items[i].rd < cap ? truth.items[i].rd : cap, 1);
            rsc_histogram_add(&fine, truth.items[i].rd < cap ? truth.items[i].rd : cap, 1);
        }
        if (references) {
            const struct rsc_kind_row *row = &profile->kinds[rows++];
            assert_string_equal(row->kind, rsc_kind_names[kind]);
            assert_int_equal(row->references, references);
            assert_int_equal(row->cold, cold);
            assert_memory_equal(coarse.count, row->rd.count, coarse.bin_count * sizeof *coarse.count);
            assert_memory_equal(fine.count, row->rd_fine.count, fine.bin_count * sizeof *fine.count);
        }
        rsc_histogram_free(&coarse);
        rsc_histogram_free(&fine);
    }
}

static void check_phases(const struct rsc_profile *profile, struct reference_list truth, uint32_t asked, uint64_t cap) {
    uint64_t next = 0;
    assert_int_equal(profile->phase_count, truth.count < asked ? truth.count : asked);
    for (size_t p = 0; p < profile->phase_count; p++) {
        const struct rsc_phase_row *row = &profile->phases[p];
        struct rsc_histogram wanted;
        uint64_t cold = 0;
        assert_int_equal(row->first, next);
        assert_true(row->references > 0);
        /* even to within a sixteenth, plus a reference */
        uint64_t even = truth.count / asked;
        assert_true(row->references <= even + even / 8 + 2);
        assert_int_equal(rsc_histogram_init(&wanted, RSC_BINS_COARSE), 0);
        for (uint64_t i = next; i < next + row->references; i++) {
            if (truth.items[i].rd == RSC_RD_COLD) cold++;
            else rsc_histogram_add(&wanted, truth.items[i].rd < cap ? truth.items[i].rd : cap, 1);
        }
        assert_int_equal(row->cold, cold);
        assert_memory_equal(wanted.count, row->rd.count, wanted.bin_count * sizeof *wanted.count);
        rsc_histogram_free(&wanted);
        next += row->references;
    }
    assert_int_equal(next, truth.count);
}

static void check_curve(const struct rsc_profile *profile, struct reference_list truth, uint64_t distinct,
                        uint64_t cap) {
    size_t count;
    const struct rsc_mrc_point *mrc = rsc_profile_mrc(profile, &count);
    if (!truth.count) assert_int_equal(count, 0);
    for (size_t p = 0; p < count; p++) {
        uint64_t misses = 0;
        for (size_t i = 0; i < truth.count; i++) misses += truth.items[i].rd >= mrc[p].lines; /* cold is UINT32_MAX */
        assert_true(mrc[p].miss_ratio == (double)misses / (double)truth.count);
        assert_true(mrc[p].low == mrc[p].miss_ratio && mrc[p].high == mrc[p].miss_ratio);
        assert_int_equal(mrc[p].bytes, mrc[p].lines * profile->made.line_bytes);
        if (p) assert_true(mrc[p].lines > mrc[p - 1].lines);
    }
    if (count) assert_int_equal(mrc[0].lines, 1);
    if (count) assert_int_equal(mrc[count - 1].lines, distinct < cap ? distinct : cap);
}

/* Random traces have all kinds from the start: some get one kind, or one kind up to a point, or kinds without a name. */
static void change_kinds(struct random_trace *trace, struct rsc_rng *rng) {
    uint64_t kind = rsc_rng_below(rng, 4) ? rsc_rng_below(rng, 3) : 9;
    uint32_t until = rsc_rng_below(rng, 2) ? trace->count : (uint32_t)rsc_rng_below(rng, trace->count + 1);
    if (rsc_rng_below(rng, 2)) return;
    for (uint32_t i = 0; i < until; i++) trace->meta[i] = (trace->meta[i] & ~(0xffull << 32)) | kind << 32;
}

static void one_trace(struct rsc_rng *rng, uint32_t most) {
    static const uint32_t line_sizes[] = {1, 8, 64, 64, 64, 4096};
    struct random_trace trace;
    random_trace_make(&trace, rng, most);
    change_kinds(&trace, rng);
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options,
        .line_bytes = line_sizes[rsc_rng_below(rng, 6)],
        .phases = rsc_rng_below(rng, 2) ? 1 + (uint32_t)rsc_rng_below(rng, 20) : 0,
        .max_distance = rsc_rng_below(rng, 4) ? 0 : 1 + rsc_rng_below(rng, 3000),
        .bins_per_octave = rsc_rng_below(rng, 3) ? 0 : 1 + (uint32_t)rsc_rng_below(rng, 64),
        .no_ri = rsc_rng_below(rng, 4) == 0,
    };
    if (options.line_bytes == 1 && trace.count > 200) trace.count = 200; /* 4 KiB accesses are many lines */
    uint64_t cap = options.max_distance ? options.max_distance : UINT64_MAX;
    struct reference_list truth = cut_into_lines(&trace, options.line_bytes);
    uint64_t distinct = brute_force(truth), cold = 0, capped = 0;
    struct rsc_profile *profile = analyse(&trace, &options, rng);
    for (size_t i = 0; i < truth.count; i++) {
        if (truth.items[i].rd == RSC_RD_COLD) cold++;
        else capped += truth.items[i].rd >= cap;
    }
    assert_int_equal(profile->accesses, trace.count);
    assert_int_equal(profile->references, truth.count);
    assert_int_equal(profile->distinct, distinct);
    assert_int_equal(profile->cold, cold);
    assert_int_equal(cold, distinct);
    assert_int_equal(profile->rd_capped, capped);
    assert_int_equal(rsc_histogram_total(&profile->rd) + capped + cold, truth.count);
    check_histogram(&profile->rd, truth, 0, cap);
    if (options.no_ri) assert_int_equal(rsc_histogram_total(&profile->ri), 0);
    else check_histogram(&profile->ri, truth, 1, cap);
    if (options.bins_per_octave && !options.no_ri) check_histogram(&profile->ri_binned, truth, 1, cap);
    if (options.bins_per_octave && !options.max_distance) check_histogram(&profile->rd_binned, truth, 0, cap);
    check_threads(profile, truth, cap);
    check_kinds(profile, truth, cap);
    if (options.phases) check_phases(profile, truth, options.phases, cap);
    check_curve(profile, truth, distinct, cap);
    kernels_agree(truth, 1, rng);
    rsc_profile_free(profile);
    free(truth.items);
    random_trace_free(&trace);
}

static void small_traces_against_brute_force(void **state) {
    unsigned long traces = property_traces(300);
    uint64_t seed = property_seed();
    (void)state;
    for (unsigned long i = 0; i < traces; i++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, i);
        one_trace(&rng, i % 50 == 0 ? 40000 : 2000);
    }
    printf("%lu traces\n", traces);
}

/* Between stretches over few lines and over many, in which the recent filter pays and does not. */
static void add_hot_stretches(struct random_trace *trace, struct rsc_rng *rng) {
    for (uint32_t done = 0; done < trace->count;) {
        uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, 60000), lines = 1 + (uint32_t)rsc_rng_below(rng, 50);
        for (; part && done < trace->count; part--, done++)
            if (lines > 8) trace->addr[done] = 64 * (trace->addr[done] % lines);
    }
}

static void big_traces_against_a_second_algorithm(void **state) {
    static const char *const specs[] = {"uniform,lines=100K", "zipf,lines=300K,skew=0.9", "cyclic,lines=70K",
                                        "chase,lines=64K",    "stencil,lines=20K",        "mix,lines=50K,threads=3",
                                        "uniform,lines=80K" /* with hot stretches */};
    const uint32_t count = property_traces(300) < 500 ? 300000 : 2000000;
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 1, 0);
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        struct rsc_generator *generator;
        struct rsc_error error;
        struct random_trace trace = {.count = count};
        trace.addr = malloc(count * sizeof *trace.addr);
        trace.meta = malloc(count * sizeof *trace.meta);
        assert_int_equal(rsc_generator_new(&generator, specs[s], 42 + s, &error), 0);
        rsc_generator_fill(generator, trace.addr, trace.meta, count);
        rsc_generator_free(generator);
        if (s + 1 == sizeof specs / sizeof *specs) add_hot_stretches(&trace, &rng);
        struct reference_list truth = cut_into_lines(&trace, 64);
        uint64_t distinct = fenwick(truth);
        struct rsc_engine_options options = {.struct_bytes = sizeof options};
        struct rsc_profile *profile = analyse(&trace, &options, &rng);
        assert_int_equal(profile->distinct, distinct);
        check_histogram(&profile->rd, truth, 0, UINT64_MAX);
        check_histogram(&profile->ri, truth, 1, UINT64_MAX);
        check_threads(profile, truth, UINT64_MAX);
        kernels_agree(truth, 0, &rng);
        rsc_profile_free(profile);
        free(truth.items);
        random_trace_free(&trace);
    }
}

static void refused(void **state) {
    struct rsc_engine *engine;
    struct rsc_error error;
    (void)state;
    const struct rsc_engine_options bad[] = {
        {.struct_bytes = sizeof bad[0], .line_bytes = 65},
        {.struct_bytes = sizeof bad[0], .line_bytes = 8192},
        {.struct_bytes = sizeof bad[0], .engine = "magic"},
        {.struct_bytes = sizeof bad[0], .model = "quantum"},
        {.struct_bytes = sizeof bad[0], .bins_per_octave = 65},
        {.struct_bytes = sizeof bad[0], .engine = "exact", .workers = 2},
        {.struct_bytes = 3},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rsc_engine_new(&engine, &bad[i], &error), RSC_EINVAL);
        assert_null(engine);
        assert_true(strlen(error.message) > 0);
        assert_int_equal(rsc_engine_new(&engine, &bad[i], NULL), RSC_EINVAL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_traces_against_brute_force),
        cmocka_unit_test(big_traces_against_a_second_algorithm),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
