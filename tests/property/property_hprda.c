/*
 * property_hprda.c - the hp-rda engine against a literal, slow transcription of the
 * published algorithm, and its bounds against brute force.
 *
 * The transcription shares no code with the engine: local arrays are scanned entry
 * by entry, access_infos are searched for, sums are added up one by one, and every
 * level is a plain loop. Histograms must be identical to the last count, for any
 * length of local traces and fragments, any number of threads and any grouping of
 * blocks; the true curve must lie inside low and high at every size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/hprda/hprda.h"
#include "profile/profile_model.h"
#include "property/random_traces.h"

/* ---- the paper, word by word ---- */

enum { THREADS_PER_BLOCK = 64 };

/* What a piece of the trace (local trace, block, fragment) says of a line: the paper's access_info. */
struct access_info {
    uint64_t line;
    uint64_t first, latest;
};
struct piece {
    struct access_info *infos; /* count of them */
    uint64_t count;            /* distinct lines */
};

static struct access_info *find_info(const struct piece *piece, uint64_t line) {
    for (uint64_t i = 0; i < piece->count; i++)
        if (piece->infos[i].line == line) return &piece->infos[i];
    return NULL;
}

static struct access_info *add_info(struct piece *piece, uint64_t line) {
    struct access_info *info = find_info(piece, line);
    if (info) return info;
    piece->infos = realloc(piece->infos, (piece->count + 1) * sizeof *piece->infos);
    info = &piece->infos[piece->count++];
    *info = (struct access_info){.line = line};
    return info;
}

struct distances {
    uint64_t *items;
    size_t count;
};

static void store(struct distances *list, uint64_t distance) {
    list->items = realloc(list->items, (list->count + 1) * sizeof *list->items);
    list->items[list->count++] = distance;
}

/* Figure 5: lines are kept as line + 1 so that 0 can mean "no longer the latest access". */
static struct piece thread_analysis(const uint64_t *trace, uint32_t length, struct distances *results) {
    struct piece piece = {0};
    uint64_t *local_array = calloc(length, sizeof *local_array);
    for (uint32_t i = 0; i < length; i++) {
        uint32_t previous = i;
        for (uint32_t k = 0; k < i; k++)
            if (local_array[k] == trace[i] + 1) previous = k;
        if (previous < i) {
            uint64_t distance = 0;
            for (uint32_t k = previous + 1; k < i; k++) distance += local_array[k] != 0;
            store(results, distance);
            local_array[previous] = 0;
        } else {
            uint64_t before = piece.count;
            add_info(&piece, trace[i])->first = before;
        }
        local_array[i] = trace[i] + 1;
    }
    for (uint32_t i = 0; i < length; i++) {
        uint64_t after = 0;
        if (!local_array[i]) continue;
        for (uint32_t k = i + 1; k < length; k++) after += local_array[k] != 0;
        find_info(&piece, trace[i])->latest = after;
    }
    free(local_array);
    return piece;
}

/*
 * Figure 7 over consecutive pieces; what is left is one piece that stands for all
 * of them. Distances are stored without adjustment: M is not known yet.
 */
static struct piece merge_results(const struct piece *pieces, size_t count, struct distances *results) {
    struct piece whole = {0};
    for (size_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < pieces[i].count; k++) add_info(&whole, pieces[i].infos[k].line);
    for (uint64_t v = 0; v < whole.count; v++) {
        uint64_t distance = 0;
        int seen = 0;
        for (size_t i = 0; i < count; i++) {
            const struct access_info *info = find_info(&pieces[i], whole.infos[v].line);
            if (!info) {
                distance += pieces[i].count;
                continue;
            }
            distance += info->first;
            if (seen) store(results, distance);
            else whole.infos[v].first = distance;
            seen = 1;
            distance = info->latest;
        }
        whole.infos[v].latest = distance;
    }
    return whole;
}

static void free_pieces(struct piece *pieces, size_t count) {
    for (size_t i = 0; i < count; i++) free(pieces[i].infos);
    free(pieces);
}

/* Returns how many distances the effective factor was applied to. */
static size_t adjust(struct rsc_histogram *rd, struct distances *list, int no_adjust, uint64_t m, uint64_t counts) {
    size_t adjusted = 0;
    for (size_t i = 0; i < list->count; i++) {
        uint64_t distance = list->items[i];
        if (!no_adjust && distance > m) {
            distance = distance * m / counts;
            adjusted++;
        }
        rsc_histogram_add(rd, distance, 1);
    }
    free(list->items);
    *list = (struct distances){0};
    return adjusted;
}

struct published {
    struct rsc_histogram rd;
    struct piece *fragments;
    size_t fragment_count;
    uint64_t counts_so_far;
    size_t adjusted, adjusted_across; /* distances the factor was applied to: inside a fragment, across */
};

static struct piece analyse_fragment(struct published *paper, const uint64_t *trace, uint64_t length,
                                     const struct rsc_hprda_options *options) {
    struct distances exact = {0}, merged = {0};
    size_t block_length = (size_t)options->local * THREADS_PER_BLOCK, block_count = 0;
    struct piece *blocks = calloc(length / block_length + 1, sizeof *blocks);
    uint64_t counts = 0;
    for (size_t start = 0; start < length; start += block_length) {
        struct piece *locals = calloc(THREADS_PER_BLOCK, sizeof *locals);
        size_t local_count = 0;
        for (size_t at = start; at < length && at < start + block_length; at += options->local) {
            size_t part = length - at < options->local ? length - at : options->local;
            locals[local_count] = thread_analysis(trace + at, (uint32_t)part, &exact);
            counts += locals[local_count++].count;
        }
        blocks[block_count++] = merge_results(locals, local_count, &merged);
        free_pieces(locals, local_count);
    }
    struct piece fragment = merge_results(blocks, block_count, &merged);
    free_pieces(blocks, block_count);
    adjust(&paper->rd, &exact, 1, 0, 1);
    paper->adjusted += adjust(&paper->rd, &merged, options->no_adjust, fragment.count, counts);
    paper->counts_so_far += counts;
    return fragment;
}

/* The join: distances that end in the newest fragment, adjusted by what is known when it ends. */
static void join_fragment(struct published *paper, struct piece fragment, const struct rsc_hprda_options *options) {
    struct distances before = {0}, after = {0};
    struct piece old = merge_results(paper->fragments, paper->fragment_count, &before);
    paper->fragments = realloc(paper->fragments, (paper->fragment_count + 1) * sizeof *paper->fragments);
    paper->fragments[paper->fragment_count++] = fragment;
    struct piece all = {0};
    for (uint64_t k = 0; k < old.count; k++) add_info(&all, old.infos[k].line);
    for (uint64_t k = 0; k < fragment.count; k++) {
        const struct access_info *last = find_info(&old, fragment.infos[k].line);
        add_info(&all, fragment.infos[k].line);
        if (last) store(&after, last->latest + fragment.infos[k].first);
    }
    paper->adjusted_across += adjust(&paper->rd, &after, options->no_adjust, all.count, paper->counts_so_far);
    free(before.items);
    free(old.infos);
    free(all.infos);
}

static void publish(struct published *paper, const uint64_t *lines, size_t count,
                    const struct rsc_hprda_options *options) {
    uint64_t *trace = malloc((count + 1) * sizeof *trace), length = 0;
    memset(paper, 0, sizeof *paper);
    assert_int_equal(rsc_histogram_init(&paper->rd, RSC_BINS_FINE), 0);
    for (size_t i = 0; i < count; i++) {
        if (i && lines[i] == lines[i - 1]) rsc_histogram_add(&paper->rd, 0, 1);
        else trace[length++] = lines[i];
    }
    for (uint64_t start = 0; start < length; start += options->fragment) {
        uint64_t part = length - start < options->fragment ? length - start : options->fragment;
        join_fragment(paper, analyse_fragment(paper, trace + start, part, options), options);
    }
    free(trace);
}

static void published_free(struct published *paper) {
    rsc_histogram_free(&paper->rd);
    free_pieces(paper->fragments, paper->fragment_count);
}

/* ---- truth ---- */

static uint64_t brute_force(const uint64_t *lines, size_t count, struct rsc_histogram *rd) {
    uint64_t *stack = malloc((count + 1) * sizeof *stack), depth = 0;
    assert_int_equal(rsc_histogram_init(rd, RSC_BINS_FINE), 0);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = 0;
        while (at < depth && stack[at] != lines[i]) at++;
        if (at == depth) depth++;
        else rsc_histogram_add(rd, at, 1);
        memmove(stack + 1, stack, at * sizeof *stack);
        stack[0] = lines[i];
    }
    free(stack);
    return depth;
}

/* ---- the engine's core ---- */

static void run(struct rsc_hprda *hprda, const uint64_t *lines, size_t count, const struct rsc_hprda_options *options,
                struct rsc_rng *rng) {
    assert_int_equal(rsc_hprda_init(hprda, options), 0);
    for (size_t done = 0; done < count;) {
        size_t part = 1 + rsc_rng_below(rng, 700);
        if (part > count - done) part = count - done;
        assert_int_equal(rsc_hprda_push(hprda, lines + done, (uint32_t)part), 0);
        done += part;
    }
    assert_int_equal(rsc_hprda_finish(hprda), 0);
    assert_int_equal(hprda->references, count);
}

static void assert_same(const struct rsc_histogram *a, const struct rsc_histogram *b) {
    assert_memory_equal(a->count, b->count, a->bin_count * sizeof *a->count);
}

/* As many reuses from any distance on in `low` as in truth at most, in `high` at least. */
static void assert_bounds(const struct rsc_hprda *hprda, const struct rsc_histogram *truth) {
    uint64_t low = 0, real = 0, high = 0;
    for (uint32_t bin = truth->bin_count; bin-- > 0;) {
        low += hprda->sums.low.count[bin];
        real += truth->count[bin];
        high += hprda->sums.high.count[bin];
        assert_true(low <= real && real <= high);
    }
    assert_true(low == real && real == high);
}

static uint64_t *random_lines(struct rsc_rng *rng, size_t *count, uint32_t most) {
    struct random_trace trace;
    random_trace_make(&trace, rng, most);
    uint64_t *lines = malloc((trace.count + 1) * sizeof *lines);
    for (uint32_t i = 0; i < trace.count; i++) lines[i] = trace.addr[i] >> 6;
    *count = trace.count;
    random_trace_free(&trace);
    return lines;
}

static void same_as_the_paper(void **state) {
    static const uint32_t locals[] = {2, 3, 5, 8, 16, 64, 100};
    unsigned long traces = property_traces(100), joined = 0, adjusted = 0, adjusted_across = 0;
    uint64_t seed = property_seed();
    (void)state;
    for (unsigned long i = 0; i < traces; i++) {
        struct rsc_rng rng;
        struct rsc_hprda hprda;
        struct rsc_histogram truth;
        struct published paper;
        size_t count;
        rsc_rng_seed(&rng, seed, i);
        uint64_t *lines = random_lines(&rng, &count, 2000);
        struct rsc_hprda_options options = {
            .local = locals[rsc_rng_below(&rng, 7)],
            .fragment = rsc_rng_below(&rng, 2) ? 0x4000000 : 1 + (uint32_t)rsc_rng_below(&rng, 2000),
            .no_adjust = rsc_rng_below(&rng, 3) == 0,
            .workers = 1 + (uint32_t)rsc_rng_below(&rng, 3),
            .group_blocks = (uint32_t)rsc_rng_below(&rng, 4),
        };
        publish(&paper, lines, count, &options);
        run(&hprda, lines, count, &options, &rng);
        assert_same(&paper.rd, &hprda.sums.estimate);
        assert_int_equal(brute_force(lines, count, &truth), hprda.distinct);
        assert_bounds(&hprda, &truth);
        joined += paper.fragment_count > 1;
        adjusted += paper.adjusted > 0;
        adjusted_across += paper.adjusted_across > 0;
        rsc_histogram_free(&truth);
        rsc_hprda_free(&hprda);
        published_free(&paper);
        free(lines);
    }
    printf("%lu traces, %lu of several fragments, %lu adjusted inside them, %lu across\n", traces, joined, adjusted,
           adjusted_across);
    if (traces >= 100) assert_true(joined > 5 && adjusted > 10 && adjusted_across > 0);
}

/* The trace of the paper's figures 6 and 8, in local traces of 6, 6 and 4 references. */
static void example_by_hand(void **state) {
    /* d a c b c g | e f a f b a | b a g a: g is reused at latest 0 + count 4 + first 2 = 6, really 4 (e f a b) */
    static const uint64_t lines[] = {4, 1, 3, 2, 3, 7, 5, 6, 1, 6, 2, 1, 2, 1, 7, 1};
    const struct rsc_hprda_options options = {.local = 6, .no_adjust = 1};
    struct rsc_hprda hprda;
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 1, 0);
    run(&hprda, lines, 16, &options, &rng);
    const uint64_t wanted[8] = {
        [1] = 5, /* inside: c (b), f (a), the last a (g); across: b (a | nothing), a (nothing | b) */
        [2] = 1, /* inside: a (f b) */
        [5] = 2, /* across: a (c b g | e f), b (c g | e f a) */
        [6] = 1, /* across: g */
    };
    for (uint32_t distance = 0; distance < 8; distance++)
        assert_int_equal(hprda.sums.estimate.count[distance], wanted[distance]);
    /* g: at least the 4 lines of the second trace; at most 6, all lines but itself */
    assert_int_equal(hprda.sums.low.count[4], 1);
    assert_int_equal(hprda.sums.high.count[6], 1);
    assert_int_equal(hprda.distinct, 7);
    rsc_hprda_free(&hprda);
}

static void exact_where_one_local_trace_holds_all(void **state) {
    uint64_t seed = property_seed();
    (void)state;
    for (unsigned long i = 0; i < 40; i++) {
        struct rsc_rng rng;
        struct rsc_hprda hprda;
        struct rsc_histogram truth;
        size_t count;
        rsc_rng_seed(&rng, seed, 1000 + i);
        uint64_t *lines = random_lines(&rng, &count, 4000);
        const struct rsc_hprda_options options = {.local = 4000};
        run(&hprda, lines, count, &options, &rng);
        brute_force(lines, count, &truth);
        assert_same(&truth, &hprda.sums.estimate);
        assert_same(&truth, &hprda.sums.low);
        assert_same(&truth, &hprda.sums.high);
        rsc_histogram_free(&truth);
        rsc_hprda_free(&hprda);
        free(lines);
    }
}

/* Cycles: pieces between two uses share no line, so formula 1 is the truth, across blocks too. */
static void exact_on_cycles(void **state) {
    enum { COUNT = 60000, LINES = 700 };
    uint64_t *lines = malloc(COUNT * sizeof *lines);
    struct rsc_hprda hprda;
    struct rsc_histogram truth;
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 1, 0);
    for (size_t i = 0; i < COUNT; i++) lines[i] = i % LINES;
    const struct rsc_hprda_options options = {.local = 64, .fragment = 10007};
    run(&hprda, lines, COUNT, &options, &rng);
    brute_force(lines, COUNT, &truth);
    assert_same(&truth, &hprda.sums.estimate);
    rsc_histogram_free(&truth);
    rsc_hprda_free(&hprda);
    free(lines);
}

static void threads_groups_and_widths_change_nothing(void **state) {
    enum { COUNT = 400000 };
    static const char *const widths[] = {"plain", "avx2", "avx512"};
    uint64_t *lines = malloc(COUNT * sizeof *lines);
    struct rsc_hprda first;
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 7, 0);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t draw = rsc_rng_below(&rng, 30000) + 1;
        lines[i] = rsc_rng_below(&rng, 2) ? 30000 / draw : draw;
    }
    struct rsc_hprda_options options = {.local = 256, .fragment = 150001};
    run(&first, lines, COUNT, &options, &rng);
    assert_int_equal(first.fragment_counts.count, 3);
    for (uint32_t i = 0; i < 9; i++) {
        struct rsc_hprda other;
        options.workers = 1 + i;
        options.group_blocks = i % 4;
        setenv("REUSESCOPE_SIMD", widths[i % 3], 1);
        run(&other, lines, COUNT, &options, &rng);
        assert_same(&first.sums.estimate, &other.sums.estimate);
        assert_same(&first.sums.low, &other.sums.low);
        assert_same(&first.sums.high, &other.sums.high);
        assert_int_equal(first.distinct, other.distinct);
        rsc_hprda_free(&other);
    }
    unsetenv("REUSESCOPE_SIMD");
    rsc_hprda_free(&first);
    free(lines);
}

/* ---- the engine ---- */

static struct rsc_profile *analyse(const struct random_trace *trace, struct rsc_engine_options options) {
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    options.struct_bytes = sizeof options;
    if (rsc_engine_new(&engine, &options, &error) < 0) fail_msg("%s", error.message);
    struct rsc_batch batch = {
        .count = trace->count, .addr = trace->addr, .meta = trace->meta, .instructions = RSC_UNKNOWN};
    assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_free(engine);
    return profile;
}

static void truth_inside_the_bars_of_the_curve(void **state) {
    uint64_t seed = property_seed();
    (void)state;
    for (unsigned long i = 0; i < 60; i++) {
        struct random_trace trace;
        struct rsc_rng rng;
        size_t count, exact_count;
        rsc_rng_seed(&rng, seed, 5000 + i);
        random_trace_make(&trace, &rng, 20000);
        struct rsc_profile *truth = analyse(&trace, (struct rsc_engine_options){.engine = "exact"});
        char name[80];
        snprintf(name, sizeof name, "hp-rda:local=%u,adjust=%s", 8u << i % 6, i % 2 ? "off" : "on");
        struct rsc_profile *got = analyse(&trace, (struct rsc_engine_options){.engine = name, .workers = 2});
        const struct rsc_mrc_point *mrc = rsc_profile_mrc(got, &count), *exact = rsc_profile_mrc(truth, &exact_count);
        struct rsc_error error;
        assert_int_equal(count, exact_count);
        assert_int_equal(got->references, truth->references);
        assert_int_equal(got->distinct, truth->distinct);
        assert_int_equal(got->made.threads, truth->made.threads);
        assert_string_equal(got->made.by, "hp-rda");
        assert_int_equal(rsc_profile_check_sum(got, "hp-rda", &error), 0);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(mrc[k].lines, exact[k].lines);
            assert_int_equal(mrc[k].bytes, exact[k].bytes);
            assert_true(mrc[k].low <= exact[k].miss_ratio && exact[k].miss_ratio <= mrc[k].high);
            assert_true(mrc[k].low <= mrc[k].miss_ratio && mrc[k].miss_ratio <= mrc[k].high);
        }
        rsc_profile_free(truth);
        rsc_profile_free(got);
        random_trace_free(&trace);
    }
}

static void refused(void **state) {
    struct rsc_engine *engine;
    struct rsc_error error;
    struct rsc_hprda hprda;
    (void)state;
    const struct rsc_engine_options bad[] = {
        {.struct_bytes = sizeof bad[0], .engine = "hp-rda:local=1"},
        {.struct_bytes = sizeof bad[0], .engine = "hp-rda:local=65537"},
        {.struct_bytes = sizeof bad[0], .engine = "hp-rda:adjust=2"},
        {.struct_bytes = sizeof bad[0], .engine = "hp-rda", .phases = 3},
        {.struct_bytes = sizeof bad[0], .engine = "hp-rda", .attribute = 1},
        {.struct_bytes = sizeof bad[0], .engine = "hp-rda:5"},
        {.struct_bytes = sizeof bad[0], .engine = "exact:local=2048"},
        {.struct_bytes = sizeof bad[0], .engine = "parallel:adjust=off"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rsc_engine_new(&engine, &bad[i], &error), RSC_EINVAL);
        assert_null(engine);
        assert_true(strlen(error.message) > 0);
    }
    assert_int_equal(rsc_hprda_init(&hprda, &(struct rsc_hprda_options){.fragment = 1u << 31}), RSC_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_the_paper),
        cmocka_unit_test(example_by_hand),
        cmocka_unit_test(exact_where_one_local_trace_holds_all),
        cmocka_unit_test(exact_on_cycles),
        cmocka_unit_test(threads_groups_and_widths_change_nothing),
        cmocka_unit_test(truth_inside_the_bars_of_the_curve),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
