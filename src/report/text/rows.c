/*
 * rows.c - tables of phases, threads, kinds of access and cache lines.
 *
 * Rows have coarse histograms (four bins per octave), so a miss ratio here is exact
 * at bin edges and interpolated at other sizes.
 */
#include "report/text/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/row_tables.h"
#include "report/draw/picture.h"
#include "report/ranking.h"
#include "report/draw/units.h"

#define ROWS_SHOWN 16
#define SIZES 2

/* What phases, threads and kinds have in common. */
struct part {
    char name[48];
    uint64_t references, cold;
    double miss_ratio[SIZES];
};

static uint64_t size_of(const struct rsc_report_style *style, unsigned index) {
    static const uint64_t usual[SIZES] = {32 << 10, 1 << 20};
    if (!style->machine || !style->machine->level_count) return usual[index];
    return index < style->machine->level_count ? style->machine->levels[index].size_bytes : 0;
}

/* Row `index` of phases, threads or kinds. Ratios are NaN if a cap on distances leaves them unknown. */
static struct part part_of(const struct rsc_profile *profile, const struct rsc_report_style *style,
                           const struct rsc_row_table *table, size_t index) {
    const void *row = rsc_row_table_row(table, profile, index);
    struct rsc_row_counts counts = rsc_row_counts(table, row);
    struct part part = {.references = *counts.references, .cold = *counts.cold};
    if (table == &rsc_row_table_kinds) counts.rd = &profile->kinds[index].rd_fine;
    if (table == &rsc_row_table_phases) snprintf(part.name, sizeof part.name, "%zu", index + 1);
    else if (table == &rsc_row_table_kinds) snprintf(part.name, sizeof part.name, "%s", profile->kinds[index].kind);
    else snprintf(part.name, sizeof part.name, "%" PRIu64, profile->threads[index].tid);
    for (unsigned i = 0; i < SIZES; i++) {
        uint64_t lines = size_of(style, i) / profile->made.line_bytes;
        struct rsc_bins bins = counts.rd->bins;
        if (profile->rd_cap && lines > rsc_bin_lo(bins, rsc_bin_of(bins, profile->rd_cap))) part.miss_ratio[i] = NAN;
        else if (part.references) {
            const struct rsc_split split = rsc_split_at(profile, lines);
            part.miss_ratio[i] = (double)rsc_row_misses(counts, &split) / (double)part.references;
        }
    }
    return part;
}

static void put_heading(struct rsc_text *text, const struct rsc_report_style *style, const char *what) {
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%9s%10s%9s", what, "refs", "cold");
    for (unsigned i = 0; i < SIZES; i++) {
        if (!size_of(style, i) || style->width < 42 + 12 * i) continue;
        rsc_text_put(text, "%12s", rsc_show_bytes(size_of(style, i)).text);
    }
    if (style->width >= 76) rsc_text_put(text, "  misses at %s", rsc_show_bytes(size_of(style, 0)).text);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

static void put_part(struct rsc_text *text, const struct rsc_report_style *style, const struct part *part) {
    rsc_text_put(text, "%9.9s%10s%9s", part->name, rsc_show_short(part->references).text,
                 rsc_show_share(part->references ? (double)part->cold / (double)part->references : 0).text);
    for (unsigned i = 0; i < SIZES; i++) {
        if (!size_of(style, i) || style->width < 42 + 12 * i) continue;
        rsc_text_put(text, "%12s", isnan(part->miss_ratio[i]) ? "-" : rsc_show_percent(part->miss_ratio[i]).text);
    }
    if (style->width >= 76 && !isnan(part->miss_ratio[0])) {
        unsigned room = style->width - text->column - 2;
        if (room > 26) room = 26;
        unsigned full = (unsigned)(part->miss_ratio[0] * room + 0.5);
        rsc_text_put(text, "  ");
        rsc_text_tint(text, rsc_level_tint(style, 1));
        rsc_text_repeat(text, style->unicode ? "■" : "#", full);
        rsc_text_tint(text, RSC_DIM);
        rsc_text_repeat(text, style->unicode ? "·" : ".", room - full);
        rsc_text_tint(text, RSC_PLAIN);
    }
    rsc_text_put(text, "\n");
}

static void put_parts(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style,
                      const struct rsc_row_table *table, const char *what) {
    size_t count = rsc_row_table_count(table, profile);
    put_heading(text, style, what);
    for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
        struct part part = part_of(profile, style, table, i);
        put_part(text, style, &part);
    }
    if (count > ROWS_SHOWN) rsc_text_put(text, "%9s and %zu more %ss\n", "...", count - ROWS_SHOWN, what);
}

/* The miss ratio at one size over the whole run; the strip is scaled to its highest value. */
static void put_strip(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style,
                      unsigned size_index, double *values) {
    double highest = 0;
    for (size_t i = 0; i < profile->phase_count; i++) {
        values[i] = part_of(profile, style, &rsc_row_table_phases, i).miss_ratio[size_index];
        if (isnan(values[i])) return;
        if (values[i] > highest) highest = values[i];
    }
    for (size_t i = 0; i < profile->phase_count && highest > 0; i++) values[i] /= highest;
    char label[64], scale[64];
    snprintf(label, sizeof label, "%s", rsc_show_bytes(size_of(style, size_index)).text);
    snprintf(scale, sizeof scale, "to %s", rsc_show_percent(highest).text);
    rsc_text_put(text, "%9s ", label);
    unsigned columns = style->width - text->column - 1 - (unsigned)strlen(scale);
    if (columns > 4 * profile->phase_count) columns = (unsigned)(4 * profile->phase_count);
    rsc_text_tint(text, rsc_level_tint(style, size_index + 1));
    rsc_draw_strip(text, values, profile->phase_count, columns);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, " %s\n", scale);
}

void rsc_put_phases(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    double *values = malloc(profile->phase_count * sizeof *values);
    if (!values) {
        text->failed = 1;
        return;
    }
    for (unsigned i = 0; i < SIZES; i++)
        if (size_of(style, i)) put_strip(text, profile, style, i, values);
    free(values);
    put_parts(text, profile, style, &rsc_row_table_phases, "phase");
}

void rsc_put_threads(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    put_parts(text, profile, style, &rsc_row_table_threads, "thread");
}

void rsc_put_kinds(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    put_parts(text, profile, style, &rsc_row_table_kinds, "kind");
}

/* ---- cache lines ---- */

void rsc_put_lines(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    uint64_t size_lines = profile->lines_at_bytes / profile->made.line_bytes, uncertain = 0;
    uint64_t all = rsc_profile_misses(profile, size_lines ? size_lines : 1);
    int wide = style->width >= 64;
    if (!profile->line_count) {
        rsc_text_paragraph(text, 3, style->width, "No line was touched.");
        return;
    }
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%10s%9s%s  %18s%s\n", "misses", "share", wide ? "      refs" : "", "address",
                 wide ? "  in" : "");
    rsc_text_tint(text, RSC_PLAIN);
    for (size_t i = 0; i < profile->line_count; i++) {
        const struct rsc_line_row *row = &profile->lines[i];
        char address[24];
        if (row->error > uncertain) uncertain = row->error;
        rsc_text_put(text, "%10s%9s", rsc_show_short(row->misses).text,
                     rsc_show_share(all ? fmin(1, (double)row->misses / (double)all) : 0).text);
        if (wide) rsc_text_put(text, "%10s", rsc_show_short(row->references).text);
        snprintf(address, sizeof address, "0x%" PRIx64, row->address);
        rsc_text_put(text, "  %18s", address);
        if (wide && row->object) {
            rsc_text_put(text, "  ");
            rsc_text_foreign(text, row->object, style->width - text->column);
        }
        rsc_text_put(text, "\n");
    }
    if (!uncertain) return;
    char note[160];
    snprintf(note, sizeof note, "Up to %s of a row's misses may belong to lines dropped from a full table.",
             rsc_show_short(uncertain).text);
    rsc_text_paragraph(text, 3, style->width, note);
}
