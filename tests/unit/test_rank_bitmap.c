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

/* Appends everything, taking random set bits away in between, then empties it. */
static void follow(uint64_t places, uint64_t filled, unsigned take_percent, uint64_t seed) {
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
        assert_false(rsc_rank_full(&rank));
        assert_int_equal(rsc_rank_place(rsc_rank_append(&rank)), place);
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
    for (uint64_t places = 1; places < 1000; places += 37) follow(places, 0, 50, places);
}

static void across_groups_and_levels(void **state) {
    (void)state;
    follow(20000, 0, 90, 1);          /* two groups */
    follow(300000, 0, 60, 2);         /* two levels */
    follow(4000000, 0, 95, 3);        /* three levels */
    follow(300000, 299999, 50, 4);    /* nearly full from the start */
    follow(300000, 448 * 32, 50, 5);  /* filled to a group's end */
    follow(300000, 448 * 512, 50, 6); /* filled to a node's end */
}

static void the_last_one(void **state) {
    struct rsc_rank_bitmap rank;
    (void)state;
    assert_int_equal(rsc_rank_init(&rank, 100000), 0);
    uint32_t keep = rsc_rank_append(&rank), last = rsc_rank_append(&rank);
    for (int i = 0; i < 90000; i++) {
        rsc_rank_take_last(&rank, last);
        last = rsc_rank_append(&rank);
        assert_int_equal(rank.set - 1 - rsc_rank_before(&rank, keep), 1);
        assert_int_equal(rsc_rank_before(&rank, last), 1);
    }
    rsc_rank_free(&rank);
}

static void limits(void **state) {
    struct rsc_rank_bitmap rank;
    (void)state;
    assert_int_equal(rsc_rank_init(&rank, RSC_RANK_PLACES_MAX + 1), -7);
    rsc_rank_free(&rank);
    assert_int_equal(rsc_rank_slot(RSC_RANK_PLACES_MAX) >> 9, RSC_RANK_PLACES_MAX / RSC_RANK_LINE_SLOTS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones),
        cmocka_unit_test(across_groups_and_levels),
        cmocka_unit_test(the_last_one),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
