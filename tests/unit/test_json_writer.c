/* test_json_writer.c - documents as text, and numbers that read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/json_writer.h"
#include "base/rng.h"

static void expect_text(struct rsc_json *json, const char *expected) {
    assert_int_equal(rsc_json_finish(json), 0);
    assert_string_equal(json->text, expected);
    assert_int_equal(json->used, strlen(expected));
    rsc_json_free(json);
}

static void nesting_and_commas(void **state) {
    (void)state;
    struct rsc_json json;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "schema", "x/1");
    rsc_json_key(&json, "list");
    rsc_json_array(&json);
    rsc_json_u64(&json, 1);
    rsc_json_u64(&json, UINT64_MAX);
    rsc_json_array(&json);
    rsc_json_array_end(&json);
    rsc_json_object(&json);
    rsc_json_object_end(&json);
    rsc_json_array_end(&json);
    rsc_json_key_u64(&json, "n", 0);
    rsc_json_key_double(&json, "d", 0.61);
    rsc_json_key(&json, "pc");
    rsc_json_hex(&json, 0x1139);
    rsc_json_key(&json, "t");
    rsc_json_bool(&json, 5);
    rsc_json_key(&json, "f");
    rsc_json_bool(&json, 0);
    rsc_json_key_string(&json, "none", NULL);
    rsc_json_object_end(&json);
    expect_text(&json, "{\"schema\":\"x/1\",\"list\":[1,18446744073709551615,[],{}],\"n\":0,\"d\":0.61,"
                       "\"pc\":\"0x1139\",\"t\":true,\"f\":false,\"none\":null}\n");
}

static void line_breaks(void **state) {
    (void)state;
    struct rsc_json json;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_newline(&json);
    rsc_json_key_u64(&json, "a", 1);
    rsc_json_newline(&json);
    rsc_json_key(&json, "b");
    rsc_json_array(&json);
    for (uint64_t i = 0; i < 2; i++) {
        rsc_json_newline(&json);
        rsc_json_u64(&json, i);
    }
    rsc_json_u64(&json, 2);
    rsc_json_newline(&json);
    rsc_json_array_end(&json);
    rsc_json_object_end(&json);
    expect_text(&json, "{\n \"a\":1,\n \"b\":[\n  0,\n  1,2\n ]}\n");
}

static void escapes(void **state) {
    (void)state;
    struct rsc_json json;
    rsc_json_init(&json);
    rsc_json_array(&json);
    rsc_json_string(&json, "a\"b\\c\n\t\r\x01\x1f\x7f</script>&");
    rsc_json_string(&json, "");
    rsc_json_string(&json, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
    rsc_json_string(&json,
                    "\xc2\x9b|\xe2\x80\xae|\xe2\x81\xa6|\xe2\x80\xa7|\xc2\xa0"); /* U+009B, 202E, 2066; 2027, A0 */
    rsc_json_array_end(&json);
    expect_text(
        &json,
        "[\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u001f\\u007f\\u003c/script\\u003e\\u0026\",\"\","
        "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\",\"\\u009b|\\u202e|\\u2066|\xe2\x80\xa7|\xc2\xa0\"]\n");
}

#define BAD "\xef\xbf\xbd"

static void invalid_utf8_is_replaced(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } CASES[] = {
        {"\x80", BAD},
        {"a\xff"
         "b",
         "a" BAD "b"},
        {"\xc0\x80", BAD BAD},                 /* overlong NUL */
        {"\xc1\xbf", BAD BAD},                 /* overlong */
        {"\xe0\x9f\xbf", BAD BAD BAD},         /* overlong */
        {"\xed\xa0\x80", BAD BAD BAD},         /* surrogate */
        {"\xf0\x8f\xbf\xbf", BAD BAD BAD BAD}, /* overlong */
        {"\xf4\x90\x80\x80", BAD BAD BAD BAD}, /* past U+10FFFF */
        {"\xc3", BAD},                         /* cut */
        {"\xe2\x82", BAD BAD},
        {"\xf0\x9f\x98", BAD BAD BAD},
        {"\xe2\x82z", BAD BAD "z"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char expected[64];
        struct rsc_json json;
        snprintf(expected, sizeof expected, "\"%s\"\n", CASES[i].out);
        rsc_json_init(&json);
        rsc_json_string(&json, CASES[i].in);
        expect_text(&json, expected);
    }
}

static void expect_double(double value, const char *expected) {
    char line[64];
    struct rsc_json json;
    snprintf(line, sizeof line, "%s\n", expected);
    rsc_json_init(&json);
    rsc_json_double(&json, value);
    expect_text(&json, line);
}

static void doubles_as_text(void **state) {
    (void)state;
    expect_double(0, "0");
    expect_double(-0.0, "-0.0");
    expect_double(1, "1");
    expect_double(-1.5, "-1.5");
    expect_double(0.1, "0.1");
    expect_double(0.1 + 0.2, "0.30000000000000004");
    expect_double(1.0 / 3, "0.3333333333333333");
    expect_double(100, "100");
    expect_double(1e16, "10000000000000000");
    expect_double(123456789012345678.0, "1.2345678901234568e+17");
    expect_double(1e17, "1e+17");
    expect_double(0.00001, "0.00001");
    expect_double(0.000012, "0.000012");
    expect_double(0.000001, "1e-6");
    expect_double(1.25e-7, "1.25e-7");
    expect_double(1e300, "1e+300");
    expect_double(1.7976931348623157e308, "1.7976931348623157e+308");
    expect_double(2.2250738585072014e-308, "2.2250738585072014e-308");
    expect_double(5e-324, "5e-324");
    expect_double(NAN, "null");
    expect_double(INFINITY, "null");
    expect_double(-INFINITY, "null");
}

static void doubles_read_back(void **state) {
    (void)state;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 1, 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = rsc_rng_u64(&rng);
        double value;
        if (i & 1) value = (double)rsc_rng_below(&rng, 100000) / 1000;
        else memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        struct rsc_json json;
        rsc_json_init(&json);
        rsc_json_double(&json, value);
        assert_int_equal(rsc_json_finish(&json), 0);
        assert_true(strtod(json.text, NULL) == value);
        assert_true(strlen(json.text) <= (i & 1 ? 7 : 25));
        rsc_json_free(&json);
    }
}

static void locale_does_not_matter(void **state) {
    (void)state;
    static const char *const COMMA[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ps_AF.UTF-8"};
    int found = 0;
    for (size_t i = 0; i < sizeof COMMA / sizeof COMMA[0]; i++) {
        if (!setlocale(LC_ALL, COMMA[i])) continue;
        found = 1;
        expect_double(0.125, "0.125");
        expect_double(0.1 + 0.2, "0.30000000000000004");
    }
    setlocale(LC_ALL, "C");
    if (!found) skip(); /* no locale with a decimal comma on this machine */
}

static void too_deep_is_an_error(void **state) {
    (void)state;
    struct rsc_json json;
    rsc_json_init(&json);
    for (int i = 0; i < 100; i++) rsc_json_array(&json);
    for (int i = 0; i < 100; i++) rsc_json_array_end(&json);
    assert_int_equal(rsc_json_finish(&json), RSC_ELIMIT);
    rsc_json_free(&json);

    rsc_json_init(&json);
    for (int i = 0; i < RSC_JSON_DEPTH_MAX - 1; i++) rsc_json_array(&json);
    for (int i = 0; i < RSC_JSON_DEPTH_MAX - 1; i++) rsc_json_array_end(&json);
    assert_int_equal(rsc_json_finish(&json), 0);
    assert_int_equal(json.used, 2 * (RSC_JSON_DEPTH_MAX - 1) + 1);
    rsc_json_free(&json);
}

static void large_documents(void **state) {
    (void)state;
    struct rsc_json json;
    rsc_json_init(&json);
    rsc_json_array(&json);
    for (uint64_t i = 0; i < 100000; i++) rsc_json_u64(&json, i % 10);
    rsc_json_array_end(&json);
    assert_int_equal(rsc_json_finish(&json), 0);
    assert_int_equal(json.used, 200002);
    assert_int_equal(strlen(json.text), json.used);
    for (size_t i = 0; i < 100000; i++) assert_int_equal(json.text[1 + 2 * i], '0' + (int)(i % 10));
    rsc_json_free(&json);
    rsc_json_free(&json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting_and_commas),
        cmocka_unit_test(line_breaks),
        cmocka_unit_test(escapes),
        cmocka_unit_test(invalid_utf8_is_replaced),
        cmocka_unit_test(doubles_as_text),
        cmocka_unit_test(doubles_read_back),
        cmocka_unit_test(locale_does_not_matter),
        cmocka_unit_test(too_deep_is_an_error),
        cmocka_unit_test(large_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
