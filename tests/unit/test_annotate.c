/* test_annotate.c - source with numbers: the right lines, found where they may be looked for, and nothing else read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "report/source/annotate.h"
#include "report/source/source_text.h"
#include "sample_profiles.h"
#include "scratch_folder.h"

static const struct rsc_machine desktop = {
    .levels = {{"L1d", 1, 48 << 10, 0}, {"L2", 2, 1280 << 10, 0}, {"L3", 3, 48 << 20, 0}},
    .level_count = 3,
};

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(scratch_path(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Line numbers as text, one a line. */
static void write_numbered(const char *name, unsigned lines) {
    FILE *file = fopen(scratch_path(name), "w");
    assert_non_null(file);
    for (unsigned i = 1; i <= lines; i++) fprintf(file, "\tline %u;\n", i);
    fclose(file);
}

/* not inlined: gcc 12 would take the text for dangling */
__attribute__((noinline)) static char *annotate(struct rsc_profile *profile, struct rsc_annotate_options options,
                                                struct rsc_report_style style) {
    const char *folder = scratch_folder;
    char *text;
    size_t bytes;
    struct rsc_error error;
    options.name = "x.data";
    options.source_folders = &folder;
    options.source_folder_count = 1;
    int rc = rsc_annotate_text(&(struct rsc_result){.profiles = &profile, .count = 1, .annotate = &options}, &style,
                               &text, &bytes, &error);
    if (rc) print_message("%s\n", error.message);
    assert_int_equal(rc, 0);
    assert_int_equal(strlen(text), bytes);
    return text;
}

static void expect_in(const char *text, const char *wanted) {
    if (!strstr(text, wanted)) print_message("not found: '%s' in\n%s\n", wanted, text);
    assert_non_null(strstr(text, wanted));
}

static void expect_not_in(const char *text, const char *unwanted) {
    if (strstr(text, unwanted)) print_message("found: '%s' in\n%s\n", unwanted, text);
    assert_null(strstr(text, unwanted));
}

static unsigned widest(const char *text) {
    unsigned most = 0, columns = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '\033') {
            while (*c != 'm') c++;
            continue;
        }
        if (*c == '\n') columns = 0;
        else if (((unsigned char)*c & 0xc0) != 0x80) columns++;
        if (columns > most) most = columns;
    }
    return most;
}

static void whole_files_with_numbers(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    write_numbered("solver.c", 90);
    write_file("mem.c", "int x;\n");
    char *text = annotate(profile, (struct rsc_annotate_options){0},
                          (struct rsc_report_style){.width = 100, .machine = &desktop});
    expect_in(text, "-- /home/u/wave/src/solver.c ---");
    expect_in(text, "99.4 % of misses in L2 (1.25 MiB), 93.4 % of references");
    expect_in(text, "   refs    48K  1.25M    48M  lines    bytes   line  source\n");
    expect_in(text, "                                                1          line 1;\n");
    expect_in(text, " 70.0 k 70.0 k 70.0 k 70.0 k      -        -     71          line 71;\n");
    expect_in(text, "  2,000  1,800  1,800      0 40.2 k 2.45 MiB     88          line 88;\n");
    expect_in(text, "90          line 90;\n");
    /* mem.c ends long before the line that has references */
    expect_in(text, "  5,000    400    400      0      0      0 B     10\n");
    expect_in(text, "it is not the version that was compiled");
    assert_true(strstr(text, "solver.c") < strstr(text, "-- mem.c"));
    free(text);
    rsc_profile_free(profile);
}

static void filters_choose_lines(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    struct rsc_report_style style = {.width = 100};
    write_numbered("solver.c", 90);
    char *text = annotate(profile, (struct rsc_annotate_options){.function = "relax"}, style);
    expect_in(text, "line 88;");
    expect_not_in(text, "line 87;");
    expect_not_in(text, "line 71;");
    expect_not_in(text, "mem.c");
    free(text);
    text = annotate(profile, (struct rsc_annotate_options){.file_contains = "mem"}, style);
    expect_not_in(text, "solver.c");
    free(text);
    text = annotate(profile, (struct rsc_annotate_options){.nearby = 1, .nearby_lines = 2}, style);
    expect_not_in(text, "line 68;");
    expect_in(text, "line 69;");
    expect_in(text, "line 73;\n    ...\n");
    expect_not_in(text, "line 74;");
    expect_in(text, "line 86;");
    expect_in(text, "line 90;");
    free(text);
    text = annotate(profile, (struct rsc_annotate_options){.nearby = 1, .nearby_lines = 9}, style);
    expect_not_in(text, "...");
    free(text);
    rsc_profile_free(profile);
}

static void sizes_as_asked_for(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    struct rsc_annotate_options options = {.size_bytes = {64 << 20, 64}, .size_count = 2};
    char *text = annotate(profile, options, (struct rsc_report_style){.width = 100, .machine = &desktop});
    expect_in(text, "of misses in a cache of 64 MiB");
    expect_in(text, "   refs    64M    64B");
    expect_in(text, "  2,000      0  1,800");
    free(text);
    rsc_profile_free(profile);
}

static void missing_source_leaves_the_table(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    rsc_profile_set_text(&profile->code[1].place.file, "nowhere/gone.c");
    char *text = annotate(profile, (struct rsc_annotate_options){.file_contains = "gone"},
                          (struct rsc_report_style){.width = 80});
    expect_in(text, "source not found: nowhere/gone.c (--source-path DIR)\n");
    expect_in(text, "     10\n");
    free(text);
    rsc_profile_free(profile);
}

static void what_cannot_be_annotated_says_why(void **state) {
    (void)state;
    struct rsc_profile *bare = sample_cyclic(3, 2), *rows = sample_rows();
    struct rsc_annotate_options options = {.name = "x.data", .function = "nobody"};
    struct rsc_report_style style = {0};
    struct rsc_error error;
    char *text;
    size_t bytes;
    assert_int_equal(rsc_annotate_text(&(struct rsc_result){.profiles = &bare, .count = 1, .annotate = &options},
                                       &style, &text, &bytes, &error),
                     RSC_EFORMAT);
    assert_string_equal(error.message,
                        "x.data has no code rows: record it with pcs (reusescope run, or a trace with pcs)");
    assert_int_equal(rsc_annotate_text(&(struct rsc_result){.profiles = &rows, .count = 1, .annotate = &options},
                                       &style, &text, &bytes, &error),
                     RSC_EFORMAT);
    expect_in(error.message, "--function");
    assert_int_equal(rsc_annotate_csv(&(struct rsc_result){.profiles = &rows, .count = 1, .annotate = &options}, &style,
                                      &text, &bytes, &error),
                     RSC_EFORMAT);
    for (size_t i = 0; i < rows->code_count; i++) rows->code[i].place.line = 0;
    assert_int_equal(rsc_annotate_text(&(struct rsc_result){.profiles = &rows, .count = 1, .annotate = &options},
                                       &style, &text, &bytes, &error),
                     RSC_EFORMAT);
    expect_in(error.message, "-g");
    rsc_profile_free(bare);
    rsc_profile_free(rows);
}

static void no_line_is_too_wide(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    char source[9000];
    for (size_t i = 0; i < sizeof source - 1; i++) source[i] = "ab\t\xc3\xa9\033 \n"[i % (i < 5000 ? 7 : 8)];
    source[sizeof source - 1] = 0;
    write_file("mem.c", source);
    write_numbered("solver.c", 100);
    static const unsigned widths[] = {0, 1, 40, 41, 50, 60, 64, 80, 99, 120, 200, 900};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (unsigned look = 0; look < 8; look++) {
            struct rsc_report_style style = {.width = widths[i],
                                             .unicode = look & 1,
                                             .colour = look >> 1 & 1,
                                             .machine = look & 4 ? &desktop : NULL};
            char *text = annotate(profile, (struct rsc_annotate_options){.all_files = 1}, style);
            unsigned width = !widths[i] ? 80 : widths[i] < 40 ? 40 : widths[i] > 200 ? 200 : widths[i];
            if (widest(text) > width) print_message("width %u:\n%s\n", width, text);
            assert_true(widest(text) <= width);
            for (const char *c = text; *c && !style.unicode; c++) assert_true((unsigned char)*c < 0x80);
            if (!style.colour) assert_null(strchr(text, '\033'));
            else expect_in(text, "\033[31m"); /* solver.c:71 is hot */
            free(text);
        }
    rsc_profile_free(profile);
}

static void csv_has_a_row_for_each_line_and_size(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    struct rsc_annotate_options options = {.size_bytes = {1 << 20, 64 << 20}, .size_count = 2};
    struct rsc_report_style style = {0};
    char *text;
    size_t bytes;
    assert_int_equal(rsc_annotate_csv(&(struct rsc_result){.profiles = &profile, .count = 1, .annotate = &options},
                                      &style, &text, &bytes, NULL),
                     0);
    expect_in(text, "profile,file,line,function,size_bytes,references,misses,cold,invalidated,median_lines,error\n");
    expect_in(text, "\n0,\"/home/u/wave/src/solver.c\",71,\"sweep\",1048576,70000,70000,70000,0,,0\n");
    expect_in(text, "\n0,\"/home/u/wave/src/solver.c\",88,\"relax\",67108864,2000,0,0,0,40164");
    expect_in(text, "\n0,\"mem.c\",10,\"copy\",1048576,5000,400,0,0,0,7\n");
    free(text);
    rsc_profile_free(profile);
}

/* ---- source files ---- */

static int finds(const char *name) {
    struct rsc_source source;
    const char *folder = scratch_folder;
    int found = rsc_source_read(&source, name, &folder, 1);
    rsc_source_free(&source);
    return found;
}

static void source_is_found_by_the_end_of_its_name(void **state) {
    (void)state;
    write_file("a.c", "one\r\ntwo\n\nfour");
    assert_int_equal(finds("/somewhere/else/src/a.c"), 1);
    assert_int_equal(finds("src/../a.c"), 1);
    assert_int_equal(finds("a.c"), 1);
    assert_int_equal(finds("/somewhere/else/b.c"), 0);
    assert_int_equal(finds("/"), 0);
    assert_int_equal(finds(""), 0);
    assert_int_equal(finds(".."), 0);
    struct rsc_source source;
    assert_int_equal(rsc_source_read(&source, scratch_path("a.c"), NULL, 0), 1);
    assert_int_equal(source.line_count, 4);
    assert_string_equal(source.lines[0], "one");
    assert_string_equal(source.lines[2], "");
    assert_string_equal(source.lines[3], "four");
    rsc_source_free(&source);
    write_file("empty.c", "");
    assert_int_equal(rsc_source_read(&source, scratch_path("empty.c"), NULL, 0), 1);
    assert_int_equal(source.line_count, 0);
    rsc_source_free(&source);
}

static void only_small_regular_files_are_read(void **state) {
    (void)state;
    assert_int_equal(mkfifo(scratch_path("pipe.c"), 0600), 0);
    assert_int_equal(finds("pipe.c"), 0); /* and does not wait for a writer */
    assert_int_equal(finds("/dev/zero"), 0);
    assert_int_equal(finds("/dev/tty"), 0);
    assert_int_equal(finds(scratch_folder), 0);
    write_file("large.c", "x");
    assert_int_equal(truncate(scratch_path("large.c"), RSC_SOURCE_BYTES_MAX), 0);
    assert_int_equal(finds("large.c"), 1);
    assert_int_equal(truncate(scratch_path("large.c"), RSC_SOURCE_BYTES_MAX + 1), 0);
    assert_int_equal(finds("large.c"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files_with_numbers),
        cmocka_unit_test(filters_choose_lines),
        cmocka_unit_test(sizes_as_asked_for),
        cmocka_unit_test(missing_source_leaves_the_table),
        cmocka_unit_test(what_cannot_be_annotated_says_why),
        cmocka_unit_test(no_line_is_too_wide),
        cmocka_unit_test(csv_has_a_row_for_each_line_and_size),
        cmocka_unit_test(source_is_found_by_the_end_of_its_name),
        cmocka_unit_test(only_small_regular_files_are_read),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
