/*
 * csv.c - profiles as one tidy table, for pandas, R or a spreadsheet.
 *
 * Columns:
 *     profile     number of the profile in its file, from 0
 *     model       single, private, shared or requests
 *     line_bytes  size of a line
 *     table       total, rd, ri, mrc, and of code, pairs and objects each: code
 *                 (references), code_cold, code_invalidated, code_rd (distances at
 *                 4 bins per octave); pairs have no cold and no invalidated; kinds
 *                 in the same way, with kinds_rd in the bins of rd; lines (misses),
 *                 lines_references, lines_cold, lines_rd; of requests, rd_bytes and
 *                 mrc_bytes; of private stacks, sharing (misses), sharing_false (those
 *                 of them by false sharing), sharing_taken (lines), false_sharing
 *                 (misses) and false_sharing_taken; with a machine named, latency (of
 *                 its caches and of memory), code_cycles, pairs_cycles and objects_cycles
 *     name        of a total (accesses, references, cold, ...); of a place in the
 *                 code ("solver.c:88 relax", else function, pc and module), of a
 *                 pair ("use -> reuse"), of an object, of a kind; for a cache line its
 *                 address and the object it is in; for sharing "taker -> loser", by
 *                 thread ids; else empty. The instructions of one source line share
 *                 their name: sum over it
 *     lo, hi      rd, ri, ..._rd: the bin's distances, both included (hi empty: no
 *                 upper end); mrc: the cache size in lines, in both; else empty
 *     count       references (of a total: accesses, lines); rd_bytes: bytes; mrc: empty
 *     value       the estimated cycles that misses cost, of a total named cycles and of
 *                 ..._cycles; latency: the cycles that a load waits, lo and hi then being
 *                 the cache's lines (empty for memory); mrc: the miss ratio, mrc_bytes: the byte miss ratio; objects: the size
 *                 in bytes; lines: the cache size in bytes that they miss in; else empty
 *     low, high   mrc, sharing, false_sharing: its error bar; code, pairs, objects, kinds: the references that
 *                 are certain, and count; lines: the same of misses; else empty
 * Names are quoted; characters unsafe for a terminal become '?', and a name that a
 * spreadsheet would take for a formula gets a ' before it.
 *
 *     pandas.read_csv("x.csv").query("table == 'mrc'").plot(x="lo", y="value", logx=True)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "profile/cost.h"
#include "report/report.h"
#include "report/draw/text_buffer.h"

struct table {
    struct rsc_text *text;
    const struct rsc_profile *profile;
    size_t index;
    const struct rsc_machine *machine; /* whose cycles are estimated; NULL: none */
};

/* The columns before the name, with the comma. */
static void begin_unnamed(const struct table *table, const char *name) {
    const char *model = table->profile->made.model;
    rsc_text_put(table->text, "%zu,%s,%" PRIu64 ",%s,", table->index, model ? model : "",
                 table->profile->made.line_bytes, name);
}

static void begin_row(const struct table *table, const char *name, const char *item) {
    begin_unnamed(table, name);
    rsc_text_put(table->text, "%s,", item);
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

/* The fewest digits that read back as the same number, as far as %g allows. */
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

/* ---- code, pairs and objects ---- */

static void put_place(struct rsc_text *text, const struct rsc_place *place) {
    if (place->file && place->line) {
        rsc_text_in_quotes(text, place->file);
        rsc_text_put(text, ":%" PRIu32, place->line);
        if (place->function) rsc_text_put(text, " ");
        rsc_text_in_quotes(text, place->function);
        return;
    }
    rsc_text_in_quotes(text, place->function);
    rsc_text_put(text, "%s0x%" PRIx64, place->function ? " " : "", place->offset ? place->offset : place->pc);
    if (place->module) rsc_text_put(text, " ");
    rsc_text_in_quotes(text, place->module);
}

/* Begins a line about a row of code, pairs, objects or kinds, or about a cache line. */
static void begin_attributed(const struct table *table, const struct rsc_row_table *rows, const void *row,
                             const char *suffix) {
    struct rsc_text *text = table->text;
    char name[32];
    snprintf(name, sizeof name, "%s%s", rows->key, suffix);
    begin_unnamed(table, name);
    rsc_text_put(text, "\"");
    if (rows == &rsc_row_table_code) put_place(text, &((const struct rsc_code_row *)row)->place);
    if (rows == &rsc_row_table_objects) rsc_text_in_quotes(text, ((const struct rsc_object_row *)row)->name);
    if (rows == &rsc_row_table_kinds) rsc_text_in_quotes(text, ((const struct rsc_kind_row *)row)->kind);
    if (rows == &rsc_row_table_pairs) {
        put_place(text, &((const struct rsc_pair_row *)row)->use);
        rsc_text_put(text, " -> ");
        put_place(text, &((const struct rsc_pair_row *)row)->reuse);
    }
    if (rows == &rsc_row_table_lines) {
        const struct rsc_line_row *line = row;
        put_place(text, &(struct rsc_place){.pc = line->address, .module = line->object});
    }
    if (rows == &rsc_row_table_false_sharing) {
        const struct rsc_false_sharing_row *line = row;
        put_place(text, &(struct rsc_place){.pc = line->address, .module = line->object});
    }
    rsc_text_put(text, "\",");
}

/* A line with a count and nothing else. */
static void put_count(const struct table *table, const struct rsc_row_table *rows, const void *row, const char *suffix,
                      uint64_t count) {
    begin_attributed(table, rows, row, suffix);
    rsc_text_put(table->text, ",,%" PRIu64 ",,,\n", count);
}

/* A line with a number of cycles and nothing else. */
static void put_cycles(const struct table *table, const struct rsc_row_table *rows, const void *row) {
    begin_attributed(table, rows, row, "_cycles");
    rsc_text_put(table->text, ",,,");
    rsc_text_put(table->text, "%.0f,,\n", rsc_cost_of_row(table->profile, rsc_row_counts(rows, row), table->machine));
}

static void put_row_bins(const struct table *table, const struct rsc_row_table *rows, const void *row) {
    const struct rsc_histogram *rd = rsc_row_counts(rows, row).rd;
    uint64_t cap = table->profile->rd_cap;
    if (rows == &rsc_row_table_kinds) rd = &((const struct rsc_kind_row *)row)->rd_fine;
    for (uint32_t bin = 0; bin < rd->bin_count; bin++) {
        if (!rd->count[bin]) continue;
        uint64_t hi = rsc_bin_hi(rd->bins, bin);
        begin_attributed(table, rows, row, "_rd");
        rsc_text_put(table->text, "%" PRIu64 ",", rsc_bin_lo(rd->bins, bin));
        if (!(cap && hi >= cap) && hi != UINT64_MAX) rsc_text_put(table->text, "%" PRIu64, hi);
        rsc_text_put(table->text, ",%" PRIu64 ",,,\n", rd->count[bin]);
    }
}

/* The rows of a table that counts references. */
static void put_attributed(const struct table *table, const struct rsc_row_table *rows) {
    for (size_t i = 0; i < rsc_row_table_count(rows, table->profile); i++) {
        const void *row = rsc_row_table_row(rows, table->profile, i);
        struct rsc_row_counts counts = rsc_row_counts(rows, row);
        uint64_t references = *counts.references;
        begin_attributed(table, rows, row, "");
        rsc_text_put(table->text, ",,%" PRIu64 ",", references);
        if (rows == &rsc_row_table_objects)
            rsc_text_put(table->text, "%" PRIu64, ((const struct rsc_object_row *)row)->bytes);
        rsc_text_put(table->text, ",%" PRIu64 ",%" PRIu64 "\n", references - (counts.error ? *counts.error : 0),
                     references);
        if (counts.cold) put_count(table, rows, row, "_cold", *counts.cold);
        if (counts.invalidated) put_count(table, rows, row, "_invalidated", *counts.invalidated);
        put_row_bins(table, rows, row);
        if (table->machine && rsc_cost_has(rows)) put_cycles(table, rows, row);
    }
}

/* What a load waits for, and the cycles that all misses cost. */
static void put_cost(const struct table *table) {
    const struct rsc_machine *machine = table->machine;
    for (size_t i = 0; i < machine->level_count; i++) {
        uint64_t lines = rsc_cost_lines(table->profile, machine, i);
        begin_row(table, "latency", machine->levels[i].name);
        rsc_text_put(table->text, "%" PRIu64 ",%" PRIu64 ",,", lines, lines);
        put_ratio(table->text, machine->levels[i].cycles, ",,\n");
    }
    begin_row(table, "latency", "memory");
    rsc_text_put(table->text, ",,,");
    put_ratio(table->text, machine->memory_cycles, ",,\n");
    begin_row(table, "total", "cycles");
    rsc_text_put(table->text, ",,,%.0f,,\n", rsc_cost_of_profile(table->profile, machine));
}

static void put_lines(const struct table *table) {
    const struct rsc_row_table *rows = &rsc_row_table_lines;
    for (size_t i = 0; i < table->profile->line_count; i++) {
        const struct rsc_line_row *line = &table->profile->lines[i];
        begin_attributed(table, rows, line, "");
        rsc_text_put(table->text, ",,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", line->misses,
                     table->profile->lines_at_bytes, line->misses - line->error, line->misses);
        put_count(table, rows, line, "_references", line->references);
        put_count(table, rows, line, "_cold", line->cold);
        put_row_bins(table, rows, line);
    }
}

/* The columns from lo on of a number of sharing; `bars` are those of its row. */
static void put_ranged(const struct table *table, uint64_t count, const struct rsc_sharing_bars *bars,
                       const struct rsc_count_range *range) {
    rsc_text_put(table->text, ",,%" PRIu64 ",,", count);
    if (bars->taken.high) rsc_text_put(table->text, "%" PRIu64 ",%" PRIu64 "\n", range->low, range->high);
    else rsc_text_put(table->text, ",\n");
}

static void put_cell(const struct table *table, const char *name, const struct rsc_sharing_row *row, uint64_t count,
                     const struct rsc_count_range *range) {
    begin_unnamed(table, name);
    rsc_text_put(table->text, "\"%" PRIu64 " -> %" PRIu64 "\",", row->by_tid, row->from_tid);
    put_ranged(table, count, &row->bars, range);
}

static void put_shared_line(const struct table *table, const char *suffix, const struct rsc_false_sharing_row *line,
                            uint64_t count, const struct rsc_count_range *range) {
    begin_attributed(table, &rsc_row_table_false_sharing, line, suffix);
    put_ranged(table, count, &line->bars, range);
}

static void put_sharing(const struct table *table) {
    const struct rsc_profile *profile = table->profile;
    for (size_t i = 0; i < profile->sharing_count; i++) {
        const struct rsc_sharing_row *row = &profile->sharing[i];
        put_cell(table, "sharing", row, row->misses, &row->bars.misses);
        put_cell(table, "sharing_false", row, row->false_misses, &row->bars.false_misses);
        put_cell(table, "sharing_taken", row, row->taken, &row->bars.taken);
        put_cell(table, "sharing_false_taken", row, row->false_taken, &row->bars.false_taken);
    }
    for (size_t i = 0; i < profile->false_sharing_count; i++) {
        const struct rsc_false_sharing_row *line = &profile->false_sharing[i];
        put_shared_line(table, "", line, line->misses, &line->bars.misses);
        put_shared_line(table, "_taken", line, line->taken, &line->bars.taken);
    }
}

static void put_requests(const struct table *table) {
    const struct rsc_profile *profile = table->profile;
    const struct rsc_request_bytes *bytes = &profile->requests;
    put_total(table, "bytes", bytes->requested);
    put_total(table, "cold_bytes", bytes->cold);
    put_total(table, "footprint_bytes", bytes->footprint);
    for (uint32_t bin = 0; bin < bytes->rd.bin_count; bin++) {
        struct rsc_bin one = {rsc_bin_lo(bytes->rd.bins, bin), rsc_bin_hi(bytes->rd.bins, bin), bytes->rd.count[bin]};
        if (one.count) put_bins(table, "rd_bytes", &one, 1);
    }
    for (size_t i = 0; i < profile->mrc_count; i++) {
        begin_row(table, "mrc_bytes", "");
        rsc_text_put(table->text, "%" PRIu64 ",%" PRIu64 ",,", profile->mrc[i].lines, profile->mrc[i].lines);
        put_ratio(table->text, bytes->miss_ratio[i], bytes->low ? "," : ",,\n");
        if (!bytes->low) continue;
        put_ratio(table->text, bytes->low[i], ",");
        put_ratio(table->text, bytes->high[i], "\n");
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
    if (table->machine) put_cost(table);
    put_bins(table, "rd", profile->rd_list, profile->rd_list_count);
    put_bins(table, "ri", profile->ri_list, profile->ri_list_count);
    put_mrc(table);
    put_attributed(table, &rsc_row_table_code);
    put_attributed(table, &rsc_row_table_pairs);
    put_attributed(table, &rsc_row_table_objects);
    put_attributed(table, &rsc_row_table_kinds);
    put_lines(table);
    put_sharing(table);
    if (rsc_profile_is_requests(profile)) put_requests(table);
}

int rsc_report_csv(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                   struct rsc_error *error) {
    struct rsc_text out;
    rsc_text_init(&out, 1, 0); /* names are UTF-8 */
    rsc_text_put(&out, "profile,model,line_bytes,table,name,lo,hi,count,value,low,high\n");
    for (size_t i = 0; i < result->count; i++) {
        const struct rsc_profile *profile = result->profiles[i];
        int costs = style && style->costs && rsc_cost_is_known(profile, style->machine);
        put_profile(&(struct table){&out, profile, i, costs ? style->machine : NULL});
    }
    return rsc_text_take(&out, text, bytes) ? rsc_fail_memory(error, "CSV of the profile") : 0;
}
