/* test_profile_json.c - profiles to JSON and back, and JSON that is not to be believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include <stdio.h>

#include "sample_profiles.h"

static int parse(const char *text, struct rsc_error *error) {
    struct rsc_profile **profiles;
    size_t count;
    int rc = rsc_profiles_parse(text, strlen(text), "x.json", &profiles, &count, error);
    if (rc) return rc;
    for (size_t i = 0; i < count; i++) rsc_profile_free(profiles[i]);
    free(profiles);
    return 0;
}

static void expect_same_bytes(struct rsc_profile *profile) {
    struct rsc_profile **profiles;
    struct rsc_error error;
    size_t bytes, again_bytes, count;
    char *text = sample_json(profile, &bytes);
    int rc = rsc_profiles_parse(text, bytes, "x.json", &profiles, &count, &error);
    if (rc) print_message("%s\n", error.message);
    assert_int_equal(rc, 0);
    assert_int_equal(count, 1);
    char *again = sample_json(profiles[0], &again_bytes);
    assert_string_equal(text, again);
    rsc_profile_free(profiles[0]);
    free(profiles);
    free(text);
    free(again);
    rsc_profile_free(profile);
}

static void round_trips_are_identical(void **state) {
    (void)state;
    expect_same_bytes(sample_zero());
    expect_same_bytes(sample_cyclic(10, 100));
    expect_same_bytes(sample_cyclic(100000, 3));
    expect_same_bytes(sample_spread(1));
    expect_same_bytes(sample_spread(20000));
    expect_same_bytes(sample_rich());
}

static void the_public_way_is_the_same(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rich(), *back = NULL;
    struct rsc_error error;
    char *text, *again, *expected = sample_json(profile, NULL);
    size_t bytes, again_bytes;
    assert_int_equal(rsc_profile_json(profile, &text, &bytes, &error), 0);
    assert_int_equal(strlen(text), bytes);
    assert_string_equal(text, expected);
    assert_int_equal(rsc_profile_parse(&back, text, bytes, NULL, &error), 0);
    assert_int_equal(rsc_profile_json(back, &again, &again_bytes, &error), 0);
    assert_string_equal(again, text);
    assert_int_equal(rsc_profile_parse(&back, text, bytes / 2, NULL, &error), RSC_EFORMAT);
    assert_non_null(strstr(error.message, "profile: "));
    rsc_text_free(text);
    rsc_text_free(again);
    rsc_text_free(NULL);
    free(expected);
    rsc_profiles_free(NULL, 0);
    rsc_profile_free(back);
    rsc_profile_free(profile);
}

static void several_profiles_are_one_document(void **state) {
    (void)state;
    struct rsc_profile *both[] = {sample_spread(10), sample_rich()}, **loaded;
    char *text, *again;
    size_t bytes, again_bytes, count;
    assert_int_equal(rsc_profiles_json_text(both, 2, &text, &bytes, NULL), 0);
    assert_non_null(strstr(text, "reusescope-profiles/1"));
    assert_int_equal(rsc_profiles_parse(text, bytes, "x", &loaded, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_int_equal(rsc_profiles_json_text(loaded, 2, &again, &again_bytes, NULL), 0);
    assert_string_equal(text, again);
    for (size_t i = 0; i < 2; i++) rsc_profile_free(both[i]), rsc_profile_free(loaded[i]);
    free(loaded);
    free(text);
    free(again);
}

static void a_zero_profile_reads_as_zeros(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_zero();
    char *text = sample_json(profile, NULL);
    assert_non_null(strstr(text, "\"rd\":[]"));
    assert_non_null(strstr(text, "\"mrc\":[]"));
    assert_int_equal(parse(text, NULL), 0);
    free(text);
    rsc_profile_free(profile);
}

static void the_cap_is_an_open_bin(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rich();
    char *text = sample_json(profile, NULL);
    assert_non_null(strstr(text, "{\"lo\":1488,\"hi\":1499,\"count\":213},\n"
                                 "  {\"lo\":1500,\"hi\":null,\"count\":33}\n ]"));
    assert_non_null(strstr(text, "\"max_distance\":1500"));
    assert_non_null(strstr(text, "{\"lo\":1280,\"hi\":null,\"count\":"));
    free(text);
    rsc_profile_free(profile);
}

static void an_open_bin_alone_says_the_cap(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rich(), **loaded;
    size_t count;
    char *text = sample_json(profile, NULL), *key = strstr(text, ",\"max_distance\":1500");
    memset(key, ' ', strlen(",\"max_distance\":1500"));
    assert_int_equal(rsc_profiles_parse(text, strlen(text), "x", &loaded, &count, NULL), 0);
    assert_int_equal(loaded[0]->rd_cap, 1500);
    assert_int_equal(loaded[0]->rd_capped, 33);
    rsc_profile_free(loaded[0]);
    free(loaded);
    free(text);
    rsc_profile_free(profile);
}

/* The document of sample_cyclic(3, 2) with the first `from` replaced by `to`. */
static void expect_refused(const char *from, const char *to, int code, const char *says) {
    struct rsc_profile *profile = sample_cyclic(3, 2);
    struct rsc_error error = {0};
    char *text = sample_json(profile, NULL), *changed, *at = strstr(text, from);
    assert_non_null(at);
    assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    assert_int_equal(parse(changed, &error), code);
    if (code) {
        assert_int_equal(strncmp(error.message, "x.json: ", 8), 0);
        if (!strstr(error.message, says)) print_message("%s\n", error.message);
        assert_non_null(strstr(error.message, says));
    }
    free(changed);
    free(text);
    rsc_profile_free(profile);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    expect_refused("{", "{", 0, "");
    expect_refused("\"cold\":3", "\"unknown\":[{}],\"cold\":3", 0, "");
    expect_refused("\"cold\":3", "\"cold\":3,\"cold\":3", RSC_EFORMAT, "duplicate");
    expect_refused("\"cold\":3,", "", RSC_EFORMAT, "cold is missing");
    expect_refused("\"cold\":3", "\"cold\":-3", RSC_EFORMAT, "cold must be");
    expect_refused("\"cold\":3", "\"cold\":3.0", RSC_EFORMAT, "cold must be");
    expect_refused("\"cold\":3", "\"cold\":\"3\"", RSC_EFORMAT, "cold must be");
    expect_refused("\"cold\":3", "\"cold\":4", RSC_EFORMAT, "1 more than references");
    expect_refused("\"cold\":3", "\"cold\":9223372036854775807", RSC_EFORMAT, "more than references");
    expect_refused("\"cold\":3", "\"cold\":99999999999999999999", RSC_EFORMAT, "line 3");
    expect_refused("\"line\":64", "\"line\":0", RSC_EFORMAT, "made.line");
    expect_refused("\"line\":64", "\"line\":65", RSC_EFORMAT, "made.line");
    expect_refused("\"line\":64", "\"line\":4294967296", RSC_EFORMAT, "line must be");
    expect_refused("\"single\"", "\"double\"", RSC_EFORMAT, "made.model");
    expect_refused("\"command\":[]", "\"command\":[1]", RSC_EFORMAT, "command[0]");
    expect_refused("\"coverage\":null", "\"coverage\":1.5", RSC_EFORMAT, "coverage");
    expect_refused("\"seconds\":0.25", "\"seconds\":-1", RSC_EFORMAT, "seconds");
    expect_refused("\"lo\":2,\"hi\":2", "\"lo\":2,\"hi\":3", RSC_EFORMAT, "rd[0]");
    expect_refused("\"lo\":2,\"hi\":2", "\"lo\":1030,\"hi\":1039", RSC_EFORMAT, "rd[0]");
    expect_refused("\"lo\":2,\"hi\":2,\"count\":3", "\"lo\":2,\"hi\":2,\"count\":0", RSC_EFORMAT, "rd[0]");
    expect_refused("{\"lo\":2,\"hi\":2,\"count\":3}", "{\"lo\":2,\"hi\":2,\"count\":2},{\"lo\":1,\"hi\":1,\"count\":1}",
                   RSC_EFORMAT, "rd[1]");
    expect_refused("{\"lo\":2,\"hi\":2,\"count\":3}", "{\"lo\":2,\"hi\":2,\"count\":2},{\"lo\":2,\"hi\":2,\"count\":1}",
                   RSC_EFORMAT, "rd[1]");
    expect_refused("{\"lo\":2,\"hi\":2,\"count\":3}",
                   "{\"lo\":2,\"hi\":null,\"count\":2},{\"lo\":3,\"hi\":3,\"count\":1}", RSC_EFORMAT, "rd[0]");
    expect_refused("{\"lo\":2,\"hi\":2,\"count\":3}",
                   "{\"lo\":2,\"hi\":2,\"count\":2},{\"lo\":1,\"hi\":null,\"count\":1}", RSC_EFORMAT, "rd[0]");
    expect_refused("{\"lo\":2,\"hi\":2,\"count\":3}", "7", RSC_EFORMAT, "rd[0]");
    expect_refused("{\"lo\":3,\"hi\":3,\"count\":3}", "{\"lo\":0,\"hi\":0,\"count\":3}", RSC_EFORMAT, "ri[0]");
    expect_refused("{\"lo\":3,\"hi\":3,\"count\":3}", "{\"lo\":3,\"hi\":3,\"count\":7}", RSC_EFORMAT, "ri sums");
    expect_refused("\"bytes\":128", "\"bytes\":129", RSC_EFORMAT, "mrc[1]");
    expect_refused("\"lines\":2", "\"lines\":1", RSC_EFORMAT, "mrc[1]");
    expect_refused("\"miss_ratio\":1", "\"miss_ratio\":1.01", RSC_EFORMAT, "mrc[0]");
    expect_refused("\"low\":1", "\"low\":null", RSC_EFORMAT, "mrc[0]");
    expect_refused("\"high\":1", "\"high\":0.5", RSC_EFORMAT, "mrc[0]");
    expect_refused("\"threads\":[]", "\"threads\":{}", RSC_EFORMAT, "threads must be an array");
    expect_refused("\"phases\":[]", "\"phases\":[{\"first\":9}]", RSC_EFORMAT, "phases[0].first");
    expect_refused("profile/1", "profile/2", RSC_EVERSION, "newer than this tool");
    expect_refused("reusescope-profile/1", "reusescope-sim/1", RSC_EFORMAT, "reusescope-sim/1");
    expect_refused("\"schema\"", "\"profiles\":[],\"schema\"", RSC_EFORMAT, "schema");
    expect_refused("\"single\"", "\"sin\\u0000gle\"", RSC_EFORMAT, "line 2");
    expect_refused("]}\n", "]}\n{}", RSC_EFORMAT, "line");
}

static void every_prefix_is_refused(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rich(), **loaded;
    size_t bytes, count;
    char *text = sample_json(profile, &bytes);
    for (size_t cut = 0; cut < bytes - 1; cut += cut < 2000 ? 1 : 997)
        assert_int_equal(rsc_profiles_parse(text, cut, "x", &loaded, &count, NULL), RSC_EFORMAT);
    free(text);
    rsc_profile_free(profile);
}

static void too_many_values_are_refused_unread(void **state) {
    (void)state;
    struct rsc_profile **loaded;
    struct rsc_error error;
    size_t bytes = 20 << 20, count;
    char *text = malloc(bytes);
    assert_non_null(text);
    memset(text, '[', bytes);
    text[0] = '{';
    assert_int_equal(rsc_profiles_parse(text, bytes, "x", &loaded, &count, &error), RSC_ELIMIT);
    free(text);
}

static void setters_replace_and_limit(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_empty();
    assert_int_equal(rsc_profile_set_threads(profile, 4), 0);
    assert_int_equal(rsc_profile_set_threads(profile, 2), 0);
    assert_int_equal(profile->thread_count, 2);
    assert_int_equal(rsc_profile_set_threads(profile, RSC_PROFILE_ROWS_MAX + 1), RSC_ELIMIT);
    assert_int_equal(profile->thread_count, 0);
    assert_int_equal(rsc_profile_set_bins(profile, 65), RSC_EINVAL);
    assert_int_equal(rsc_profile_set_bins(profile, 64), 0);
    assert_int_equal(rsc_profile_set_bins(profile, 0), 0);
    assert_int_equal(rsc_profile_set_text(&profile->made.by, NULL), 0);
    assert_null(profile->made.by);
    rsc_profile_free(profile);
    rsc_profile_free(NULL);
}

static size_t allocations_left;
static void *limited(size_t bytes) { return allocations_left && allocations_left-- ? malloc(bytes) : NULL; }

/* Whichever allocation of the parser fails, the error is memory: never the text's syntax. */
static void without_memory_is_said_so(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows(), *loaded = NULL;
    size_t bytes, most = 0;
    char *text = sample_json(profile, &bytes);
    int status = RSC_ENOMEM;
    struct rsc_error error;
    for (; status; most += 1 + most / 16) {
        error = (struct rsc_error){0};
        allocations_left = most;
        json_set_alloc_funcs(limited, free);
        status = rsc_profile_parse(&loaded, text, bytes, "p", &error);
        json_set_alloc_funcs(malloc, free);
        if (status) assert_int_equal(status, RSC_ENOMEM);
        if (status) assert_string_equal(error.message, "out of memory (p)");
    }
    assert_true(most > 100);
    free(text);
    rsc_profile_free(loaded);
    rsc_profile_free(profile);
}

/* What is wrong with the text stays that. */
static void bad_syntax_is_not_memory(void **state) {
    (void)state;
    static const char *const bad[] = {"{",
                                      "{\"a\"",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{\"a\":01}",
                                      "{\"a\":+1}",
                                      "{\"a\":1.}",
                                      "{\"a\":1e}",
                                      "{\"a\":tru}",
                                      "{\"a\":\"\\x\"}",
                                      "{\"a\":[1}",
                                      "{\"a\":1}}",
                                      "{a:1}",
                                      "{\"a\":\"\n\"}",
                                      "{\"a\":\"\\u12g4\"}",
                                      "{\"a\":-}",
                                      "{\"a\":\"b}",
                                      "{\"a\" 1}",
                                      "{,}",
                                      "{\"a\":\"\\ud800\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rsc_profile *loaded;
        struct rsc_error error;
        assert_int_equal(rsc_profile_parse(&loaded, bad[i], strlen(bad[i]), "p", &error), RSC_EFORMAT);
        assert_int_equal(error.line > 0, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips_are_identical),
        cmocka_unit_test(the_public_way_is_the_same),
        cmocka_unit_test(several_profiles_are_one_document),
        cmocka_unit_test(a_zero_profile_reads_as_zeros),
        cmocka_unit_test(the_cap_is_an_open_bin),
        cmocka_unit_test(an_open_bin_alone_says_the_cap),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(too_many_values_are_refused_unread),
        cmocka_unit_test(setters_replace_and_limit),
        cmocka_unit_test(without_memory_is_said_so),
        cmocka_unit_test(bad_syntax_is_not_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
