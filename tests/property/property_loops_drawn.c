/*
 * property_loops_drawn.c - interleavings that are drawn whole, and windows gone
 * through, against brute force.
 *
 * On trees drawn at random: a walk that was sent to a place goes on as one that got
 * there by itself; under a drawn interleaving every reference's interval is that of
 * the references replayed one by one in the order drawn, dynamic chunks dealt out
 * in it included; with drift, chunks go to the thread that is free first;
 * references between two uses of a line begin behind the earlier one;
 * what windows see of a run that they hold whole is what an LRU
 * stack sees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "estimate/statistics.h"
#include "loops/model/oracle.h"
#include "loops/model/stream.h"
#include "loops/model/windows.h"
#include "loops/nest/touched.h"
#include "property/random_loops.h"

#define MOST 6000u

static struct random_loops loops;
static uint64_t line[MOST + 1], rest[MOST + 1];
static uint32_t made_by[MOST + 1], rest_by[MOST + 1];
static float normal[RSC_NORMALS]; /* not used where everything is drawn */

#define CLAMPED 0 /* a seed: not drawn at random, but tests/loops/clamped.loop, whose guards share out all cases */

static struct rsc_loop_program *clamped(void) {
    struct rsc_error error = {0};
    struct rsc_loop_program *program;
    FILE *file = fopen(RSC_TESTS_FOLDER "/loops/clamped.loop", "rb");
    assert_non_null(file);
    size_t bytes = fread(loops.text, 1, sizeof loops.text - 1, file);
    loops.text[bytes] = 0;
    fclose(file);
    if (rsc_loop_text_read(loops.text, bytes, "clamped.loop", NULL, 0, &program, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(rsc_loop_layout(program, 64, &error), 0);
    return program;
}

static int open_nest(uint64_t seed, struct rsc_loop_program **program, struct rsc_nest **nest) {
    struct rsc_error error;
    *program = seed == CLAMPED ? clamped() : random_program(&loops, seed, &error);
    if (!*program) return 0;
    if (rsc_nest_new(nest, *program, 0, UINT32_MAX, 64, &error) >= 0) return 1;
    rsc_loop_program_free(*program);
    return 0;
}

static void a_walk_can_start_anywhere(void **state) {
    (void)state;
    int checked = 0;
    for (uint64_t seed = 100; seed < 220; seed++) {
        struct rsc_loop_program *program;
        struct rsc_nest *nest;
        struct rsc_plan *plan;
        struct rsc_walk *walk;
        struct rsc_error error;
        if (!open_nest(seed, &program, &nest)) continue;
        uint32_t threads = 1 + (uint32_t)seed % 4;
        assert_int_equal(rsc_plan_new(&plan, nest, threads, NULL, &error), 0);
        for (uint32_t t = 0; t < threads; t++) {
            assert_int_equal(rsc_walk_new(&walk, plan, t, 64, NULL, &error), 0);
            for (uint32_t phase = 0; phase < nest->phase_count && phase < 6; phase++) {
                rsc_walk_start(walk, phase);
                uint32_t count = rsc_walk_next(walk, line, made_by, MOST);
                if (count == MOST) continue;
                for (uint32_t place = 0; place <= count; place += 1 + count / 7) {
                    rsc_walk_seek(walk, phase, place);
                    uint32_t got = rsc_walk_next(walk, rest, rest_by, MOST);
                    if (got != count - place || memcmp(rest, line + place, got * sizeof *rest) ||
                        memcmp(rest_by, made_by + place, got * sizeof *rest_by))
                        fail_msg("seed %llu thread %u of %u phase %u place %u: %u references of %u, in\n%s",
                                 (unsigned long long)seed, t, threads, phase, place, got, count, loops.text);
                    checked++;
                }
            }
            rsc_walk_free(walk);
        }
        rsc_plan_free(plan);
        rsc_nest_free(nest);
        rsc_loop_program_free(program);
    }
    printf("%d places\n", checked);
    assert_true(checked > 1000);
}

/* Each reference is counted, and each of its instances drawn, as often as it is made. */
static void points_are_all_instances(void **state) {
    (void)state;
    for (uint64_t seed = CLAMPED; seed < 120; seed++) {
        struct rsc_loop_program *program;
        struct rsc_nest *nest;
        struct rsc_plan *plan;
        struct rsc_walk *walk;
        struct rsc_points points;
        struct rsc_error error;
        if (!open_nest(seed, &program, &nest)) continue;
        assert_int_equal(rsc_plan_new(&plan, nest, 1, NULL, &error), 0);
        assert_int_equal(rsc_walk_new(&walk, plan, 0, 64, NULL, &error), 0);
        assert_int_equal(rsc_points_new(&points, nest, 0, 64, 0, 1, &error), 0);
        uint64_t *count = calloc(nest->reference_count + 1, sizeof *count),
                 *lines = calloc(nest->reference_count + 1, sizeof *lines);
        for (uint32_t phase = 0; phase < nest->phase_count; phase++) {
            rsc_walk_start(walk, phase);
            for (uint32_t made; (made = rsc_walk_next(walk, line, made_by, MOST)) > 0;)
                for (uint32_t i = 0; i < made; i++) {
                    count[made_by[i]]++;
                    lines[made_by[i]] += line[i];
                }
        }
        for (size_t i = 0; i < points.count; i++)
            lines[points.point[i].reference] -= (uint64_t)(points.point[i].address >> 6);
        for (uint32_t r = 0; r < nest->reference_count; r++)
            if (count[r] != points.references[r] || lines[r])
                fail_msg("seed %llu reference %u: made %llu times, not %llu, in\n%s", (unsigned long long)seed, r,
                         (unsigned long long)count[r], (unsigned long long)points.references[r], loops.text);
        if (seed == CLAMPED) assert_true(nest->reference_count == 10 && count[0] == 9);
        free(count);
        free(lines);
        rsc_points_free(&points);
        rsc_walk_free(walk);
        rsc_plan_free(plan);
        rsc_nest_free(nest);
        rsc_loop_program_free(program);
    }
}

/* ---- drawn interleavings ---- */

/* When the line of each reference of the run was last used, plus 1; 0: never. */
static uint32_t last_use[MOST];
static uint32_t run_length;

/* The run in the order drawn. Returns 0 where a phase is not drawn or all are too long. */
static int replay(struct rsc_crowd *crowd) {
    struct rsc_error error;
    struct rsc_plan *plan = crowd->plan;
    struct rsc_walk *walk[16];
    int64_t place[16];
    int drawn = plan->phase_start[crowd->nest->phase_count] <= MOST;
    run_length = 0;
    for (uint32_t t = 0; t < plan->threads; t++) assert_int_equal(rsc_walk_new(&walk[t], plan, t, 64, NULL, &error), 0);
    for (uint32_t phase = 0; drawn && phase < crowd->nest->phase_count; phase++) {
        rsc_crowd_places(crowd, phase, 0, place); /* looks at the phase */
        const struct rsc_timeline *timeline = rsc_crowd_timeline(crowd, phase);
        drawn = timeline != NULL;
        for (uint32_t t = 0; t < plan->threads; t++) rsc_walk_start(walk[t], phase);
        for (uint32_t run = 0; drawn && run < timeline->count; run++) {
            uint32_t length = (uint32_t)(timeline->time[run + 1] - timeline->time[run]);
            assert_true(run_length + length <= MOST);
            assert_int_equal(rsc_walk_next(walk[timeline->thread[run]], line + run_length, NULL, length), length);
            run_length += length;
        }
        for (uint32_t t = 0; drawn && t < plan->threads; t++)
            assert_int_equal(rsc_walk_next(walk[t], rest, NULL, 1), 0);
    }
    for (uint32_t t = 0; t < plan->threads; t++) rsc_walk_free(walk[t]);
    for (uint32_t i = 0; drawn && i < run_length; i++) {
        uint32_t at = i;
        while (at && line[at - 1] != line[i]) at--;
        last_use[i] = at;
    }
    return drawn;
}

static void drawn_intervals_are_exact(void **state) {
    (void)state;
    static const char *const ways[] = {"bursty:1", "bursty:3", "bursty:40", "iid", "drift"};
    static const uint32_t counts[] = {2, 3, 8, 16};
    int checked[5] = {0};
    long points_checked = 0;
    for (uint64_t seed = 699; seed < 860; seed++) {
        struct rsc_loop_program *program;
        struct rsc_nest *nest;
        if (!open_nest(seed == 699 ? CLAMPED : seed, &program, &nest)) continue;
        for (int w = 0; w < 5; w++) {
            struct rsc_error error;
            struct rsc_interleave interleave;
            struct rsc_plan *plan;
            struct rsc_search *search;
            struct rsc_crowd *crowd;
            struct rsc_points points;
            uint32_t threads = counts[(seed + (uint64_t)w) % 4];
            assert_int_equal(rsc_interleave_parse(&interleave, ways[w], &error), 0);
            assert_int_equal(rsc_plan_new(&plan, nest, threads, NULL, &error), 0);
            rsc_plan_deal_as(plan, &interleave, seed);
            assert_int_equal(rsc_search_new(&search, plan, &error), 0);
            assert_int_equal(rsc_crowd_new(&crowd, search, &interleave, normal, 64, seed, &error), 0);
            if (replay(crowd) && rsc_points_new(&points, nest, 0, 64, 0, 1, &error) >= 0) {
                for (size_t i = 0; i < points.count; i++) {
                    struct rsc_target target = rsc_crowd_target(crowd, &points.point[i]);
                    struct rsc_moment moment = rsc_crowd_moment(crowd, &points.point[i]);
                    struct rsc_touch touch =
                        rsc_crowd_own_touch(crowd, &moment, rsc_crowd_own(crowd, &moment, &target));
                    struct rsc_touch other = rsc_crowd_others(crowd, &moment, &target, &touch);
                    if (other.found) touch = other;
                    if (!touch.found) touch = rsc_crowd_earlier(crowd, &moment, &target);
                    uint32_t at = (uint32_t)moment.end, before = last_use[at];
                    double interval = before ? at - before + 1 : 0;
                    if (touch.found != (before > 0) || (touch.found && touch.interval != interval))
                        fail_msg("seed %llu T=%u %s reference %u at %u: interval %g, not %g, in\n%s",
                                 (unsigned long long)seed, threads, ways[w], points.point[i].reference, at,
                                 touch.found ? touch.interval : 0, interval, loops.text);
                    points_checked++;
                }
                checked[w]++;
                rsc_points_free(&points);
            }
            rsc_crowd_free(crowd);
            rsc_search_free(search);
            rsc_plan_free(plan);
        }
        rsc_nest_free(nest);
        rsc_loop_program_free(program);
    }
    printf("%d, %d, %d, %d, %d trees, %ld references\n", checked[0], checked[1], checked[2], checked[3], checked[4],
           points_checked);
    for (int w = 0; w < 3; w++) assert_true(checked[w] > 60);
    assert_true(checked[3] > 10 && checked[4] > 10);
}

/*
 * Drift: in the times drawn, each chunk goes to the thread that is free first, and begins when that has made its chunk
 * before; places and times of a chunk lead to it.
 */
static void chunks_go_to_the_thread_that_is_free_first(void **state) {
    (void)state;
    static const char *const schedules[] = {"dynamic,1", "dynamic,3", "guided"};
    long chunks_checked = 0, taken_out_of_turn = 0;
    for (uint64_t seed = 900; seed < 1100; seed++) {
        struct rsc_loop_program *program;
        struct rsc_nest *nest;
        struct rsc_plan *plan;
        struct rsc_error error;
        struct rsc_interleave drift;
        uint32_t threads = 2 + (uint32_t)seed % 7;
        if (!open_nest(seed, &program, &nest)) continue;
        assert_int_equal(rsc_interleave_parse(&drift, "drift:300", &error), 0);
        assert_int_equal(rsc_plan_new(&plan, nest, threads, schedules[seed % 3], &error), 0);
        rsc_plan_deal_as(plan, &drift, seed);
        for (uint32_t s = 0; s < nest->segment_count && s < 40; s++) {
            const struct rsc_view *view = rsc_plan_view(plan, s);
            uint32_t given[16] = {0}; /* chunks of each thread so far */
            if (!view->begun) continue;
            for (uint32_t c = 0; c < view->chunk_count; c++) {
                uint32_t owner = view->owner[c], at = view->first[owner] + given[owner];
                assert_int_equal(view->list[at], c);
                for (uint32_t t = 0; t < view->threads; t++)
                    assert_true(view->begun[at + owner] <= view->begun[view->first[t] + given[t] + t]);
                given[owner]++;
                taken_out_of_turn += owner != c % view->threads;
                chunks_checked++;
            }
            for (uint32_t t = 0; t < view->threads; t++) {
                int64_t length = rsc_view_length(view, t);
                assert_int_equal(given[t], view->first[t + 1] - view->first[t]);
                for (int64_t place = 0; place < length; place += 1 + length / 9) {
                    struct rsc_view_chunk chunk = rsc_view_chunk_of(view, t, place);
                    assert_true(chunk.before <= place && place < chunk.before + chunk.count && chunk.from < chunk.to);
                    assert_int_equal(rsc_view_chunk_at(view, t, (chunk.from + chunk.to) / 2).before, chunk.before);
                }
                struct rsc_view_chunk behind = rsc_view_chunk_at(view, t, INFINITY);
                assert_true(behind.before == length && !behind.count);
            }
        }
        rsc_plan_free(plan);
        rsc_nest_free(nest);
        rsc_loop_program_free(program);
    }
    printf("%ld chunks, %ld out of turn\n", chunks_checked, taken_out_of_turn);
    assert_true(chunks_checked > 1000 && taken_out_of_turn > 200);
}

/*
 * Chunks given out as threads come, with drift: curves are near to the simulation, for columns of a triangle and for
 * more chunks than are given out one by one.
 */
static void chunks_taken_as_threads_come_are_near(void **state) {
    (void)state;
    static const char triangle[] = "loops 1\n"
                                   "array a 8 [150][150]\n"
                                   "nest columns {\n"
                                   "  for k = 0 to 149 {\n"
                                   "    parallel { for j = k + 1 to 149 share static { for i = j to 149 {\n"
                                   "      read a[i][k] read a[j][k] read a[i][j] write a[i][j] } } } } }\n";
    static const char sliding[] = "loops 1\n"
                                  "array x 8 [110000]\n"
                                  "array y 8 [17000]\n"
                                  "nest sliding {\n"
                                  "  parallel { for i = 0 to 16999 share static {\n"
                                  "    for j = 0 to 15 { read x[6 * i + 67 * j] } write y[i] } } }\n";
    static const struct {
        const char *text, *schedule;
        uint32_t threads;
        double bound;
    } run[] = {{triangle, "dynamic", 64, 1.45}, {triangle, "guided", 64, 1.2}, {sliding, "dynamic", 16, 1.05}};
    for (size_t s = 0; s < sizeof run / sizeof *run; s++) {
        struct rsc_error error;
        struct rsc_interleave drift;
        struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
        struct rsc_loop_program *program;
        struct rsc_loops_analysis *analysis;
        struct rsc_loops_result *result;
        struct rsc_nest *nest;
        struct rsc_plan *plan;
        struct rsc_oracle truth;
        double sum = 0, sizes = 0;
        options.band = options.private_view = 0;
        options.whole_limit = 0;
        options.samples = 20000;
        options.schedule = run[s].schedule;
        assert_int_equal(rsc_interleave_parse(&drift, "drift", &error), 0);
        assert_int_equal(rsc_loop_text_read(run[s].text, strlen(run[s].text), "chunks.loop", NULL, 0, &program, &error),
                         0);
        assert_int_equal(rsc_loop_layout(program, 64, &error), 0);
        assert_int_equal(rsc_nest_new(&nest, program, 0, UINT32_MAX, 64, &error), 0);
        assert_int_equal(rsc_plan_new(&plan, nest, run[s].threads, run[s].schedule, &error), 0);
        assert_int_equal(rsc_oracle_run(&truth, plan, &drift, 64, 3, 0, NULL, NULL, &error), 0);
        assert_int_equal(rsc_loops_analysis_new(&analysis, program, 0, &options, &error), 0);
        assert_int_equal(rsc_loops_analyse(analysis, run[s].threads, &drift, &result, &error), 0);
        for (size_t g = 0; g < result->mrc_count; g++) {
            double ratio = rsc_oracle_miss_ratio(&truth, result->mrc[g].lines);
            if (result->mrc[g].lines < 256 || result->mrc[g].lines > 1024) continue;
            sum += fabs(log(result->mrc[g].miss_ratio / ratio));
            sizes++;
        }
        printf("%s: a factor of %.2f on average\n", run[s].schedule, exp(sum / sizes));
        assert_true(exp(sum / sizes) < run[s].bound);
        rsc_loops_result_free(result);
        rsc_loops_analysis_free(analysis);
        rsc_oracle_free(&truth);
        rsc_plan_free(plan);
        rsc_nest_free(nest);
        rsc_loop_program_free(program);
    }
}

/* ---- places ---- */

/*
 * Where an interleaving is not drawn whole, a thread has one place at a moment, however often it is asked for, and
 * the references between two uses of a line begin behind the earlier one.
 */
static void windows_begin_behind_the_last_use(void **state) {
    (void)state;
    static const char *const ways[] = {"iid", "drift", "drift:1", "bursty:3"};
    long by_others = 0, by_itself = 0;
    for (uint32_t i = 0; i < RSC_NORMALS; i++) normal[i] = (float)rsc_normal_quantile((i + 0.5) / RSC_NORMALS);
    for (uint64_t seed = 400; seed < 520; seed++) {
        struct rsc_loop_program *program;
        struct rsc_nest *nest;
        struct rsc_error error;
        struct rsc_interleave interleave;
        struct rsc_plan *plan;
        struct rsc_search *search;
        struct rsc_crowd *crowd;
        struct rsc_points points;
        struct rsc_touched *touched;
        uint32_t threads = 2 + (uint32_t)seed % 7;
        uint64_t runs;
        if (!open_nest(seed, &program, &nest)) continue;
        assert_int_equal(rsc_interleave_parse(&interleave, ways[seed % 4], &error), 0);
        assert_int_equal(rsc_plan_new(&plan, nest, threads, "static", &error), 0);
        assert_int_equal(rsc_search_new(&search, plan, &error), 0);
        assert_int_equal(rsc_crowd_new(&crowd, search, &interleave, normal, 64, seed, &error), 0);
        assert_int_equal(rsc_points_new(&points, nest, 0, 64, 200, 1, &error), 0);
        assert_int_equal(rsc_touched_new(&touched, search, 64, &error), 0);
        crowd->runs_max = 0;
        for (size_t i = 0; touched && i < points.count; i++) {
            struct rsc_target target = rsc_crowd_target(crowd, &points.point[i]);
            struct rsc_moment moment = rsc_crowd_moment(crowd, &points.point[i]);
            int64_t own = rsc_crowd_own(crowd, &moment, &target);
            struct rsc_touch since = rsc_crowd_own_touch(crowd, &moment, own);
            struct rsc_touch other = rsc_crowd_others(crowd, &moment, &target, &since);
            if (moment.timeline || !(other.found || since.found)) continue;
            if (other.found) since = other;
            assert_int_equal(rsc_crowd_mark_window(crowd, touched, &moment, &since, 1, own, other.found, UINT64_MAX),
                             0);
            rsc_touched_count(touched, target.low, &runs);
            assert_true(crowd->to[moment.thread] == moment.place && crowd->from[moment.thread] > own);
            for (uint32_t t = 0; t < threads; t++)
                if (t != moment.thread)
                    assert_true(crowd->to[t] == (int64_t)fmin(rsc_crowd_reached(crowd, &moment, t), crowd->length[t]));
            if (!other.found) {
                assert_true(crowd->from[moment.thread] == own + 1);
                by_itself++;
                continue;
            }
            assert_true(other.thread != moment.thread && crowd->from[other.thread] == other.place + 1);
            assert_true(rsc_crowd_last(crowd, moment.phase, other.thread, &target, other.place, -1) == other.place);
            by_others++;
        }
        rsc_touched_free(touched);
        rsc_points_free(&points);
        rsc_crowd_free(crowd);
        rsc_search_free(search);
        rsc_plan_free(plan);
        rsc_nest_free(nest);
        rsc_loop_program_free(program);
    }
    printf("%ld last uses by others, %ld by the thread itself\n", by_others, by_itself);
    assert_true(by_others > 500 && by_itself > 500);
}

/* ---- windows ---- */

/* Pairs of the run in lockstep by brute force against those that windows keep, of intervals and distances alike. */
static void windows_see_what_a_stack_sees(void **state) {
    (void)state;
    int checked = 0;
    for (uint64_t seed = 300; seed < 380; seed++) {
        struct rsc_loop_program *program;
        struct rsc_nest *nest;
        struct rsc_error error;
        struct rsc_interleave lockstep;
        struct rsc_plan *plan;
        struct rsc_search *search;
        struct rsc_crowd *crowd;
        struct rsc_stream *stream;
        struct rsc_windows windows;
        if (!open_nest(seed, &program, &nest)) continue;
        assert_int_equal(rsc_interleave_parse(&lockstep, "lockstep", &error), 0);
        assert_int_equal(rsc_plan_new(&plan, nest, 3, "static", &error), 0);
        double total = plan->phase_start[nest->phase_count];
        if (total <= 1500 && total > 0) { /* so that every window holds all of it */
            assert_int_equal(rsc_search_new(&search, plan, &error), 0);
            assert_int_equal(rsc_crowd_new(&crowd, search, &lockstep, normal, 64, seed, &error), 0);
            assert_int_equal(rsc_windows_look(&windows, crowd, &error), 0);
            assert_int_equal(rsc_stream_new(&stream, plan, &lockstep, 64, 1, 0, &error), 0);
            uint32_t count = rsc_stream_next(stream, line, made_by, NULL, MOST);
            assert_int_equal(count, (uint32_t)total);
            uint64_t reuses = 0, intervals = 0, distances = 0, seen_intervals = 0, seen_distances = 0;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t at = i, distinct = 0;
                while (at && line[at - 1] != line[i]) at--;
                if (!at) continue;
                for (uint32_t j = at; j < i; j++) { /* references between that are the last of their line there */
                    uint32_t later = j + 1;
                    while (later < i && line[later] != line[j]) later++;
                    distinct += later == i;
                }
                reuses++;
                intervals += i - at + 1;
                distances += distinct;
            }
            uint32_t pairs = rsc_windows_pairs(&windows, nest->reference_count);
            for (uint32_t i = 0; i < pairs; i++) {
                seen_intervals += windows.interval[i];
                seen_distances += windows.distance[i];
            }
            if (pairs != reuses * RSC_WINDOWS || seen_intervals != intervals * RSC_WINDOWS ||
                seen_distances != distances * RSC_WINDOWS)
                fail_msg("seed %llu: %u pairs of %llu reuses, distances %llu, not %llu, in\n%s",
                         (unsigned long long)seed, pairs, (unsigned long long)reuses,
                         (unsigned long long)seen_distances, (unsigned long long)(distances * RSC_WINDOWS), loops.text);
            checked++;
            rsc_stream_free(stream);
            rsc_windows_free(&windows);
            rsc_crowd_free(crowd);
            rsc_search_free(search);
        }
        rsc_plan_free(plan);
        rsc_nest_free(nest);
        rsc_loop_program_free(program);
    }
    printf("%d trees\n", checked);
    assert_true(checked > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_walk_can_start_anywhere),
                                       cmocka_unit_test(points_are_all_instances),
                                       cmocka_unit_test(drawn_intervals_are_exact),
                                       cmocka_unit_test(chunks_go_to_the_thread_that_is_free_first),
                                       cmocka_unit_test(chunks_taken_as_threads_come_are_near),
                                       cmocka_unit_test(windows_begin_behind_the_last_use),
                                       cmocka_unit_test(windows_see_what_a_stack_sees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
