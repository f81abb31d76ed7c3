/*
 * test_beside.c - the shared distance of a short reuse, of what the other thread showed (sampler_beside.c): programs of two
 * threads whose distances follow from what each does and how fast.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pages.h"
#include "runtime/sampler/sampler_state.h"

#define SAMPLED 7u     /* the line whose reuse is sampled */
#define OWN 100u       /* the first thread's others, from here on */
#define OTHER 100000u  /* the second thread's lines */
#define NOT_STALE (UINT64_MAX / 1024) /* ticks: a thread never counts as one that does not run */

static struct {
    struct rsc_sampler *sampler;
    void *memory;
    size_t bytes;
    struct rsc_sample_record last[2]; /* private, shared */
} all;

static void take(void *context, const struct rsc_sample_record *record) {
    (void)context;
    all.last[record->model == RSC_MODEL_SHARED] = *record;
}

static void start_on(uint32_t cores) {
    struct rsc_sampler_options options = {.models = RSC_MODEL_PRIVATE | RSC_MODEL_SHARED,
                                          .order = RSC_ORDER_PARALLEL,
                                          .period = 1e9,
                                          .prune_quantile = 1,
                                          .in_step = 1,
                                          .await_ticks = NOT_STALE,
                                          .cores = cores,
                                          .threads_most = 4,
                                          .emit = take};
    all.bytes = rsc_sampler_bytes(&options, NULL);
    all.memory = rsc_pages_new(all.bytes);
    assert_non_null(all.memory);
    all.sampler = rsc_sampler_init(&options, all.memory);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(rsc_sampler_thread_begin(all.sampler, i), i);
        rsc_sampler_is_alive(&all.sampler->threads[i]);
        rsc_sampler_keep_pace(&all.sampler->threads[i], 1000, 4000); /* four ticks a reference */
    }
    store_relaxed(&all.sampler->threads[1].stalled, 1); /* it takes no part in this process: nobody waits for it */
}

static void start(void) { start_on(4); }

static void stop(void) {
    rsc_sampler_finish(all.sampler);
    rsc_pages_free(all.memory, all.bytes);
}

/* The second thread shows references to `lines` lines from `first` on, over and over. */
static void show(uint64_t first, uint64_t lines) {
    for (uint32_t at = 0; at < SHOWN_MOST;)
        at = rsc_sampler_show(&all.sampler->threads[1], at, first + at % lines, 0x1234);
}

static void use(uint64_t line) {
    const struct rsc_sample_place place = {.pc = line};
    rsc_sampler_check_known(all.sampler, &all.sampler->threads[0]);
    rsc_sampler_use(all.sampler, 0, line, 0, &place);
}

/* A sample of the first thread whose line it uses again after `between` others; its shared distance. */
static uint64_t distance_after(uint64_t between) {
    all.sampler->threads[0].countdown = 1;
    use(SAMPLED);
    for (uint64_t i = 0; i < between; i++) use(OWN + i);
    use(SAMPLED);
    assert_int_equal(all.last[0].outcome, RSC_SAMPLE_REUSED);
    assert_int_equal(all.last[0].distance, between);
    assert_int_equal(all.last[1].outcome, RSC_SAMPLE_REUSED);
    return all.last[1].distance;
}

static void other_lines_are_counted_at_the_pace_of_their_thread(void **state) {
    (void)state;
    for (uint64_t ticks = 1000; ticks <= 16000; ticks *= 2)
        for (uint64_t between = 3; between < 60; between += 4) {
            start();
            store_relaxed(&all.sampler->threads[1].shown->pace, 0);
            rsc_sampler_keep_pace(&all.sampler->threads[1], 1000, ticks);
            show(OTHER, SHOWN_MOST);
            /* in the time of between + 1 references of the first thread; paces are rounded */
            const uint64_t others = (between + 1) * 4000 / ticks, distance = distance_after(between);
            assert_in_range(distance, between + others - (others > 0), between + others + 1);
            assert_in_range(all.last[1].interval, between + 1 + others - (others > 0), between + 1 + others + 1);
            stop();
        }
}

static void a_line_counts_once(void **state) {
    (void)state;
    for (uint64_t lines = 1; lines < 8; lines++) {
        start();
        show(OTHER, lines);
        assert_int_equal(distance_after(50), 50 + lines);
        stop();
    }
}

static void lines_that_both_use_count_once(void **state) {
    (void)state;
    start();
    show(OWN, 40);
    assert_int_equal(distance_after(40), 40);
    stop();
}

static void the_other_thread_is_first(void **state) {
    (void)state;
    start();
    show(SAMPLED, 1);
    assert_int_equal(distance_after(40), 0);
    assert_int_equal(all.last[1].reuse.thread, all.sampler->threads[1].identity);
    assert_int_equal(all.last[1].reuse.pc, 0x1234);
    assert_int_equal(all.last[1].interval, 0);
    stop();
}

static void a_thread_that_waits_does_nothing_beside(void **state) {
    (void)state;
    start();
    show(OTHER, SHOWN_MOST);
    rsc_sampler_park(all.sampler, 1);
    assert_int_equal(distance_after(40), 40);
    rsc_sampler_unpark(all.sampler, 1);
    assert_int_equal(distance_after(40), 81);
    stop();
}

static void with_fewer_cores_the_order_of_analysis_counts(void **state) {
    (void)state;
    start_on(4);
    show(OTHER, SHOWN_MOST);
    assert_int_equal(distance_after(40), 81);
    assert_int_equal(rsc_sampler_thread_begin(all.sampler, 2), 2); /* three threads, four cores */
    store_relaxed(&all.sampler->threads[2].stalled, 1);
    assert_int_equal(distance_after(40), 40);
    stop();
    start_on(3); /* for two threads, that may run on any */
    show(OTHER, SHOWN_MOST);
    assert_int_equal(distance_after(40), 40);
    stop();
    start_on(1);
    assert_null(all.sampler->threads[1].shown);
    assert_int_equal(distance_after(40), 40);
    stop();
}

static void bind_to(uint32_t thread, uint32_t core) {
    __atomic_store_n(&all.sampler->threads[thread].bound_to, core + 1, __ATOMIC_RELAXED);
}

static void bound_threads_need_a_core_each(void **state) {
    (void)state;
    start_on(2);
    show(OTHER, 30);
    assert_false(rsc_sampler_all_run(all.sampler)); /* they may run on both */
    assert_int_equal(distance_after(50), 50);
    bind_to(0, 1);
    assert_false(rsc_sampler_all_run(all.sampler));
    bind_to(1, 1);
    assert_false(rsc_sampler_all_run(all.sampler));
    bind_to(1, 0);
    assert_true(rsc_sampler_all_run(all.sampler));
    assert_int_equal(distance_after(50), 50 + 30);
    assert_int_equal(rsc_sampler_thread_begin(all.sampler, 2), 2); /* it may run on both */
    assert_false(rsc_sampler_all_run(all.sampler));
    rsc_sampler_park(all.sampler, 2);
    assert_true(rsc_sampler_all_run(all.sampler));
    stop();
}

/*
 * The other thread uses the line 40 references after its sample, and the first one 2,000 later or never: the other one's
 * use counts, and the sample does not wait for ever.
 */
static void another_threads_use_counts_at_any_later_time(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) {
        const struct rsc_sample_place place = {.pc = 0x99};
        start();
        show(OTHER, SHOWN_MOST);
        rsc_sampler_show(&all.sampler->threads[0], 0, OWN, 0);
        all.sampler->threads[0].countdown = 1;
        use(SAMPLED);
        for (uint64_t i = 0; i < 40; i++) use(OWN + i);
        rsc_sampler_lock(all.sampler);
        assert_int_equal(all.sampler->shared.active, 1);
        assert_int_equal(
            rsc_sampler_touch_shared(all.sampler, all.sampler->shared.oldest, &all.sampler->threads[1], &place), 0);
        rsc_sampler_unlock(all.sampler);
        all.last[1] = (struct rsc_sample_record){0};
        for (uint64_t i = 0; i < (again ? 2000 : TOUCHED_LOOK + 1); i++) use(OWN + 40 + i);
        if (again) use(SAMPLED);
        else rsc_sampler_judge(all.sampler, 0);
        assert_int_equal(all.sampler->shared.active, 0);
        assert_int_equal(all.last[1].outcome, RSC_SAMPLE_REUSED);
        assert_int_equal(all.last[1].reuse.pc, 0x99);
        assert_in_range(all.last[1].distance, 0, 40);
        stop();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_lines_are_counted_at_the_pace_of_their_thread),
        cmocka_unit_test(a_line_counts_once),
        cmocka_unit_test(lines_that_both_use_count_once),
        cmocka_unit_test(the_other_thread_is_first),
        cmocka_unit_test(a_thread_that_waits_does_nothing_beside),
        cmocka_unit_test(with_fewer_cores_the_order_of_analysis_counts),
        cmocka_unit_test(bound_threads_need_a_core_each),
        cmocka_unit_test(another_threads_use_counts_at_any_later_time),
    };
    return cmocka_run_group_tests_name("beside", tests, NULL, NULL);
}
