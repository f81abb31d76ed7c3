/* test_in_step.c - in a running program a short reuse waits until other threads have come as far, and sees just that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>

#include "base/pages.h"
#include "runtime/sampler/sampler_state.h"

#define WRITTEN 7u /* the line that both use */

static struct {
    struct rsc_sampler *sampler;
    void *memory;
    size_t bytes;
    struct rsc_sample_record last[2]; /* private, shared */
    int ends;
    int writes; /* the other thread writes WRITTEN; otherwise it uses a new line each time */
} all;

static void take(void *context, const struct rsc_sample_record *record) {
    (void)context;
    all.last[record->model == RSC_MODEL_SHARED] = *record;
}

static void use(uint32_t slot, uint64_t line, int is_write) {
    const struct rsc_sample_place place = {.pc = line};
    rsc_sampler_check_known(all.sampler, &all.sampler->threads[slot]);
    rsc_sampler_use(all.sampler, slot, line, is_write, &place);
}

static void start(uint32_t models, uint64_t await_ticks) {
    struct rsc_sampler_options options = {.models = models,
                                          .order = RSC_ORDER_PARALLEL,
                                          .period = 1e9,
                                          .prune_quantile = 1,
                                          .in_step = 1,
                                          .await_ticks = await_ticks,
                                          .threads_most = 4,
                                          .emit = take};
    all.bytes = rsc_sampler_bytes(&options, NULL);
    all.memory = rsc_pages_new(all.bytes);
    assert_non_null(all.memory);
    all.sampler = rsc_sampler_init(&options, all.memory);
    for (uint32_t i = 0; i < 2; i++) assert_int_equal(rsc_sampler_thread_begin(all.sampler, i), i);
}

static void stop(void) {
    rsc_sampler_finish(all.sampler);
    rsc_pages_free(all.memory, all.bytes);
}

/* Works only while it is waited for, as one that is always a little late would; for less than half of a log. */
static void *late(void *unused) {
    uint64_t line = 1000;
    while (!__atomic_load_n(&all.ends, __ATOMIC_ACQUIRE)) {
        rsc_sampler_stand_by(all.sampler);
        if (!rsc_sampler_is_awaited(all.sampler) || line == 10000) sched_yield();
        else if (all.writes) use(1, WRITTEN, 1);
        else use(1, line++, 0);
    }
    return unused;
}

/* A sample of the first thread whose line it uses again after `between` other ones. */
static void sample_with(uint64_t between, int writes) {
    pthread_t other;
    all.writes = writes;
    all.ends = 0;
    assert_int_equal(pthread_create(&other, NULL, late, NULL), 0);
    all.sampler->threads[0].countdown = 1;
    use(0, WRITTEN, 0);
    for (uint64_t i = 0; i < between; i++) use(0, 100 + i, 0);
    use(0, WRITTEN, 0);
    __atomic_store_n(&all.ends, 1, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
}

static void test_others_come_as_far(void **state) {
    (void)state;
    for (uint64_t between = 0; between < 40; between++) {
        start(RSC_MODEL_PRIVATE | RSC_MODEL_SHARED, UINT64_MAX);
        sample_with(between, 0);
        assert_int_equal(all.last[0].outcome, RSC_SAMPLE_REUSED);
        assert_int_equal(all.last[0].distance, between);
        /* as many lines of the other as the first has made references, whatever else that one did meanwhile */
        assert_int_equal(all.last[1].outcome, RSC_SAMPLE_REUSED);
        assert_int_equal(all.last[1].distance, between + between + 1);
        stop();
    }
}

static void test_writes_are_seen(void **state) {
    (void)state;
    for (uint64_t between = 0; between < 20; between++) {
        start(RSC_MODEL_PRIVATE, UINT64_MAX);
        sample_with(between, 1);
        assert_int_equal(all.last[0].outcome, RSC_SAMPLE_INVALIDATED);
        assert_int_equal(all.last[0].taker.by, 1);
        stop();
    }
}

/* One that does not run is waited for once, one that is parked, or alone, never: the test would not end. */
static void test_nobody_waits_in_vain(void **state) {
    (void)state;
    for (int parked = 0; parked < 2; parked++) {
        start(RSC_MODEL_PRIVATE | RSC_MODEL_SHARED, parked ? UINT64_MAX : 1000);
        if (parked) rsc_sampler_park(all.sampler, 1);
        for (int i = 0; i < 100; i++) {
            all.sampler->threads[0].countdown = 1;
            use(0, WRITTEN, 0);
            use(0, WRITTEN, 0);
            assert_int_equal(all.last[1].outcome, RSC_SAMPLE_REUSED);
            assert_int_equal(all.last[1].distance, 0);
            if (!parked) assert_int_equal(all.sampler->threads[1].stalled, 1);
        }
        assert_false(rsc_sampler_is_awaited(all.sampler));
        assert_int_equal(all.sampler->busy, 0);
        if (parked) rsc_sampler_unpark(all.sampler, 1);
        stop();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others_come_as_far),
        cmocka_unit_test(test_writes_are_seen),
        cmocka_unit_test(test_nobody_waits_in_vain),
    };
    return cmocka_run_group_tests_name("in step", tests, NULL, NULL);
}
