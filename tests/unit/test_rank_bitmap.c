/* test_rank_bitmap.c - the rank bitmap against an array of bits, through fills, takes and many levels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/rank_bitmap.h"
#include "base/rng.h"

static void compare(const struct rsc_rank_bitmap *rank, const uint8_t *bits, uint64_t places) {
    uint64_t before = 0;
    for (uint64_t place = 0; place < places; place++) {
        if (bits[place]) assert_int_equal(rsc_rank_before(rank, rsc_rank_slot(place)), before);
        before += bits[place];
    }
    assert_int_equal(rank->set, before);
}

/* Sets every place but those skipped, taking random set bits away in between, then empties it. */
static void follow(uint64_t places, uint64_t filled, unsigned take_percent, uint64_t seed, unsigned skip_percent,
                   unsigned skip_most) {
    struct rsc_rank_bitmap rank;
    struct rsc_rng rng;
    uint8_t *bits = calloc(places + 1, 1);
    rsc_rng_seed(&rng, seed, 0);
    assert_int_equal(rsc_rank_init(&rank, places), 0);
    rsc_rank_fill(&rank, filled);
    for (uint64_t i = 0; i < filled; i++) bits[i] = 1;
    compare(&rank, bits, filled);
    uint64_t check_at = places / 7 + 1;
    for (uint64_t place = filled; place < places; place++) {
        if (rsc_rng_below(&rng, 100) < skip_percent) {
            place += rsc_rng_below(&rng, skip_most);
            if (place >= places) break;
        }
        rsc_rank_set(&rank, rsc_rank_slot(place));
        bits[place] = 1;
        if (rsc_rng_below(&rng, 100) < take_percent) {
            uint64_t victim = rsc_rng_below(&rng, place + 1);
            if (bits[victim]) rsc_rank_take(&rank, rsc_rank_slot(victim));
            bits[victim] = 0;
        }
        if (place % check_at == 0) compare(&rank, bits, place + 1);
    }
    compare(&rank, bits, places);
    for (uint64_t place = 0; place < places; place++)
        if (bits[place]) {
            assert_int_equal(rsc_rank_before(&rank, rsc_rank_slot(place)), 0);
            rsc_rank_take(&rank, rsc_rank_slot(place));
            bits[place] = 0;
        }
    assert_int_equal(rank.set, 0);
    rsc_rank_free(&rank);
    free(bits);
}

static void small_ones(void **state) {
    (void)state;
    for (uint64_t places = 1; places < 1000; places += 37) follow(places, 0, 50, places, 0, 1);
}

static void across_groups_and_levels(void **state) {
    (void)state;
    follow(20000, 0, 90, 1, 0, 1);          /* two groups */
    follow(300000, 0, 60, 2, 0, 1);         /* two levels */
    follow(4000000, 0, 95, 3, 0, 1);        /* three levels */
    follow(300000, 299999, 50, 4, 0, 1);    /* nearly full from the start */
    follow(300000, 448 * 32, 50, 5, 0, 1);  /* filled to a group's end */
    follow(300000, 448 * 512, 50, 6, 0, 1); /* filled to a node's end */
}

/* Places that are never set: a few, whole words, lines, groups. */
static void jumps(void **state) {
    (void)state;
    for (uint64_t places = 1; places < 1000; places += 37) follow(places, 0, 50, places, 50, 9);
    follow(300000, 0, 60, 7, 20, 70);
    follow(300000, 1000, 60, 8, 10, 1000);
    follow(4000000, 0, 90, 9, 5, 20000);
    follow(4000000, 448 * 512, 50, 10, 1, 300000);
}

/* Many places at a time, ahead of bits that are taken; and a slot that is nowhere, taken in between. */
static void ranges(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        uint64_t places = seed % 3 ? 3000 : 500000, next = 0;
        struct rsc_rank_bitmap rank;
        struct rsc_rng rng;
        uint8_t *bits = calloc(places, 1);
        rsc_rng_seed(&rng, seed, 2);
        assert_int_equal(rsc_rank_init(&rank, places), 0);
        while (next < places) {
            uint32_t count = (uint32_t)rsc_rng_below(&rng, seed % 2 ? 200 : 3000);
            if (count > places - next) count = (uint32_t)(places - next);
            rsc_rank_set_range(&rank, (uint32_t)next, count);
            for (uint32_t i = 0; i < count; i++) bits[next++] = 1;
            for (uint32_t i = 0; next && i < count; i++) {
                uint64_t victim = rsc_rng_below(&rng, next);
                if (bits[victim]) rsc_rank_take(&rank, rsc_rank_slot((uint32_t)victim));
                else rsc_rank_take_uncounted(&rank, rsc_rank_nowhere(&rank), rank.level_count);
                bits[victim] = 0;
            }
            if (next < places && rsc_rng_below(&rng, 4) == 0) next++;
        }
        compare(&rank, bits, places);
        rsc_rank_free(&rank);
        free(bits);
    }
}

/* Words written from outside: counts as if every bit had been set one by one, and places after them to go on with. */
static void words_taken_over(void **state) {
    (void)state;
    for (uint32_t lines = 0; lines < 2000; lines = lines * 3 + 1) {
        uint64_t filled = (uint64_t)lines * RSC_RANK_LINE_SLOTS, places = filled + 1000;
        struct rsc_rank_bitmap rank;
        struct rsc_rng rng;
        uint8_t *bits = calloc(places, 1);
        rsc_rng_seed(&rng, lines, 1);
        assert_int_equal(rsc_rank_init(&rank, places), 0);
        for (uint64_t place = 0; place < filled; place++) {
            bits[place] = rsc_rng_below(&rng, 3) == 0;
            uint32_t slot = rsc_rank_slot((uint32_t)place);
            rank.lines[slot >> 6] |= (uint64_t)bits[place] << (slot & 63);
        }
        for (uint32_t line = 0; line < lines; line++) rsc_rank_count_line(rank.lines + 8ull * line);
        rsc_rank_take_over(&rank, lines);
        compare(&rank, bits, filled);
        for (uint64_t place = filled; place < places; place += 1 + rsc_rng_below(&rng, 9)) {
            rsc_rank_set(&rank, rsc_rank_slot((uint32_t)place));
            bits[place] = 1;
            uint64_t victim = rsc_rng_below(&rng, place + 1);
            if (bits[victim]) rsc_rank_take(&rank, rsc_rank_slot((uint32_t)victim));
            bits[victim] = 0;
        }
        compare(&rank, bits, places);
        rsc_rank_free(&rank);
        free(bits);
    }
}

static void limits(void **state) {
    struct rsc_rank_bitmap rank;
    (void)state;
    assert_int_equal(rsc_rank_init(&rank, RSC_RANK_PLACES_MAX + 1), -7);
    rsc_rank_free(&rank);
    assert_true(rsc_rank_slot(RSC_RANK_PLACES_MAX + 32 * RSC_RANK_LINE_SLOTS) < INT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones), cmocka_unit_test(across_groups_and_levels), cmocka_unit_test(jumps),
        cmocka_unit_test(ranges),     cmocka_unit_test(words_taken_over),         cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
