/*
 * property_loops.c - closed forms on loop trees against enumeration: counts, places,
 * shares of threads, last touches, lines that a part of a thread's work touches. Trees are drawn at random (random_loops.h); the
 * seed of one that fails is printed with its text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loops/search/last_touch.h"
#include "loops/nest/touched.h"
#include "loops/nest/walk.h"
#include "property/random_loops.h"

#define SEEDS 400u
#define MOST 200000u

static struct random_loops loops;
static uint64_t seed;
static uint64_t checks;

#define CHECK(what)                                                                                  \
    do {                                                                                             \
        checks++;                                                                                    \
        if (!(what)) fail_msg("%s, seed %llu, in\n%s", #what, (unsigned long long)seed, loops.text); \
    } while (0)

static uint64_t line[MOST];
static uint32_t made_by[MOST];

/* One thread's places in one segment against what the walk found there. */
static void check_segment(struct rsc_search *search, uint32_t segment, uint32_t thread, const uint64_t *lines,
                          const uint32_t *by, int64_t length) {
    struct rsc_nest *nest = search->nest;
    struct rsc_plan *plan = search->plan;
    const struct rsc_view *view = rsc_plan_view(plan, segment);
    uint64_t own = thread * nest->program->private_stride / 64;
    for (int64_t at = 0; at < length; at += 1 + pick(&loops, 3)) {
        int64_t value[RSC_LOOP_DEPTH_MAX] = {0}, began[RSC_LOOP_DEPTH_MAX], rest;
        int64_t m = rsc_view_find(view, thread, at, &rest);
        rsc_plan_values(plan, segment, value);
        const struct rsc_nest_node *top = view->item->node;
        if (view->who == RSC_RUN_SHARED) {
            rsc_nest_group_values(view->item, value, rsc_view_iteration(view, thread, m));
            top = view->item->inner;
            int64_t back;
            CHECK(rsc_view_owner(view, rsc_view_iteration(view, thread, m), &back) == thread && back == m);
            CHECK(rsc_view_not_after(view, thread, rsc_view_iteration(view, thread, m)) == m);
        }
        const struct rsc_nest_node *leaf = rsc_nest_unrank_body(nest, top, rest, value, began);
        CHECK(leaf && leaf->reference == by[at]);
        CHECK(rsc_view_before(view, thread, m) + rsc_nest_rank(nest, top, leaf, value) == at);
        /* The last touch of some line of the segment, and of one near it that may never be touched. */
        int64_t other = (int64_t)rsc_rng_below(&loops.rng, (uint64_t)length);
        const struct rsc_nest_node *reference = nest->reference[by[other]];
        struct rsc_target target = {.space = reference->space, .writes_only = !pick(&loops, 3)};
        uint64_t wanted = lines[other] + (pick(&loops, 4) ? 0 : 1);
        target.low = (int64_t)(wanted - (reference->is_private ? own : 0)) * 64;
        target.high = target.low + 63;
        int64_t floor = pick(&loops, 2) ? -1 : (int64_t)rsc_rng_below(&loops.rng, (uint64_t)at + 1) - 1;
        int64_t truth = at;
        while (truth > floor && (nest->reference[by[truth]]->space != target.space || lines[truth] != wanted ||
                                 (target.writes_only && !nest->reference[by[truth]]->is_write)))
            truth--;
        if (truth <= floor) truth = -1;
        int64_t found = rsc_last_touch(search, segment, thread, &target, at, floor);
        if (found != truth)
            printf("segment %u thread %u/%u at %lld floor %lld line %llu ref %u writes %d: found %lld truth %lld\n",
                   segment, thread, plan->threads, (long long)at, (long long)floor, (unsigned long long)wanted,
                   truth >= 0 ? by[truth] : 99, target.writes_only, (long long)found, (long long)truth);
        CHECK(found == truth);
    }
}

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Distinct numbers, without one of them. */
static uint64_t distinct_of(uint64_t *number, size_t count, uint64_t except) {
    uint64_t distinct = 0;
    qsort(number, count, sizeof *number, by_number);
    for (size_t i = 0; i < count; i++) distinct += number[i] != except && (!i || number[i] != number[i - 1]);
    return distinct;
}

static uint64_t windows, windows_long; /* compared */

/* The lines of some parts of what a thread makes in a phase. */
static void check_touched(struct rsc_touched *touched, uint32_t phase, uint32_t thread, uint32_t made) {
    static uint64_t some[MOST];
    uint64_t runs;
    for (int k = 0; touched && made && k < 3; k++) {
        uint32_t from = (uint32_t)pick(&loops, (int)made), length = (uint32_t)pick(&loops, k ? 300 : (int)made) + 1;
        uint32_t to = made - from < length ? made : from + length, middle = from + (to - from) / 2;
        memcpy(some, line + from, (to - from) * sizeof *some);
        CHECK(rsc_touched_add(touched, phase, thread, from, to, UINT64_MAX) == 0);
        CHECK(rsc_touched_count(touched, (int64_t)line[middle] * 64, &runs) ==
              distinct_of(some, to - from, line[middle]));
        windows++;
        windows_long += to - from > 300;
    }
}

static void check_threads(struct rsc_nest *nest, uint32_t threads) {
    struct rsc_error error;
    struct rsc_plan *plan;
    struct rsc_search *search;
    assert_int_equal(rsc_plan_new(&plan, nest, threads, NULL, &error), 0);
    assert_int_equal(rsc_search_new(&search, plan, &error), 0);
    struct rsc_touched *touched;
    assert_int_equal(rsc_touched_new(&touched, search, 64, &error), 0);
    static uint64_t in_phase[MOST];
    /* touched[s]: lines of space 0.. seen in segment s, kept as sorted pairs is more than needed: one target is followed */
    struct rsc_target target = {0};
    uint64_t target_line = 0;
    int chosen = 0;
    int64_t last_segment_touched = -1;
    double total = 0;
    for (uint32_t phase = 0; phase < nest->phase_count; phase++) {
        int64_t latest = last_segment_touched;
        const struct rsc_nest_phase *range = &nest->phase[phase];
        uint32_t all = 0;
        for (uint32_t thread = 0; thread < threads; thread++) {
            struct rsc_walk *walk;
            assert_int_equal(rsc_walk_new(&walk, plan, thread, 64, NULL, &error), 0);
            rsc_walk_start(walk, phase);
            uint32_t made = rsc_walk_next(walk, line, made_by, MOST);
            assert_true(made < MOST);
            rsc_walk_free(walk);
            check_touched(touched, phase, thread, made);
            assert_true(all + made < MOST);
            memcpy(in_phase + all, line, made * sizeof *line);
            all += made;
            total += made;
            uint32_t at = 0;
            for (uint32_t s = range->first; s < range->first + range->count; s++) {
                int64_t length = rsc_view_length(rsc_plan_view(plan, s), thread);
                CHECK(at + length <= made);
                check_segment(search, s, thread, line + at, made_by + at, length);
                if (chosen)
                    for (int64_t i = 0; i < length; i++)
                        if (nest->reference[made_by[at + i]]->space == target.space && line[at + i] == target_line &&
                            s > latest)
                            latest = s;
                at += (uint32_t)length;
            }
            CHECK(at == made);
            if (!chosen && made && thread == 0) {
                uint32_t some = (uint32_t)pick(&loops, (int)made);
                if (!nest->reference[made_by[some]]->is_private) {
                    chosen = 1;
                    target_line = line[some];
                    target = (struct rsc_target){.space = nest->reference[made_by[some]]->space,
                                                 .low = (int64_t)target_line * 64,
                                                 .high = (int64_t)target_line * 64 + 63};
                    /* Looked for from the next phase on. */
                    for (uint32_t s = range->first, place = 0; s < range->first + range->count; s++)
                        for (int64_t i = 0; i < rsc_view_length(rsc_plan_view(plan, s), 0); i++, place++)
                            if (nest->reference[made_by[place]]->space == target.space && line[place] == target_line)
                                latest = s;
                }
            }
        }
        if (touched && all) {
            uint64_t runs, some = in_phase[0];
            CHECK(rsc_touched_add_phase(touched, phase, UINT64_MAX) == 0);
            CHECK(rsc_touched_count(touched, (int64_t)some * 64, &runs) == distinct_of(in_phase, all, some));
        }
        if (last_segment_touched >= 0) CHECK(rsc_last_segment(search, range->first, &target) == last_segment_touched);
        last_segment_touched = latest;
    }
    CHECK(total == plan->phase_start[nest->phase_count]);
    rsc_touched_free(touched);
    rsc_search_free(search);
    rsc_plan_free(plan);
}

static void closed_forms_are_enumeration(void **state) {
    (void)state;
    uint32_t drawn = 0;
    struct rsc_error error;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct rsc_loop_program *program = random_program(&loops, seed, &error);
        if (!program) continue;
        struct rsc_nest *nest = NULL;
        int status = rsc_nest_new(&nest, program, 0, UINT32_MAX, 64, &error);
        if (status < 0) {
            rsc_loop_program_free(program);
            continue;
        }
        double size = 0;
        for (uint32_t s = 0; s < nest->segment_count; s++) size += (double)nest->segment[s].total;
        if (size < MOST / 8) {
            drawn++;
            static const uint32_t counts[] = {1, 2, 3, 7};
            for (int i = 0; i < 4; i++) check_threads(nest, counts[i]);
        }
        assert_int_equal(nest->status, 0);
        rsc_nest_free(nest);
        rsc_loop_program_free(program);
    }
    printf("%u trees, %llu checks, %llu windows, %llu of them long\n", drawn, (unsigned long long)checks,
           (unsigned long long)windows, (unsigned long long)windows_long);
    assert_true(windows > 1000 && windows_long > 100);
    assert_true(drawn > SEEDS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(closed_forms_are_enumeration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
