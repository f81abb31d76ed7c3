/* tables.c - see tables.h. */
#include "report/text/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/draw/place_text.h"
#include "report/ranking.h"
#include "report/text/summary.h"
#include "report/text/worst.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"

#define ROWS 20
#define NAME 22 /* columns of a profile's name */
#define PERCENTS 4

static const unsigned percents[PERCENTS] = {70, 80, 90, 95};

static int take(struct rsc_text *out, char **text, size_t *bytes, struct rsc_error *error) {
    return rsc_text_take(out, text, bytes) ? rsc_fail_memory(error, "table") : 0;
}

static void put_name(struct rsc_text *out, const char *name, int as_csv) {
    if (as_csv) {
        rsc_text_put(out, "\"");
        rsc_text_in_quotes(out, name);
        rsc_text_put(out, "\"");
        return;
    }
    rsc_text_put(out, "  ");
    rsc_text_foreign_end(out, name, NAME);
    rsc_text_pad_to(out, NAME + 3);
}

/* ---- a suite ---- */

static int ascending(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* UINT64_MAX: no reuses, or beyond a cap. */
static void put_distance(struct rsc_text *out, uint64_t bytes, int as_csv) {
    if (as_csv && bytes == UINT64_MAX) rsc_text_put(out, ",");
    else if (as_csv) rsc_text_put(out, ",%" PRIu64, bytes);
    else rsc_text_put(out, "%12s", bytes == UINT64_MAX ? "-" : rsc_show_bytes(bytes).text);
}

static uint64_t distance_bytes(const struct rsc_profile *profile, unsigned percent) {
    uint64_t lines = rsc_summary_quantile(profile, percent / 100.0);
    return lines == UINT64_MAX ? lines : rsc_lines_to_bytes(lines, profile->made.line_bytes);
}

static int suite_table(const struct rsc_result *result, const struct rsc_report_style *style, int as_csv, char **text,
                       size_t *bytes, struct rsc_error *error) {
    struct rsc_profile *const *profiles = result->profiles;
    const char *const *names = result->table->names;
    size_t count = result->count;
    struct rsc_text out;
    uint64_t *column = malloc((count + 1) * sizeof *column);
    if (!column) return rsc_fail_memory(error, "table");
    rsc_text_init(&out, style->unicode, style->colour && !as_csv);
    if (as_csv) rsc_text_put(&out, "profile,p70_bytes,p80_bytes,p90_bytes,p95_bytes\n");
    else
        rsc_text_put(&out, " Distance that covers this share of all reuses\n  %-*s%12s%12s%12s%12s\n", NAME + 1,
                     "profile", "70 %", "80 %", "90 %", "95 %");
    for (size_t i = 0; i < count; i++) {
        put_name(&out, names[i], as_csv);
        for (size_t p = 0; p < PERCENTS; p++) put_distance(&out, distance_bytes(profiles[i], percents[p]), as_csv);
        rsc_text_put(&out, "\n");
    }
    for (int median = 0; median < 2; median++) {
        put_name(&out, median ? "median" : "max", as_csv);
        for (size_t p = 0; p < PERCENTS; p++) {
            size_t known = 0;
            for (size_t i = 0; i < count; i++) {
                column[known] = distance_bytes(profiles[i], percents[p]);
                known += column[known] != UINT64_MAX || profiles[i]->rd_capped; /* beyond a cap is large, not unknown */
            }
            qsort(column, known, sizeof *column, ascending);
            put_distance(&out, !known ? UINT64_MAX : median ? column[(known - 1) / 2] : column[known - 1], as_csv);
        }
        rsc_text_put(&out, "\n");
    }
    free(column);
    return take(&out, text, bytes, error);
}

/* ---- code ---- */

struct part {
    const struct rsc_place *place;
    const struct rsc_loop_row *loop; /* NULL: in none, or not known */
    uint64_t references, misses;
    double cycles; /* 0: the table is not ordered by cycles */
};

static const char *const by_names[] = {"", "module", "file", "function", "loop", "line"};

enum rsc_table_by rsc_table_by_of_name(const char *name) {
    for (int by = RSC_BY_MODULE; by <= RSC_BY_LINE; by++)
        if (!strcmp(name, by_names[by])) return (enum rsc_table_by)by;
    return RSC_BY_NONE;
}

static int compare_text(const char *a, const char *b) { return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b); }

static int by_module(const void *left, const void *right) {
    return compare_text(((const struct part *)left)->place->module, ((const struct part *)right)->place->module);
}

static int by_file(const void *left, const void *right) {
    return compare_text(((const struct part *)left)->place->file, ((const struct part *)right)->place->file);
}

static int by_function(const void *left, const void *right) {
    int order =
        compare_text(((const struct part *)left)->place->function, ((const struct part *)right)->place->function);
    return order ? order : by_module(left, right);
}

/* The compiler's copies of a loop count as one; two loops on one line are distinguished by depth. */
static int by_loop(const void *left, const void *right) {
    const struct rsc_loop_row *a = ((const struct part *)left)->loop, *b = ((const struct part *)right)->loop;
    if (!a || !b) return (a != NULL) - (b != NULL);
    int order = rsc_place_compare(&a->place, &b->place);
    if (!order && !rsc_place_has_line(&a->place)) order = (a->place.pc > b->place.pc) - (a->place.pc < b->place.pc);
    return order ? order : (a->depth > b->depth) - (a->depth < b->depth);
}

static int by_line(const void *left, const void *right) {
    return rsc_place_compare(((const struct part *)left)->place, ((const struct part *)right)->place);
}

static int more_misses(const void *left, const void *right) {
    const struct part *a = left, *b = right;
    if (a->cycles != b->cycles) return a->cycles < b->cycles ? 1 : -1;
    if (a->misses != b->misses) return a->misses < b->misses ? 1 : -1;
    if (a->references != b->references) return a->references < b->references ? 1 : -1;
    return by_line(left, right);
}

/*
 * The parts of a profile's code, most cycles on `machine` (NULL: most misses) first; *count is their number. NULL: out
 * of memory.
 */
static struct part *parts_of(const struct rsc_profile *profile, enum rsc_table_by by, uint64_t lines,
                             const struct rsc_machine *machine, size_t *count) {
    static int (*const orders[])(const void *, const void *) = {NULL,        by_module, by_file,
                                                                by_function, by_loop,   by_line};
    struct part *parts = malloc((profile->code_count + 1) * sizeof *parts);
    const struct rsc_split split = rsc_split_at(profile, lines);
    size_t joined = 0, rows = 0;
    if (!parts) return NULL;
    for (size_t i = 0; i < profile->code_count; i++) {
        const struct rsc_code_row *row = &profile->code[i];
        if (rsc_place_is_other(&row->place)) continue;
        struct rsc_row_counts counts = rsc_row_counts(&rsc_row_table_code, row);
        parts[rows++] =
            (struct part){&row->place, row->place.loop ? &profile->loops[row->place.loop - 1] : NULL, row->references,
                          rsc_row_misses(counts, &split), machine ? rsc_cost_of_row(profile, counts, machine) : 0};
    }
    qsort(parts, rows, sizeof *parts, orders[by]);
    for (size_t i = 0; i < rows; i++) {
        if (joined && !orders[by](&parts[joined - 1], &parts[i])) {
            parts[joined - 1].references += parts[i].references;
            parts[joined - 1].misses += parts[i].misses;
            parts[joined - 1].cycles += parts[i].cycles;
        } else {
            parts[joined++] = parts[i];
        }
    }
    qsort(parts, joined, sizeof *parts, more_misses);
    *count = joined;
    return parts;
}

/* "  2 deep  heat.c:45 down_column" */
static void put_loop(struct rsc_text *out, const struct rsc_loop_row *loop, unsigned columns) {
    unsigned end = out->column + columns;
    if (!loop) {
        rsc_text_foreign_end(out, "in no loop, or not known", columns);
        return;
    }
    rsc_put_place(out, &loop->place, columns > 9 ? columns - 9 : columns);
    if (loop->depth > 1 && out->column + 8 < end) rsc_text_put(out, ", %" PRIu32 " deep", loop->depth);
}

static void put_part(struct rsc_text *out, const struct part *part, enum rsc_table_by by, unsigned columns) {
    const struct rsc_place *place = part->place;
    if (by == RSC_BY_LOOP) {
        put_loop(out, part->loop, columns);
        return;
    }
    const char *name = by == RSC_BY_MODULE ? place->module : by == RSC_BY_FILE ? place->file : place->function;
    if (by == RSC_BY_LINE) rsc_put_place(out, place, columns);
    else if (by == RSC_BY_FUNCTION && name) rsc_put_function(out, name, columns);
    else rsc_text_foreign_end(out, name ? name : "not known", columns);
}

static void put_parts(struct rsc_text *out, const struct part *parts, size_t count, enum rsc_table_by by,
                      const struct rsc_report_style *style, uint64_t all_misses, double all_cycles) {
    if (all_cycles > 0) rsc_text_put(out, "%10s%9s%10s", "cycles", "share", "misses");
    else rsc_text_put(out, "%10s%9s", "misses", "share");
    rsc_text_put(out, "%9s%10s  %s\n", "ratio", "refs", by_names[by]);
    for (size_t i = 0; i < count && i < ROWS; i++) {
        const struct part *part = &parts[i];
        if (all_cycles > 0)
            rsc_text_put(out, "%10s%9s%10s", rsc_show_cycles(part->cycles).text,
                         rsc_show_share(part->cycles / all_cycles).text, rsc_show_short(part->misses).text);
        else
            rsc_text_put(out, "%10s%9s", rsc_show_short(part->misses).text,
                         rsc_show_share(all_misses ? (double)part->misses / (double)all_misses : 0).text);
        rsc_text_put(out, "%9s%10s  ",
                     rsc_show_share(part->references ? (double)part->misses / (double)part->references : 0).text,
                     rsc_show_short(part->references).text);
        put_part(out, part, by, style->width > out->column ? style->width - out->column : 1);
        rsc_text_put(out, "\n");
    }
    if (count > ROWS) rsc_text_put(out, "   and %zu more\n", count - ROWS);
}

static void put_parts_csv(struct rsc_text *out, const char *name, const struct part *parts, size_t count,
                          enum rsc_table_by by, uint64_t size_bytes, int with_cycles) {
    for (size_t i = 0; i < count; i++) {
        static const struct rsc_place nowhere;
        int whole = by == RSC_BY_LINE || by == RSC_BY_LOOP;
        const struct rsc_place *place = by != RSC_BY_LOOP ? parts[i].place
                                        : parts[i].loop   ? &parts[i].loop->place
                                                          : &nowhere;
        const struct rsc_place loader = {.module = place->module}; /* its lines are one row */
        if (by == RSC_BY_LINE && rsc_place_is_loader(place)) place = &loader;
        const char *fields[] = {by == RSC_BY_FILE ? NULL : place->module,
                                by == RSC_BY_FILE || whole ? place->file : NULL,
                                by == RSC_BY_FUNCTION || whole ? place->function : NULL};
        put_name(out, name, 1);
        for (size_t f = 0; f < 3; f++) {
            rsc_text_put(out, ",\"");
            if (fields[f]) rsc_text_in_quotes(out, fields[f]);
            rsc_text_put(out, "\"");
        }
        if (whole && place->line) rsc_text_put(out, ",%" PRIu32, place->line);
        else rsc_text_put(out, ",");
        rsc_text_put(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, size_bytes, parts[i].references, parts[i].misses);
        if (by == RSC_BY_LOOP) rsc_text_put(out, ",%" PRIu32, parts[i].loop ? parts[i].loop->depth : 0);
        if (with_cycles) rsc_text_put(out, ",%.0f", parts[i].cycles);
        rsc_text_put(out, "\n");
    }
}

static int code_table(const struct rsc_result *result, const struct rsc_report_style *style, int as_csv, char **text,
                      size_t *bytes, struct rsc_error *error) {
    struct rsc_profile *const *profiles = result->profiles;
    const char *const *names = result->table->names;
    size_t count = result->count;
    enum rsc_table_by by = result->table->by;
    struct rsc_text out;
    size_t with_code = 0, with_loops = 0;
    for (size_t i = 0; i < count; i++)
        with_code += profiles[i]->code_count > 0, with_loops += profiles[i]->loop_count > 0;
    if (!with_code) return rsc_fail(error, RSC_EFORMAT, "%.200s has no code rows: record it with pcs", names[0]);
    if (by == RSC_BY_LOOP && !with_loops)
        return rsc_fail(error, RSC_EFORMAT,
                        "%.200s has no loops: they are found in the code of a program for x86-64 while it is watched",
                        names[0]);
    rsc_text_init(&out, style->unicode, style->colour && !as_csv);
    out.root = style->source_root;
    out.full_names = style->full_names;
    if (as_csv)
        rsc_text_put(&out, "profile,module,file,function,line,size_bytes,references,misses%s%s\n",
                     by == RSC_BY_LOOP ? ",depth" : "", style->costs ? ",cycles" : "");
    for (size_t i = 0; i < count && !out.failed; i++) {
        struct rsc_rank_size size = rsc_rank_size(profiles[i], style, style->at_bytes);
        size_t part_count = 0;
        /* CSV has cycles only of a machine that was named: it is the same on every machine otherwise */
        int by_cycles = (as_csv ? style->costs : !style->at_bytes) && rsc_cost_is_known(profiles[i], style->machine);
        const struct rsc_machine *machine = by_cycles ? style->machine : NULL;
        struct part *parts = parts_of(profiles[i], by, size.lines, machine, &part_count);
        if (!parts) out.failed = 1;
        else if (as_csv) put_parts_csv(&out, names[i], parts, part_count, by, size.bytes, style->costs);
        else {
            rsc_text_put(&out, "%s ", i ? "\n" : "");
            rsc_text_foreign_end(&out, names[i], NAME);
            rsc_text_put(&out, ": misses in a cache of %s", rsc_show_bytes(size.bytes).text);
            if (machine) {
                unsigned room = style->width > out.column + 2 ? style->width - out.column - 2 : 0;
                rsc_text_put(&out, ", %s", rsc_cycles_words(machine, room).text);
            }
            rsc_text_put(&out, "\n");
            put_parts(&out, parts, part_count, by, style, rsc_profile_misses(profiles[i], size.lines),
                      machine ? rsc_cost_of_profile(profiles[i], machine) : 0);
        }
        free(parts);
    }
    return take(&out, text, bytes, error);
}

/* ---- cumulative distances ---- */

static void put_cdf(struct rsc_text *out, const struct rsc_profile *profile, const struct rsc_report_style *style,
                    uint64_t reuses) {
    unsigned room = style->width > 50 ? style->width - 46 : 4;
    uint64_t sum = 0, edge = 0;
    rsc_text_put(out, "%12s%12s%12s%9s\n", "lines up to", "bytes up to", "reuses", "share");
    for (size_t i = 0; i < profile->rd_list_count; i++) {
        const struct rsc_bin *bin = &profile->rd_list[i];
        sum += bin->count;
        int last = i + 1 == profile->rd_list_count;
        /* the end of the octave that the bin is in */
        edge = bin->hi == UINT64_MAX ? UINT64_MAX : bin->hi ? (2ull << (63 - __builtin_clzll(bin->hi))) - 1 : 0;
        if (!last && profile->rd_list[i + 1].lo <= edge) continue;
        double share = (double)sum / (double)reuses;
        int open = edge == UINT64_MAX;
        rsc_text_put(out, "%12s%12s%12s%9s  ", open ? "any" : rsc_show_short(edge).text,
                     open ? "any" : rsc_show_bytes(rsc_lines_to_bytes(edge, profile->made.line_bytes)).text,
                     rsc_show_short(sum).text, rsc_show_share(share).text);
        rsc_text_repeat(out, style->unicode ? "█" : "#", (unsigned)(share * room + 0.5));
        rsc_text_put(out, "\n");
    }
}

static int cdf_table(const struct rsc_result *result, const struct rsc_report_style *style, int as_csv, char **text,
                     size_t *bytes, struct rsc_error *error) {
    struct rsc_profile *const *profiles = result->profiles;
    const char *const *names = result->table->names;
    size_t count = result->count;
    struct rsc_text out;
    rsc_text_init(&out, style->unicode, style->colour && !as_csv);
    if (as_csv) rsc_text_put(&out, "profile,lines_up_to,reuses,share\n");
    for (size_t i = 0; i < count; i++) {
        const struct rsc_profile *profile = profiles[i];
        uint64_t reuses = 0, sum = 0;
        for (size_t b = 0; b < profile->rd_list_count; b++) reuses += profile->rd_list[b].count;
        if (!as_csv) {
            rsc_text_put(&out, "%s ", i ? "\n" : "");
            rsc_text_foreign_end(&out, names[i], NAME);
            rsc_text_put(&out, ": share of %s reuses within each distance\n", rsc_show_count(reuses).text);
            put_cdf(&out, profile, style, reuses);
            continue;
        }
        for (size_t b = 0; b < profile->rd_list_count; b++) {
            sum += profile->rd_list[b].count;
            put_name(&out, names[i], 1);
            if (profile->rd_list[b].hi == UINT64_MAX) rsc_text_put(&out, ",");
            else rsc_text_put(&out, ",%" PRIu64, profile->rd_list[b].hi);
            rsc_text_put(&out, ",%" PRIu64 ",%.9f\n", sum, (double)sum / (double)reuses);
        }
    }
    return take(&out, text, bytes, error);
}

static int render(const struct rsc_result *result, const struct rsc_report_style *style, int as_csv, char **text,
                  size_t *bytes, struct rsc_error *error) {
    static int (*const tables[])(const struct rsc_result *result, const struct rsc_report_style *style, int as_csv,
                                 char **text, size_t *bytes, struct rsc_error *error) = {
        [RSC_TABLE_SUITE] = suite_table,
        [RSC_TABLE_CODE] = code_table,
        [RSC_TABLE_CDF] = cdf_table,
        [RSC_TABLE_SELECTION] = rsc_table_selection,
    };
    return tables[result->table->kind](result, style, as_csv, text, bytes, error);
}

int rsc_table_text(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                   struct rsc_error *error) {
    return render(result, style, 0, text, bytes, error);
}

int rsc_table_csv(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                  struct rsc_error *error) {
    return render(result, style, 1, text, bytes, error);
}
