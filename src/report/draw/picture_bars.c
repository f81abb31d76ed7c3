/*
 * picture_bars.c - draws the reuse distance histogram as horizontal bars.
 *
 * One row for distance 0, then one per octave, from the first non-empty row to the
 * last, so that gaps stay visible. Bars are linear in the count, in eighths of a
 * column with Unicode; a non-empty row shows at least the thinnest bar. If a row's
 * references would hit in different cache levels, its bar changes colour in
 * proportion.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/draw/picture.h"
#include "report/draw/units.h"

#define OCTAVES 65 /* distance 0, then [2^(k-1), 2^k) for k = 1..64 */

struct row {
    uint64_t total;
    uint64_t by_level[RSC_MACHINE_LEVELS_MAX + 1]; /* part of total by the level that serves it; last: none does */
};

struct columns {
    unsigned lines, bytes, count, share; /* where each right-aligned column ends */
    unsigned bar, bar_width, marks;      /* where bars start, how long they get, where marks start */
};

static size_t level_count(const struct rsc_report_style *style) {
    return style->machine ? style->machine->level_count : 0;
}

enum rsc_tint rsc_level_tint(const struct rsc_report_style *style, size_t index) {
    static const enum rsc_tint tints[] = {RSC_GREEN, RSC_YELLOW, RSC_MAGENTA, RSC_CYAN};
    if (!level_count(style)) return RSC_CYAN;
    if (index >= level_count(style)) return RSC_RED;
    return tints[index < 4 ? index : 3];
}

static unsigned octave_of(uint64_t distance) { return distance ? 64 - (unsigned)__builtin_clzll(distance) : 0; }

static size_t serving_level(const struct rsc_report_style *style, uint64_t distance, uint64_t line_bytes) {
    size_t level = 0;
    while (level < level_count(style) && distance >= style->machine->levels[level].size_bytes / line_bytes) level++;
    return level;
}

static void collect_rows(const struct rsc_profile *profile, const struct rsc_report_style *style, struct row *rows) {
    for (size_t i = 0; i < profile->rd_list_count; i++) {
        const struct rsc_bin *bin = &profile->rd_list[i];
        if (bin->hi == UINT64_MAX) continue; /* the capped tail has its own row */
        struct row *row = &rows[octave_of(bin->lo)];
        row->total += bin->count;
        row->by_level[serving_level(style, bin->lo, profile->made.line_bytes)] += bin->count;
    }
}

/* 512 -> "512", 2048 -> "2K": powers of two from 1024 on. */
static void short_power(uint64_t value, char *text, size_t room) {
    static const char units[] = "KMGTPE";
    int unit = -1;
    while (value >= 1024 && unit < 5) {
        value /= 1024;
        unit++;
    }
    if (unit < 0) snprintf(text, room, "%u", (unsigned)value);
    else snprintf(text, room, "%u%c", (unsigned)value, units[unit]);
}

static void label_lines(unsigned octave, const char *dash, char *text, size_t room) {
    uint64_t lo = octave ? 1ull << (octave - 1) : 0;
    char from[16], to[16] = "";
    short_power(lo, from, sizeof from);
    if (octave < 2) snprintf(text, room, "%s", from);
    else if (octave <= 10) snprintf(text, room, "%s%s%u", from, dash, (unsigned)(2 * lo - 1));
    else if (octave == 64) snprintf(text, room, "%s%s", from, dash);
    else {
        short_power(2 * lo, to, sizeof to);
        snprintf(text, room, "%s%s%s", from, dash, to);
    }
}

/* "4-8 KiB", "512 B-1 KiB": one unit if both ends have the same. */
static void label_bytes(unsigned octave, uint64_t line_bytes, const char *dash, char *text, size_t room) {
    uint64_t lo = octave ? rsc_lines_to_bytes(1ull << (octave - 1), line_bytes) : 0;
    uint64_t hi = octave ? rsc_lines_to_bytes(lo, 2) : line_bytes;
    struct rsc_shown from = rsc_show_bytes(lo), to = rsc_show_bytes(hi);
    char *unit = strchr(from.text, ' ');
    if (!lo || !strcmp(unit, strchr(to.text, ' '))) *unit = 0;
    snprintf(text, room, "%s%s%s", from.text, dash, to.text);
}

static struct columns lay_out(const struct rsc_report_style *style) {
    struct columns at = {.lines = 10, .bytes = 25, .count = 33, .share = 42};
    if (style->width < 70) at = (struct columns){.lines = 10, .bytes = 10, .count = 18, .share = 26};
    at.bar = at.share + 2;
    unsigned marks = !level_count(style) ? 0 : style->width < 96 ? 6 : 15;
    at.marks = style->width - marks;
    at.bar_width = at.marks - at.bar - (marks ? 1 : 0);
    return at;
}

static void put_right(struct rsc_text *text, unsigned end, const char *string) {
    unsigned columns = rsc_text_columns(string);
    if (end >= columns) rsc_text_pad_to(text, end - columns);
    rsc_text_put(text, "%s", string);
}

/* A bar of `eighths`; each column has the colour of the level at its middle. */
static void put_bar(struct rsc_text *text, const struct row *row, const struct rsc_report_style *style,
                    unsigned eighths) {
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    size_t level = 0;
    uint64_t reached = row->by_level[0];
    int tint = -1;
    for (unsigned done = 0; done < eighths; done += 8) {
        unsigned part = eighths - done < 8 ? eighths - done : 8;
        double middle = (done + part / 2.0) / eighths * (double)row->total;
        while (level < level_count(style) && (double)reached <= middle) reached += row->by_level[++level];
        if (tint != (int)rsc_level_tint(style, level)) rsc_text_tint(text, tint = (int)rsc_level_tint(style, level));
        rsc_text_put(text, "%s", style->unicode ? parts[part] : part == 8 || !done || part >= 4 ? "#" : "");
    }
    rsc_text_tint(text, RSC_PLAIN);
}

static void put_row(struct rsc_text *text, const struct columns *at, const struct row *row, uint64_t references,
                    uint64_t most, const struct rsc_report_style *style) {
    if (!row->total) {
        rsc_text_tint(text, RSC_DIM);
        put_right(text, at->count, "-");
        rsc_text_tint(text, RSC_PLAIN);
        return;
    }
    put_right(text, at->count, rsc_show_short(row->total).text);
    put_right(text, at->share, rsc_show_share((double)row->total / (double)references).text);
    rsc_text_pad_to(text, at->bar);
    unsigned eighths = (unsigned)lround((double)row->total / (double)most * at->bar_width * 8);
    put_bar(text, row, style, eighths ? eighths : 1);
}

/* Names of the levels whose size is in the row of `octave`. */
static void put_marks(struct rsc_text *text, const struct columns *at, unsigned octave, uint64_t line_bytes,
                      const struct rsc_report_style *style) {
    int first = 1;
    for (size_t i = 0; i < level_count(style); i++) {
        const struct rsc_machine_level *level = &style->machine->levels[i];
        uint64_t lines = level->size_bytes / line_bytes;
        if (!lines || octave_of(lines - 1) != octave) continue;
        if (first) {
            rsc_text_pad_to(text, at->marks);
            rsc_text_tint(text, rsc_level_tint(style, i));
            rsc_text_either(text, "◂ ", "< ");
        }
        if (text->column + (first ? 0 : 1) + strlen(level->name) > style->width) break;
        rsc_text_put(text, "%s%s", first ? "" : " ", level->name);
        struct rsc_shown size = rsc_show_bytes(level->size_bytes);
        if (first && text->column + 1 + strlen(size.text) <= style->width) rsc_text_put(text, " %s", size.text);
        first = 0;
    }
    if (!first) rsc_text_tint(text, RSC_PLAIN);
}

/* A row for references whose distance is at least `distance`, or infinite. */
static void put_open_row(struct rsc_text *text, const struct columns *at, const char *label, uint64_t count,
                         uint64_t distance, const struct rsc_profile *profile, uint64_t most,
                         const struct rsc_report_style *style) {
    struct row row = {.total = count};
    row.by_level[serving_level(style, distance, profile->made.line_bytes)] = count;
    put_right(text, at->lines, label);
    put_row(text, at, &row, profile->references, most, style);
    rsc_text_put(text, "\n");
}

static uint64_t find_most(const struct row *rows, const struct rsc_profile *profile, uint64_t unknown) {
    uint64_t most = profile->cold > profile->rd_capped ? profile->cold : profile->rd_capped;
    if (profile->invalidated > most) most = profile->invalidated;
    if (unknown > most) most = unknown;
    for (unsigned octave = 0; octave < OCTAVES; octave++)
        if (rows[octave].total > most) most = rows[octave].total;
    return most ? most : 1;
}

void rsc_draw_histogram(struct rsc_text *text, const struct rsc_profile *profile,
                        const struct rsc_report_style *style) {
    struct row rows[OCTAVES] = {{0}};
    struct columns at = lay_out(style);
    const char *dash = style->unicode ? "–" : "-";
    uint64_t unknown = profile->last_touch + profile->pruned + profile->censored;
    unsigned first = OCTAVES, last = 0;
    collect_rows(profile, style, rows);
    uint64_t most = find_most(rows, profile, unknown);
    for (unsigned octave = 0; octave < OCTAVES; octave++) {
        if (!rows[octave].total) continue;
        if (first == OCTAVES) first = octave;
        last = octave;
    }
    rsc_text_tint(text, RSC_DIM);
    /* with 1-byte lines, the two columns would be the same */
    int twice = at.bytes > at.lines, in_bytes = rsc_profile_is_requests(profile);
    if (!twice || !in_bytes) put_right(text, at.lines, in_bytes ? "bytes" : "lines");
    if (twice) put_right(text, at.bytes, "bytes");
    put_right(text, at.count, "refs");
    put_right(text, at.share, "share");
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
    for (unsigned octave = first; octave <= last && first < OCTAVES; octave++) {
        char label[96];
        label_lines(octave, dash, label, sizeof label);
        if (!twice || !in_bytes) put_right(text, at.lines, label);
        label_bytes(octave, profile->made.line_bytes, dash, label, sizeof label);
        if (twice) put_right(text, at.bytes, label);
        put_row(text, &at, &rows[octave], profile->references, most, style);
        put_marks(text, &at, octave, profile->made.line_bytes, style);
        rsc_text_put(text, "\n");
    }
    if (profile->rd_capped) {
        char label[64];
        snprintf(label, sizeof label, "%s%s", style->unicode ? "≥ " : ">=", rsc_show_short(profile->rd_cap).text);
        put_open_row(text, &at, label, profile->rd_capped, profile->rd_cap, profile, most, style);
    }
    if (profile->invalidated)
        put_open_row(text, &at, "invalid", profile->invalidated, UINT64_MAX, profile, most, style);
    if (unknown) put_open_row(text, &at, "unknown", unknown, UINT64_MAX, profile, most, style);
    if (profile->cold) put_open_row(text, &at, "cold", profile->cold, UINT64_MAX, profile, most, style);
}

void rsc_draw_strip(struct rsc_text *text, const double *values, size_t count, unsigned columns) {
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char shades[] = " .:-=+*#";
    for (unsigned column = 0; column < columns && count; column++) {
        /* Each column shows the values from..to, or the one it lies in. */
        size_t from = (size_t)((double)column / columns * (double)count);
        size_t to = (size_t)((double)(column + 1) / columns * (double)count);
        double sum = 0;
        if (to <= from) to = from + 1;
        if (to > count) to = count;
        for (size_t i = from; i < to; i++) sum += values[i];
        double mean = from < to ? sum / (double)(to - from) : 0;
        unsigned step = mean >= 1 ? 7 : mean > 0 ? (unsigned)(mean * 8) : 0;
        if (text->unicode) rsc_text_put(text, "%s", blocks[step]);
        else rsc_text_put(text, "%c", shades[step]);
    }
}
