/* test_report_text.c - reports of all sorts of profiles: never too wide, never beyond ASCII when told so, and true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "report/report.h"
#include "report/draw/units.h"
#include "sample_profiles.h"

static const struct rsc_machine desktop = {
    .levels = {{"L1d", 1, 48 << 10, 0}, {"L2", 2, 1280 << 10, 0}, {"L3", 3, 48 << 20, 0}},
    .level_count = 3,
};

/* not inlined: gcc 12 would take the text for dangling */
__attribute__((noinline)) static char *render(struct rsc_profile *profile, struct rsc_report_style style) {
    char *text;
    size_t bytes;
    assert_int_equal(
        rsc_report_text(&(struct rsc_result){.profiles = &profile, .count = 1}, &style, &text, &bytes, NULL), 0);
    assert_int_equal(strlen(text), bytes);
    return text;
}

/* Columns of the widest line, escape sequences not counted. */
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

static unsigned lines_of(const char *text) {
    unsigned lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    return lines;
}

static void expect_in(const char *text, const char *wanted) {
    if (!strstr(text, wanted)) print_message("not found: '%s' in\n%s\n", wanted, text);
    assert_non_null(strstr(text, wanted));
}

static void expect_not_in(const char *text, const char *unwanted) {
    if (strstr(text, unwanted)) print_message("found: '%s' in\n%s\n", unwanted, text);
    assert_null(strstr(text, unwanted));
}

/* Names far wider than any report, of characters that are wide, or that a terminal must not see. */
static struct rsc_profile *sample_long_names(void) {
    struct rsc_profile *profile = sample_rows();
    char longest[2000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    rsc_profile_set_text(&profile->code[0].place.function, longest);
    rsc_profile_set_text(&profile->pairs[0].use.function, longest);
    rsc_profile_set_text(&profile->code[4].place.module, longest);
    rsc_profile_set_text(&profile->objects[0].name, longest);
    for (size_t i = 0; i < sizeof longest - 1; i++) longest[i] = "/ab \033"[i % 5];
    rsc_profile_set_text(&profile->code[2].place.file, longest);
    rsc_profile_set_text(&profile->code[3].place.file, longest);
    rsc_profile_set_text(&profile->pairs[0].reuse.file, longest);
    for (size_t i = 0; i < 1998; i += 2) memcpy(longest + i, "\xc3\xa9", 2);
    rsc_profile_set_text(&profile->code[1].place.file, longest);
    rsc_profile_set_text(&profile->objects[1].name, longest);
    return profile;
}

static struct rsc_profile *sample(unsigned which) {
    switch (which) {
    case 0: return sample_zero();
    case 1: return sample_cyclic(1, 1);
    case 2: return sample_cyclic(1, 1000);
    case 3: return sample_cyclic(3, 2);
    case 4: return sample_cyclic(1 << 20, 3000);
    case 5: return sample_spread(5);
    case 6: return sample_spread(50000);
    case 7: return sample_rich();
    case 8: return sample_cyclic(1ull << 40, 2);
    case 9: return sample_rows();
    case 10: return sample_long_names();
    case 11: return sample_kinds_and_lines();
    case 12: return sample_requests(1, 1);
    case 13: return sample_requests(5000, 7);
    case 14: return sample_requests(1ull << 60, 1);
    default: return NULL;
    }
}

static void no_line_is_too_wide(void **state) {
    (void)state;
    static const unsigned widths[] = {0, 1, 40, 41, 47, 60, 69, 70, 75, 76, 80, 95, 96, 100, 132, 200, 500};
    struct rsc_profile *profile;
    for (unsigned which = 0; (profile = sample(which)); which++) {
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
            for (unsigned look = 0; look < 16; look++) {
                struct rsc_report_style style = {.width = widths[i],
                                                 .unicode = look & 1,
                                                 .colour = look >> 1 & 1,
                                                 .machine = look & 4 ? &desktop : NULL,
                                                 .screen = look >> 3 & 1,
                                                 .data_file = "a.data"};
                unsigned width = widths[i] ? widths[i] : 80;
                char *text = render(profile, style);
                width = width < RSC_REPORT_WIDTH_MIN ? RSC_REPORT_WIDTH_MIN : width;
                if (widest(text) > width) print_message("sample %u, width %u:\n%s\n", which, width, text);
                assert_true(widest(text) <= width);
                if (style.screen && width >= 80) assert_true(lines_of(text) <= RSC_SCREEN_LINES);
                for (const char *c = text; *c && !style.unicode; c++) assert_true((unsigned char)*c < 0x80);
                if (!style.colour) assert_null(strchr(text, '\033'));
                free(text);
            }
        rsc_profile_free(profile);
    }
}

static void zero_profile_says_so(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_zero();
    char *text = render(profile, (struct rsc_report_style){.machine = &desktop});
    expect_in(text, "no accesses");
    expect_not_in(text, "nan");
    expect_not_in(text, "%");
    free(text);
    profile->made.sampling = strdup("1 in 32");
    text = render(profile, (struct rsc_report_style){.machine = &desktop});
    expect_in(text, "none sampled");
    expect_not_in(text, "no accesses");
    free(text);
    rsc_profile_free(profile);
}

/* What helps where a sample says next to nothing depends on how it was made. */
static void useless_bars_say_what_helps(void **state) {
    static const struct {
        const char *source, *verb, *helps;
    } cases[] = {{"asm", "run", "run --sample none is exact"},
                 {"perf", "run", "sample more often (--rate), or run --with qemu"},
                 {"asm", "attach", "watch it for longer"},
                 {"trace", "analyze", "--engine exact is exact"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rsc_profile *profile = sample_cyclic(64, 1000);
        char *const command[] = {(char *)"reusescope", (char *)cases[i].verb, NULL};
        assert_int_equal(rsc_profile_set_text(&profile->made.source, cases[i].source), 0);
        assert_int_equal(rsc_profile_set_command(profile, command), 0);
        profile->bars.distinct = (struct rsc_count_bar){1, 10, 10000};
        char *text = render(profile, (struct rsc_report_style){.machine = &desktop, .width = 200});
        expect_in(text, "(10 to 10,000 lines): not known from this sample; ");
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++)
            assert_int_equal(strstr(text, cases[j].helps) != NULL, i == j);
        free(text);
        rsc_profile_free(profile);
    }
}

static void a_cliff_is_described(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_cyclic(100000, 100);
    char *text = render(profile, (struct rsc_report_style){.width = 200, .machine = &desktop});
    expect_in(text, "10,000,000 references to lines of 64 B");
    expect_in(text, "100,000 distinct lines, 6.1 MiB");
    expect_in(text, "100,000 first touches, 1 % of references");
    expect_in(text, "Half of all reuses come within 99,999 lines (6.1 MiB).");
    expect_in(text, "In this machine's L1d (48 KiB) 100 % of references miss, in L2 (1.25 MiB) 100 %, in L3 (48 MiB) "
                    "1 %.");
    expect_in(text, "falls most steeply between 6.06 MiB and 6.1 MiB: from 100 % to 1 %.");
    expect_in(text, "All memory touched (6.1 MiB) fits in L3 (48 MiB).");
    expect_in(text, "A cache of 6.1 MiB comes within 1 percentage point of the least possible, 1 %: the first "
                    "touches.");
    expect_in(text, "64K-128K");
    free(text);
    rsc_profile_free(profile);
}

static void rows_are_marked_with_the_machines_caches(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_spread(50000);
    char *text = render(profile, (struct rsc_report_style){.width = 100, .unicode = 1, .machine = &desktop});
    char *row = strstr(text, "512–1023      32–64 KiB");
    assert_non_null(row);
    *strchr(row, '\n') = 0;
    expect_in(row, "◂ L1d 48 KiB");
    free(text);
    text = render(profile, (struct rsc_report_style){.width = 100});
    expect_not_in(text, "L1d");
    free(text);
    rsc_profile_free(profile);
}

static void reuse_free_runs_make_no_claims(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_cyclic(50, 1);
    char *text = render(profile, (struct rsc_report_style){.machine = &desktop});
    expect_in(text, "No line is used twice");
    expect_not_in(text, "Half of all");
    expect_not_in(text, "p50");
    expect_not_in(text, "steeply");
    free(text);
    rsc_profile_free(profile);
}

static void a_cap_bounds_what_is_said(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_empty();
    profile->rd_cap = 100;
    rsc_histogram_add(&profile->rd, 5, 10);
    profile->rd_capped = 90;
    profile->cold = profile->distinct = 2000;
    profile->references = profile->accesses = 2100;
    sample_sealed(profile);
    char *text = render(profile, (struct rsc_report_style){.width = 120, .machine = &desktop});
    expect_in(text, "More than half of all reuses are 100 lines (6.25 KiB) or more apart");
    expect_in(text, ">=100");
    expect_not_in(text, "In this machine's");
    free(text);
    rsc_profile_free(profile);
}

static void long_tables_say_how_many_more(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rich();
    char *text = render(profile, (struct rsc_report_style){.machine = &desktop});
    expect_in(text, "... and 24 more phases");
    expect_in(text, "Threads");
    expect_in(text, "sampling    one in 100");
    free(text);
    rsc_profile_free(profile);
}

static void worst_lines_are_ranked_and_explained(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    char *text = render(profile, (struct rsc_report_style){.width = 120, .machine = &desktop});
    expect_in(text, " Worst lines  by misses in L2 (1.25 MiB), the largest too small\n");
    expect_in(text, "    70.0 k   97.0 %  100.0 %    70.0 k  /home/u/wave/src/solver.c:71 sweep\n");
    /* two instructions, one line; 32768..40959 is above 20480 lines */
    expect_in(text, "     1,800    2.5 %   90.0 %     2,000  /home/u/wave/src/solver.c:88 relax\n");
    expect_in(text, "       400    0.6 %    8.0 %     5,000  mem.c:10 copy\n");
    expect_in(text, "+-7 (row 3): references that may belong to rows dropped from a full table.");
    expect_in(text, " - solver.c:71: all its misses are first touches: streaming through new memory.\n");
    expect_in(text, " - solver.c:88: data returns after a median of 2.45 MiB, more than L2 holds; last used at "
                    "solver.c:71.\n");
    expect_in(text,
              " - mem.c:10: 8 % of references return after a median of 3.67 MiB, more than L2 holds; last used by");
    expect_in(text, "this same line.\n");
    free(text);
    rsc_profile_free(profile);
}

/* With latencies, by the cycles that misses cost: 70,000 first touches wait for memory, 1,800 reuses for L3. */
static void worst_lines_are_ranked_by_cycles(void **state) {
    (void)state;
    struct rsc_machine timed = desktop;
    timed.levels[0].cycles = 5, timed.levels[1].cycles = 15, timed.levels[2].cycles = 60, timed.memory_cycles = 250;
    struct rsc_profile *profile = sample_rows();
    char *text = render(profile, (struct rsc_report_style){.width = 120, .machine = &timed});
    expect_in(text, " Worst lines  by cycles lost: L2 15, L3 60, memory 250 (typical)\n");
    expect_in(text, "    17.5 M   99.3 %     70.0 k  100.0 %    70.0 k  /home/u/wave/src/solver.c:71 sweep\n");
    expect_in(text, "     108 k    0.6 %      1,800   90.0 %     2,000  /home/u/wave/src/solver.c:88 relax\n");
    expect_in(text, "    24.0 k    0.1 %        400    8.0 %     5,000  mem.c:10 copy\n");
    free(text);
    text = render(profile, (struct rsc_report_style){.width = 120, .machine = &timed, .at_bytes = 1280 << 10});
    expect_in(text, " Worst lines  by misses in L2 (1.25 MiB)\n");
    free(text);
    rsc_profile_free(profile);
}

static void worst_pairs_and_objects_are_ranked(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    char *text = render(profile, (struct rsc_report_style){.width = 100, .unicode = 1, .machine = &desktop});
    expect_in(text, "   40.2 k  2.45 MiB  /home/u/wave/src/solver.c:71 sweep\n");
    expect_in(text, "→  /home/u/wave/src/solver.c:88 relax\n");
    expect_in(text, "±7 (row 2)");
    expect_in(text, "    70.0 k   97.0 %   4.27 MiB  global  grid\n");
    expect_in(text, "     1,797    2.5 %      1 MiB  heap    array allocated at solver.c:12\n");
    free(text);
    rsc_profile_free(profile);
}

static void ranking_follows_the_size_asked_for(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    char *text = render(profile, (struct rsc_report_style){.width = 100, .at_bytes = 64 << 20, .machine = &desktop});
    expect_in(text, "by misses in a cache of 64 MiB");
    expect_not_in(text, "solver.c:88"); /* all of it fits */
    expect_in(text, "Nothing misses at this size.");
    free(text);
    text = render(profile, (struct rsc_report_style){.width = 40});
    expect_in(text, "Worst lines  at 1 MiB\n");
    free(text);
    text = render(profile, (struct rsc_report_style){.width = 70});
    expect_in(text, " - solver.c:88: data returns after a median of");
    expect_in(text, "MiB can hold");
    free(text);
    rsc_profile_free(profile);
}

static void a_cap_lowers_the_size_ranked_at(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    struct rsc_histogram *rd = &profile->rd;
    profile->rd_cap = 1500;
    profile->rd_capped = 2200;
    rd->count[rsc_bin_of(rd->bins, 40000)] = rd->count[rsc_bin_of(rd->bins, 60000)] = 0;
    for (size_t i = 0; i < profile->code_count; i++) {
        struct rsc_histogram *row = &profile->code[i].rd;
        uint64_t far = rsc_histogram_at_least(row, 1500);
        row->count[rsc_bin_of(row->bins, 40000)] = row->count[rsc_bin_of(row->bins, 60000)] = 0;
        rsc_histogram_add(row, 1500, far);
    }
    sample_sealed(profile);
    char *text = render(profile, (struct rsc_report_style){.width = 100, .machine = &desktop});
    expect_in(text, "by misses in a cache of 80 KiB"); /* 1280 lines */
    expect_in(text, "Ranked at this size because longer distances were not counted (--max-distance).");
    expect_in(text, "a median of at least 80 KiB");
    free(text);
    rsc_profile_free(profile);
}

static void kinds_and_cache_lines_are_told(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_kinds_and_lines();
    char *text = render(profile, (struct rsc_report_style){.width = 100});
    expect_in(text, "kinds       1,020 fetches, 1,010 writes, 1,000 reads");
    expect_in(text, "Worst cache lines  by misses in a cache of 4 KiB");
    expect_in(text, "0xffffffffffffffc0  xxx");
    expect_in(text, "Up to 3 of a row's misses may belong to lines dropped");
    expect_in(text, "    fetch     1,020    2.0 %");
    free(text);
    rsc_profile_free(profile);
}

static void requests_have_two_curves_and_no_machine(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_requests(5000, 7);
    char *text = render(profile, (struct rsc_report_style){.width = 100, .machine = &desktop});
    expect_in(text, "8 by 1 thread, 39.1 KiB");
    expect_in(text, "1 object, 4.88 KiB at most");
    expect_in(text, "Miss ratio  of requests");
    expect_in(text, "Byte miss ratio  of the bytes");
    expect_in(text, "A cache of 4.88 KiB comes within 1 percentage point");
    expect_not_in(text, "L1");
    expect_not_in(text, "lines");
    free(text);
    rsc_profile_free(profile);
}

static void code_without_lines_is_ranked_by_function(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    rsc_profile_set_text(&profile->code[5].place.function, "memcpy");
    rsc_profile_set_text(&profile->code[5].place.module, "/lib/libc.so.6");
    profile->code[4].cold = 50, profile->code[5].cold = 10;
    char *text = render(profile, (struct rsc_report_style){.width = 100});
    expect_in(text, "        60    0.1 %  100.0 %        60  memcpy in /lib/libc.so.6\n");
    free(text);
    rsc_profile_set_text(&profile->code[4].place.function, NULL);
    rsc_profile_set_text(&profile->code[5].place.function, NULL);
    profile->code[5].cold = profile->code[5].references = 40; /* with less than 0.05 % of misses there is no row */
    text = render(profile, (struct rsc_report_style){.width = 100});
    expect_in(text, "  0x99 in /lib/libc.so.6\n");
    expect_in(text, "  0x0 in /lib/libc.so.6\n");
    free(text);
    rsc_profile_free(profile);
}

static void paths_lose_their_beginning(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    char *text = render(profile, (struct rsc_report_style){.width = 64});
    expect_in(text, "  ...src/solver.c:71 sweep\n");
    free(text);
    text = render(profile, (struct rsc_report_style){.width = 64, .unicode = 1});
    expect_in(text, "  …e/src/solver.c:71 sweep\n");
    free(text);
    rsc_profile_free(profile);
}

static void foreign_text_cannot_drive_the_terminal(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_cyclic(3, 2);
    char *command[] = {"a\033[31mred",
                       "b\nc",
                       "\xff\xfe",
                       "\xe2\x80\xae"
                       "abc",
                       "\xc2\x9b"
                       "1m",
                       NULL};
    rsc_profile_set_command(profile, command);
    rsc_profile_set_text(&profile->made.by, "\033]0;x\007");
    char *text = render(profile, (struct rsc_report_style){.unicode = 1});
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\007'));
    expect_in(text, "a?[31mred b?c ?? ?abc ?1m\n");
    free(text);
    rsc_profile_free(profile);
}

static void numbers_for_people(void **state) {
    (void)state;
    assert_string_equal(rsc_show_bytes(0).text, "0 B");
    assert_string_equal(rsc_show_bytes(1023).text, "1023 B");
    assert_string_equal(rsc_show_bytes(1024).text, "1 KiB");
    assert_string_equal(rsc_show_bytes(1280 << 10).text, "1.25 MiB");
    assert_string_equal(rsc_show_bytes((1 << 20) - 1).text, "1 MiB");
    assert_string_equal(rsc_show_bytes(UINT64_MAX).text, "16 EiB");
    assert_string_equal(rsc_show_count(0).text, "0");
    assert_string_equal(rsc_show_count(1234567).text, "1,234,567");
    assert_string_equal(rsc_show_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(rsc_show_short(9999).text, "9,999");
    assert_string_equal(rsc_show_short(10000).text, "10.0 k");
    assert_string_equal(rsc_show_short(999999).text, "1.00 M");
    assert_string_equal(rsc_show_short(UINT64_MAX).text, "18.4 E");
    assert_string_equal(rsc_show_percent(0).text, "0 %");
    assert_string_equal(rsc_show_percent(1).text, "100 %");
    assert_string_equal(rsc_show_percent(0.99999).text, "> 99.9 %");
    assert_string_equal(rsc_show_percent(1e-9).text, "< 0.001 %");
    assert_string_equal(rsc_show_percent(0.0312).text, "3.12 %");
    assert_string_equal(rsc_show_share(0.0001).text, "<0.1 %");
    assert_string_equal(rsc_show_seconds(0.0125).text, "12.5 ms");
    assert_string_equal(rsc_show_seconds(125).text, "2 min 5 s");
}

static void formats_by_suffix_and_name(void **state) {
    (void)state;
    assert_int_equal(rsc_report_format_of_path("a.json"), RSC_REPORT_JSON);
    assert_int_equal(rsc_report_format_of_path("x/a.csv"), RSC_REPORT_CSV);
    assert_int_equal(rsc_report_format_of_path("a.txt"), RSC_REPORT_TEXT);
    assert_int_equal(rsc_report_format_of_path("a.json/data"), RSC_REPORT_NONE);
    assert_int_equal(rsc_report_format_of_path("-"), RSC_REPORT_NONE);
    assert_int_equal(rsc_report_format_of_name("csv"), RSC_REPORT_CSV);
    assert_int_equal(rsc_report_format_of_name("pdf"), RSC_REPORT_NONE);
}

static void csv_is_one_table(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rich();
    char *text;
    size_t bytes;
    assert_int_equal(rsc_report_render(&(struct rsc_result){.profiles = &profile, .count = 1}, RSC_REPORT_CSV, NULL,
                                       &text, &bytes, NULL),
                     0);
    expect_in(text, "0,private,4096,rd,,1500,,33,,,\n");
    expect_in(text, "0,private,4096,total,cold,,,2000,,,\n");
    unsigned commas = 0;
    for (char *c = text; *c; c++) {
        commas += *c == ',';
        if (*c != '\n') continue;
        assert_int_equal(commas, 10);
        commas = 0;
    }
    free(text);
    assert_int_equal(rsc_report_render(&(struct rsc_result){.profiles = &profile, .count = 1}, RSC_REPORT_NONE, NULL,
                                       &text, &bytes, NULL),
                     RSC_EINVAL);
    rsc_profile_free(profile);
}

static void rows_of_csv_are_quoted(void **state) {
    (void)state;
    struct rsc_profile *profile = sample_rows();
    char *text;
    size_t bytes;
    rsc_profile_set_text(&profile->objects[0].name, "a,\"b\"\n\xc3\xa9");
    assert_int_equal(rsc_report_render(&(struct rsc_result){.profiles = &profile, .count = 1}, RSC_REPORT_CSV, NULL,
                                       &text, &bytes, NULL),
                     0);
    expect_in(text, "0,single,64,code,\"mem.c:10 copy\",,,5000,,4993,5000\n");
    expect_in(text, "0,single,64,code_rd,\"mem.c:10 copy\",57344,65535,400,,,\n");
    expect_in(text, "0,single,64,code_cold,\"/home/u/wave/src/solver.c:71 sweep\",,,70000,,,\n");
    expect_in(text, "0,single,64,code,\"memcpy 0x99 /lib/libc.so.6\",,,50,,50,50\n");
    expect_in(text, "0,single,64,pairs,\"mem.c:10 copy -> mem.c:10 copy\",,,400,,393,400\n");
    expect_in(text, "0,single,64,objects,\"a,\"\"b\"\"?\xc3\xa9\",,,70000,4480000,70000,70000\n");
    unsigned commas = 0, quoted = 0; /* commas outside quotes */
    for (char *c = text; *c; c++) {
        if (*c == '"') quoted = !quoted;
        commas += *c == ',' && !quoted;
        if (*c != '\n') continue;
        assert_int_equal(commas, 10);
        commas = 0;
    }
    free(text);
    rsc_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_line_is_too_wide),
        cmocka_unit_test(zero_profile_says_so),
        cmocka_unit_test(useless_bars_say_what_helps),
        cmocka_unit_test(a_cliff_is_described),
        cmocka_unit_test(rows_are_marked_with_the_machines_caches),
        cmocka_unit_test(reuse_free_runs_make_no_claims),
        cmocka_unit_test(a_cap_bounds_what_is_said),
        cmocka_unit_test(long_tables_say_how_many_more),
        cmocka_unit_test(worst_lines_are_ranked_and_explained),
        cmocka_unit_test(worst_lines_are_ranked_by_cycles),
        cmocka_unit_test(worst_pairs_and_objects_are_ranked),
        cmocka_unit_test(ranking_follows_the_size_asked_for),
        cmocka_unit_test(a_cap_lowers_the_size_ranked_at),
        cmocka_unit_test(kinds_and_cache_lines_are_told),
        cmocka_unit_test(requests_have_two_curves_and_no_machine),
        cmocka_unit_test(code_without_lines_is_ranked_by_function),
        cmocka_unit_test(paths_lose_their_beginning),
        cmocka_unit_test(foreign_text_cannot_drive_the_terminal),
        cmocka_unit_test(numbers_for_people),
        cmocka_unit_test(formats_by_suffix_and_name),
        cmocka_unit_test(csv_is_one_table),
        cmocka_unit_test(rows_of_csv_are_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
