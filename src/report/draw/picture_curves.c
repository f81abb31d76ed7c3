/*
 * picture_curves.c - draws several miss ratio curves in one chart, one letter per curve.
 *
 * Cache sizes are logarithmic from one line to the largest footprint, the miss
 * ratio is linear from 0. A star marks a cell that curves share.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/draw/picture.h"
#include "report/draw/units.h"

#define ROWS_MAX 12
#define LEFT 9

static const enum rsc_tint tints[] = {RSC_GREEN, RSC_YELLOW, RSC_MAGENTA, RSC_CYAN, RSC_RED, RSC_BOLD};

/* Interpolates linearly on the logarithmic axis; constant beyond the last point. */
static double ratio_at(const struct rsc_curve *curve, double lines) {
    const struct rsc_mrc_point *point = curve->point;
    size_t i = 0;
    while (i + 1 < curve->count && (double)point[i + 1].lines <= lines) i++;
    if (i + 1 == curve->count || lines <= (double)point[i].lines) return point[i].miss_ratio;
    double share = log2(lines / (double)point[i].lines) / log2((double)point[i + 1].lines / (double)point[i].lines);
    return point[i].miss_ratio + share * (point[i + 1].miss_ratio - point[i].miss_ratio);
}

static double top_ratio(const struct rsc_curve *curves, size_t count) {
    static const double tops[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1};
    double most = 0;
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < curves[c].count; i++) most = fmax(most, curves[c].point[i].miss_ratio);
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
        if (most <= tops[i]) return tops[i];
    return 1;
}

static void put_cell(struct rsc_text *text, char mark) {
    int curve = mark >= 'a' ? mark - 'a' : -1;
    if (curve >= 0) rsc_text_tint(text, tints[(size_t)curve % (sizeof tints / sizeof *tints)]);
    rsc_text_put(text, "%c", mark);
    if (curve >= 0) rsc_text_tint(text, RSC_PLAIN);
}

static void put_sizes(struct rsc_text *text, uint64_t line_bytes, unsigned octaves, unsigned columns) {
    unsigned step = 1;
    while ((columns - 1) * step / octaves < 10) step++;
    for (unsigned octave = 0; octave <= octaves; octave += step) {
        struct rsc_shown label = rsc_show_bytes(line_bytes << octave);
        unsigned length = (unsigned)strlen(label.text), at = LEFT + (columns - 1) * octave / octaves;
        at -= length / 2 < at ? length / 2 : at;
        if (at + length > LEFT + columns) at = LEFT + columns - length;
        if (octave && at < text->column + 1) continue;
        rsc_text_pad_to(text, at);
        rsc_text_put(text, "%s", label.text);
    }
    rsc_text_put(text, "\n");
}

void rsc_draw_curves(struct rsc_text *text, const struct rsc_curve *curves, size_t count, uint64_t line_bytes,
                     const struct rsc_report_style *style) {
    char cells[ROWS_MAX][RSC_REPORT_WIDTH_MAX];
    unsigned width = style->width ? style->width : 80, octaves = 2;
    if (width < RSC_REPORT_WIDTH_MIN) width = RSC_REPORT_WIDTH_MIN;
    if (width > RSC_REPORT_WIDTH_MAX) width = RSC_REPORT_WIDTH_MAX;
    unsigned columns = width - LEFT - 1;
    int rows = style->curve_rows && style->curve_rows < ROWS_MAX ? (int)style->curve_rows : ROWS_MAX;
    double top = top_ratio(curves, count);
    memset(cells, ' ', sizeof cells);
    for (size_t c = 0; c < count; c++)
        while (curves[c].count && octaves < 56 && UINT64_C(1) << octaves < curves[c].point[curves[c].count - 1].lines)
            octaves++;
    for (size_t c = 0; c < count; c++)
        for (unsigned x = 0; x < columns && curves[c].count; x++) {
            double ratio = ratio_at(&curves[c], exp2((double)octaves * x / (columns - 1)));
            int row = (int)lround((1 - ratio / top) * (rows - 1));
            char *cell = &cells[row < 0 ? 0 : row >= rows ? rows - 1 : row][x];
            *cell = *cell == ' ' ? (char)('a' + c % 26) : '*';
        }
    for (int row = 0; row < rows; row++) {
        char label[32] = "";
        unsigned end = columns;
        int labelled = row == 0 || row == rows / 2 || row == rows - 1;
        if (labelled) snprintf(label, sizeof label, "%.3g %%", 100 * top * (1 - (double)row / (rows - 1)));
        rsc_text_put(text, "%*s ", LEFT - 2, label);
        rsc_text_either(text, labelled ? "┤" : "│", labelled ? "+" : "|");
        while (end && cells[row][end - 1] == ' ') end--;
        for (unsigned x = 0; x < end; x++) put_cell(text, cells[row][x]);
        rsc_text_put(text, "\n");
    }
    rsc_text_pad_to(text, LEFT - 1);
    rsc_text_either(text, "└", "+");
    for (unsigned x = 0; x < columns; x++) rsc_text_either(text, "─", "-");
    rsc_text_put(text, "\n");
    put_sizes(text, line_bytes, octaves, columns);
    for (size_t c = 0; c < count; c++) {
        int fits = text->column + rsc_text_columns(curves[c].label) + 6 <= width;
        if (c) rsc_text_put(text, fits ? "   " : "\n");
        rsc_text_pad_to(text, LEFT);
        put_cell(text, (char)('a' + c % 26));
        rsc_text_put(text, " %s", curves[c].label);
    }
    rsc_text_put(text, "\n");
}
