/*
 * property_top_lines.c - the lines that miss most, against counting all of them.
 *
 * The exact engine says each reference's distance; counting per line what it says
 * gives the truth. With fewer lines than the table has rows every number must be
 * exact and the order right; with more, each row must keep within its stated error
 * and the error within its bound, and no line that misses more than that is
 * missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/exact/exact_state.h"
#include "distance/count/top_lines.h"
#include "property/random_traces.h"

struct truth {
    uint64_t misses, references, cold;
};

struct run {
    uint64_t *lines; /* in order; line numbers are small */
    uint32_t *rd;
    uint32_t count;
    uint64_t line_limit;
    struct truth *truth; /* by line */
};

static struct run make_run(struct rsc_rng *rng, uint32_t count, uint64_t line_limit, uint32_t misses_from) {
    struct run run = {.count = count, .line_limit = line_limit};
    uint64_t *ri = malloc(count * sizeof *ri), hot = 1 + rsc_rng_below(rng, line_limit < 50 ? line_limit : 50), at = 0;
    struct rsc_exact exact;
    run.lines = malloc(count * sizeof *run.lines);
    run.rd = malloc(count * sizeof *run.rd);
    run.truth = calloc(line_limit, sizeof *run.truth);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t any = rsc_rng_below(rng, 4) ? at++ % line_limit : rsc_rng_below(rng, line_limit);
        run.lines[i] = rsc_rng_below(rng, 5) == 0 ? rsc_rng_below(rng, hot) : any;
    }
    assert_int_equal(rsc_exact_init(&exact, rsc_simd_best(), 0), 0);
    assert_int_equal(rsc_exact_run(&exact, run.lines, count, run.rd, ri), 0);
    rsc_exact_free(&exact);
    for (uint32_t i = 0; i < count; i++) {
        struct truth *line = &run.truth[run.lines[i]];
        line->references++;
        line->cold += run.rd[i] == RSC_RD_COLD;
        line->misses += run.rd[i] >= misses_from;
    }
    free(ri);
    return run;
}

static void free_run(struct run *run) {
    free(run->lines);
    free(run->rd);
    free(run->truth);
}

static struct rsc_profile *analyse(const struct run *run, uint32_t wanted, uint64_t at_bytes, uint64_t cap) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .top_lines = wanted, .top_lines_bytes = at_bytes, .max_distance = cap};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    uint64_t *addr = malloc(run->count * sizeof *addr), *meta = malloc(run->count * sizeof *meta);
    for (uint32_t i = 0; i < run->count; i++) addr[i] = run->lines[i] * 64 + 5, meta[i] = rsc_meta(4, RSC_READ, 0);
    struct rsc_batch batch = {.count = run->count, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
    assert_int_equal(rsc_engine_new(&engine, &options, NULL), 0);
    assert_int_equal(rsc_engine_push(engine, &batch, NULL), 0);
    assert_int_equal(rsc_engine_finish(engine, &profile, NULL), 0);
    rsc_engine_free(engine);
    free(addr);
    free(meta);
    return profile;
}

static void few_lines_are_exact(void **state) {
    (void)state;
    uint64_t seed = property_seed();
    for (unsigned long trace = 0; trace < property_traces(300) / 10; trace++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, trace);
        uint32_t wanted = 1 + (uint32_t)rsc_rng_below(&rng, 40), from = 1 + (uint32_t)rsc_rng_below(&rng, 600);
        uint64_t cap = rsc_rng_below(&rng, 3) ? 0 : 1 + rsc_rng_below(&rng, 1000);
        struct run run = make_run(&rng, 20000, 1 + rsc_rng_below(&rng, 3000), from);
        struct rsc_profile *profile = analyse(&run, wanted, from * 64ull + rsc_rng_below(&rng, 64), cap);
        uint64_t touched = 0, least = UINT64_MAX;
        for (uint64_t line = 0; line < run.line_limit; line++) touched += run.truth[line].references != 0;
        assert_int_equal(profile->line_count, touched < wanted ? touched : wanted);
        assert_int_equal(profile->lines_asked, wanted);
        for (size_t i = 0; i < profile->line_count; i++) {
            const struct rsc_line_row *row = &profile->lines[i];
            struct truth *truth = &run.truth[row->address / 64];
            assert_int_equal(row->address % 64, 0);
            assert_int_equal(row->error, 0);
            assert_int_equal(row->misses, truth->misses);
            assert_int_equal(row->references, truth->references);
            assert_int_equal(row->cold, truth->cold);
            assert_int_equal(rsc_histogram_total(&row->rd), truth->references - truth->cold);
            assert_true(row->misses <= least);
            assert_null(row->object);
            least = row->misses;
            truth->misses = 0; /* told */
        }
        for (uint64_t line = 0; line < run.line_limit; line++) assert_true(run.truth[line].misses <= least);
        rsc_profile_free(profile);
        free_run(&run);
    }
}

static void many_lines_keep_within_their_error(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 2; seed++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, 1);
        struct run run = make_run(&rng, 1500000, seed ? 200000 : 40000, 512);
        struct rsc_profile *profile = analyse(&run, RSC_TOP_LINES_MAX, 0, 0);
        uint64_t all = 0, uncertain = 0;
        for (uint64_t line = 0; line < run.line_limit; line++) all += run.truth[line].misses;
        uint64_t bound = all / RSC_TOP_LINES_TABLE;
        assert_int_equal(profile->lines_at_bytes, 32 << 10);
        assert_int_equal(profile->line_count, RSC_TOP_LINES_MAX);
        for (size_t i = 0; i < profile->line_count; i++) {
            const struct rsc_line_row *row = &profile->lines[i];
            struct truth *truth = &run.truth[row->address / 64];
            assert_true(row->error <= bound);
            assert_true(row->misses - row->error <= truth->misses && truth->misses <= row->misses);
            assert_true(row->references <= truth->references && row->cold <= truth->cold);
            if (!row->error) assert_int_equal(row->references, truth->references);
            uncertain += row->error != 0;
            truth->misses = 0;
        }
        const struct rsc_line_row *last = &profile->lines[profile->line_count - 1];
        /* whatever is not told may have lost at most the bound, or missed less than the last row */
        for (uint64_t line = 0; line < run.line_limit; line++)
            assert_true(run.truth[line].misses <= last->misses - last->error + bound);
        assert_true(uncertain > 0); /* else this test would test nothing */
        rsc_profile_free(profile);
        free_run(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_lines_are_exact),
        cmocka_unit_test(many_lines_keep_within_their_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
