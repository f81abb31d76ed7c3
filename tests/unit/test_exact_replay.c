/* test_exact_replay.c - taking exact states apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/rng.h"
#include "distance/exact/exact_replay.h"

/* A line with its last use. */
struct held {
    uint64_t line, time;
    uint32_t tag;
};

static void hold(void *list, uint64_t line, const struct rsc_exact *exact, uint32_t slot) {
    ((struct held *)list)[rsc_rank_before(&exact->rank, slot)] = (struct held){line, rsc_exact_time(exact, slot), 0};
}

/* Lines held, least recently used first. */
static void list_held(const struct rsc_exact *exact, struct held *list) { rsc_exact_visit(exact, hold, list); }

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
    struct held list[4];
    struct rsc_exact exact;
    (void)state;
    assert_int_equal(rsc_exact_init(&exact, rsc_simd_best(), 0), 0);
    run(&exact, lines, tags, 5); /* least recently used first: 6 7 5 8 */
    assert_int_equal(exact.rank.set, 4);
    list_held(&exact, list);
    assert_true(list[0].line == 6 && list[0].time == 1);
    assert_true(list[2].line == 5 && list[2].time == 3);
    assert_true(list[3].line == 8 && list[3].time == 4);

    rsc_exact_take_out(&exact, asked, 6, said);
    assert_true(said[0].time == 2 && said[0].above == 2 && said[0].tag == 70);
    assert_true(said[1].time == RSC_NOT_HELD && said[1].above == 3);
    assert_true(said[2].time == 3 && said[2].above == 1 && said[2].tag == 51); /* only 8 lies above 5 now */
    assert_true(said[3].time == RSC_NOT_HELD && said[3].above == 2);            /* taken out before */
    assert_true(said[4].time == 1 && said[4].above == 1);
    assert_true(said[5].time == 4 && said[5].above == 0);
    assert_int_equal(exact.rank.set, 0);
    rsc_exact_free(&exact);
}

/* Random references and random lines taken out, against a plain list; every width, and places so few that it compacts. */
static void many_lines_against_a_list(enum rsc_simd simd) {
    enum { LINES = 3000, REFERENCES = 20000, ASKED = 6000 };
    struct held *truth = calloc(LINES, sizeof *truth), *list = calloc(LINES, sizeof *list);
    uint64_t *lines = malloc(REFERENCES * sizeof *lines), *ask = malloc(ASKED * sizeof *ask), depth = 0;
    uint32_t *tags = malloc(REFERENCES * sizeof *tags);
    struct rsc_replayed *said = malloc(ASKED * sizeof *said);
    struct rsc_exact exact;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 3, simd);
    assert_int_equal(rsc_exact_init(&exact, simd, 1), 0);
    for (uint64_t i = 0; i < REFERENCES; i++) {
        lines[i] = rsc_rng_below(&rng, LINES) * 97;
        tags[i] = (uint32_t)rsc_rng_below(&rng, UINT32_MAX);
        uint64_t at = 0;
        while (at < depth && truth[at].line != lines[i]) at++;
        if (at == depth) depth++;
        for (; at + 1 < depth; at++) truth[at] = truth[at + 1];
        truth[depth - 1] = (struct held){lines[i], i, tags[i]};
    }
    run(&exact, lines, tags, REFERENCES);
    for (uint64_t i = 0; i < ASKED; i++) ask[i] = rsc_rng_below(&rng, LINES) * 97;
    for (uint32_t first = 0; first < ASKED; first += 500) rsc_exact_take_out(&exact, ask + first, 500, said + first);
    for (uint32_t i = 0; i < ASKED; i++) {
        uint64_t at = 0;
        while (at < depth && truth[at].line != ask[i]) at++;
        assert_int_equal(said[i].above, at == depth ? depth : depth - 1 - at);
        assert_int_equal(said[i].time, at == depth ? RSC_NOT_HELD : truth[at].time);
        if (at == depth) continue;
        assert_int_equal(said[i].tag, truth[at].tag);
        depth--;
        for (; at < depth; at++) truth[at] = truth[at + 1];
    }
    assert_int_equal(exact.rank.set, depth);
    list_held(&exact, list);
    for (uint64_t i = 0; i < depth; i++) assert_true(list[i].line == truth[i].line && list[i].time == truth[i].time);
    rsc_exact_free(&exact);
    free(truth);
    free(list);
    free(lines);
    free(ask);
    free(tags);
    free(said);
}

static void every_width_against_a_list(void **state) {
    (void)state;
    for (int simd = 0; simd < RSC_SIMD_COUNT; simd++)
        if (rsc_simd_available((enum rsc_simd)simd)) {
            setenv("REUSESCOPE_SIMD", rsc_simd_name((enum rsc_simd)simd), 1); /* what taking out goes by */
            many_lines_against_a_list((enum rsc_simd)simd);
        }
    unsetenv("REUSESCOPE_SIMD");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_leave_the_stack),
        cmocka_unit_test(every_width_against_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
