/* test_advise.c - advice where there is a reason for it, and only there. (Programs: live_advise.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/advise.h"
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
    struct rsc_profile *tight = sample_cyclic(1100, 100), *roomy = sample_cyclic(1000, 100), *huge = sample_cyclic(5000, 100);
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

static void test_nothing(void **state) {
    (void)state;
    struct rsc_profile *profiles[] = {sample_zero(), sample_requests(1000, 3), sample_cyclic(1, 1)};
    for (size_t i = 0; i < 2; i++) {
        struct rsc_advices advices;
        assert_int_equal(rsc_advise(&advices, profiles[i], &at_64k), 0);
        assert_int_equal(advices.count, 0);
        rsc_advices_free(&advices);
    }
    char *text;
    size_t bytes;
    assert_int_equal(rsc_advise_text(profiles, 3, &at_64k, &text, &bytes, NULL), 0);
    assert_non_null(strstr(text, "Profile 2: Nothing to advise for a cache of 64 KiB."));
    free(text);
    assert_int_equal(rsc_advise_json(profiles, 3, &at_64k, &text, &bytes, NULL), 0);
    free(text);
    for (size_t i = 0; i < 3; i++) rsc_profile_free(profiles[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_cliff),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
