/*
 * property_loops_sharing.c - last uses and coherence misses of threads that share lines, one by one, against brute force.
 *
 * Trees are those of sharing_loops.h. In lockstep, and where an interleaving is drawn whole, the order of all threads'
 * references is known: it is gone through, and every reference's interval, the lines used since its line's last use, and
 * the private view's misses, are those found there. RSC_SEED and RSC_ROUNDS choose other trees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "loops/model/region_analysis.h"
#include "loops/nest/touched.h"
#include "loops/nest/walk.h"
#include "property/sharing_loops.h"

#define MOST 6000u
#define THREADS_MOST 16u

static struct sharing_loops sharing;

/* ---- brute force ---- */

static struct {
    uint64_t address[MOST];
    uint32_t reference[MOST], thread[MOST];
    uint32_t before[MOST]; /* the last use of the line, plus 1; 0: none */
    uint32_t length;
} run;

struct truth {
    double cold, invalidated, false_sharing; /* of private caches */
    uint64_t lines;
    double cold_of[64]; /* first uses of all threads together, by reference */
    double count_of[64];
};

static void append(struct rsc_walk *walk, uint32_t thread, uint32_t count) {
    assert_true(run.length + count <= MOST);
    assert_int_equal(rsc_walk_next(walk, run.address + run.length, run.reference + run.length, count), count);
    for (; count--; run.length++) run.thread[run.length] = thread;
}

static void in_turns(struct rsc_walk **walk, uint32_t threads, uint32_t phase) {
    static uint64_t address[MOST];
    int64_t left[THREADS_MOST], longest = 0;
    for (uint32_t t = 0; t < threads; t++) {
        left[t] = rsc_walk_next(walk[t], address, NULL, MOST);
        if (left[t] > longest) longest = left[t];
        rsc_walk_start(walk[t], phase);
    }
    for (int64_t round = 0; round < longest; round++)
        for (uint32_t t = 0; t < threads; t++)
            if (round < left[t]) append(walk[t], t, 1);
}

/* All references in order, at the seed of the crowd. Returns 0 where the order of some phase is not drawn. */
static int replay(struct rsc_crowd *crowd) {
    struct rsc_error error;
    struct rsc_plan *plan = crowd->plan;
    struct rsc_walk *walk[THREADS_MOST];
    int64_t place[THREADS_MOST];
    int known = 1;
    run.length = 0;
    for (uint32_t t = 0; t < plan->threads; t++) assert_int_equal(rsc_walk_new(&walk[t], plan, t, 1, NULL, &error), 0);
    for (uint32_t phase = 0; known && phase < crowd->nest->phase_count; phase++) {
        for (uint32_t t = 0; t < plan->threads; t++) rsc_walk_start(walk[t], phase);
        if (crowd->interleave->kind == RSC_INTERLEAVE_LOCKSTEP) {
            in_turns(walk, plan->threads, phase);
            continue;
        }
        rsc_crowd_places(crowd, phase, 0, place); /* looks at the phase */
        const struct rsc_timeline *timeline = rsc_crowd_timeline(crowd, phase);
        known = timeline != NULL;
        for (uint32_t k = 0; known && k < timeline->count; k++)
            append(walk[timeline->thread[k]], timeline->thread[k],
                   (uint32_t)(timeline->time[k + 1] - timeline->time[k]));
    }
    for (uint32_t t = 0; t < plan->threads; t++) rsc_walk_free(walk[t]);
    return known;
}

static int overlap(const struct rsc_nest *nest, uint32_t a, uint32_t b) {
    return run.address[a] < run.address[b] + nest->reference[run.reference[b]]->size_bytes &&
           run.address[b] < run.address[a] + nest->reference[run.reference[a]]->size_bytes;
}

static void find_truth(const struct rsc_nest *nest, struct truth *truth) {
    memset(truth, 0, sizeof *truth);
    for (uint32_t i = 0; i < run.length; i++) {
        uint32_t at = i, written = 0, touched = 0;
        while (at && run.address[at - 1] / 64 != run.address[i] / 64) at--;
        run.before[i] = at;
        truth->count_of[run.reference[i]]++;
        truth->cold_of[run.reference[i]] += !at;
        truth->lines += !at;
        for (; at && run.thread[at - 1] != run.thread[i]; at = run.before[at - 1]) {
            int writes = nest->reference[run.reference[at - 1]]->is_write;
            written += writes;
            touched += writes && overlap(nest, at - 1, i);
        }
        truth->cold += !at;
        truth->invalidated += at && written;
        truth->false_sharing += at && written && !touched;
    }
}

/* ---- trees ---- */

static int by_all(const struct rsc_nest *nest) {
    for (uint32_t i = 0; i < nest->item_count; i++)
        if (nest->item[i].who == RSC_RUN_BY_ALL) return 1;
    return 0;
}

static struct counted {
    long trees, points, windows, views, invalidated, false_sharing;
} counted;

struct given {
    uint64_t seed;
    uint32_t threads;
    const char *way;
    struct rsc_loops_analysis *analysis;
};

/* The lines that threads use between a point and the last use of its line. */
static void check_window(const struct given *given, struct rsc_crowd *crowd, struct rsc_touched *touched,
                         const struct rsc_point *point) {
    struct rsc_target target = rsc_crowd_target(crowd, point);
    struct rsc_moment moment = rsc_crowd_moment(crowd, point);
    int64_t own = rsc_crowd_own(crowd, &moment, &target);
    struct rsc_touch since = rsc_crowd_own_touch(crowd, &moment, own);
    struct rsc_touch other = rsc_crowd_others(crowd, &moment, &target, &since);
    if (other.found) since = other;
    int in_phase = since.found;
    if (!in_phase) since = rsc_crowd_earlier(crowd, &moment, &target);
    if (!since.found) return;
    uint32_t at = (uint32_t)moment.end, distance = 0;
    uint64_t runs;
    for (uint32_t i = run.before[at]; i < at; i++) distance += run.before[i] < run.before[at];
    assert_int_equal(rsc_crowd_mark_window(crowd, touched, &moment, &since, in_phase, own, other.found, UINT64_MAX), 0);
    uint64_t lines = rsc_touched_count(touched, target.low, &runs);
    if (lines != distance)
        fail_msg("seed %llu T=%u %s reference %u at %u: distance %llu, not %u, in\n%s", (unsigned long long)given->seed,
                 given->threads, given->way, point->reference, at, (unsigned long long)lines, distance,
                 sharing.loops.text);
    counted.windows++;
}

static void check_intervals(const struct given *given, struct rsc_crowd *crowd) {
    const struct rsc_points *points = &given->analysis->points;
    struct rsc_touched *touched;
    struct rsc_error error;
    assert_int_equal(rsc_touched_new(&touched, crowd->search, 64, &error), 0);
    if (points->count != rsc_loops_references(given->analysis))
        fail_msg("seed %llu: %zu points of %llu references, in\n%s", (unsigned long long)given->seed, points->count,
                 (unsigned long long)rsc_loops_references(given->analysis), sharing.loops.text);
    for (size_t i = 0; i < points->count; i++) {
        struct rsc_moment moment;
        double interval = rsc_loops_interval(crowd, &points->point[i], &moment);
        uint32_t at = (uint32_t)moment.end;
        assert_true(at < run.length);
        if (run.reference[at] != points->point[i].reference ||
            interval != (run.before[at] ? (double)(at - run.before[at] + 1) : 0))
            fail_msg("seed %llu T=%u %s reference %u at %u: interval %g, not %u, in\n%s",
                     (unsigned long long)given->seed, given->threads, given->way, points->point[i].reference, at,
                     interval, run.before[at] ? at - run.before[at] + 1 : 0, sharing.loops.text);
        counted.points++;
        if (touched && i % 5 == given->seed % 5) check_window(given, crowd, touched, &points->point[i]);
    }
    rsc_touched_free(touched);
}

/* The private view, and each reference's totals. */
static void check_result(const struct given *given, const struct rsc_interleave *interleave,
                         const struct truth *truth) {
    struct rsc_error error;
    struct rsc_loops_result *result;
    assert_int_equal(rsc_loops_analyse(given->analysis, given->threads, interleave, &result, &error), 0);
    const struct rsc_loops_private *own = &result->own;
    int all = by_all(given->analysis->nest); /* then one thread's instance stands for all */
    if (result->distinct != truth->lines || (own->mrc && fabs(own->cold - truth->cold) > 0.5))
        fail_msg("seed %llu T=%u %s: %llu lines, not %llu; first uses %g, not %g, in\n%s",
                 (unsigned long long)given->seed, given->threads, given->way, (unsigned long long)result->distinct,
                 (unsigned long long)truth->lines, own->cold, truth->cold, sharing.loops.text);
    if (!all && own->mrc && /* there is none where one thread does all */
        (fabs(own->invalidated - truth->invalidated) > 0.5 || fabs(own->false_sharing - truth->false_sharing) > 0.5))
        fail_msg("seed %llu T=%u %s: coherence misses %g, not %g; false sharing %g, not %g, in\n%s",
                 (unsigned long long)given->seed, given->threads, given->way, own->invalidated, truth->invalidated,
                 own->false_sharing, truth->false_sharing, sharing.loops.text);
    counted.views += own->mrc != NULL;
    counted.invalidated += (long)truth->invalidated;
    counted.false_sharing += (long)truth->false_sharing;
    for (size_t r = 0; r < result->row_count; r++)
        if ((double)result->rows[r].references != truth->count_of[r] ||
            (!all && interleave->kind == RSC_INTERLEAVE_LOCKSTEP &&
             fabs(result->rows[r].cold - truth->cold_of[r]) > 0.5))
            fail_msg("seed %llu T=%u %s reference %zu: %llu times, not %g; first uses %g, not %g, in\n%s",
                     (unsigned long long)given->seed, given->threads, given->way, r,
                     (unsigned long long)result->rows[r].references, truth->count_of[r], result->rows[r].cold,
                     truth->cold_of[r], sharing.loops.text);
    rsc_loops_result_free(result);
}

static void check_order(const struct given *given) {
    struct rsc_error error;
    struct rsc_interleave interleave;
    struct rsc_plan *plan;
    struct rsc_search *search;
    struct rsc_crowd *crowd;
    struct truth truth;
    struct rsc_nest *nest = given->analysis->nest;
    assert_int_equal(rsc_interleave_parse(&interleave, given->way, &error), 0);
    assert_int_equal(rsc_plan_new(&plan, nest, given->threads, NULL, &error), 0);
    if (plan->phase_start[nest->phase_count] > MOST) {
        rsc_plan_free(plan);
        return;
    }
    assert_int_equal(rsc_search_new(&search, plan, &error), 0);
    assert_int_equal(rsc_crowd_new(&crowd, search, &interleave, given->analysis->normal, 64,
                                   given->analysis->options.seed + given->threads, &error),
                     0);
    if (replay(crowd)) {
        find_truth(nest, &truth);
        check_intervals(given, crowd);
        check_result(given, &interleave, &truth);
        counted.trees++;
    }
    rsc_crowd_free(crowd);
    rsc_search_free(search);
    rsc_plan_free(plan);
}

static void last_uses_are_exact(void **state) {
    (void)state;
    static const char *const ways[] = {"lockstep", "bursty:1", "bursty:3", "bursty:40", "iid", "drift"};
    static const uint32_t counts[] = {2, 3, 4, 1, 8, 16};
    const char *from = getenv("RSC_SEED"), *rounds = getenv("RSC_ROUNDS");
    uint64_t first = from ? strtoull(from, NULL, 0) : 1, trees = rounds ? strtoull(rounds, NULL, 0) : 300;
    struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
    options.samples = 0;
    options.exact_limit = 0;
    options.band = 0;
    for (uint64_t seed = first; seed < first + trees; seed++) {
        struct rsc_error error;
        struct rsc_loops_analysis *analysis = NULL;
        struct rsc_loop_program *program = sharing_program(&sharing, seed, 0, &error);
        if (!program) continue;
        if (rsc_loops_analysis_new(&analysis, program, 0, &options, &error) >= 0 &&
            rsc_loops_references(analysis) <= MOST / 2 && analysis->nest->reference_count <= 64)
            for (uint64_t w = 0; w < 8; w++) {
                struct given given = {seed, counts[(seed + w) % 6], ways[w < 6 ? w : 0], analysis};
                check_order(&given);
            }
        rsc_loops_analysis_free(analysis);
        rsc_loop_program_free(program);
    }
    printf(
        "%ld orders, %ld references, %ld distances, %ld private views: %ld coherence misses, %ld of them false sharing\n",
        counted.trees, counted.points, counted.windows, counted.views, counted.invalidated, counted.false_sharing);
    if (!rounds) assert_true(counted.trees > 500 && counted.views > 300 && counted.false_sharing > 1000);
}

/* ---- known answers ---- */

/* Two threads, ten phases; in each one, both use the line of c once. */
static void coherence_misses_are_known(void **state) {
    (void)state;
    static const struct {
        const char *mine, *yours; /* what thread 0 and thread 1 make in each phase */
        double invalidated, false_sharing;
    } answers[] = {
        {"write c byte 0 size 8", "write c byte 8 size 8", 18, 18}, /* all but their first uses */
        {"write c byte 0 size 8", "write c byte 0 size 8", 18, 0},
        {"read c byte 0 size 8", "write c byte 0 size 8", 9, 0},
        {"write c byte 0 size 8", "read c byte 4 size 4", 9, 0}, /* the upper half of what is written */
        {"read c byte 0 size 8", "write c byte 4 size 4", 9, 0},
        {"write c byte 0 size 4", "read c byte 4 size 8", 9, 9},
        {"read c byte 4 size 4", "write c byte 8 size 8", 9, 9},
        {"read c byte 0 size 8", "read c byte 0 size 8", 0, 0},
    };
    static const char *const ways[] = {"lockstep", "iid", "bursty:3"};
    for (size_t i = 0; i < 3 * sizeof answers / sizeof *answers; i++) {
        struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
        struct rsc_loop_program *program;
        struct rsc_loops_analysis *analysis;
        struct rsc_loops_result *result;
        struct rsc_interleave interleave;
        struct rsc_error error;
        char text[500];
        snprintf(text, sizeof text,
                 "loops 1\narray c 1 [64]\nnest n { for k = 0 to 9 { parallel { for i = 0 to 1 share static {\n"
                 "when i == 0 { %s }\nwhen i == 1 { %s } } } } }\n",
                 answers[i / 3].mine, answers[i / 3].yours);
        assert_int_equal(rsc_loop_text_read(text, strlen(text), "known", NULL, 0, &program, &error), 0);
        assert_int_equal(rsc_loop_layout(program, 64, &error), 0);
        assert_int_equal(rsc_interleave_parse(&interleave, ways[i % 3], &error), 0);
        options.samples = 0;
        assert_int_equal(rsc_loops_analysis_new(&analysis, program, 0, &options, &error), 0);
        assert_int_equal(rsc_loops_analyse(analysis, 2, &interleave, &result, &error), 0);
        if (i % 3 == 0 && (result->own.invalidated != answers[i / 3].invalidated ||
                           result->own.false_sharing != answers[i / 3].false_sharing))
            fail_msg("%g coherence misses, %g of them false sharing, in\n%s", result->own.invalidated,
                     result->own.false_sharing, text);
        /* In other orders a thread may come before or after the other: of two turns, at least one misses. */
        if (result->own.invalidated < answers[i / 3].invalidated / 3 ||
            (answers[i / 3].false_sharing > 0) != (result->own.false_sharing > 0))
            fail_msg("%s: %g coherence misses, %g of them false sharing, in\n%s", ways[i % 3], result->own.invalidated,
                     result->own.false_sharing, text);
        rsc_loops_result_free(result);
        rsc_loops_analysis_free(analysis);
        rsc_loop_program_free(program);
    }
}

/* Two loops that are counted in the other order, for a condition becomes a bound of the inner one. */
static void guarded_references_are_counted(void **state) {
    (void)state;
    static const char text[] =
        "loops 1\narray b 8 [4][4]\nnest n {\n"
        "for i = 0 to 3 { for j = 3 to 0 step -1 { for k = 0 to 1 {\n"
        "when k - i <= 2 { when j % 2 != 1 { when k + i % 2 == 1 { write b[j][k] } } } } } } }\n";
    struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
    struct rsc_loop_program *program;
    struct rsc_loops_analysis *analysis;
    struct rsc_error error;
    assert_int_equal(rsc_loop_text_read(text, sizeof text - 1, "guarded", NULL, 0, &program, &error), 0);
    assert_int_equal(rsc_loop_layout(program, 64, &error), 0);
    options.samples = 0;
    assert_int_equal(rsc_loops_analysis_new(&analysis, program, 0, &options, &error), 0);
    assert_int_equal(analysis->points.references[0], 8);
    assert_int_equal(rsc_loops_references(analysis), 8);
    rsc_loops_analysis_free(analysis);
    rsc_loop_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(last_uses_are_exact),
                                       cmocka_unit_test(coherence_misses_are_known),
                                       cmocka_unit_test(guarded_references_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
