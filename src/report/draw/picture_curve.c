/*
 * picture_curve.c - draws the miss ratio curve with characters.
 *
 * The chart is a grid of cells. A cell holds dots (2 x 4 of them as a braille
 * character, one as '*' in ASCII) or a glyph of the frame. The size axis is
 * logarithmic, from one line to the power of two that covers the footprint, and
 * further if the next cache level is near. The miss ratio axis is linear from 0,
 * or logarithmic if the curve spans more than two decades. Cache levels of the
 * machine are dotted lines with flags that show the miss ratio.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/draw/picture.h"
#include "report/draw/units.h"

#define ROWS_MAX 16
#define FLAGS_MAX RSC_MACHINE_LEVELS_MAX
#define LEFT 9 /* columns of axis labels and the axis itself */

struct cell {
    uint8_t dots;   /* of the curve; bit 0..7 as in braille */
    char glyph[5];  /* drawn where there are no dots; "": a space */
    uint8_t tint;
};

struct chart {
    const struct rsc_profile *profile;
    const struct rsc_report_style *style;
    unsigned rows, columns;           /* of the plot, in cells */
    unsigned dot_columns, dot_rows;   /* per cell */
    uint64_t size_low, size_high;     /* bytes at the first and the last dot column */
    double octaves;                   /* between them */
    int log_y;
    double top, bottom;               /* miss ratios at the edges */
    unsigned decades;                 /* of a logarithmic axis */
    unsigned flag_rows;               /* above the plot */
    struct cell cells[ROWS_MAX + FLAGS_MAX][RSC_REPORT_WIDTH_MAX];
};

/* Scales. */

/*
 * The curve at a size between points: straight lines on the logarithmic axis,
 * so that the first, widely spaced sizes do not draw as stairs.
 */
static struct rsc_mrc_point curve_at(const struct rsc_profile *profile, double lines) {
    uint64_t below = (uint64_t)lines;
    struct rsc_mrc_point left = rsc_profile_mrc_at(profile, below ? below : 1);
    if (lines <= (double)left.lines || below >= 1024) return left;
    struct rsc_mrc_point right = rsc_profile_mrc_at(profile, below + 1);
    double share = log2(lines / (double)left.lines) / log2((double)right.lines / (double)left.lines);
    left.miss_ratio += share * (right.miss_ratio - left.miss_ratio);
    left.low += share * (right.low - left.low);
    left.high += share * (right.high - left.high);
    return left;
}

static void choose_sizes(struct chart *chart) {
    uint64_t line = chart->profile->made.line_bytes;
    uint64_t footprint = chart->profile->mrc[chart->profile->mrc_count - 1].bytes;
    const struct rsc_machine *machine = chart->style->machine;
    uint64_t wanted = footprint;
    for (size_t i = machine && !chart->profile->rd_capped ? machine->level_count : 0; i-- > 0;)
        if (machine->levels[i].size_bytes >= footprint && machine->levels[i].size_bytes / 8 < footprint)
            wanted = machine->levels[i].size_bytes;
    chart->size_low = chart->size_high = line;
    while (chart->size_high < wanted && chart->size_high < 1ull << 62) chart->size_high *= 2;
    if (chart->size_high < 4 * line) chart->size_high = 4 * line;
    chart->octaves = log2((double)chart->size_high / (double)chart->size_low);
}

static void choose_ratios(struct chart *chart) {
    const struct rsc_profile *profile = chart->profile;
    double most = 0, least = 1;
    for (size_t i = 0; i < profile->mrc_count; i++) {
        most = fmax(most, profile->mrc[i].high);
        if (profile->mrc[i].miss_ratio > 0) least = fmin(least, profile->mrc[i].miss_ratio);
    }
    unsigned rows = chart->style->curve_rows ? chart->style->curve_rows : 12;
    chart->rows = rows / 4 * 4;
    chart->log_y = most > 100 * least;
    if (chart->log_y) {
        double top = ceil(log10(most) - 1e-9), bottom = floor(log10(least) + 1e-9);
        chart->decades = (unsigned)fmin(top - bottom, chart->style->curve_rows ? fmin(rows, 8) : 8);
        chart->rows =
            chart->decades * (chart->decades <= rows / 2 || chart->style->curve_rows ? rows / chart->decades : 2);
        chart->top = pow(10, top);
        chart->bottom = pow(10, top - chart->decades);
        return;
    }
    static const double steps[] = {1, 2, 4, 8};
    for (double scale = 1e-9; chart->top == 0 && scale < 1; scale *= 10)
        for (int i = 0; i < 4 && chart->top == 0; i++)
            if (most <= steps[i] * scale * 1.000001) chart->top = steps[i] * scale;
    if (chart->top == 0) chart->top = 1;
}

static double column_of(const struct chart *chart, double size) {
    return log2(size / (double)chart->size_low) / chart->octaves * (chart->columns - 1);
}

/* Dot row from the top, kept inside the plot. */
static int dot_row_of(const struct chart *chart, double ratio) {
    double down = 1 - ratio / chart->top;
    if (chart->log_y) down = log10(chart->top / fmax(ratio, chart->bottom)) / chart->decades;
    int last = (int)(chart->rows * chart->dot_rows) - 1;
    int row = (int)lround(down * last);
    return row < 0 ? 0 : row > last ? last : row;
}

/* Drawing. */

static struct cell *plot_cell(struct chart *chart, unsigned row, unsigned column) {
    return &chart->cells[chart->flag_rows + row][column];
}

static void set_dot(struct chart *chart, unsigned x, int y) {
    static const uint8_t braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    struct cell *cell = plot_cell(chart, (unsigned)y / chart->dot_rows, x / chart->dot_columns);
    cell->dots |= braille[(unsigned)y % chart->dot_rows][x % chart->dot_columns];
}

static void set_glyph(struct cell *cell, const char *glyph, enum rsc_tint tint) {
    snprintf(cell->glyph, sizeof cell->glyph, "%s", glyph);
    cell->tint = (uint8_t)tint;
}

static size_t levels_of(const struct chart *chart) {
    return chart->style->machine ? chart->style->machine->level_count : 0;
}

/* The largest size at which the curve is known: unlimited (flat beyond the footprint) unless distances were capped. */
static uint64_t known_bytes(const struct rsc_profile *profile) {
    return profile->rd_capped ? profile->mrc[profile->mrc_count - 1].bytes : UINT64_MAX;
}

/* A light stipple between the curve and the axis: the references that miss. */
static void fill_below(struct chart *chart) {
    for (unsigned column = 0; column < chart->columns; column++) {
        unsigned row = 0;
        while (row < chart->rows && !plot_cell(chart, row, column)->dots) row++;
        while (row + 1 < chart->rows && plot_cell(chart, row + 1, column)->dots) row++;
        enum rsc_tint tint = row < chart->rows ? (enum rsc_tint)plot_cell(chart, row, column)->tint : RSC_PLAIN;
        for (row++; row < chart->rows; row++) {
            struct cell *cell = plot_cell(chart, row, column);
            if (!cell->glyph[0]) set_glyph(cell, chart->style->unicode ? "⠂" : ".", tint);
        }
    }
}

static void draw_line(struct chart *chart) {
    unsigned width = chart->columns * chart->dot_columns;
    int before = -1;
    for (unsigned x = 0; x < width; x++) {
        double size = (double)chart->size_low * exp2(chart->octaves * x / (width - 1));
        if (size > (double)known_bytes(chart->profile)) break;
        struct rsc_mrc_point at = curve_at(chart->profile, size / (double)chart->profile->made.line_bytes);
        int y = dot_row_of(chart, at.miss_ratio), from = before < 0 ? y : before < y ? before + 1 : before;
        size_t level = 0;
        while (level < levels_of(chart) && size >= (double)chart->style->machine->levels[level].size_bytes) level++;
        for (int dot = from < y ? from : y; dot <= (from < y ? y : from); dot++) {
            set_dot(chart, x, dot);
            plot_cell(chart, (unsigned)dot / chart->dot_rows, x / chart->dot_columns)->tint =
                (uint8_t)rsc_level_tint(chart->style, level);
        }
        before = y;
        /* Error bars as sparse dots around the curve, if cells have enough dots. */
        if (x % 2 || !chart->style->unicode) continue;
        int high = dot_row_of(chart, at.high), low = dot_row_of(chart, at.low);
        for (int dot = high; dot <= low && low - high > 1; dot++)
            if (dot % 2 == 0) set_dot(chart, x, dot);
    }
}

/* The flag of one level: its place, and the columns its text covers. */
struct flag {
    char text[96];
    unsigned pole, start, end, row;
};

static unsigned plan_flags(const struct chart *chart, struct flag *flags) {
    unsigned count = 0;
    for (size_t i = 0; i < levels_of(chart); i++) {
        const struct rsc_machine_level *level = &chart->style->machine->levels[i];
        if (level->size_bytes > chart->size_high || level->size_bytes < chart->size_low ||
            level->size_bytes > known_bytes(chart->profile))
            continue;
        struct flag *flag = &flags[count];
        double ratio = rsc_profile_miss_ratio(chart->profile, level->size_bytes / chart->profile->made.line_bytes);
        if (chart->style->screen) snprintf(flag->text, sizeof flag->text, "%s", level->name);
        else
            snprintf(flag->text, sizeof flag->text, "%s %s: %s", level->name, rsc_show_bytes(level->size_bytes).text,
                     rsc_show_percent(ratio).text);
        unsigned length = (unsigned)strlen(flag->text);
        flag->pole = (unsigned)lround(column_of(chart, (double)level->size_bytes));
        flag->start = flag->pole + 2;
        if (flag->start + length > chart->columns) flag->start = flag->pole >= length + 1 ? flag->pole - length - 1 : 0;
        flag->end = flag->start + length;
        if (flag->end > chart->columns) flag->end = chart->columns;
        unsigned left = flag->start < flag->pole ? flag->start : flag->pole;
        const struct flag *last = count ? flag - 1 : NULL;
        flag->row = !last ? 0 : last->end + 1 < left && last->pole + 1 < left ? last->row : last->row + 1;
        count++;
    }
    /* If the last flag must point left, it would cover the poles before it, so it goes on top. */
    struct flag *last = count > 1 ? &flags[count - 1] : NULL;
    if (last && last->start < last->pole && last->start <= flags[count - 2].pole + 1) {
        for (unsigned i = 0; i + 1 < count; i++) flags[i].row++;
        last->row = 0;
    }
    return count;
}

static void draw_flags(struct chart *chart, const struct flag *flags, unsigned count) {
    int unicode = chart->style->unicode;
    for (unsigned i = 0; i < count; i++) {
        const struct flag *flag = &flags[i];
        int leftward = flag->start < flag->pole;
        set_glyph(&chart->cells[flag->row][flag->pole], !unicode ? "+" : leftward ? "┐" : "┌", RSC_DIM);
        for (unsigned row = flag->row + 1; row < chart->flag_rows + chart->rows; row++)
            set_glyph(&chart->cells[row][flag->pole], unicode ? "┊" : ":", RSC_DIM);
    }
    for (unsigned i = 0; i < count; i++)
        for (unsigned column = flags[i].start; column < flags[i].end; column++) {
            char letter[2] = {flags[i].text[column - flags[i].start], 0};
            set_glyph(&chart->cells[flags[i].row][column], letter, RSC_BOLD);
        }
}

/* Output. */

static void put_cell(struct rsc_text *text, const struct chart *chart, const struct cell *cell, int *tint) {
    char glyph[5] = " ";
    int wanted = RSC_PLAIN;
    if (cell->dots) {
        unsigned code = 0x2800u + cell->dots;
        if (chart->style->unicode)
            snprintf(glyph, sizeof glyph, "%c%c%c", (char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3f)),
                     (char)(0x80 | (code & 0x3f)));
        else snprintf(glyph, sizeof glyph, "*");
    } else if (cell->glyph[0]) {
        memcpy(glyph, cell->glyph, sizeof glyph);
    }
    if (cell->dots || cell->glyph[0]) wanted = cell->tint;
    if (wanted != *tint) {
        if (*tint != RSC_PLAIN) rsc_text_tint(text, RSC_PLAIN);
        if (wanted != RSC_PLAIN) rsc_text_tint(text, (enum rsc_tint)wanted);
        *tint = wanted;
    }
    rsc_text_put(text, "%s", glyph);
}

static int is_blank(const struct cell *cell) { return !cell->dots && !cell->glyph[0]; }

static void put_cells(struct rsc_text *text, const struct chart *chart, unsigned row) {
    unsigned end = chart->columns;
    int tint = RSC_PLAIN;
    while (end && is_blank(&chart->cells[row][end - 1])) end--;
    for (unsigned column = 0; column < end; column++) put_cell(text, chart, &chart->cells[row][column], &tint);
    if (tint != RSC_PLAIN) rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

/* The label of a plot row (rows: the axis below it), "" if it has none. */
static void label_row(const struct chart *chart, unsigned row, char *text, size_t room) {
    text[0] = 0;
    unsigned every = chart->log_y ? chart->rows / chart->decades : chart->rows / 4;
    if (row % every) return;
    double ratio = chart->log_y ? chart->top * pow(10, -(double)(row / every)) : chart->top * (1 - row / every / 4.0);
    snprintf(text, room, "%.4g %%", ratio * 100);
}

static void put_axis(struct rsc_text *text, const struct chart *chart, unsigned step) {
    char label[32];
    label_row(chart, chart->rows, label, sizeof label);
    rsc_text_put(text, "%*s ", LEFT - 2, label);
    rsc_text_tint(text, RSC_DIM);
    rsc_text_either(text, "└", "+");
    unsigned octave = 0;
    for (unsigned column = 0; column < chart->columns; column++) {
        double size = (double)chart->size_low * exp2(octave);
        int tick = octave <= chart->octaves + 1e-9 && (unsigned)lround(column_of(chart, size)) == column;
        if (tick) octave += step;
        rsc_text_either(text, tick ? "┬" : "─", tick ? "+" : "-");
    }
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

static void put_sizes(struct rsc_text *text, const struct chart *chart, unsigned step) {
    unsigned end = LEFT + chart->columns;
    for (unsigned octave = 0; octave <= chart->octaves + 1e-9; octave += step) {
        uint64_t size = chart->size_low << octave;
        struct rsc_shown label = rsc_show_bytes(size);
        unsigned length = (unsigned)strlen(label.text), at = LEFT + (unsigned)lround(column_of(chart, (double)size));
        at = at >= length / 2 ? at - length / 2 : 0;
        if (at + length > end) at = end - length;
        if (octave && at < text->column + 1) continue;
        rsc_text_pad_to(text, at);
        rsc_text_put(text, "%s", label.text);
    }
    rsc_text_put(text, "\n");
}

/* Octaves between size labels: the fewest that leave ten columns for each. */
static unsigned tick_step(const struct chart *chart) {
    static const unsigned steps[] = {1, 2, 3, 4, 5, 10, 20};
    for (unsigned i = 0; i < 7; i++)
        if (steps[i] * (chart->columns - 1) / chart->octaves >= 10) return steps[i];
    return 40;
}

void rsc_draw_curve(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    struct chart chart = {.profile = profile, .style = style, .columns = style->width - LEFT - 1};
    struct flag flags[FLAGS_MAX];
    chart.dot_columns = style->unicode ? 2 : 1;
    chart.dot_rows = style->unicode ? 4 : 1;
    choose_sizes(&chart);
    choose_ratios(&chart);
    unsigned flag_count = plan_flags(&chart, flags);
    for (unsigned i = 0; i < flag_count; i++)
        if (flags[i].row >= chart.flag_rows) chart.flag_rows = flags[i].row + 1;
    draw_flags(&chart, flags, flag_count);
    draw_line(&chart);
    fill_below(&chart);

    for (unsigned row = 0; row < chart.flag_rows; row++) {
        rsc_text_pad_to(text, LEFT);
        put_cells(text, &chart, row);
    }
    for (unsigned row = 0; row < chart.rows; row++) {
        char label[32];
        label_row(&chart, row, label, sizeof label);
        rsc_text_put(text, "%*s ", LEFT - 2, label);
        rsc_text_tint(text, RSC_DIM);
        if (label[0]) rsc_text_either(text, "┤", "+");
        else rsc_text_either(text, "│", "|");
        rsc_text_tint(text, RSC_PLAIN);
        put_cells(text, &chart, chart.flag_rows + row);
    }
    unsigned step = tick_step(&chart);
    put_axis(text, &chart, step);
    put_sizes(text, &chart, step);
}
