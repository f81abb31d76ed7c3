/* test_exact_replay.c - taking exact states apart and putting them together, for every vector width's builds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/rng.h"
#include "distance/exact/exact_replay.h"

static void run(struct rsc_exact *exact, const uint64_t *lines, const uint32_t *tags, uint32_t count) {
    uint32_t *rd = malloc(count * sizeof *rd), *last_tag = malloc(count * sizeof *last_tag);
    uint64_t *ri = malloc(count * sizeof *ri);
    assert_int_equal(rsc_exact_run_tagged(exact, lines, tags, count, rd, ri, last_tag), 0);
    assert_int_equal(rsc_exact_settle(exact), 0);
    free(rd);
    free(ri);
    free(last_tag);
}

static void lines_leave_the_stack(void **state) {
    static const uint64_t lines[] = {5, 6, 7, 5, 8}, asked[] = {7, 9, 5, 7, 6, 8};
    static const uint32_t tags[] = {50, 60, 70, 51, 80};
    struct rsc_replayed said[6];
    struct rsc_held_line list[4];
    struct rsc_exact exact;
    (void)state;
    assert_int_equal(rsc_exact_init(&exact, rsc_simd_best(), 0), 0);
    run(&exact, lines, tags, 5); /* least recently used first: 6 7 5 8 */
    assert_int_equal(rsc_exact_held(&exact), 4);
    rsc_exact_list(&exact, list);
    assert_true(list[0].line == 6 && list[0].time == 1 && list[0].tag == 60);
    assert_true(list[2].line == 5 && list[2].time == 3 && list[2].tag == 51);
    assert_true(list[3].line == 8 && list[3].time == 4 && list[3].tag == 80);

    rsc_exact_take_out(&exact, asked, 6, said);
    assert_true(said[0].time == 2 && said[0].above == 2 && said[0].tag == 70);
    assert_true(said[1].time == RSC_NOT_HELD && said[1].above == 3);
    assert_true(said[2].time == 3 && said[2].above == 1 && said[2].tag == 51); /* only 8 lies above 5 now */
    assert_true(said[3].time == RSC_NOT_HELD && said[3].above == 2);            /* taken out before */
    assert_true(said[4].time == 1 && said[4].above == 1);
    assert_true(said[5].time == 4 && said[5].above == 0);
    assert_int_equal(rsc_exact_held(&exact), 0);

    /* as new, with times from 0 */
    uint32_t rd[2], last_tag[2];
    uint64_t ri[2];
    static const uint64_t again[] = {8, 8};
    rsc_exact_empty(&exact);
    assert_int_equal(rsc_exact_run_tagged(&exact, again, tags, 2, rd, ri, last_tag), 0);
    assert_true(rd[0] == RSC_RD_COLD && rd[1] == 0 && ri[1] == 1 && last_tag[1] == 50);
    rsc_exact_free(&exact);
}

static void putting_goes_on_top(void **state) {
    static const uint64_t lines[] = {1, 2, 3}, asked[] = {2, 11, 1, 10};
    static const uint32_t tags[] = {0, 0, 0};
    static const struct rsc_held_line more[] = {{10, 100, 7}, {11, 250, 8}}, back[] = {{2, 300, 9}};
    struct rsc_replayed said[4];
    struct rsc_held_line list[3];
    struct rsc_exact exact;
    (void)state;
    assert_int_equal(rsc_exact_init(&exact, rsc_simd_best(), 0), 0);
    run(&exact, lines, tags, 3);
    assert_int_equal(rsc_exact_put(&exact, more, 2), 0);
    assert_int_equal(rsc_exact_held(&exact), 5);
    rsc_exact_take_out(&exact, asked, 2, said);
    assert_true(said[0].time == 1 && said[0].above == 3);
    assert_true(said[1].time == 250 && said[1].above == 0 && said[1].tag == 8);
    assert_int_equal(rsc_exact_put(&exact, back, 1), 0); /* a line that had been taken out */
    rsc_exact_take_out(&exact, asked + 2, 1, said);
    assert_true(said[0].time == 0 && said[0].above == 3);
    rsc_exact_list(&exact, list);
    assert_true(list[0].line == 3 && list[1].line == 10 && list[2].line == 2 && list[2].time == 300 &&
                list[2].tag == 9);
    rsc_exact_free(&exact);
}

/* Puts and takes without end, against a plain list; times jump, and the state is small so that it is compacted often. */
static void many_puts_against_a_list(void **state) {
    enum { LINES = 3000, ROUNDS = 300, PART = 500 };
    struct rsc_held_line *truth = calloc(LINES, sizeof *truth), put[PART], *list = calloc(LINES, sizeof *list);
    uint64_t ask[PART], depth = 0, time = 0;
    struct rsc_replayed said[PART];
    struct rsc_exact exact;
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 3, 0);
    assert_int_equal(rsc_exact_init(&exact, rsc_simd_best(), 1), 0);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t count = (uint32_t)rsc_rng_below(&rng, PART), fresh = 0;
        for (uint32_t i = 0; i < count; i++) ask[i] = rsc_rng_below(&rng, LINES) * 97;
        rsc_exact_take_out(&exact, ask, count, said);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t at = 0;
            while (at < depth && truth[at].line != ask[i]) at++;
            assert_int_equal(said[i].above, at == depth ? depth : depth - 1 - at);
            assert_int_equal(said[i].time, at == depth ? RSC_NOT_HELD : truth[at].time);
            if (at == depth) continue;
            assert_int_equal(said[i].tag, truth[at].tag);
            depth--;
            for (; at < depth; at++) truth[at] = truth[at + 1];
        }
        for (uint32_t i = 0; i < count; i++) { /* each line asked for comes back once */
            uint32_t twice = 0;
            for (uint32_t j = 0; j < fresh; j++) twice |= put[j].line == ask[i];
            if (twice) continue;
            time += 1 + rsc_rng_below(&rng, 1000);
            put[fresh] = (struct rsc_held_line){ask[i], time, (uint32_t)rsc_rng_below(&rng, UINT32_MAX)};
            truth[depth++] = put[fresh++];
        }
        assert_int_equal(rsc_exact_put(&exact, put, fresh), 0);
        assert_int_equal(rsc_exact_held(&exact), depth);
    }
    rsc_exact_list(&exact, list);
    for (uint64_t i = 0; i < depth; i++)
        assert_true(list[i].line == truth[i].line && list[i].time == truth[i].time && list[i].tag == truth[i].tag);
    rsc_exact_free(&exact);
    free(truth);
    free(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_leave_the_stack),
        cmocka_unit_test(putting_goes_on_top),
        cmocka_unit_test(many_puts_against_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
