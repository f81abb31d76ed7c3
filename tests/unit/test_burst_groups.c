/* test_burst_groups.c - how much less samples of bursts say: all alike, each on its own, and kept ones for dropped ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/histogram.h"
#include "base/rng.h"
#include "multicore/burst_groups.h"

#define BURSTS 320u
#define SAMPLES 10u

static struct rsc_burst_groups *new_groups(void) {
    struct rsc_burst_groups *groups = calloc(1, sizeof *groups);
    assert_non_null(groups);
    assert_int_equal(rsc_burst_groups_init(groups), 0);
    return groups;
}

static void add(struct rsc_burst_groups *groups, uint32_t burst, uint32_t kept, uint32_t outcome, uint64_t distance) {
    struct rsc_sample_record record = {
        .outcome = outcome, .weight = 100, .burst = burst, .kept = kept, .distance = distance};
    rsc_burst_groups_add(groups, &record);
}

/* The effect on the share of distances from 1000 on. */
static double effect_at_1000(struct rsc_burst_groups *groups, double size) {
    uint32_t fine = rsc_bins_count(RSC_BINS_FINE);
    double *bins = calloc(fine, sizeof *bins), *tails = calloc(fine, sizeof *tails), effect;
    assert_true(bins && tails);
    rsc_burst_effects(groups, size, bins, tails);
    effect = tails[rsc_bin_of_fine(1000)];
    free(bins);
    free(tails);
    return effect;
}

static void end(struct rsc_burst_groups *groups) {
    rsc_burst_groups_free(groups);
    free(groups);
}

/* All samples of a burst alike: as good as one. */
static void alike(void **state) {
    (void)state;
    struct rsc_burst_groups *groups = new_groups();
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 1, 1);
    for (uint32_t b = 1; b <= BURSTS; b++) {
        uint64_t distance = rsc_rng_below(&rng, 2) ? 5000 : 5;
        for (uint32_t i = 0; i < SAMPLES; i++) add(groups, b, 0, RSC_SAMPLE_REUSED, distance);
    }
    double effect = effect_at_1000(groups, BURSTS * SAMPLES);
    assert_true(effect > SAMPLES / 2.0 && effect < 3.0 * SAMPLES);
    end(groups);
}

static void each_on_its_own(void **state) {
    (void)state;
    struct rsc_burst_groups *groups = new_groups();
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 2, 1);
    for (uint32_t i = 0; i < BURSTS * SAMPLES; i++)
        add(groups, 1 + i / SAMPLES, 0, RSC_SAMPLE_REUSED, rsc_rng_below(&rng, 2) ? 5000 : 5);
    assert_true(effect_at_1000(groups, BURSTS * SAMPLES) < 3);
    assert_true(rsc_burst_effect(groups, RSC_SAMPLE_LAST_TOUCH, BURSTS * SAMPLES) == 1); /* there is none */
    end(groups);
}

/* Half end in time; of the others one burst in 8 is kept, and shows where they end. */
static void kept_for_dropped(void **state) {
    (void)state;
    struct rsc_burst_groups *all = new_groups(), *alike = new_groups();
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 3, 1);
    for (uint32_t b = 1; b <= BURSTS; b++)
        for (uint32_t i = 0; i < SAMPLES; i++) {
            if (i % 2) {
                add(all, b, 0, RSC_SAMPLE_REUSED, 5);
                add(alike, b, 0, RSC_SAMPLE_REUSED, 5);
                continue;
            }
            add(all, b, 0, b % 8 ? RSC_SAMPLE_DROPPED : RSC_SAMPLE_KEPT, 0);
            add(alike, b, 0, b % 8 ? RSC_SAMPLE_DROPPED : RSC_SAMPLE_KEPT, 0);
            if (b % 8) continue;
            add(all, b, 1, RSC_SAMPLE_REUSED, rsc_rng_below(&rng, 2) ? 5000 : 500);
            add(alike, b, 1, RSC_SAMPLE_REUSED, 5000);
        }
    /*
     * 200 kept samples decide between 1/2 and 0 of all: a variance of 1/4 * 1/4 / 200, where 3200 independent draws of a
     * share of 1/4 have 3/16 / 3200.
     */
    double effect = effect_at_1000(all, BURSTS * SAMPLES);
    assert_true(effect > 5.3 / 2 && effect < 5.3 * 3);
    /* if all kept ones agree, nothing is left to chance but which samples were late, and that is the same in every burst */
    assert_true(effect_at_1000(alike, BURSTS * SAMPLES) < 1.01);
    end(all);
    end(alike);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike),
        cmocka_unit_test(each_on_its_own),
        cmocka_unit_test(kept_for_dropped),
    };
    return cmocka_run_group_tests_name("burst groups", tests, NULL, NULL);
}
