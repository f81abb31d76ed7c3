/*
 * property_attribution.c - counts per instruction and per pair against brute force.
 *
 * Random traces get random pcs from a small set. A list kept in order of last use,
 * with who used each line, gives every distance and every pair by counting. While
 * the tables have room everything is exact; when the table of pairs is tiny its
 * rows keep what space-saving promises, and instructions stay exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/count/attribution.h"
#include "distance/exact/exact_state.h"
#include "property/random_traces.h"
#include "report/ranking.h"
#include "trace/references.h"

#define PCS_MAX 40
#define BLOCK 512

/* ---- brute force ---- */

struct truth {
    uint32_t pcs; /* pc number n is pc_of(n) */
    uint64_t references[PCS_MAX], cold[PCS_MAX];
    uint64_t rd[PCS_MAX][252];
    uint64_t pair[PCS_MAX][PCS_MAX], pair_rd[PCS_MAX][PCS_MAX][252]; /* [use][reuse] */
    uint64_t total, reuses;
};

static uint64_t pc_of(uint32_t number) { return number % 5 == 4 ? UINT64_MAX - number : 0x400000 + 3ull * number; }

struct traced {
    struct random_trace trace;
    uint32_t *who; /* pc number by access */
    uint64_t *pc;
};

static void traced_make(struct traced *traced, struct rsc_rng *rng, uint32_t most) {
    random_trace_make(&traced->trace, rng, most);
    uint32_t pcs = 1 + (uint32_t)rsc_rng_below(rng, PCS_MAX), now = 0;
    unsigned style = (unsigned)rsc_rng_below(rng, 3);
    traced->who = malloc((traced->trace.count + 1) * sizeof *traced->who);
    traced->pc = malloc((traced->trace.count + 1) * sizeof *traced->pc);
    for (uint32_t i = 0; i < traced->trace.count; i++) {
        if (style == 0) now = (uint32_t)rsc_rng_below(rng, pcs);
        if (style == 1) now = (now + 1) % pcs;
        if (style == 2) now = pcs / (1 + (uint32_t)rsc_rng_below(rng, pcs)) % pcs;
        traced->who[i] = now;
        traced->pc[i] = pc_of(now);
    }
}

static void traced_free(struct traced *traced) {
    random_trace_free(&traced->trace);
    free(traced->who);
    free(traced->pc);
}

static struct truth *brute_force(const struct traced *traced, uint32_t line_bytes, uint64_t cap) {
    const struct random_trace *trace = &traced->trace;
    struct truth *truth = calloc(1, sizeof *truth);
    struct rsc_batch batch = {.count = trace->count, .addr = trace->addr, .meta = trace->meta};
    struct rsc_reference_cursor cursor;
    uint64_t lines[BLOCK], depth = 0, room = 16, *stack = malloc(room * sizeof *stack);
    uint32_t from[BLOCK], count, *user = malloc(room * sizeof *user);
    rsc_references_start(&cursor, &batch, (uint32_t)__builtin_ctz(line_bytes));
    while ((count = rsc_references_fill(&cursor, lines, from, BLOCK)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t who = traced->who[from[i]];
            uint64_t at = 0;
            while (at < depth && stack[at] != lines[i]) at++;
            truth->total++;
            truth->references[who]++;
            if (at == depth) {
                truth->cold[who]++;
                if (++depth == room) {
                    stack = realloc(stack, (room *= 2) * sizeof *stack);
                    user = realloc(user, room * sizeof *user);
                }
            } else {
                uint32_t bin = rsc_bin_of(RSC_BINS_COARSE, at < cap ? at : cap);
                truth->reuses++;
                truth->rd[who][bin]++;
                truth->pair[user[at]][who]++;
                truth->pair_rd[user[at]][who][bin]++;
            }
            memmove(stack + 1, stack, at * sizeof *stack);
            memmove(user + 1, user, at * sizeof *user);
            stack[0] = lines[i];
            user[0] = who;
        }
    }
    free(stack);
    free(user);
    return truth;
}

/* ---- what is checked ---- */

static uint32_t number_of(uint64_t pc) {
    for (uint32_t n = 0; n < PCS_MAX; n++)
        if (pc_of(n) == pc) return n;
    fail_msg("pc 0x%llx is none of the trace", (unsigned long long)pc);
    return 0;
}

static void check_code(const struct rsc_profile *profile, const struct truth *truth) {
    uint64_t sum = 0, wanted = 0;
    for (uint32_t n = 0; n < PCS_MAX; n++) wanted += truth->references[n] != 0;
    assert_int_equal(profile->code_count, wanted);
    for (size_t i = 0; i < profile->code_count; i++) {
        const struct rsc_code_row *row = &profile->code[i];
        uint32_t n = number_of(row->place.pc);
        assert_int_equal(row->references, truth->references[n]);
        assert_int_equal(row->cold, truth->cold[n]);
        assert_int_equal(row->error, 0);
        assert_memory_equal(row->rd.count, truth->rd[n], sizeof truth->rd[n]);
        if (i) assert_true(profile->code[i - 1].references >= row->references);
        sum += row->references;
    }
    assert_int_equal(sum, truth->total);
}

static void check_exact_pairs(const struct rsc_profile *profile, const struct truth *truth) {
    uint64_t sum = 0;
    for (size_t i = 0; i < profile->pair_count; i++) {
        const struct rsc_pair_row *row = &profile->pairs[i];
        uint32_t use = number_of(row->use.pc), reuse = number_of(row->reuse.pc);
        assert_int_equal(row->references, truth->pair[use][reuse]);
        assert_int_equal(row->error, 0);
        assert_memory_equal(row->rd.count, truth->pair_rd[use][reuse], sizeof truth->pair_rd[use][reuse]);
        sum += row->references;
    }
    if (profile->pair_count < RSC_PAIRS_KEPT) {
        assert_int_equal(sum, truth->reuses); /* so none is missing either */
        return;
    }
    /* more pairs than are told: those left out have no more references than any told */
    uint64_t least = profile->pairs[profile->pair_count - 1].references, told = 0, all = 0;
    for (uint32_t use = 0; use < PCS_MAX; use++)
        for (uint32_t reuse = 0; reuse < PCS_MAX; reuse++) {
            told += truth->pair[use][reuse] > least;
            all += truth->pair[use][reuse] != 0;
        }
    assert_true(told <= profile->pair_count && all >= profile->pair_count);
    for (size_t i = 1; i < profile->pair_count; i++)
        assert_true(profile->pairs[i - 1].references >= profile->pairs[i].references);
}

static void check_bounded_pairs(const struct rsc_profile *profile, const struct truth *truth, uint32_t pair_rows) {
    static unsigned char present[PCS_MAX][PCS_MAX];
    memset(present, 0, sizeof present);
    assert_true(profile->pair_count <= pair_rows);
    for (size_t i = 0; i < profile->pair_count; i++) {
        const struct rsc_pair_row *row = &profile->pairs[i];
        uint32_t use = number_of(row->use.pc), reuse = number_of(row->reuse.pc);
        assert_true(truth->pair[use][reuse] <= row->references);
        assert_true(truth->pair[use][reuse] >= row->references - row->error);
        assert_int_equal(rsc_histogram_total(&row->rd), row->references - row->error);
        assert_false(present[use][reuse]);
        present[use][reuse] = 1;
    }
    for (uint32_t use = 0; use < PCS_MAX; use++)
        for (uint32_t reuse = 0; reuse < PCS_MAX; reuse++)
            if (truth->pair[use][reuse] > truth->reuses / pair_rows) assert_true(present[use][reuse]);
}

/* ---- through the engine ---- */

static uint32_t some_batch(const struct traced *traced, uint32_t done, struct rsc_rng *rng, struct rsc_batch *batch) {
    uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, 3000);
    if (part > traced->trace.count - done) part = traced->trace.count - done;
    *batch = (struct rsc_batch){.count = part,
                                .addr = traced->trace.addr + done,
                                .meta = traced->trace.meta + done,
                                .pc = traced->pc + done,
                                .instructions = RSC_UNKNOWN};
    return part;
}

static struct rsc_profile *by_engine(const struct traced *traced, const struct rsc_engine_options *options,
                                     struct rsc_rng *rng) {
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    struct rsc_batch batch;
    if (rsc_engine_new(&engine, options, &error) < 0) fail_msg("%s", error.message);
    for (uint32_t done = 0; done < traced->trace.count; done += batch.count) {
        some_batch(traced, done, rng, &batch);
        assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
    }
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_free(engine);
    return profile;
}

/* ---- and by hand, with tables and bitmap as small as they get, for every vector width ---- */

static struct rsc_profile *by_hand(const struct traced *traced, const struct rsc_attribution_options *options,
                                   uint32_t line_bytes, enum rsc_simd simd, struct rsc_rng *rng) {
    struct rsc_attribution *attribution;
    struct rsc_profile *profile = rsc_profile_new();
    struct rsc_exact exact;
    struct rsc_batch batch;
    uint32_t *tags = malloc((traced->trace.count + 1) * sizeof *tags);
    assert_int_equal(rsc_attribution_new(&attribution, options, NULL), 0);
    assert_int_equal(rsc_exact_init(&exact, simd, 1), 0);
    for (uint32_t done = 0; done < traced->trace.count; done += batch.count) {
        struct rsc_reference_cursor cursor;
        uint64_t lines[BLOCK], ri[BLOCK];
        uint32_t from[BLOCK], line_tags[BLOCK], rd[BLOCK], last_tag[BLOCK], count;
        some_batch(traced, done, rng, &batch);
        assert_int_equal(rsc_attribution_tags(attribution, &batch, tags), 0);
        rsc_references_start(&cursor, &batch, (uint32_t)__builtin_ctz(line_bytes));
        while ((count = rsc_references_fill(&cursor, lines, from, BLOCK)) > 0) {
            for (uint32_t i = 0; i < count; i++) line_tags[i] = tags[from[i]];
            assert_int_equal(rsc_exact_run_tagged(&exact, lines, line_tags, count, rd, ri, last_tag), 0);
            for (uint32_t i = 0; i < count; i++) assert_true(rd[i] != RSC_RD_COLD || last_tag[i] == RSC_TAG_NONE);
            assert_int_equal(rsc_attribution_count(attribution, &batch, 0, from, line_tags, rd, last_tag, count), 0);
        }
    }
    assert_int_equal(rsc_attribution_fill(attribution, profile), 0);
    rsc_attribution_free(attribution);
    rsc_exact_free(&exact);
    free(tags);
    return profile;
}

/* Whatever is largest, other code is no rank. */
static void check_ranked(const struct rsc_profile *profile) {
    struct rsc_ranking ranking;
    assert_int_equal(rsc_ranking_make(&ranking, profile, RSC_RANK_LINES, 1), 0);
    for (size_t i = 0; i < ranking.count; i++)
        assert_true(((const struct rsc_code_row *)ranking.ranks[i].rows[0])->place.pc != 0);
    rsc_ranking_free(&ranking);
}

/*
 * Few rows for code: what has no room is in the row of pc 0, and nothing is lost.
 * Few groups: call paths go, code rows stay exact.
 */
static void check_overflow(const struct traced *traced, const struct truth *truth, uint32_t line_bytes, uint64_t rd_cap,
                           struct rsc_rng *rng) {
    struct rsc_attribution_options options = {.rd_cap = rd_cap};
    *(rsc_rng_below(rng, 2) ? &options.code_rows : &options.groups) = 1 + (uint32_t)rsc_rng_below(rng, 5);
    struct rsc_profile *profile = by_hand(traced, &options, line_bytes, RSC_SIMD_PLAIN, rng);
    uint64_t sum = 0;
    if (options.groups) check_code(profile, truth);
    else assert_true(profile->code_count <= options.code_rows + 1);
    for (size_t i = 0; i < profile->code_count; i++) {
        const struct rsc_code_row *row = &profile->code[i];
        sum += row->references;
        assert_int_equal(row->references, row->cold + rsc_histogram_total(&row->rd));
        if (row->place.pc == 0) {
            assert_int_equal(row->error, row->references);
            assert_true(rsc_place_is_other(&row->place) && i == profile->code_count - 1);
        } else assert_int_equal(row->references, truth->references[number_of(row->place.pc)]);
    }
    for (size_t i = 0; i < profile->pair_count; i++)
        assert_true(profile->pairs[i].use.pc && profile->pairs[i].reuse.pc);
    check_ranked(profile);
    assert_int_equal(sum, truth->total);
    rsc_profile_free(profile);
}

static void one_trace(struct rsc_rng *rng, uint32_t most) {
    static const uint32_t line_sizes[] = {8, 64, 64, 64, 4096};
    struct traced traced;
    traced_make(&traced, rng, most);
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options,
        .line_bytes = line_sizes[rsc_rng_below(rng, 5)],
        .max_distance = rsc_rng_below(rng, 4) ? 0 : 1 + rsc_rng_below(rng, 3000),
    };
    if (options.line_bytes == 8 && traced.trace.count > 300) traced.trace.count = 300;
    uint64_t cap = options.max_distance ? options.max_distance : UINT64_MAX;
    struct truth *truth = brute_force(&traced, options.line_bytes, cap);

    struct rsc_profile *profile = by_engine(&traced, &options, rng);
    check_code(profile, truth);
    check_exact_pairs(profile, truth);
    rsc_profile_free(profile);

    uint32_t pair_rows = 1 + (uint32_t)rsc_rng_below(rng, 50);
    struct rsc_attribution_options few = {
        .pair_rows = pair_rows, .rd_cap = options.max_distance, .sum_bits = (uint32_t)rsc_rng_below(rng, 6)};
    for (int simd = 0; simd < RSC_SIMD_COUNT; simd++) {
        if (!rsc_simd_available((enum rsc_simd)simd)) continue;
        profile = by_hand(&traced, &few, options.line_bytes, (enum rsc_simd)simd, rng);
        check_code(profile, truth);
        check_bounded_pairs(profile, truth, pair_rows);
        rsc_profile_free(profile);
    }
    check_overflow(&traced, truth, options.line_bytes, options.max_distance, rng);
    free(truth);
    traced_free(&traced);
}

static void code_and_pairs_against_brute_force(void **state) {
    unsigned long traces = property_traces(200);
    uint64_t seed = property_seed();
    (void)state;
    for (unsigned long i = 0; i < traces; i++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, i);
        one_trace(&rng, i % 50 == 0 ? 20000 : 2000);
    }
    printf("%lu traces\n", traces);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_and_pairs_against_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
