/*
 * test_so_far.c - asking an engine how far it has got changes nothing, and what a
 * sampling engine says of its error is what the profile says in the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_spec.h"
#include "profile/metrics.h"
#include "profile/profile_model.h"
#include "trace/generate/generate.h"

#define ACCESSES 300000u
#define BATCH 30000u

static uint64_t addr[ACCESSES], meta[ACCESSES];

static const char *model = "single";

static struct rsc_profile *analyse(const char *name, double error_allowed, int ask, struct rsc_so_far *so_far) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = name, .model = model, .error = error_allowed};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    if (rsc_engine_new(&engine, &options, &error) < 0) fail_msg("%s", error.message);
    if (ask) rsc_engine_so_far(engine, so_far);
    for (uint32_t done = 0; done < ACCESSES; done += BATCH) {
        struct rsc_batch batch = {
            .count = BATCH, .addr = addr + done, .meta = meta + done, .instructions = RSC_UNKNOWN};
        assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
        if (ask) rsc_engine_so_far(engine, so_far);
    }
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_free(engine);
    return profile;
}

static char *text_of(struct rsc_profile *profile) {
    char *text;
    size_t bytes;
    profile->made.seconds = 0;
    assert_int_equal(rsc_profiles_json_text(&profile, 1, &text, &bytes, NULL), 0);
    return text;
}

static void check_without_error(const char *name, int samples) {
    struct rsc_so_far so_far;
    struct rsc_profile *asked = analyse(name, 0, 1, &so_far), *plain = analyse(name, 0, 0, NULL);
    char *a = text_of(asked), *b = text_of(plain);
    assert_string_equal(a, b);
    assert_int_equal(so_far.references, asked->references);
    assert_int_equal(so_far.samples > 0, samples);
    assert_true(isnan(so_far.error) || (so_far.error >= 0 && so_far.error < 1));
    free(a);
    free(b);
    rsc_profile_free(asked);
    rsc_profile_free(plain);
}

static void check(const char *name, double error_allowed, int knows_references, int knows_error, int samples) {
    struct rsc_so_far so_far;
    struct rsc_profile *asked = analyse(name, error_allowed, 1, &so_far),
                       *plain = analyse(name, error_allowed, 0, NULL);
    char *a = text_of(asked), *b = text_of(plain);
    assert_string_equal(a, b);
    assert_int_equal(so_far.references, knows_references ? asked->references : 0);
    assert_int_equal(so_far.samples > 0, samples);
    if (samples) assert_non_null(so_far.sampled);
    assert_int_equal(!isnan(so_far.error), knows_error);
    if (knows_error && error_allowed == 0) assert_true(fabs(so_far.error - rsc_profile_stated_error(asked)) <= 1e-9);
    free(a);
    free(b);
    rsc_profile_free(asked);
    rsc_profile_free(plain);
}

static void asking_changes_nothing(void **state) {
    static const char *const specs[] = {"zipf,lines=20K,skew=0.8,threads=2", "cyclic,lines=9K"};
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct rsc_generator *generator;
        assert_int_equal(rsc_generator_new(&generator, specs[i], 3, NULL), 0);
        rsc_generator_fill(generator, addr, meta, ACCESSES);
        rsc_generator_free(generator);
        check("exact", 0, 1, 1, 0);
        check("auto", 0, 1, 1, 0);
        check("shards:0.1", 0, 1, 1, 1);
        check("shards-max:512", 0, 1, 1, 1);
        check("hotl", 0, 1, 0, 1);
        check("parallel", 0, 0, 0, 0); /* says nothing */
        model = "private";
        check("exact", 0, 1, 1, 0);
        check_without_error("sampled:lines=1/16", 1); /* its curve ends elsewhere than the sum of all stacks */
        check_without_error("sampled:period=50", 1);
        model = "shared";
        check_without_error("sampled:period=50", 1);
        model = "single";
    }
}

/* Exact at first, then a sample: both are counted, and the error is that of the part that was sampled. */
static void an_engine_that_changes_its_ways_says_so(void **state) {
    struct rsc_so_far so_far;
    struct rsc_generator *generator;
    (void)state;
    assert_int_equal(rsc_generator_new(&generator, "uniform,lines=40K", 5, NULL), 0);
    rsc_generator_fill(generator, addr, meta, ACCESSES);
    rsc_generator_free(generator);
    struct rsc_profile *profile = analyse("auto", 0.05, 1, &so_far);
    assert_int_equal(so_far.references, profile->references);
    assert_non_null(strstr(profile->made.by, "shards")); /* else this shows nothing */
    assert_true(so_far.samples > 0 && so_far.error > 0 && so_far.error < 1);
    rsc_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_changes_nothing),
        cmocka_unit_test(an_engine_that_changes_its_ways_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
