/* test_rows.c - code, pairs, objects and contexts: to JSON and back, merged, and JSON that is not to be believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

static struct rsc_profile *load_back(const char *text) {
    struct rsc_profile **profiles;
    struct rsc_error error;
    size_t count;
    int rc = rsc_profiles_parse(text, strlen(text), "x.json", &profiles, &count, &error);
    if (rc) print_message("%s\n", error.message);
    assert_int_equal(rc, 0);
    struct rsc_profile *profile = profiles[0];
    free(profiles);
    return profile;
}

static void expect_in(const char *text, const char *wanted) {
    if (!strstr(text, wanted)) print_message("not found: '%s' in\n%s\n", wanted, text);
    assert_non_null(strstr(text, wanted));
}

static void rows_come_back_the_same(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    char *text = sample_json(profile, NULL);
    struct rsc_profile *loaded = load_back(text);
    char *again = sample_json(loaded, NULL);
    assert_string_equal(text, again);
    assert_int_equal(loaded->code_count, 6);
    assert_int_equal(loaded->pair_count, 2);
    assert_int_equal(loaded->object_count, 2);
    assert_int_equal(loaded->context_count, 4);
    assert_int_equal(loaded->code[2].inlined_count, 2);
    assert_string_equal(loaded->code[2].inlined_into[0].function, "step");
    assert_int_equal(loaded->pairs[0].reuse_context, 2);
    assert_int_equal(loaded->pairs[1].use_context, RSC_NO_CONTEXT);
    assert_string_equal(loaded->objects[0].kind, "global");
    assert_int_equal(loaded->contexts[3].place.pc, UINT64_MAX);
    free(text);
    free(again);
    rsc_profile_free(profile);
    rsc_profile_free(loaded);
}

static void the_layout_is_that_of_the_contract(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    char *text = sample_json(profile, NULL);
    expect_in(text, "\n \"code\":[\n  {\"pc\":\"0x1210\",\"function\":\"sweep\",\"file\":\"/home/u/wave/src/solver.c\","
                    "\"line\":71,\"module\":\"/usr/bin/wave\",\"references\":70000,\"cold\":70000,\"invalidated\":0,"
                    "\"error\":0,\"rd\":[]},\n");
    expect_in(text, "\"inlined\":[{\"function\":\"step\",\"file\":\"solver.c\",\"line\":30},"
                    "{\"function\":null,\"file\":null,\"line\":null}]}");
    expect_in(text, "{\"pc\":\"0x0\",\"function\":null,\"file\":null,\"line\":null,\"module\":null,\"references\":10,");
    expect_in(text, "\"module\":\"/usr/bin/wave\",\"context\":2},\"references\":1800,\"error\":0,"
                    "\"rd\":[{\"lo\":32768,\"hi\":40959,\"count\":1800}],\"ancestor\":{\"context\":1,\"loop\":null}}");
    expect_in(text, "{\"name\":\"array allocated at solver.c:12\",\"kind\":\"heap\",\"bytes\":1048576,\"blocks\":64,"
                    "\"context\":1,\"references\":1800,\"cold\":0,\"invalidated\":0,\"error\":3,\"rd\":[");
    expect_in(text, "{\"id\":0,\"parent\":null,\"pc\":\"0x1100\",\"function\":\"main\",\"file\":\"main.c\",\"line\":5,"
                    "\"module\":\"/usr/bin/wave\"},\n");
    expect_in(text, "{\"id\":3,\"parent\":null,\"pc\":\"0xffffffffffffffff\",\"function\":null");
    free(text);
    rsc_profile_free(profile);
}

static void capped_rows_end_in_an_open_bin(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_empty();
    assert_int_equal(rsc_profile_set_code(profile, 1), 0);
    profile->rd_cap = 1500, profile->rd_capped = 9;
    profile->references = profile->code[0].references = 9;
    rsc_histogram_add(&profile->code[0].rd, 1500, 9);
    sample_sealed(profile);
    char *text = sample_json(profile, NULL);
    expect_in(text, "\"rd\":[{\"lo\":1280,\"hi\":null,\"count\":9}]");
    rsc_profile_free(load_back(text));
    free(text);
    rsc_profile_free(profile);
}

/* The document of sample_rows() with the first `from` behind `after` replaced by `to`. */
static void expect_loads_of(struct rsc_profile *profile, const char *after, const char *from, const char *to, int code,
                            const char *says) {
    struct rsc_error error = {0};
    char *text = sample_json(profile, NULL), *changed, *start = strstr(text, after);
    assert_non_null(start);
    char *at = strstr(start, from);
    assert_non_null(at);
    assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    int rc = parse(changed, &error);
    if (rc != code || (code && !strstr(error.message, says))) print_message("%s -> %s: %s\n", from, to, error.message);
    assert_int_equal(rc, code);
    if (code) assert_non_null(strstr(error.message, says));
    free(changed);
    free(text);
    rsc_profile_free(profile);
}

static void expect_loads(const char *after, const char *from, const char *to, int code, const char *says) {
    expect_loads_of(sample_rows(), after, from, to, code, says);
}

/* What knows loops comes back the same; what does not, as any older file, loads without. */
static void loops_come_back_and_are_checked(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_loops(), *loaded;
    profile->pairs[1].latency = 120.5;
    profile->pairs[1].latency_samples = 40;
    profile->pairs[1].sources[RSC_SOURCE_L2] = 0.25;
    profile->pairs[1].sources[RSC_SOURCE_MEMORY] = 0.75;
    char *text = sample_json(profile, NULL);
    loaded = load_back(text);
    char *again = sample_json(loaded, NULL);
    assert_string_equal(text, again);
    assert_int_equal(loaded->loop_count, 7);
    assert_int_equal(loaded->loops[4].parent, 4);
    assert_int_equal(loaded->pairs[1].reuse.loop, 3);
    assert_int_equal(loaded->code[3].stride.bytes, 4096);
    assert_string_equal(loaded->pairs[1].object, "grid (wave.c:3)");
    assert_true(loaded->pairs[1].latency == 120.5);
    assert_int_equal(loaded->pairs[1].latency_samples, 40);
    assert_true(loaded->pairs[1].sources[RSC_SOURCE_L2] == 0.25 && loaded->pairs[1].sources[RSC_SOURCE_MEMORY] == 0.75);
    assert_true(loaded->pairs[0].sources[RSC_SOURCE_L2] == 0);
    expect_in(text, "\n \"loops\":[\n  {\"id\":0,\"parent\":null,\"depth\":1,\"pc\":\"0x10a0\",\"function\":\"main\",");
    expect_in(
        text,
        "\"ancestor\":{\"context\":0,\"loop\":0},\"object\":\"grid (wave.c:3)\",\"object_kind\":\"global\",\"latency\":120.5,\"latency_samples\":40,"
        "\"sources\":{\"l2\":0.25,\"memory\":0.75}}");
    expect_in(text, "\"stride\":{\"bytes\":4096,\"same\":990,\"seen\":1000,\"access\":8,\"apart\":8}}");
    free(text);
    free(again);
    rsc_profile_free(loaded);
    rsc_profile_free(profile);
    expect_loads_of(sample_loops(), "\"loops\":[", "\"id\":1", "\"id\":2", RSC_EFORMAT, "loops[1].id must be 1");
    expect_loads_of(sample_loops(), "\"loops\":[", "\"parent\":0", "\"parent\":1", RSC_EFORMAT,
                    "loops[1].parent must be");
    expect_loads_of(sample_loops(), "\"loops\":[", "\"parent\":null", "\"parent\":0", RSC_EFORMAT,
                    "loops[0].parent must be null");
    expect_loads_of(sample_loops(), "\"loops\":[", "\"depth\":2", "\"depth\":3", RSC_EFORMAT, "loops[1].depth must be");
    expect_loads_of(sample_loops(), "\"loops\":[", "\"depth\":1", "\"depth\":0", RSC_EFORMAT, "loops[0].depth must be");
    expect_loads_of(sample_loops(), "\"code\":[", "\"loop\":6", "\"loop\":7", RSC_EFORMAT, "code[0].loop must be");
    expect_loads_of(sample_loops(), "\"code\":[", "\"loop\":6", "\"loop\":-1", RSC_EFORMAT, "code[0].loop must be");
    expect_loads_of(sample_loops(), "\"code\":[", "\"loop\":6", "\"loop\":null", 0, "");
    expect_loads_of(sample_loops(), "\"code\":[", "\"same\":990", "\"same\":1001", RSC_EFORMAT,
                    "code[0].stride.same must be");
    expect_loads_of(sample_loops(), "\"pairs\":[", "\"object_kind\":\"heap\"", "\"object_kind\":\"hoop\"", RSC_EFORMAT,
                    "pairs[0].object_kind must be");
    expect_loads_of(sample_loops(), "\"code\":[", "\"stride\":{", "\"stride\":7,\"x\":{", RSC_EFORMAT,
                    "code[0].stride is not an object");
    expect_loads_of(sample_loops(), "\"pairs\":[", "\"ancestor\":{", "\"ancestor\":7,\"x\":{", 0,
                    ""); /* follows from the rest */
    expect_loads_of(sample_loops(), "\"loops\":[", "\"loops\":[", "\"other\":[", RSC_EFORMAT, "loop must be null");
}

static void merged_loops_are_one(void **state) {
    (void)state;
    struct rsc_profile *a = sample_loops(), *b = sample_loops();
    /* the other run was of another build: other addresses, a loop more around one */
    for (size_t i = 0; i < 7; i++) b->loops[i].place.pc += 0x7000;
    b->loops[5].place.line = 49;
    assert_int_equal(rsc_profile_merge(a, b, NULL), 0);
    assert_int_equal(a->loop_count, 9); /* the loop at 49 and the one in it are others */
    for (size_t i = 0; i < a->loop_count; i++) {
        assert_true(a->loops[i].parent <= i);
        assert_int_equal(a->loops[i].depth, a->loops[i].parent ? a->loops[a->loops[i].parent - 1].depth + 1 : 1);
    }
    for (size_t i = 0; i < a->pair_count; i++) {
        const struct rsc_place *reuse = &a->pairs[i].reuse;
        assert_true(reuse->loop > 0);
        assert_string_equal(a->loops[reuse->loop - 1].place.function, reuse->function);
        assert_int_equal(a->pairs[i].references, b->pairs[i].references * 2);
    }
    assert_int_equal(a->code_count, 5); /* rows of different loops stay apart */
    rsc_profile_free(a);
    rsc_profile_free(b);
}

static void places_are_checked(void **state) {
    (void)state;
    static const char *const bad[] = {"\"\"",      "\"1139\"",  "\"0x\"",    "\"0X12\"",
                                      "\"0xABC\"", "\"0x12 \"", "12",        "\"-0x12\"",
                                      "\"0x1g\"",  "null",      "\"0x0x1\"", "\"0x11112222333344445\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_loads("\"code\":[", "\"0x1210\"", bad[i], RSC_EFORMAT, "code[0].pc must be");
        expect_loads("\"pairs\":[", "\"0x1300\"", bad[i], RSC_EFORMAT, "pairs[0].reuse.pc must be");
        expect_loads("\"contexts\":[", "\"0x1180\"", bad[i], RSC_EFORMAT, "contexts[1].pc must be");
    }
    expect_loads("\"code\":[", "\"0x1210\"", "\"0xffffffffffffffff\"", 0, "");
    expect_loads("\"code\":[", "\"line\":71", "\"line\":0", RSC_EFORMAT, "code[0].line must be");
    expect_loads("\"code\":[", "\"line\":71", "\"line\":-1", RSC_EFORMAT, "code[0].line must be");
    expect_loads("\"code\":[", "\"line\":71", "\"line\":4294967296", RSC_EFORMAT, "code[0].line must be");
    expect_loads("\"code\":[", "\"line\":71", "\"line\":4294967295", 0, "");
    expect_loads("\"code\":[", "\"line\":71", "\"line\":\"71\"", RSC_EFORMAT, "code[0].line must be");
    expect_loads("\"code\":[", "\"function\":\"sweep\",", "", RSC_EFORMAT, "code[0].function is missing");
    expect_loads("\"code\":[", "\"function\":\"sweep\"", "\"function\":7", RSC_EFORMAT, "code[0].function must be");
    expect_loads("\"code\":[", "\"module\":\"/usr/bin/wave\",", "", 0, "");
    expect_loads("\"inlined\":[", "\"line\":30", "\"line\":0", RSC_EFORMAT, "code[2].inlined[0].line must be");
    expect_loads("\"inlined\":[", "{\"function\":null,\"file\":null,\"line\":null}", "7", RSC_EFORMAT, "inlined[1]");
    expect_loads("\"code\":[", "\"inlined\":[", "\"inlined\":7,\"x\":[", RSC_EFORMAT, "inlined must be an array");
    expect_loads("\"pairs\":[", "\"use\":{", "\"use\":7,\"y\":{", RSC_EFORMAT,
                 "pairs[0].use is missing or not an object");
}

static void contexts_are_a_tree_and_ids_are_in_it(void **state) {
    (void)state;
    expect_loads("{\"id\":1,", "\"parent\":0", "\"parent\":1", RSC_EFORMAT, "contexts[1].parent must be");
    expect_loads("{\"id\":1,", "\"parent\":0", "\"parent\":3", RSC_EFORMAT, "contexts[1].parent must be");
    expect_loads("{\"id\":1,", "\"parent\":0", "\"parent\":-1", RSC_EFORMAT, "contexts[1].parent must be");
    expect_loads("{\"id\":1,", "\"parent\":0", "\"parent\":null", 0, "");
    expect_loads("{\"id\":0,", "\"parent\":null", "\"parent\":0", RSC_EFORMAT, "contexts[0].parent must be null");
    expect_loads("{\"id\":2,", "\"id\":2", "\"id\":3", RSC_EFORMAT, "contexts[2].id must be 2");
    expect_loads("{\"id\":2,", "\"id\":2", "\"id\":-2", RSC_EFORMAT, "contexts[2].id must be");
    expect_loads("\"pairs\":[", "\"context\":1", "\"context\":4", RSC_EFORMAT, "pairs[0].use.context must be");
    expect_loads("\"pairs\":[", "\"context\":2", "\"context\":4294967295", RSC_EFORMAT, "pairs[0].reuse.context");
    expect_loads("\"pairs\":[", "\"context\":1", "\"context\":3", 0, "");
    expect_loads("\"objects\":[", "\"context\":1", "\"context\":4", RSC_EFORMAT, "objects[1].context must be");
    expect_loads("\"objects\":[", "\"context\":1", "\"context\":1.0", RSC_EFORMAT, "objects[1].context must be");
}

static void counts_are_checked(void **state) {
    (void)state;
    expect_loads("\"code\":[", "\"references\":70000", "\"references\":70007", 0, ""); /* 7 are uncertain */
    expect_loads("\"code\":[", "\"references\":70000", "\"references\":70008", RSC_EFORMAT, "more references");
    expect_loads("\"code\":[", "\"references\":70000", "\"references\":69999", RSC_EFORMAT, "code[0].cold must be");
    expect_loads("\"code\":[", "\"error\":0", "\"error\":70001", RSC_EFORMAT, "code[0].error must be");
    expect_loads("\"code\":[", "\"error\":0", "\"error\":70000", 0, "");
    expect_loads("\"code\":[", "\"references\":10,", "\"references\":9,", RSC_EFORMAT, "code[5].rd sums to more");
    expect_loads("\"pairs\":[", "\"references\":1800", "\"references\":1799", RSC_EFORMAT, "pairs[0].rd sums to more");
    expect_loads("\"pairs\":[", "\"lo\":32768", "\"lo\":32769", RSC_EFORMAT, "pairs[0].rd[0].");
    expect_loads("\"objects\":[", "\"kind\":\"heap\"", "\"kind\":\"hoop\"", RSC_EFORMAT, "objects[1].kind must be");
    expect_loads("\"objects\":[", "\"name\":\"grid\"", "\"name\":null", RSC_EFORMAT, "objects[0].name must be");
    expect_loads("\"objects\":[", "\"blocks\":1", "\"blocks\":-1", RSC_EFORMAT, "objects[0].blocks must be");
    expect_loads("\"objects\":[", "\"references\":1800", "\"references\":77060", RSC_EFORMAT, "more references");
}

static void row_counts_are_limited(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_cyclic(3, 2);
    char *text = sample_json(profile, NULL), *at = strstr(text, "\"contexts\":[]");
    struct rsc_error error;
    size_t rows = RSC_PROFILE_ROWS_MAX + 1, room = strlen(text) + rows * 3 + 64;
    char *changed = malloc(room);
    assert_non_null(changed);
    size_t used = (size_t)snprintf(changed, room, "%.*s\"contexts\":[", (int)(at - text), text);
    for (size_t i = 0; i < rows; i++) used += (size_t)snprintf(changed + used, room - used, i ? ",{}" : "{}");
    snprintf(changed + used, room - used, "%s", at + strlen("\"contexts\":["));
    assert_int_equal(parse(changed, &error), RSC_ELIMIT);
    expect_in(error.message, "contexts has 131073 rows");
    free(changed);
    free(text);
    assert_int_equal(rsc_profile_set_code(profile, RSC_PROFILE_ROWS_MAX + 1), RSC_ELIMIT);
    assert_int_equal(rsc_profile_set_pairs(profile, RSC_PROFILE_ROWS_MAX + 1), RSC_ELIMIT);
    assert_int_equal(rsc_profile_set_objects(profile, RSC_PROFILE_ROWS_MAX + 1), RSC_ELIMIT);
    assert_int_equal(rsc_profile_set_contexts(profile, RSC_PROFILE_ROWS_MAX + 1), RSC_ELIMIT);
    assert_int_equal(rsc_profile_set_contexts(profile, 2), 0);
    assert_int_equal(rsc_profile_set_contexts(profile, 1), 0);
    assert_int_equal(profile->context_count, 1);
    assert_int_equal(rsc_profile_set_contexts(profile, 0), 0);
    /* A file of several profiles has room for the most rows of eight: one with more cannot be read, and is not written. */
    struct rsc_profile *many[33];
    for (size_t i = 0; i < 33; i++) many[i] = profile;
    assert_int_equal(rsc_profile_set_code(profile, RSC_PROFILE_ROWS_MAX / 4), 0);
    assert_int_equal(rsc_profiles_json_text(many, 33, &text, &room, &error), RSC_ELIMIT);
    expect_in(error.message, "rows cannot be written");
    rsc_profile_free(profile);
}

/* Rows of every sort in a profile of five lines: a short text. */
static struct rsc_profile *few_rows(void) {
    struct rsc_profile *profile = sample_empty();
    assert_int_equal(rsc_profile_set_code(profile, 2), 0);
    assert_int_equal(rsc_profile_set_pairs(profile, 1), 0);
    assert_int_equal(rsc_profile_set_objects(profile, 1), 0);
    assert_int_equal(rsc_profile_set_contexts(profile, 2), 0);
    sample_code(profile, 0, sample_place(0x10, "fill", "a.c", 2, "m"), 5, 5, 0, 0);
    sample_code(profile, 1, sample_place(0x20, "sum", "a.c", 3, NULL), 5, 0, 4, 5);
    struct rsc_code_row *row = &profile->code[1];
    row->inlined_into = calloc(1, sizeof *row->inlined_into);
    assert_non_null(row->inlined_into);
    row->inlined_count = 1;
    row->inlined_into[0] = sample_place(0x20, "main", NULL, 0, NULL);
    profile->contexts[0].place = sample_place(0x30, "main", "a.c", 9, "m");
    profile->contexts[1].place = sample_place(0x40, "run", NULL, 0, "m");
    profile->contexts[1].parent = 0;
    profile->pairs[0].use = sample_place(0x10, "fill", "a.c", 2, "m");
    profile->pairs[0].reuse = sample_place(0x20, "sum", "a.c", 3, NULL);
    profile->pairs[0].reuse_context = 1;
    profile->pairs[0].references = 5;
    rsc_histogram_add(&profile->pairs[0].rd, 4, 5);
    rsc_profile_set_text(&profile->objects[0].name, "block");
    profile->objects[0].kind = "heap";
    profile->objects[0].context = 1;
    profile->objects[0].references = 10, profile->objects[0].cold = 5;
    rsc_histogram_add(&profile->objects[0].rd, 4, 5);
    return sample_sealed(profile);
}

/* Every prefix from the rows on is refused, one in `step` of them tried. */
static void prefixes_are_refused(struct rsc_profile *profile, size_t step) {
    struct rsc_profile **loaded;
    size_t bytes, count;
    char *text = sample_json(profile, &bytes), *rows = strstr(text, "\"code\":[");
    rsc_profile_free(load_back(text)); /* it is the cut that is refused */
    for (size_t cut = (size_t)(rows - text); cut < bytes - 1; cut += step)
        assert_int_equal(rsc_profiles_parse(text, cut, "x", &loaded, &count, NULL), RSC_EFORMAT);
    free(text);
    rsc_profile_free(profile);
}

static void every_prefix_is_refused(void **state) {
    (void)state;
    prefixes_are_refused(few_rows(), 1);
    prefixes_are_refused(sample_rows(), 97); /* each takes a few ms */
}

/* ---- modules ---- */

static struct rsc_profile *with_modules(uint8_t build) {
    struct rsc_profile *profile = sample_rows();
    assert_int_equal(rsc_profile_set_modules(profile, 2), 0);
    assert_int_equal(rsc_profile_set_text(&profile->modules[0].path, "/usr/bin/wave"), 0);
    assert_int_equal(rsc_profile_set_text(&profile->modules[1].path, "/lib/libc.so.6"), 0);
    profile->modules[0].build_id_bytes = 3;
    memset(profile->modules[0].build_id, build, 3);
    profile->code[4].place.offset = 0x99000; /* memcpy has no line */
    profile->code[0].place.offset = 0x1210; /* sweep has one */
    return profile;
}

static void modules_come_back_the_same(void **state) {
    (void)state;
    struct rsc_profile *profile = with_modules(0xa7);
    char *text = sample_json(profile, NULL);
    expect_in(text, "\n \"modules\":[\n  {\"path\":\"/usr/bin/wave\",\"build_id\":\"a7a7a7\"},\n"
                    "  {\"path\":\"/lib/libc.so.6\",\"build_id\":null}\n ]");
    expect_in(
        text,
        "\"function\":\"memcpy\",\"file\":null,\"line\":null,\"module\":\"/lib/libc.so.6\",\"offset\":\"0x99000\",");
    assert_null(strstr(text, "\"offset\":\"0x1210\""));
    struct rsc_profile *loaded = load_back(text);
    char *again = sample_json(loaded, NULL);
    assert_string_equal(text, again);
    assert_int_equal(loaded->modules[0].build_id_bytes, 3);
    assert_int_equal(loaded->code[4].place.offset, 0x99000);
    assert_true(rsc_module_same_build(rsc_profile_module(loaded, "/usr/bin/wave"), &profile->modules[0]));
    assert_false(rsc_module_same_build(&profile->modules[1], &profile->modules[1])); /* not known is not the same */
    free(text);
    free(again);
    rsc_profile_free(loaded);
    rsc_profile_free(profile);
}

static void expect_module(const char *id, const char *says) {
    struct rsc_profile *profile = with_modules(0xa7);
    struct rsc_error error;
    char *text = sample_json(profile, NULL), *at = strstr(text, "\"a7a7a7\""), *changed;
    assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, id, at + strlen("\"a7a7a7\"")) > 0);
    assert_int_equal(parse(changed, &error), says ? RSC_EFORMAT : 0);
    if (says) expect_in(error.message, says);
    free(changed);
    free(text);
    rsc_profile_free(profile);
}

static void build_ids_are_checked(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\"\"",    "\"a\"", "\"a7a\"", "\"A7\"",
        "\"a7 \"", "7",     "{}",      "\"0123456789012345678901234567890123456789012345678901234567890123ff\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) expect_module(bad[i], "modules[0].build_id must be");
    expect_module("\"0123456789012345678901234567890123456789012345678901234567890123\"", NULL);
    expect_module("null", NULL);
}

static void modules_are_taken_from_mappings(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    profile->mappings = calloc(4, sizeof *profile->mappings);
    assert_non_null(profile->mappings);
    static const char *const paths[] = {"/usr/bin/wave", "/usr/bin/wave", "/lib/libc.so.6", "/tmp/data"};
    for (; profile->mapping_count < 4; profile->mapping_count++)
        assert_int_equal(
            rsc_profile_set_text(&profile->mappings[profile->mapping_count].path, paths[profile->mapping_count]), 0);
    profile->mappings[0].build_id_bytes = profile->mappings[1].build_id_bytes = 2;
    assert_int_equal(rsc_profile_take_modules(profile), 0);
    assert_int_equal(profile->module_count, 2); /* the file of data has no build id, and no code is in it */
    assert_string_equal(profile->modules[1].path, "/lib/libc.so.6");
    assert_int_equal(profile->modules[1].build_id_bytes, 0);
    rsc_profile_free(profile);
}

static void merged_modules_are_those_of_both(void **state) {
    (void)state;
    struct rsc_profile *into = with_modules(1), *same = with_modules(1), *other = with_modules(2);
    assert_int_equal(rsc_profile_merge(into, same, NULL), 0);
    assert_int_equal(into->module_count, 2);
    assert_int_equal(rsc_profile_merge(into, other, NULL), 0);
    assert_int_equal(into->module_count, 3);
    assert_int_equal(into->modules[2].build_id[0], 2);
    rsc_profile_forget_origin(into);
    assert_string_equal(into->modules[0].path, "wave");
    rsc_profile_free(into);
    rsc_profile_free(same);
    rsc_profile_free(other);
}

/* ---- merging ---- */

static void merging_with_itself_doubles_every_row(void **state) {
    (void)state;
    struct rsc_profile *into = sample_rows(), *from = sample_rows();
    assert_int_equal(rsc_profile_merge(into, from, NULL), 0);
    /* relax has two instructions on one line, but only one of them was inlined: they stay apart. */
    assert_int_equal(into->code_count, 6);
    assert_int_equal(into->pair_count, 2);
    assert_int_equal(into->object_count, 2);
    assert_int_equal(into->context_count, 4);
    for (size_t i = 0; i < 6; i++) assert_int_equal(into->code[i].references, 2 * from->code[i].references);
    assert_int_equal(into->pairs[0].references, 3600);
    assert_int_equal(rsc_histogram_total(&into->pairs[0].rd), 3600);
    assert_int_equal(into->objects[1].bytes, 1 << 20);
    assert_int_equal(into->objects[1].blocks, 128);
    assert_int_equal(into->objects[1].error, 6);
    for (size_t i = 0; i < 4; i++) assert_int_equal(into->contexts[i].parent, from->contexts[i].parent);
    char *text = sample_json(into, NULL);
    rsc_profile_free(load_back(text));
    free(text);
    rsc_profile_free(into);
    rsc_profile_free(from);
}

/* Two contexts, root and child; an object that names the child. */
static struct rsc_profile *with_path(const char *root, const char *child, int turned) {
    struct rsc_profile *profile = sample_empty();
    assert_int_equal(rsc_profile_set_contexts(profile, 3), 0);
    assert_int_equal(rsc_profile_set_objects(profile, 1), 0);
    /* An unrelated root before or after shifts the ids. */
    size_t at = turned ? 1 : 0;
    profile->contexts[turned ? 0 : 2].place = sample_place(0x10, "idle", "idle.c", 1, "m");
    profile->contexts[at].place = sample_place(0x20, root, "a.c", 2, "m");
    profile->contexts[at + 1].place = sample_place(0x30 + at, child, "a.c", 3, "m");
    profile->contexts[at + 1].parent = (uint32_t)at;
    rsc_profile_set_text(&profile->objects[0].name, "block");
    profile->objects[0].kind = "heap";
    profile->objects[0].context = (uint32_t)at + 1;
    profile->references = profile->cold = profile->distinct = 5;
    profile->objects[0].references = profile->objects[0].cold = 5;
    return sample_sealed(profile);
}

static const char *path_of(const struct rsc_profile *profile, uint32_t context, char to[64]) {
    to[0] = 0;
    for (; context != RSC_NO_CONTEXT; context = profile->contexts[context].parent) {
        strcat(to, profile->contexts[context].place.function);
        strcat(to, "<");
    }
    return to;
}

static void merged_rows_keep_their_call_paths(void **state) {
    (void)state;
    char path[64];
    struct rsc_profile *into = with_path("main", "load", 0), *same = with_path("main", "load", 1);
    struct rsc_profile *other = with_path("start", "load", 1);
    assert_int_equal(rsc_profile_merge(into, same, NULL), 0);
    assert_int_equal(into->context_count, 3); /* at other indices, but the same */
    assert_int_equal(into->object_count, 1);
    assert_int_equal(into->objects[0].references, 10);
    assert_string_equal(path_of(into, into->objects[0].context, path), "load<main<");
    assert_int_equal(rsc_profile_merge(into, other, NULL), 0);
    assert_int_equal(into->context_count, 5);
    assert_int_equal(into->object_count, 2);
    assert_string_equal(path_of(into, into->objects[0].context, path), "load<main<");
    assert_string_equal(path_of(into, into->objects[1].context, path), "load<start<");
    for (size_t i = 0; i < into->context_count; i++)
        assert_true(into->contexts[i].parent == RSC_NO_CONTEXT || into->contexts[i].parent < i);
    rsc_profile_free(into);
    rsc_profile_free(same);
    rsc_profile_free(other);
}

static void lines_join_across_builds_and_pcs_do_not(void **state) {
    (void)state;
    struct rsc_profile *into = sample_rows(), *from = sample_rows();
    from->code[1].place.pc = 0x9999; /* mem.c:10, elsewhere in another build: the same line */
    from->code[4].place.pc = 0x98; /* memcpy has no line, so this is another instruction */
    assert_int_equal(rsc_profile_merge(into, from, NULL), 0);
    assert_int_equal(into->code_count, 7);
    assert_int_equal(into->code[1].references, 10000);
    rsc_profile_free(into);
    rsc_profile_free(from);
}

/* Rows that all claim all references: joined they would have more than there are. */
static void rows_never_grow_past_the_profile(void **state) {
    (void)state;
    struct rsc_profile *into = sample_cyclic(3, 2), *from = sample_cyclic(3, 2);
    assert_int_equal(rsc_profile_set_objects(into, 5), 0);
    for (size_t i = 0; i < 5; i++) {
        rsc_profile_set_text(&into->objects[i].name, "all");
        into->objects[i].references = into->objects[i].error = into->objects[i].cold = 6;
    }
    assert_int_equal(rsc_profile_merge(into, from, NULL), 0);
    assert_int_equal(into->object_count, 3); /* two, two and one of them in rows of at most 12 */
    for (size_t i = 0; i < 3; i++) assert_true(into->objects[i].references <= into->references);
    char *text = sample_json(into, NULL);
    rsc_profile_free(load_back(text));
    free(text);
    rsc_profile_free(into);
    rsc_profile_free(from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_the_same),
        cmocka_unit_test(the_layout_is_that_of_the_contract),
        cmocka_unit_test(capped_rows_end_in_an_open_bin),
        cmocka_unit_test(loops_come_back_and_are_checked),
        cmocka_unit_test(merged_loops_are_one),
        cmocka_unit_test(places_are_checked),
        cmocka_unit_test(contexts_are_a_tree_and_ids_are_in_it),
        cmocka_unit_test(counts_are_checked),
        cmocka_unit_test(row_counts_are_limited),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(modules_come_back_the_same),
        cmocka_unit_test(build_ids_are_checked),
        cmocka_unit_test(modules_are_taken_from_mappings),
        cmocka_unit_test(merged_modules_are_those_of_both),
        cmocka_unit_test(merging_with_itself_doubles_every_row),
        cmocka_unit_test(merged_rows_keep_their_call_paths),
        cmocka_unit_test(lines_join_across_builds_and_pcs_do_not),
        cmocka_unit_test(rows_never_grow_past_the_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
