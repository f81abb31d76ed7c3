/*
 * csv.c - profiles as one tidy table, for pandas, R or a spreadsheet.
 *
 * Columns:
 *     profile     number of the profile in its file, from 0
 *     model       single, private or shared
 *     line_bytes  size of a line
 *     table       total, rd, ri or mrc
 *     name        of a total (accesses, references, cold, ...), else empty
 *     lo, hi      rd, ri: the bin's distances, both included (hi empty: no upper
 *                 end); mrc: the cache size in lines, in both; total: empty
 *     count       rd, ri, total: references (accesses, lines); mrc: empty
 *     value       mrc: the miss ratio; else empty
 *     low, high   mrc: its error bar; else empty
 *
 *     pandas.read_csv("x.csv").query("table == 'mrc'").plot(x="lo", y="value", logx=True)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "report/report.h"
#include "report/text_buffer.h"

struct table {
    struct rsc_text *text;
    const struct rsc_profile *profile;
    size_t index;
};

static void begin_row(const struct table *table, const char *name, const char *item) {
    const char *model = table->profile->made.model;
    rsc_text_put(table->text, "%zu,%s,%" PRIu64 ",%s,%s,", table->index, model ? model : "",
                 table->profile->made.line_bytes, name, item);
}

static void put_total(const struct table *table, const char *item, uint64_t count) {
    begin_row(table, "total", item);
    rsc_text_put(table->text, ",,%" PRIu64 ",,,\n", count);
}

static void put_bins(const struct table *table, const char *name, const struct rsc_bin *bins, size_t count) {
    for (size_t i = 0; i < count; i++) {
        begin_row(table, name, "");
        rsc_text_put(table->text, "%" PRIu64 ",", bins[i].lo);
        if (bins[i].hi != UINT64_MAX) rsc_text_put(table->text, "%" PRIu64, bins[i].hi);
        rsc_text_put(table->text, ",%" PRIu64 ",,,\n", bins[i].count);
    }
}

/* The fewest digits that read back to the same number, as far as %g goes. */
static void put_ratio(struct rsc_text *text, double value, const char *end) {
    char number[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value) break;
    }
    for (char *c = number; *c; c++)
        if (*c == ',') *c = '.'; /* the locale's decimal point would be a column */
    rsc_text_put(text, "%s%s", number, end);
}

static void put_mrc(const struct table *table) {
    const struct rsc_profile *profile = table->profile;
    for (size_t i = 0; i < profile->mrc_count; i++) {
        const struct rsc_mrc_point *point = &profile->mrc[i];
        begin_row(table, "mrc", "");
        rsc_text_put(table->text, "%" PRIu64 ",%" PRIu64 ",,", point->lines, point->lines);
        put_ratio(table->text, point->miss_ratio, ",");
        put_ratio(table->text, point->low, ",");
        put_ratio(table->text, point->high, "\n");
    }
}

static void put_profile(const struct table *table) {
    const struct rsc_profile *profile = table->profile;
    put_total(table, "accesses", profile->accesses);
    put_total(table, "references", profile->references);
    put_total(table, "cold", profile->cold);
    put_total(table, "invalidated", profile->invalidated);
    put_total(table, "distinct", profile->distinct);
    put_total(table, "last_touch", profile->last_touch);
    put_total(table, "pruned", profile->pruned);
    put_total(table, "censored", profile->censored);
    put_bins(table, "rd", profile->rd_list, profile->rd_list_count);
    put_bins(table, "ri", profile->ri_list, profile->ri_list_count);
    put_mrc(table);
}

int rsc_report_csv(struct rsc_profile *const *profiles, size_t count, char **text, size_t *bytes,
                   struct rsc_error *error) {
    struct rsc_text out;
    rsc_text_init(&out, 0, 0);
    rsc_text_put(&out, "profile,model,line_bytes,table,name,lo,hi,count,value,low,high\n");
    for (size_t i = 0; i < count; i++) put_profile(&(struct table){&out, profiles[i], i});
    return rsc_text_take(&out, text, bytes) ? rsc_fail_memory(error, "CSV of the profile") : 0;
}
