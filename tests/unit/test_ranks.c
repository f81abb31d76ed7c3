/* test_ranks.c - ranks that are sent what makes no sense say so, and counts and threads of ranks add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "distance/ranks/ranks_exchange.h"
#include "distance/ranks/ranks_sums.h"

/* Rank 0 of two; the other sends the messages that lie ready, and then empty ones. */
struct scripted {
    struct rsc_ranks ranks;
    const void *messages[4];
    size_t bytes[4];
    unsigned next;
    void *to;
    size_t room;
};

static int scripted_receive(struct rsc_ranks *ranks, uint32_t ticket, uint32_t from, void *data, size_t room,
                            struct rsc_error *error) {
    struct scripted *scripted = (struct scripted *)ranks;
    (void)ticket, (void)error;
    assert_int_equal(from, 1);
    scripted->to = data;
    scripted->room = room;
    return 0;
}

static int scripted_wait(struct rsc_ranks *ranks, uint32_t tickets, size_t *bytes, struct rsc_error *error) {
    struct scripted *scripted = (struct scripted *)ranks;
    (void)error;
    *bytes = scripted->next < 4 ? scripted->bytes[scripted->next] : 0;
    if (*bytes)
        memcpy(scripted->to, scripted->messages[scripted->next], *bytes < scripted->room ? *bytes : scripted->room);
    scripted->next++;
    return __builtin_ctz(tickets);
}

static struct scripted script(void) {
    return (struct scripted){
        .ranks = {.rank = 0, .size = 2, .start_receive = scripted_receive, .wait_any = scripted_wait}};
}

static void lengths_that_are_wrong(void **state) {
    struct scripted other = script();
    struct rsc_error error;
    uint64_t announced = RSC_RANK_MESSAGE_MAX + 1;
    void *data;
    size_t bytes;
    (void)state;
    other.messages[0] = &announced;
    other.bytes[0] = sizeof announced;
    assert_int_equal(rsc_ranks_receive_sized(&other.ranks, 1, &data, &bytes, &error), RSC_EFORMAT);
    assert_null(data);

    other = script();
    other.messages[0] = &announced;
    other.bytes[0] = 3;
    assert_int_equal(rsc_ranks_receive_sized(&other.ranks, 1, &data, &bytes, &error), RSC_EFORMAT);
    assert_null(data);

    /* announced but not sent */
    announced = 100;
    other = script();
    other.messages[0] = &announced;
    other.bytes[0] = sizeof announced;
    assert_int_equal(rsc_ranks_receive_sized(&other.ranks, 1, &data, &bytes, &error), RSC_EFORMAT);
    assert_null(data);
}

static void counts_that_are_none(void **state) {
    char rubbish[4096];
    (void)state;
    memset(rubbish, 0xff, sizeof rubbish);
    for (uint64_t length = 0; length <= sizeof rubbish; length += 128) {
        struct scripted other = script();
        struct rsc_accumulator sum;
        struct rsc_thread_table threads = {0};
        struct rsc_rank_costs costs = {0};
        struct rsc_error error;
        other.messages[0] = &length;
        other.bytes[0] = sizeof length;
        other.messages[1] = rubbish;
        other.bytes[1] = length;
        assert_int_equal(rsc_accumulator_init(&sum, 0, 0, 0), 0);
        assert_int_equal(rsc_sums_hand_on(&other.ranks, &sum, &threads, &costs, &error), RSC_EFORMAT);
        assert_int_equal(sum.references, 0);
        rsc_accumulator_free(&sum);
    }
}

static int settle(void *user, uint32_t thread, uint32_t kind, uint64_t rd, uint64_t ri) {
    uint64_t *settled = user;
    (void)thread, (void)kind, (void)ri;
    settled[rd == RSC_RD_UNKNOWN]++;
    return 0;
}

/* Line 5 is held, line 6 is not; then a message that is no number of touches. */
static void touches_one_by_one(void **state) {
    const uint64_t lines[] = {5, 7, 5};
    const struct rsc_touch touches[] = {{5, 0, 0}, {6, 1, 1}};
    (void)state;
    for (int odd = 0; odd < 2; odd++) {
        struct scripted other = script();
        struct rsc_touch_queue queue = {.per_block = 8};
        struct rsc_exact exact;
        struct rsc_error error;
        uint64_t settled[2] = {0}, ri[3];
        uint32_t rd[3];
        assert_int_equal(rsc_exact_init(&exact, rsc_simd_best(), 0), 0);
        assert_int_equal(rsc_exact_run(&exact, lines, 3, rd, ri), 0);
        assert_int_equal(rsc_exact_settle(&exact), 0);
        other.messages[0] = other.messages[1] = touches;
        other.bytes[0] = sizeof touches;
        other.bytes[1] = odd ? 25 : 0;
        struct rsc_exchange exchange = {.ranks = &other.ranks,
                                        .exact = &exact,
                                        .references = 3,
                                        .queue = &queue,
                                        .settle = settle,
                                        .user = settled};
        assert_int_equal(rsc_exchange_run(&exchange, &error), odd ? RSC_EFORMAT : 0);
        assert_int_equal(settled[0], 1);
        assert_int_equal(settled[1], 1);
        assert_int_equal(exchange.replayed, 2);
        rsc_exchange_free(&exchange);
        rsc_exact_free(&exact);
    }
}

/* One thread, counted as number 0, is number 2 of all; then several change places. */
static void threads_change_numbers(void **state) {
    struct rsc_accumulator sum;
    const uint64_t addr[4] = {0}, meta[4] = {rsc_meta(8, RSC_READ, 0), rsc_meta(8, RSC_READ, 0),
                                             rsc_meta(8, RSC_READ, 0), rsc_meta(8, RSC_READ, 0)};
    const struct rsc_batch batch = {.count = 4, .addr = addr, .meta = meta};
    const uint32_t from[4] = {0, 1, 2, 3}, rd[4] = {UINT32_MAX, 0, 0, 9}, to_two[1] = {2}, round[3] = {1, 2, 0};
    const uint64_t ri[4] = {0, 1, 1, 10};
    (void)state;
    assert_int_equal(rsc_accumulator_init(&sum, 0, 5, 0), 0);
    assert_int_equal(rsc_accumulator_see_threads(&sum, &batch), 0);
    assert_int_equal(rsc_accumulate(&sum, &batch, from, rd, ri, 4), 0);
    assert_int_equal(rsc_sums_renumber(&sum, to_two), 0);
    assert_int_equal(sum.thread_count, 3);
    assert_int_equal(sum.threads_seen, 3);
    assert_int_equal(sum.threads[0].references, 0);
    assert_int_equal(rsc_histogram_total(&sum.threads[0].rd), 0);
    assert_int_equal(sum.threads[2].references, 4);
    assert_int_equal(sum.threads[2].cold, 1);
    assert_int_equal(rsc_histogram_total(&sum.threads[2].rd), 3);

    assert_int_equal(rsc_sums_add_reuse(&sum, 1, RSC_READ, 1ull << 40, 1ull << 50), 0); /* beyond the cap */
    assert_int_equal(sum.rd_capped, 2);
    assert_int_equal(rsc_sums_add_cold(&sum, 0, RSC_READ), 0);
    assert_int_equal(rsc_sums_renumber(&sum, round), 0);
    assert_int_equal(sum.threads[0].references, 4);
    assert_int_equal(sum.threads[1].cold, 1);
    assert_int_equal(rsc_histogram_total(&sum.threads[2].rd), 1);
    assert_int_equal(rsc_histogram_total(&sum.threads[0].rd), 3);
    rsc_accumulator_free(&sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_that_are_wrong),
        cmocka_unit_test(counts_that_are_none),
        cmocka_unit_test(touches_one_by_one),
        cmocka_unit_test(threads_change_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
