/*
 * test_gpu_count.c - counting outcomes on several threads, in chunks of any size: the rows of
 * threads and kinds, the phases and the second binning are those of the accumulator that
 * counts them one after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/rng.h"
#include "distance/gpu/gpu_count.h"
#include "profile/profile_model.h"

#define REFERENCES 400000u /* several pieces */
#define FIRST_ALONE 1000u  /* references of one thread and kind */

static uint64_t meta[REFERENCES], ri[REFERENCES];
static uint32_t rd[REFERENCES], who[REFERENCES], from[REFERENCES];
static const struct rsc_engine_options options = {
    .struct_bytes = sizeof options, .phases = 5, .max_distance = 3000, .bins_per_octave = 7};

static void draw(void) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 24, 1);
    for (uint32_t i = 0; i < REFERENCES; i++) {
        const int alone = i < FIRST_ALONE;
        meta[i] = rsc_meta(8, alone ? RSC_READ : (enum rsc_kind)rsc_rng_below(&rng, 3),
                           alone ? 0 : (uint32_t)rsc_rng_below(&rng, 6));
        rd[i] = rsc_rng_below(&rng, 9) ? (uint32_t)rsc_rng_below(&rng, 5000) : UINT32_MAX;
        ri[i] = rd[i] == UINT32_MAX ? 0 : rd[i] + 1 + rsc_rng_below(&rng, 100);
        who[i] = rsc_meta_who(meta[i]);
        from[i] = i;
    }
}

static void same_histograms(const struct rsc_histogram *a, const struct rsc_histogram *b) {
    assert_int_equal(a->bin_count, b->bin_count);
    if (a->bin_count) assert_memory_equal(a->count, b->count, a->bin_count * sizeof *a->count);
}

static void same_as_one_by_one(void **state) {
    struct rsc_accumulator one, sum;
    struct rsc_gpu_count count = {.tags = {.attribute = 2}};
    struct rsc_error error;
    struct rsc_batch batch = {.count = REFERENCES, .meta = meta};
    (void)state;
    draw();
    assert_int_equal(rsc_accumulator_init(&one, 5, 3000, 7), 0);
    assert_int_equal(rsc_accumulator_init(&sum, 5, 3000, 7), 0);
    assert_int_equal(rsc_accumulator_see_threads(&one, &batch), 0);
    assert_int_equal(rsc_accumulate(&one, &batch, from, rd, ri, REFERENCES), 0);

    assert_int_equal(rsc_gpu_count_init(&count, &sum, &options, &error), 0);
    static const uint32_t chunks[] = {10, FIRST_ALONE - 10, 65536, 65537, 200000, 1};
    uint32_t done = 0;
    for (size_t c = 0; done < REFERENCES; c = (c + 1) % 6) {
        uint32_t length = chunks[c] < REFERENCES - done ? chunks[c] : REFERENCES - done;
        batch = (struct rsc_batch){.count = length, .meta = meta + done};
        assert_int_equal(rsc_accumulator_see_threads(&sum, &batch), 0);
        assert_int_equal(rsc_gpu_count_expect(&count, who + done, length), 0);
        struct rsc_gpu_outcomes outcomes = {.count = length, .rd = rd + done, .ri = ri + done};
        assert_int_equal(rsc_gpu_count_take(&count, &outcomes), 0);
        done += length;
    }
    assert_int_equal(rsc_gpu_count_end(&count), 0);
    rsc_gpu_count_free(&count);

    struct rsc_profile *wanted = rsc_accumulator_profile(&one, one.cold),
                       *got = rsc_accumulator_profile(&sum, sum.cold);
    assert_int_equal(got->references, REFERENCES);
    assert_int_equal(got->cold, wanted->cold);
    assert_int_equal(got->rd_capped, wanted->rd_capped);
    same_histograms(&got->rd, &wanted->rd);
    same_histograms(&got->rd_binned, &wanted->rd_binned);
    same_histograms(&got->ri_binned, &wanted->ri_binned);
    assert_int_equal(got->thread_count, 6);
    assert_int_equal(wanted->thread_count, 6);
    for (uint32_t t = 0; t < 6; t++) {
        assert_int_equal(got->threads[t].references, wanted->threads[t].references);
        same_histograms(&got->threads[t].rd, &wanted->threads[t].rd);
    }
    assert_int_equal(got->kind_count, 3);
    for (uint32_t k = 0; k < 3; k++) same_histograms(&got->kinds[k].rd, &wanted->kinds[k].rd);
    assert_int_equal(got->phase_count, 5);
    for (uint32_t p = 0; p < 5; p++) {
        assert_int_equal(got->phases[p].first, wanted->phases[p].first);
        assert_int_equal(got->phases[p].cold, wanted->phases[p].cold);
        same_histograms(&got->phases[p].rd, &wanted->phases[p].rd);
    }
    rsc_profile_free(wanted);
    rsc_profile_free(got);
    rsc_accumulator_free(&one);
    rsc_accumulator_free(&sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_one_by_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
