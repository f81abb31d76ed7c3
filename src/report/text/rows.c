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

/* NaN if a cap on distances leaves it unknown. */
static double ratio_at(const struct rsc_profile *profile, const struct rsc_histogram *rd, uint64_t always,
                       uint64_t references, uint64_t size_bytes) {
    uint64_t lines = size_bytes / profile->made.line_bytes;
    if (profile->rd_cap && lines > rsc_bin_lo(rd->bins, rsc_bin_of(rd->bins, profile->rd_cap))) return NAN;
    return references ? (double)(always + rsc_histogram_at_least(rd, lines)) / (double)references : 0;
}

static struct part phase_part(const struct rsc_profile *profile, const struct rsc_report_style *style, size_t index) {
    const struct rsc_phase_row *row = &profile->phases[index];
    struct part part = {.references = row->references, .cold = row->cold};
    snprintf(part.name, sizeof part.name, "%zu", index + 1);
    for (unsigned i = 0; i < SIZES; i++)
        part.miss_ratio[i] =
            ratio_at(profile, &row->rd, row->cold + row->invalidated, row->references, size_of(style, i));
    return part;
}

static struct part thread_part(const struct rsc_profile *profile, const struct rsc_report_style *style, size_t index) {
    const struct rsc_thread_row *row = &profile->threads[index];
    struct part part = {.references = row->references, .cold = row->cold};
    snprintf(part.name, sizeof part.name, "%" PRIu64, row->tid);
    for (unsigned i = 0; i < SIZES; i++)
        part.miss_ratio[i] =
            ratio_at(profile, &row->rd, row->cold + row->invalidated, row->references, size_of(style, i));
    return part;
}

static struct part kind_part(const struct rsc_profile *profile, const struct rsc_report_style *style, size_t index) {
    const struct rsc_kind_row *row = &profile->kinds[index];
    struct part part = {.references = row->references, .cold = row->cold};
    snprintf(part.name, sizeof part.name, "%s", row->kind);
    for (unsigned i = 0; i < SIZES; i++)
        part.miss_ratio[i] =
            ratio_at(profile, &row->rd_fine, row->cold + row->invalidated, row->references, size_of(style, i));
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

static void put_rest(struct rsc_text *text, size_t count, const char *what) {
    if (count > ROWS_SHOWN) rsc_text_put(text, "%9s and %zu more %s\n", "...", count - ROWS_SHOWN, what);
}

/* The miss ratio at one size over the whole run; the strip is scaled to its highest value. */
static void put_strip(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style,
                      unsigned size_index, double *values) {
    double highest = 0;
    for (size_t i = 0; i < profile->phase_count; i++) {
        values[i] = phase_part(profile, style, i).miss_ratio[size_index];
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
    put_heading(text, style, "phase");
    for (size_t i = 0; i < profile->phase_count && i < ROWS_SHOWN; i++) {
        struct part part = phase_part(profile, style, i);
        put_part(text, style, &part);
    }
    put_rest(text, profile->phase_count, "phases");
}

void rsc_put_threads(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    put_heading(text, style, "thread");
    for (size_t i = 0; i < profile->thread_count && i < ROWS_SHOWN; i++) {
        struct part part = thread_part(profile, style, i);
        put_part(text, style, &part);
    }
    put_rest(text, profile->thread_count, "threads");
}

void rsc_put_kinds(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    put_heading(text, style, "kind");
    for (size_t i = 0; i < profile->kind_count; i++) {
        struct part part = kind_part(profile, style, i);
        put_part(text, style, &part);
    }
}

/* ---- cache lines ---- */

void rsc_put_lines(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    uint64_t size_lines = profile->lines_at_bytes / profile->made.line_bytes, uncertain = 0;
    uint64_t all = rsc_profile_coarse_misses(profile, size_lines ? size_lines : 1);
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
