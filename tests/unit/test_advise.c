/* test_advise.c - advice where there is a reason for it, and only there. (Programs: live_advise.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/pair_ancestor.h"
#include "report/advise/advise.h"
#include "report/ranking.h"
#include "sample_profiles.h"

static const struct rsc_report_style at_64k = {.width = 80, .at_bytes = 64 << 10};

static int advised(const struct rsc_profile *profile, const char *rule, const char *evidence) {
    struct rsc_advices advices;
    int found = 0;
    assert_int_equal(rsc_advise(&advices, profile, &at_64k), 0);
    for (size_t i = 0; i < advices.count; i++) {
        if (strcmp(advices.items[i].rule, rule)) continue;
        found = 1;
        if (!strstr(advices.items[i].evidence, evidence)) fail_msg("%s: %s", rule, advices.items[i].evidence);
        assert_true(advices.items[i].attempt[0] != 0);
    }
    rsc_advices_free(&advices);
    return found;
}

/* `invalidated` of 10000 references were to lines that others had written. */
static struct rsc_profile *profile_shared(uint64_t invalidated) {
    struct rsc_profile *profile = sample_empty();
    rsc_profile_set_text(&profile->made.model, "private");
    assert_int_equal(rsc_profile_set_objects(profile, 1), 0);
    rsc_profile_set_text(&profile->objects[0].name, "counters\n\033[2J");
    profile->objects[0].kind = "global";
    profile->objects[0].references = profile->objects[0].invalidated = invalidated;
    profile->cold = profile->distinct = 200;
    profile->invalidated = invalidated;
    profile->accesses = profile->references = 10000;
    rsc_histogram_add(&profile->rd, 0, 10000 - 200 - invalidated);
    return sample_sealed(profile);
}

static void test_sharing(void **state) {
    (void)state;
    struct rsc_profile *faulty = profile_shared(3000), *twin = profile_shared(20);
    assert_true(advised(faulty, "sharing", "93.8 % of misses (3,000)"));
    assert_true(advised(faulty, "sharing", "counters??[2J (100 %)"));
    assert_false(advised(twin, "sharing", ""));
    rsc_profile_free(faulty);
    rsc_profile_free(twin);
}

static void test_cliff(void **state) {
    (void)state;
    struct rsc_profile *tight = sample_cyclic(1100, 100), *roomy = sample_cyclic(1000, 100),
                       *huge = sample_cyclic(5000, 100);
    assert_true(advised(tight, "cache-cliff", "64 KiB would remove 99 % of the misses"));
    assert_false(advised(roomy, "cache-cliff", ""));
    assert_false(advised(huge, "cache-cliff", ""));
    rsc_profile_free(tight);
    rsc_profile_free(roomy);
    rsc_profile_free(huge);
}

/* The line that streams and has one reference a cache line. */
static void test_rows(void **state) {
    (void)state;
    struct rsc_profile *rows = sample_rows();
    assert_true(advised(rows, "line-use", "solver.c:71"));
    assert_true(advised(rows, "cold", "first touches of memory (4.27 MiB in all)"));
    assert_false(advised(rows, "long-distance", "")); /* 2.5 % of misses are not worth it */
    assert_false(advised(rows, "imbalance", ""));
    rsc_profile_free(rows);
}

static const struct rsc_advice *advice_by(const struct rsc_advices *advices, const char *rule) {
    for (size_t i = 0; i < advices->count; i++)
        if (!strcmp(advices->items[i].rule, rule)) return &advices->items[i];
    return NULL;
}

/* Which of the three follows from the loops of both ends and the stride; each has its loops, its data and its size. */
static void test_shapes(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_loops();
    struct rsc_advices advices;
    assert_int_equal(rsc_advise(&advices, profile, &at_64k), 0);
    const struct rsc_advice *fusion = advice_by(&advices, "fusion"), *interchange = advice_by(&advices, "interchange"),
                            *tiling = advice_by(&advices, "tiling");
    assert_true(fusion && interchange && tiling && !advice_by(&advices, "long-distance") &&
                !advice_by(&advices, "line-use"));
    assert_non_null(strstr(fusion->evidence, "lines of grid (wave.c:3) that the loop at wave.c:20 (first) uses"));
    assert_non_null(strstr(fusion->evidence, "the loop at wave.c:30 (second) uses again"));
    assert_non_null(strstr(fusion->evidence, "inside the loop at wave.c:10 (main)"));
    assert_int_equal(fusion->loop, 1);
    assert_int_equal(fusion->pair_count, 1);
    assert_true(fusion->share > 0.28 && fusion->share < 0.29);
    assert_true(fusion->pays_below > 19000 * 64 && fusion->pays_below < 21000 * 64);
    assert_non_null(strstr(interchange->evidence,
                           "The stride in the loop at wave.c:41 (columns) is 4 KiB (99 % of the steps seen): at most "
                           "8 bytes of each 64 B line"));
    assert_non_null(strstr(interchange->attempt, "Interchange it with the loop at wave.c:40 (columns)"));
    assert_non_null(
        strstr(tiling->evidence, "the loop at wave.c:51 (rows) goes through its data of heap block allocated at"));
    assert_non_null(strstr(tiling->evidence, "in a later iteration of the loop at wave.c:50 (rows)"));
    rsc_advices_free(&advices);

    /* steps without order: neither */
    profile->code[0].stride.same = profile->code[3].stride.same = 400;
    assert_int_equal(rsc_advise(&advices, profile, &at_64k), 0);
    assert_true(advice_by(&advices, "fusion") && advice_by(&advices, "long-distance"));
    assert_true(!advice_by(&advices, "interchange") && !advice_by(&advices, "tiling"));
    rsc_advices_free(&advices);

    /* strides not known: by how often a line is used at once */
    profile->code[0].stride.seen = profile->code[3].stride.seen = 0;
    assert_int_equal(rsc_advise(&advices, profile, &at_64k), 0);
    assert_non_null(strstr(advice_by(&advices, "interchange")->evidence, "a line serves only 1.00 references"));
    assert_non_null(advice_by(&advices, "tiling"));
    rsc_advices_free(&advices);

    /* one access of 64 bytes uses all of a line, however far the next is */
    profile->code[3].stride = (struct rsc_stride){.bytes = 4096, .same = 990, .seen = 1000, .access_bytes = 64};
    assert_int_equal(rsc_advise(&advices, profile, &at_64k), 0);
    assert_null(advice_by(&advices, "interchange"));
    rsc_advices_free(&advices);

    /* loops not known: pairs are told as they are */
    for (size_t i = 0; i < 3; i++) profile->pairs[i].use.loop = profile->pairs[i].reuse.loop = 0;
    assert_int_equal(rsc_advise(&advices, profile, &at_64k), 0);
    assert_true(!advice_by(&advices, "fusion") && !advice_by(&advices, "tiling") &&
                advice_by(&advices, "long-distance"));
    assert_int_equal(advice_by(&advices, "long-distance")->pair_count, 3);
    rsc_advices_free(&advices);
    rsc_profile_free(profile);
}

/*
 * A watched word, or a line modelled from watched parts, does not show what else of its line is used: no interchange
 * and no line-use, though strides are unknown and no word is used twice at once.
 */
static void test_words(void **state) {
    (void)state;
    for (int modelled = 0; modelled < 2; modelled++) {
        struct rsc_profile *profile = sample_loops(), *rows = sample_rows();
        struct rsc_advices advices;
        profile->code[0].stride.seen = profile->code[3].stride.seen = 0;
        if (modelled) {
            rsc_profile_set_text(&profile->made.modelled, "of parts");
            rsc_profile_set_text(&rows->made.modelled, "of parts");
        } else {
            profile->made.line_bytes = rows->made.line_bytes = 8;
        }
        assert_int_equal(rsc_advise(&advices, profile, &at_64k), 0);
        const struct rsc_advice *tiling = advice_by(&advices, "tiling");
        assert_true(tiling && advice_by(&advices, "fusion"));
        assert_true(!advice_by(&advices, "interchange") && !advice_by(&advices, "line-use"));
        assert_int_equal(tiling->pair_count, 2); /* what 64 B lines have one of each for */
        assert_null(strstr(tiling->evidence, "in order"));
        assert_non_null(strstr(tiling->evidence, modelled ? "comes back to a line" : "comes back to a word"));
        assert_non_null(strstr(tiling->attempt, "which these reuses do not show"));
        assert_int_equal(advice_by(&advices, "fusion")->pays_below != 0, modelled);
        rsc_advices_free(&advices);
        assert_false(advised(rows, "line-use", ""));
        rsc_profile_free(rows);
        rsc_profile_free(profile);
    }
    struct rsc_profile *tight = sample_cyclic(8800, 100); /* 68.75 KiB of words; of lines, nobody knows */
    tight->made.line_bytes = 8;
    assert_false(advised(tight, "cache-cliff", ""));
    rsc_profile_free(tight);
}

/* Pairs that take longer come first, though fewer of them miss. */
static void test_latency(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_loops();
    struct rsc_ranking ranking;
    assert_int_equal(rsc_ranking_make(&ranking, profile, RSC_RANK_PAIRS, 1024), 0);
    assert_ptr_equal(ranking.ranks[0].rows[0], &profile->pairs[1]); /* most misses */
    rsc_ranking_free(&ranking);
    profile->pairs[1].latency = 20;
    profile->pairs[2].latency = 90; /* 30000 of 90 cycles; the first has the mean, as it was not measured */
    assert_int_equal(rsc_ranking_make(&ranking, profile, RSC_RANK_PAIRS, 1024), 0);
    assert_ptr_equal(ranking.ranks[0].rows[0], &profile->pairs[2]);
    assert_ptr_equal(ranking.ranks[1].rows[0], &profile->pairs[0]);
    assert_ptr_equal(ranking.ranks[2].rows[0], &profile->pairs[1]);
    rsc_ranking_free(&ranking);
    /* What it takes and where it comes from is said. */
    for (size_t i = 0; i < profile->pair_count; i++) {
        profile->pairs[i].latency = 214;
        profile->pairs[i].sources[RSC_SOURCE_L3] = 0.25;
        profile->pairs[i].sources[RSC_SOURCE_MEMORY] = 0.75;
    }
    struct rsc_advices advices;
    assert_int_equal(rsc_advise(&advices, profile, &at_64k), 0);
    int said = 0;
    for (size_t i = 0; i < advices.count; i++)
        said |=
            strstr(advices.items[i].evidence, "takes 214 cycles on average, its data comes 75 % from memory.") != NULL;
    assert_true(said);
    rsc_advices_free(&advices);
    rsc_profile_free(profile);
}

/* Two ends below different calls: where the paths part, and the loops on either. */
static void test_ancestor(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_loops();
    assert_int_equal(rsc_profile_set_contexts(profile, 5), 0);
    static const uint32_t parents[] = {RSC_NO_CONTEXT, 0, 0, 1, 2}, loops[] = {0, 1, 1, 0, 0};
    for (size_t i = 0; i < 5; i++) {
        profile->contexts[i].parent = parents[i];
        profile->contexts[i].place = sample_place(0x2000 + i, "f", "wave.c", 70 + (uint32_t)i, "wave");
        profile->contexts[i].place.loop = loops[i];
    }
    struct rsc_pair_row *pair = &profile->pairs[1]; /* first -> second, in loops 2 and 3 */
    pair->use_context = 3, pair->reuse_context = 4;
    struct rsc_pair_ancestor common = rsc_pair_ancestor(profile, pair);
    assert_int_equal(common.context, 0);
    assert_ptr_equal(common.use, &profile->contexts[1].place);
    assert_ptr_equal(common.reuse, &profile->contexts[2].place);
    assert_int_equal(common.loop, 1);
    assert_int_equal(common.around, 1);
    assert_int_equal(common.use_loop, 1); /* the outermost of the function that has first's loop */
    profile->contexts[1].place.loop = profile->contexts[2].place.loop = 0;
    profile->contexts[0].place.loop = 4;
    common = rsc_pair_ancestor(profile, pair);
    assert_int_equal(common.loop, 0);
    assert_int_equal(common.around, 4); /* around the call that both come from */
    pair->use_context = 0; /* the use is where the other path goes on from */
    common = rsc_pair_ancestor(profile, pair);
    assert_int_equal(common.context, 0);
    assert_ptr_equal(common.use, &pair->use);
    assert_ptr_equal(common.reuse, &profile->contexts[2].place);
    pair->use_context = RSC_NO_CONTEXT;
    common = rsc_pair_ancestor(profile, pair);
    assert_int_equal(common.context, RSC_NO_CONTEXT);
    assert_int_equal(common.around, 0);
    rsc_profile_free(profile);
}

static void test_nothing(void **state) {
    (void)state;
    struct rsc_profile *profiles[] = {sample_zero(), sample_requests(1000, 3), sample_cyclic(1, 1)};
    for (size_t i = 0; i < 2; i++) {
        struct rsc_advices advices;
        assert_int_equal(rsc_advise(&advices, profiles[i], &at_64k), 0);
        assert_int_equal(advices.count, 0);
        rsc_advices_free(&advices);
    }
    const struct rsc_result all = {.kind = RSC_RESULT_ADVICE, .profiles = profiles, .count = 3};
    char *text;
    size_t bytes;
    assert_int_equal(rsc_advise_text(&all, &at_64k, &text, &bytes, NULL), 0);
    assert_non_null(strstr(text, "Profile 2: Nothing to advise for a cache of 64 KiB."));
    free(text);
    assert_int_equal(rsc_advise_json(&all, &at_64k, &text, &bytes, NULL), 0);
    free(text);
    for (size_t i = 0; i < 3; i++) rsc_profile_free(profiles[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sharing),  cmocka_unit_test(test_cliff),   cmocka_unit_test(test_rows),
        cmocka_unit_test(test_shapes),   cmocka_unit_test(test_words),   cmocka_unit_test(test_latency),
        cmocka_unit_test(test_ancestor), cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
