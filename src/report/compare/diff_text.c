/*
 * diff_text.c - a comparison as text: the run's misses at each size, then its ratios, then the functions and
 * lines whose misses changed most, then broken rules.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "report/compare/diff.h"
#include "report/draw/place_text.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"

#define ROWS 8

static void put_change(struct rsc_text *text, const struct rsc_diff_value sides[2]) {
    double before = sides[RSC_DIFF_OLD].value, after = sides[RSC_DIFF_NEW].value;
    char change[32] = "-";
    if (before > 0 && after / before >= 100) snprintf(change, sizeof change, "x %.0f", after / before);
    else if (before > 0) snprintf(change, sizeof change, "%+.1f %%", 100 * (after - before) / before);
    else if (after > 0) snprintf(change, sizeof change, "new");
    rsc_text_put(text, "%10s", change);
}

static void put_verdict(struct rsc_text *text, const struct rsc_diff_value sides[2]) {
    static const char *const words[] = {"same", "worse", "better"};
    static const enum rsc_tint tints[] = {RSC_DIM, RSC_RED, RSC_GREEN};
    enum rsc_diff_verdict verdict = rsc_diff_run_verdict(sides);
    rsc_text_put(text, "  ");
    rsc_text_tint(text, tints[verdict]);
    rsc_text_put(text, "%s", words[verdict]);
    rsc_text_tint(text, RSC_PLAIN);
}

static struct rsc_shown show_misses(double value) { return rsc_show_short((uint64_t)llround(value)); }

static struct rsc_shown show_mpki(double value) {
    struct rsc_shown shown;
    snprintf(shown.text, sizeof shown.text, "%.*f", value < 9.995 ? 2 : 1, value);
    return shown;
}

/* The run's numbers of one kind, at `offset` in a size. Only misses, of the program's work, are judged. */
static void put_sizes(struct rsc_text *text, const struct rsc_diff *diff, const char *title, size_t offset,
                      struct rsc_shown (*show)(double), int judged) {
    rsc_text_put(text, " %s\n", title);
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "   %-16s%10s%10s%10s\n", "cache", "old", "new", "change");
    rsc_text_tint(text, RSC_PLAIN);
    for (size_t i = 0; i < diff->size_count; i++) {
        const struct rsc_diff_size *size = &diff->sizes[i];
        const struct rsc_diff_value *sides = (const void *)((const char *)size + offset);
        char label[48];
        snprintf(label, sizeof label, "%s%s%s", rsc_show_bytes(size->bytes).text, size->name[0] ? " " : "", size->name);
        rsc_text_put(text, "   %-16s%10s%10s", label, show(sides[0].value).text, show(sides[1].value).text);
        put_change(text, sides);
        if (judged) put_verdict(text, sides);
        rsc_text_put(text, "\n");
        if (sides[0].high > sides[0].low || sides[1].high > sides[1].low)
            rsc_text_put(text, "     old %s to %s,\n     new %s to %s\n", show(sides[0].low).text,
                         show(sides[0].high).text, show(sides[1].low).text, show(sides[1].high).text);
    }
}

static void put_place(struct rsc_text *text, const struct rsc_diff_report *report, const struct rsc_diff_row *row,
                      unsigned columns) {
    struct rsc_place shown = *row->place;
    if (row->has_line) {
        shown.file = (char *)rsc_diff_file_name(report, shown.file);
        shown.module = NULL; /* each line of the loader has its own row here */
        rsc_put_place(text, &shown, columns);
        return;
    }
    unsigned end = text->column + columns;
    char unnamed[40] = "unnamed code";
    if (row->by_offset) snprintf(unnamed, sizeof unnamed, "0x%llx", (unsigned long long)shown.offset);
    rsc_text_foreign(text, shown.function ? shown.function : unnamed, columns);
    const char *in = shown.file ? shown.file : shown.module;
    if (!in || text->column + 8 > end) return;
    rsc_text_put(text, " in ");
    rsc_text_foreign(text, rsc_base_name(in), end - text->column);
}

static void put_rows(struct rsc_text *text, const struct rsc_diff_report *report, const struct rsc_report_style *style,
                     const struct rsc_diff *diff, const char *title, const struct rsc_diff_row *rows, size_t count) {
    const struct rsc_diff_size *size = &diff->sizes[diff->ranked_at];
    double all = fmax(size->misses[0].value, size->misses[1].value);
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < count; i++) {
        const struct rsc_diff_value sides[2] = {rows[i].misses[0][diff->ranked_at], rows[i].misses[1][diff->ranked_at]};
        if (rsc_diff_verdict(sides) == RSC_DIFF_SAME || fabs(sides[1].value - sides[0].value) < RSC_DIFF_NOISE * all)
            continue;
        if (shown == ROWS) {
            more++;
            continue;
        }
        if (!shown++) {
            rsc_text_put(text, "\n %s ", title);
            rsc_text_tint(text, RSC_DIM);
            rsc_text_put(text, " misses in a cache of %s\n%9s%10s%10s  where\n", rsc_show_bytes(size->bytes).text,
                         "old", "new", "change");
            rsc_text_tint(text, RSC_PLAIN);
        }
        rsc_text_put(text, "%9s%10s", rsc_show_short((uint64_t)llround(sides[0].value)).text,
                     rsc_show_short((uint64_t)llround(sides[1].value)).text);
        put_change(text, sides);
        rsc_text_put(text, "  ");
        put_place(text, report, &rows[i], style->width > text->column ? style->width - text->column : 1);
        rsc_text_put(text, "\n");
    }
    if (more) rsc_text_put(text, "   and %zu more\n", more);
}

/* Lists modules whose build ids differ; nothing if these are not known. */
static void put_builds(struct rsc_text *text, const struct rsc_diff *diff) {
    enum { DIGITS = 12 };
    for (size_t i = 0; i < diff->rebuilt_count; i++) {
        char id[2][RSC_BUILD_ID_TEXT];
        for (int side = 0; side < 2; side++) rsc_module_id_text(diff->rebuilt[i].sides[side], id[side]);
        rsc_text_put(text, " rebuilt        ");
        rsc_text_foreign(text, rsc_base_name(diff->rebuilt[i].sides[RSC_DIFF_NEW]->path), 30);
        rsc_text_put(text, ", build id %.*s, was %.*s\n", DIGITS, id[RSC_DIFF_NEW], DIGITS, id[RSC_DIFF_OLD]);
    }
    if (diff->same_builds) rsc_text_put(text, " build          the same\n");
    rsc_text_put(text, "\n");
}

static void put_diff(struct rsc_text *text, const struct rsc_diff_report *report, const struct rsc_report_style *style,
                     const struct rsc_diff *diff) {
    const struct rsc_profile *before = diff->sides[0], *after = diff->sides[1];
    uint64_t line = before->made.line_bytes;
    if (after->made.loop) {
        rsc_text_put(text, " loop           ");
        rsc_text_foreign(text, after->made.loop, 40);
        rsc_text_put(text, ", %s\n", rsc_show_threads(after->made.threads).text);
    }
    rsc_text_put(text, " references     %s, was %s\n", rsc_show_count(after->references).text,
                 rsc_show_count(before->references).text);
    rsc_text_put(text, " footprint      %s, was %s\n",
                 rsc_show_bytes(rsc_lines_to_bytes(rsc_profile_footprint(after), line)).text,
                 rsc_show_bytes(rsc_lines_to_bytes(rsc_profile_footprint(before), line)).text);
    if (diff->lengths_differ) {
        char words[160];
        snprintf(words, sizeof words,
                 "differ: references are not as many. Old misses are multiplied by %.3g, to be of the same number",
                 diff->scale[RSC_DIFF_OLD]);
        rsc_text_put(text, " lengths        ");
        rsc_text_paragraph(text, 16, style->width, words);
    }
    put_builds(text, diff);
    put_sizes(text, diff, diff->lengths_differ ? "Misses, for the same number of references" : "Misses",
              offsetof(struct rsc_diff_size, misses), show_misses, 1);
    if (diff->has_mpki) {
        rsc_text_put(text, "\n");
        put_sizes(text, diff, "Misses per 1000 instructions", offsetof(struct rsc_diff_size, mpki), show_mpki, 0);
    }
    rsc_text_put(text, "\n");
    put_sizes(text, diff, "Miss ratio", offsetof(struct rsc_diff_size, miss_ratio), rsc_show_percent, 0);
    if (diff->unknown_sizes)
        rsc_text_put(text, "   left out: %zu size%s less than a line or above a profile's --max-distance\n",
                     diff->unknown_sizes, diff->unknown_sizes == 1 ? "" : "s");
    if (!diff->size_count) return;
    put_rows(text, report, style, diff, "Functions", diff->functions, diff->function_count);
    put_rows(text, report, style, diff, "Lines", diff->lines, diff->line_count);
}

int rsc_diff_text(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                  struct rsc_error *error) {
    const struct rsc_diff_report *report = result->diff;
    struct rsc_report_style settled = *style;
    struct rsc_text out;
    if (settled.width < RSC_REPORT_WIDTH_MIN) settled.width = RSC_REPORT_WIDTH_MIN;
    rsc_text_init(&out, settled.unicode, settled.colour);
    for (size_t i = 0; i < report->count; i++) {
        const struct rsc_made *made = &report->diffs[i].sides[0]->made;
        if (i) rsc_text_put(&out, "\n");
        rsc_text_foreign_end(&out, report->names[1], settled.width / 2 - 10);
        rsc_text_put(&out, " against ");
        rsc_text_foreign_end(&out, report->names[0], settled.width / 2 - 10);
        rsc_text_put(&out, "\n");
        if (report->count > 1) {
            rsc_text_put(&out, " model          ");
            rsc_text_foreign(&out, made->model ? made->model : "", 20);
            rsc_text_put(&out, ", lines of %s\n", rsc_show_bytes(made->line_bytes).text);
        }
        put_diff(&out, report, &settled, &report->diffs[i]);
    }
    if (report->unmatched)
        rsc_text_put(&out, "\n %zu profile%s without a partner in the other file\n", report->unmatched,
                     report->unmatched == 1 ? "" : "s");
    if (report->rule_count) rsc_text_put(&out, "\n");
    for (size_t i = 0; i < report->findings->broken; i++) {
        rsc_text_put(&out, " ");
        rsc_text_tint(&out, RSC_RED);
        rsc_text_put(&out, "%s", report->findings->items[i].rule->text);
        rsc_text_tint(&out, RSC_PLAIN);
        rsc_text_put(&out, "\n   ");
        rsc_text_paragraph(&out, 3, settled.width, rsc_diff_finding_words(&report->findings->items[i]).text);
    }
    if (report->rule_count && !report->findings->broken)
        rsc_text_put(&out, " no regression by the %zu rule%s given\n", report->rule_count,
                     report->rule_count == 1 ? "" : "s");
    return rsc_text_take(&out, text, bytes) ? rsc_fail_memory(error, "text of the comparison") : 0;
}
