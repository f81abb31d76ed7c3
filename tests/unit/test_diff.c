/* test_diff.c - code matched by its names, changes told from noise, rules broken only where they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "report/compare/diff.h"
#include "sample_profiles.h"

static const struct rsc_diff_at at_64k = {64 << 10, ""};

struct code {
    uint64_t pc;
    const char *function, *file;
    uint32_t line;
    uint64_t far; /* of 1000 references, so many 5000 lines apart */
};

static struct rsc_profile *profile_of(const struct code *code, size_t count) {
    struct rsc_profile *profile = sample_empty();
    assert_int_equal(rsc_profile_set_code(profile, count), 0);
    for (size_t i = 0; i < count; i++)
        sample_code(profile, i, sample_place(code[i].pc, code[i].function, code[i].file, code[i].line, "/bin/app"),
                    1000, 0, 5000, code[i].far);
    profile->distinct = profile->cold = 6000; /* such distances need as many lines */
    profile->references += 6000;
    return sample_sealed(profile);
}

static struct rsc_diff compared(const struct rsc_profile *before, const struct rsc_profile *after) {
    struct rsc_diff diff;
    assert_int_equal(rsc_diff_make(&diff, before, after, &at_64k, 1, NULL, NULL), 0);
    return diff;
}

static const struct rsc_diff_row *line_of(const struct rsc_diff *diff, uint32_t line) {
    for (size_t i = 0; i < diff->line_count; i++)
        if (diff->lines[i].place->line == line) return &diff->lines[i];
    return NULL;
}

static size_t broken(const struct rsc_diff *diff, const char *text) {
    struct rsc_diff_rule rules[RSC_DIFF_RULES_MAX];
    struct rsc_diff_findings findings;
    size_t count = 0;
    assert_int_equal(rsc_diff_rules_parse(rules, &count, text, NULL), 0);
    assert_int_equal(rsc_diff_judge(&findings, diff, 1, rules, count), 0);
    size_t found = findings.broken;
    rsc_diff_findings_free(&findings);
    return found;
}

/* Other addresses, another build folder, lines further down, a clone of the function: the same code. */
static void test_matched_by_names(void **state) {
    (void)state;
    const struct code before[] = {{0x1000, "f", "/old/src/a.c", 10, 100},
                                  {0x1010, "f", "/old/src/a.c", 12, 200},
                                  {0x2000, "g", "/old/src/a.c", 40, 300},
                                  {0x9000, NULL, NULL, 0, 50}};
    const struct code after[] = {{0x7000, "f.constprop.0", "/new/src/a.c", 15, 100},
                                 {0x7010, "f", "/new/src/a.c", 17, 200},
                                 {0x8000, "g", "/new/src/a.c", 40, 300},
                                 {0x1000, NULL, NULL, 0, 50}};
    struct rsc_profile *a = profile_of(before, 4), *b = profile_of(after, 4);
    struct rsc_diff diff = compared(a, b);
    assert_int_equal(diff.function_count, 3);
    assert_int_equal(diff.line_count, 3);
    for (size_t i = 0; i < diff.line_count; i++) {
        assert_int_equal(diff.lines[i].references[0], 1000);
        assert_int_equal(diff.lines[i].references[1], 1000);
    }
    assert_int_equal((int)line_of(&diff, 15)->misses[RSC_DIFF_OLD][0].value, 100);
    assert_int_equal((int)line_of(&diff, 17)->misses[RSC_DIFF_OLD][0].value, 200);
    assert_int_equal(broken(&diff, "misses>+0,line.misses>+0,function.misses>+0,line.references>+0"), 0);
    rsc_diff_free(&diff);
    rsc_profile_free(a);
    rsc_profile_free(b);
}

static void set_module(struct rsc_profile *profile, const char *path, uint8_t build) {
    assert_int_equal(rsc_profile_set_modules(profile, 1), 0);
    assert_int_equal(rsc_profile_set_text(&profile->modules[0].path, path), 0);
    profile->modules[0].build_id_bytes = 20;
    memset(profile->modules[0].build_id, build, 20);
    for (size_t i = 0; i < profile->code_count; i++) {
        assert_int_equal(rsc_profile_set_text(&profile->code[i].place.module, path), 0);
        if (!profile->code[i].place.file) profile->code[i].place.offset = profile->code[i].place.pc & 0xfff;
    }
}

/* One build under two names, loaded elsewhere: code without names meets by its place in the file, and no line is moved. */
static void test_same_build(void **state) {
    (void)state;
    const struct code before[] = {{0x1010, NULL, NULL, 0, 100},
                                  {0x1020, NULL, NULL, 0, 200},
                                  {0x1030, "f", NULL, 0, 40},
                                  {0x1040, "g", "a.c", 10, 300}};
    const struct code after[] = {{0x7020, NULL, NULL, 0, 200},
                                 {0x7010, NULL, NULL, 0, 700},
                                 {0x7030, "f", NULL, 0, 40},
                                 {0x7044, "g", "a.c", 15, 300}};
    struct rsc_profile *a = profile_of(before, 4), *b = profile_of(after, 4);
    set_module(a, "/tmp/1/app", 7);
    set_module(b, "/opt/app-2", 7);
    struct rsc_diff diff = compared(a, b);
    assert_true(diff.same_builds);
    assert_int_equal(diff.rebuilt_count, 0);
    assert_int_equal(diff.function_count, 4);
    assert_true(diff.functions[0].by_offset);
    assert_int_equal(diff.functions[0].place->offset, 0x10);
    assert_int_equal((int)diff.functions[0].misses[RSC_DIFF_OLD][0].value, 100);
    assert_int_equal((int)diff.functions[0].misses[RSC_DIFF_NEW][0].value, 700);
    for (size_t i = 1; i < diff.function_count; i++)
        assert_int_equal((int)diff.functions[i].misses[0][0].value, (int)diff.functions[i].misses[1][0].value);
    assert_int_equal(diff.line_count, 2); /* 10 and 15: one build has one numbering */
    rsc_diff_free(&diff);
    /* two builds: nothing says which of the nameless is which, and line 10 has become line 15 */
    set_module(b, "/opt/app", 8);
    diff = compared(a, b);
    assert_false(diff.same_builds);
    assert_int_equal(diff.rebuilt_count, 1);
    assert_string_equal(diff.rebuilt[0].sides[RSC_DIFF_OLD]->path, "/tmp/1/app");
    assert_int_equal(diff.function_count, 3);
    assert_false(diff.functions[0].by_offset);
    assert_int_equal((int)diff.functions[0].misses[RSC_DIFF_NEW][0].value, 900);
    assert_int_equal(diff.line_count, 1);
    rsc_diff_free(&diff);
    rsc_profile_free(a);
    rsc_profile_free(b);
}

/* A line more in one function, and one of another that misses more. */
static void test_changes(void **state) {
    (void)state;
    const struct code before[] = {{1, "f", "a.c", 10, 100}, {2, "g", "a.c", 40, 300}};
    const struct code after[] = {{1, "f", "a.c", 10, 100}, {2, "g", "a.c", 40, 900}, {3, "g", "a.c", 41, 7}};
    struct rsc_profile *a = profile_of(before, 2), *b = profile_of(after, 3);
    struct rsc_diff diff = compared(a, b);
    assert_string_equal(diff.functions[0].place->function, "g");
    assert_int_equal((int)diff.functions[0].misses[RSC_DIFF_NEW][0].value, 907);
    assert_int_equal((int)line_of(&diff, 40)->misses[RSC_DIFF_OLD][0].value, 300);
    assert_int_equal(line_of(&diff, 41)->references[RSC_DIFF_OLD], 0);
    assert_int_equal(broken(&diff, "misses>+606"), 1);
    assert_int_equal(broken(&diff, "misses>+607"), 0);
    assert_int_equal(broken(&diff, "function.misses>+200%"), 1); /* 300 to 907 */
    assert_int_equal(broken(&diff, "function.misses>+203%"), 0);
    assert_int_equal(broken(&diff, "line.misses>+0%"), 1); /* line 41 has too few to be looked at */
    assert_int_equal(broken(&diff, "line.miss_ratio>+0.601"), 0);
    assert_int_equal(broken(&diff, "line.miss_ratio>+0.599"), 1);
    assert_int_equal(broken(&diff, "references>+0%,footprint>+0%,cold>+0%"), 1);
    rsc_diff_free(&diff);
    rsc_profile_free(a);
    rsc_profile_free(b);
}

/* Error bars that overlap make a difference none; that is what decides, not its size. */
static void test_error_bars(void **state) {
    (void)state;
    const struct code before[] = {{1, "f", "a.c", 10, 500}}, after[] = {{1, "f", "a.c", 10, 900}};
    struct rsc_profile *a = profile_of(before, 1), *b = profile_of(after, 1);
    struct rsc_diff diff = compared(a, b);
    assert_int_equal(broken(&diff, "miss_ratio>+1%"), 1);
    assert_int_equal(broken(&diff, "line.misses>+1%"), 1);
    rsc_diff_free(&diff);
    for (size_t i = 0; i < b->mrc_count; i++) b->mrc[i].low = 0.5, b->mrc[i].high = 1; /* an estimate, and a poor one */
    diff = compared(a, b);
    assert_int_equal(rsc_diff_verdict(diff.sizes[0].miss_ratio), RSC_DIFF_SAME);
    assert_int_equal(broken(&diff, "miss_ratio>+1%"), 0);
    assert_int_equal(broken(&diff, "line.misses>+1%"), 0);
    rsc_diff_free(&diff);
    rsc_profile_free(a);
    rsc_profile_free(b);
}

/* What a bounded table is unsure of is no change either. */
static void test_row_errors(void **state) {
    (void)state;
    const struct code before[] = {{1, "f", "a.c", 10, 100}}, after[] = {{1, "f", "a.c", 10, 150}};
    struct rsc_profile *a = profile_of(before, 1), *b = profile_of(after, 1);
    b->code[0].error = 60;
    struct rsc_diff diff = compared(a, b);
    assert_int_equal(broken(&diff, "line.misses>+1%"), 0);
    b->code[0].error = 40;
    rsc_diff_free(&diff);
    diff = compared(a, b);
    assert_int_equal(broken(&diff, "line.misses>+1%"), 1);
    rsc_diff_free(&diff);
    rsc_profile_free(a);
    rsc_profile_free(b);
}

/* Nothing to compare, nothing to compare at, sizes beyond a cap. */
static void test_edges(void **state) {
    (void)state;
    struct rsc_profile *zero = sample_zero(), *rich = sample_rich(), *cyclic = sample_cyclic(100, 3);
    struct rsc_diff diff = compared(zero, cyclic);
    assert_int_equal(diff.line_count, 0);
    assert_int_equal(broken(&diff, "misses>+5%"), 1); /* from none to some */
    rsc_diff_free(&diff);
    assert_int_equal(rsc_diff_make(&diff, rich, cyclic, NULL, 0, NULL, NULL), RSC_EINVAL);
    const struct rsc_diff_at sizes[] = {{1 << 20, ""}, {1 << 30, ""}, {10, ""}};
    assert_int_equal(rsc_diff_make(&diff, rich, rich, sizes, 3, NULL, NULL), 0);
    assert_int_equal(diff.size_count, 1);
    assert_int_equal(diff.unknown_sizes, 2);
    assert_int_equal(broken(&diff, "misses>+0,miss_ratio>+0%"), 0);
    rsc_diff_free(&diff);
    rsc_profile_free(zero);
    rsc_profile_free(rich);
    rsc_profile_free(cyclic);
}

static void test_rules(void **state) {
    (void)state;
    struct rsc_diff_rule rules[RSC_DIFF_RULES_MAX];
    static const char *const bad[] = {
        "",         "misses",           "misses>",   "misses>+",      "misses>%",     "misses>-1", "hits>1",
        "misses<1", "line.footprint>1", "misses>1,", "file.misses>1", "misses>1.5.2", "misses>1%%"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t count = 0;
        if (rsc_diff_rules_parse(rules, &count, bad[i], NULL) != RSC_EINVAL) fail_msg("taken for a rule: %s", bad[i]);
    }
    size_t count = 0;
    assert_int_equal(rsc_diff_rules_parse(rules, &count, "misses>+1K,miss_ratio>2.5%,function.references>0.5", NULL),
                     0);
    assert_int_equal(count, 3);
    assert_true(rules[0].more == 1024 && !rules[0].relative);
    assert_true(rules[1].more > 0.02499 && rules[1].more < 0.02501 && rules[1].relative);
    assert_true(rules[2].more == 0.5 && rules[2].scope == RSC_DIFF_FUNCTION);
    for (count = 0; count < RSC_DIFF_RULES_MAX;)
        assert_int_equal(rsc_diff_rules_parse(rules, &count, "cold>1", NULL), 0);
    assert_int_equal(rsc_diff_rules_parse(rules, &count, "cold>1", NULL), RSC_EINVAL);
}

/* A few misses more of thousands are no finding, however many percent of their function's they are. */
static void test_noise(void **state) {
    (void)state;
    const struct code before[] = {{0x10, "big", "a.c", 1, 900}, {0x20, "small", "a.c", 2, 100}};
    for (uint64_t more = 6; more <= 12; more += 6) { /* of about 7,000 misses */
        const struct code after[] = {{0x10, "big", "a.c", 1, 900}, {0x20, "small", "a.c", 2, 100 + more}};
        struct rsc_profile *old = profile_of(before, 2), *new = profile_of(after, 2);
        struct rsc_diff diff = compared(old, new);
        assert_int_equal(broken(&diff, "function.misses>+5%"), more == 12);
        rsc_diff_free(&diff);
        rsc_profile_free(old);
        rsc_profile_free(new);
    }
}

/* A program that was watched for three times as long: three times as many misses are the same. */
static void test_lengths_of_attached_runs(void **state) {
    (void)state;
    const struct code row = {0x1000, "f", "/src/a.c", 10, 100}, worse = {0x1000, "f", "/src/a.c", 10, 200};
    char *command[] = {"reusescope", "attach", "1", NULL};
    struct rsc_profile *before = profile_of(&row, 1), *after = profile_of(&row, 1), *more = profile_of(&worse, 1);
    for (int i = 0; i < 2; i++) assert_int_equal(rsc_profile_merge(after, before, NULL), 0);
    struct rsc_diff diff = compared(before, after);
    assert_int_equal(diff.lengths_differ, 0); /* two whole runs */
    assert_int_equal(rsc_diff_run_verdict(diff.sizes[0].misses), RSC_DIFF_WORSE);
    rsc_diff_free(&diff);
    before->made.command = after->made.command = more->made.command = command;
    diff = compared(before, after);
    assert_int_equal(diff.lengths_differ, 1);
    assert_int_equal(diff.scale[RSC_DIFF_OLD], 3);
    assert_int_equal(rsc_diff_run_verdict(diff.sizes[0].misses), RSC_DIFF_SAME);
    assert_int_equal((int)diff.sizes[0].misses[RSC_DIFF_OLD].value, 3 * 6100);
    assert_int_equal((int)line_of(&diff, 10)->misses[RSC_DIFF_OLD][0].value, 300);
    assert_int_equal(line_of(&diff, 10)->references[RSC_DIFF_OLD], 3000);
    assert_int_equal(broken(&diff, "misses>+0,miss_ratio>+0,line.misses>+0,function.miss_ratio>+0,line.references>+0"),
                     0);
    rsc_diff_free(&diff);
    diff = compared(after, more); /* twice the misses of f per reference, two thirds of its count */
    assert_int_equal(broken(&diff, "line.misses>+90%"), 1);
    assert_int_equal(broken(&diff, "line.miss_ratio>+90%"), 1);
    assert_int_equal(broken(&diff, "line.misses>+110%"), 0);
    rsc_diff_free(&diff);
    before->made.command = after->made.command = more->made.command = NULL;
    rsc_profile_free(before);
    rsc_profile_free(after);
    rsc_profile_free(more);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_build),
        cmocka_unit_test(test_matched_by_names),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_error_bars),
        cmocka_unit_test(test_row_errors),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_lengths_of_attached_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
