/*
 * screen.c - see screen.h.
 *
 * Everything but the curve takes the lines it needs; the curve gets as many rows as are left. The parts are drawn into
 * buffers of their own first, because how many lines they take depends on the width and on what is known.
 */
#include "report/text/screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/draw/picture.h"
#include "report/draw/place_text.h"
#include "report/draw/units.h"
#include "report/own_code.h"
#include "report/text/facts.h"
#include "report/text/rows.h"
#include "report/text/summary.h"
#include "report/text/why.h"
#include "report/text/worst.h"

#define LINES_SHOWN 5
#define SHARE_SHOWN 0.0005 /* of all misses or cycles: less is "<0.1 %" and not worth a line */
#define WIDE_BAR 0.5 /* from one end to the other */
#define MODELS_MAX 2
#define CURVE_ROWS_LEAST 8   /* of the curve and its frame, beside what was asked for */
#define LABEL_COLUMNS 7      /* of "Next" */
#define NAME_COLUMNS 17      /* of a cache */
#define MODEL_COLUMNS_MAX 30 /* of its miss ratio in one model */

/* The models of one run: one, or private and shared. */
struct screen {
    const struct rsc_profile *models[MODELS_MAX];
    size_t count;
    const struct rsc_report_style *style;
};

static unsigned lines_of(const struct rsc_text *text) {
    unsigned lines = 0;
    for (size_t i = 0; i < text->used; i++) lines += text->text[i] == '\n';
    return lines;
}

static void start_part(struct rsc_text *part, const struct rsc_report_style *style) {
    rsc_text_init(part, style->unicode, style->colour);
    part->root = style->source_root;
    part->full_names = style->full_names;
}

/* ---- miss ratios ---- */

/* The caches of the machine, or two usual sizes. Returns how many. */
static size_t caches_of(const struct rsc_report_style *style, struct rsc_machine_level levels[RSC_MACHINE_LEVELS_MAX]) {
    static const struct rsc_machine_level usual[] = {{"", 1, 32 << 10, 5}, {"", 2, 1 << 20, 15}};
    if (!style->machine || !style->machine->level_count) {
        memcpy(levels, usual, sizeof usual);
        return 2;
    }
    memcpy(levels, style->machine->levels, style->machine->level_count * sizeof *levels);
    return style->machine->level_count;
}

static int is_known_at(const struct rsc_profile *profile, uint64_t lines) {
    return lines && !(profile->rd_capped && lines > profile->rd_cap);
}

/* Of one model's miss ratios. */
static unsigned model_columns(const struct screen *screen) {
    unsigned columns = (screen->style->width - NAME_COLUMNS) / (unsigned)screen->count;
    return columns < MODEL_COLUMNS_MAX ? columns : MODEL_COLUMNS_MAX;
}

static void put_ratio(struct rsc_text *text, const struct rsc_profile *profile, uint64_t bytes, unsigned columns) {
    unsigned end = text->column + columns;
    uint64_t lines = bytes / profile->made.line_bytes;
    if (!is_known_at(profile, lines)) {
        rsc_text_put(text, "not known");
        return;
    }
    struct rsc_mrc_point at = rsc_profile_mrc_at(profile, lines);
    struct rsc_shown low = rsc_show_percent(at.low), high = rsc_show_percent(at.high);
    rsc_text_put(text, "%8s", rsc_show_percent(at.miss_ratio).text);
    if (strcmp(low.text, high.text) && text->column + 7 + strlen(low.text) + strlen(high.text) <= end)
        rsc_text_put(text, " (%s to %s)", low.text, high.text);
}

static void put_level(struct rsc_text *text, const struct screen *screen, const struct rsc_machine_level *level) {
    const struct rsc_profile *profile = screen->models[0];
    rsc_text_put(text, "   %s%s%s", level->name, level->name[0] ? " " : "", rsc_show_bytes(level->size_bytes).text);
    for (size_t i = 0; i < screen->count; i++) {
        rsc_text_pad_to(text, NAME_COLUMNS + (unsigned)i * model_columns(screen));
        put_ratio(text, screen->models[i], level->size_bytes, model_columns(screen));
    }
    if (screen->count == 1 && screen->style->width >= 80 &&
        is_known_at(profile, level->size_bytes / profile->made.line_bytes)) {
        double misses = rsc_profile_mrc_at(profile, level->size_bytes / profile->made.line_bytes).miss_ratio *
                        (double)profile->references;
        rsc_text_pad_to(text, NAME_COLUMNS + 10);
        char counts[96];
        int used = snprintf(counts, sizeof counts, "  %s miss%s", rsc_show_short((uint64_t)llround(misses)).text,
                            misses < 1.5 ? "" : "es");
        const double mpki = profile->made.instructions ? 1000 * misses / (double)profile->made.instructions : 0;
        if (profile->made.instructions)
            snprintf(counts + used, sizeof counts - (size_t)used, mpki < 999.5 ? ", %.3g MPKI" : ", %.0f MPKI", mpki);
        if (text->column + strlen(counts) <= screen->style->width) rsc_text_put(text, "%s", counts);
    }
    rsc_text_put(text, "\n");
}

static double share_of(const struct rsc_profile *profile, uint64_t references) {
    return (double)references / (double)profile->references;
}

/* What no cache avoids: a column for each model, or a sentence where that is too wide. */
#define LOST_TOLD 1e-5 /* of references */
#define FLOOR_COLUMNS 72
static void put_floor(struct rsc_text *text, const struct screen *screen) {
    const struct rsc_profile *first = screen->models[0];
    const int wide = screen->style->width >= FLOOR_COLUMNS, lost = share_of(first, first->invalidated) >= LOST_TOLD;
    const struct rsc_shown written = rsc_show_percent(share_of(first, first->invalidated));
    char words[200];
    int used = snprintf(words, sizeof words, "first touches: ");
    rsc_text_put(text, "   any size");
    for (size_t i = 0; i < screen->count; i++) {
        const struct rsc_profile *profile = screen->models[i];
        struct rsc_shown share = rsc_show_percent(share_of(profile, rsc_profile_first_touches(profile)));
        const struct rsc_count_bar *bar = &profile->bars.cold;
        used += snprintf(words + used, sizeof words - (size_t)used, "%s%s", i ? ", shared " : "", share.text);
        if (bar->is_known && bar->low != bar->high)
            used += snprintf(words + used, sizeof words - (size_t)used, " (%s to %s)",
                             rsc_show_percent(share_of(profile, bar->low)).text,
                             rsc_show_percent(share_of(profile, bar->high)).text);
        if (screen->count == 1 || !wide) continue;
        rsc_text_pad_to(text, NAME_COLUMNS + (unsigned)i * model_columns(screen));
        rsc_text_put(text, "%8s first touches", share.text);
    }
    if (screen->count > 1 && wide) {
        if (!lost) rsc_text_put(text, "\n");
        else rsc_text_put(text, "\n%*s%8s lines that other threads wrote\n", NAME_COLUMNS, "", written.text);
        return;
    }
    if (lost) snprintf(words + used, sizeof words - (size_t)used, "; lines that other threads wrote: %s", written.text);
    rsc_text_pad_to(text, NAME_COLUMNS + 2);
    rsc_text_paragraph(text, NAME_COLUMNS + 2, screen->style->width, words);
}

/* If some ratio shown could be almost anything: which, and what to do. */
static void put_wide_bar(struct rsc_text *text, const struct screen *screen) {
    struct rsc_machine_level levels[RSC_MACHINE_LEVELS_MAX];
    size_t count = caches_of(screen->style, levels);
    for (size_t i = 0; i < count * screen->count; i++) {
        const struct rsc_machine_level *level = &levels[i / screen->count];
        const struct rsc_profile *profile = screen->models[i % screen->count];
        uint64_t lines = level->size_bytes / profile->made.line_bytes;
        if (!is_known_at(profile, lines)) continue;
        struct rsc_mrc_point at = rsc_profile_mrc_at(profile, lines);
        if (at.high - at.low < WIDE_BAR) continue;
        char words[300];
        snprintf(
            words, sizeof words, "%s to %s in %s says next to nothing. %s", rsc_show_percent(at.low).text,
            rsc_show_percent(at.high).text, rsc_show_bytes(level->size_bytes).text,
            rsc_is_attached(profile)                                          ? "Watch it for longer: --for 1m."
            : profile->made.source && !strcmp(profile->made.source, "perf")   ? "Sample more often: --rate 1000."
            : !profile->made.source || !strcmp(profile->made.source, "trace") ? "Count every reference: --engine exact."
            : profile->made.threads > 1 ? "Leave a core free for each thread, or count every reference: --sample none."
                                        : "Count every reference: --sample none.");
        rsc_text_put(text, "   ");
        rsc_text_paragraph(text, 3, screen->style->width, words);
        return;
    }
}

/* What the two models differ in, at the cache where they do most. */
static void put_difference(struct rsc_text *text, const struct screen *screen) {
    struct rsc_machine_level levels[RSC_MACHINE_LEVELS_MAX];
    size_t count = caches_of(screen->style, levels), most = 0;
    double largest = 0;
    int known = 0, apart = 0; /* error bars do not overlap */
    char words[300], cache[64];
    for (size_t i = 0; i < count; i++) {
        struct rsc_mrc_point at[MODELS_MAX];
        uint64_t lines = levels[i].size_bytes / screen->models[0]->made.line_bytes;
        if (!is_known_at(screen->models[0], lines) || !is_known_at(screen->models[1], lines)) continue;
        for (size_t m = 0; m < MODELS_MAX; m++) at[m] = rsc_profile_mrc_at(screen->models[m], lines);
        known = 1;
        double difference = at[0].miss_ratio - at[1].miss_ratio;
        if (fabs(difference) <= fabs(largest)) continue;
        largest = difference;
        most = i;
        apart = at[0].low > at[1].high || at[1].low > at[0].high;
    }
    if (!known) return;
    snprintf(cache, sizeof cache, "%s",
             levels[most].name[0] ? levels[most].name : rsc_show_bytes(levels[most].size_bytes).text);
    if (fabs(largest) < 0.001 || !apart)
        snprintf(words, sizeof words, "One cache each and one for all miss alike%s.",
                 fabs(largest) < 0.001 ? "" : ", within the error bars");
    else if (largest < 0)
        snprintf(words, sizeof words, "Threads compete: one %s for all misses %.1f points more often than one each.",
                 cache, -100 * largest);
    else
        snprintf(words, sizeof words, "One %s each misses %.1f points more often than one for all: %s.", cache,
                 100 * largest,
                 2 * share_of(screen->models[0], screen->models[0]->invalidated) > 0.99 * largest
                     ? "they write to each other's lines"
                     : "they use the same data");
    rsc_text_put(text, "   ");
    rsc_text_paragraph(text, 3, screen->style->width, words);
}

/* The heading, with a column for each model. */
static void put_models(struct rsc_text *text, const struct screen *screen) {
    static const char *const names[2][MODELS_MAX] = {{"private", "shared"},
                                                     {"one cache per thread", "one cache for all threads"}};
    rsc_text_put(text, "\n ");
    rsc_text_tint(text, RSC_BOLD);
    rsc_text_put(text, "Misses");
    rsc_text_tint(text, RSC_PLAIN);
    for (size_t i = 0; i < MODELS_MAX; i++) {
        rsc_text_pad_to(text, NAME_COLUMNS + (unsigned)i * model_columns(screen));
        rsc_text_put(text, "  %s", names[model_columns(screen) >= 27][i]);
    }
    rsc_text_put(text, "\n");
}

static void put_ratios(struct rsc_text *text, const struct screen *screen) {
    struct rsc_machine_level levels[RSC_MACHINE_LEVELS_MAX];
    size_t count = caches_of(screen->style, levels);
    char caches[96] = "in caches of these sizes";
    if (screen->style->machine && screen->style->machine->level_count)
        snprintf(caches, sizeof caches, "in caches of %s's sizes", rsc_machine_called(screen->style->machine));
    if (screen->count == 1) rsc_put_section(text, screen->style, "Misses", caches);
    else put_models(text, screen);
    for (size_t i = 0; i < count; i++) put_level(text, screen, &levels[i]);
    put_floor(text, screen);
    put_wide_bar(text, screen);
    if (screen->count > 1) put_difference(text, screen);
}

/* ---- the curve ---- */

static int models_differ(const struct screen *screen) {
    for (uint64_t lines = 1; lines < 1ull << 40; lines *= 2)
        if (fabs(rsc_profile_miss_ratio(screen->models[0], lines) - rsc_profile_miss_ratio(screen->models[1], lines)) >
            0.01)
            return 1;
    return 0;
}

static void draw(struct rsc_text *text, const struct screen *screen, unsigned rows) {
    struct rsc_report_style style = *screen->style;
    style.curve_rows = rows;
    if (screen->count == 1 || !models_differ(screen)) {
        rsc_draw_curve(text, screen->models[0], &style);
        return;
    }
    struct rsc_curve curves[] = {{"one cache per thread", screen->models[0]->mrc, screen->models[0]->mrc_count},
                                 {"one cache for all threads", screen->models[1]->mrc, screen->models[1]->mrc_count}};
    rsc_draw_curves(text, curves, MODELS_MAX, screen->models[0]->made.line_bytes, &style);
}

/* The largest picture in at most `lines`, its heading included; none if that is too little. */
static void put_curve(struct rsc_text *text, const struct screen *screen, unsigned lines) {
    if (screen->models[0]->mrc_count < 4) return;
    for (unsigned rows = 12; rows >= 4; rows--) {
        struct rsc_text part;
        start_part(&part, screen->style);
        rsc_put_section(&part, screen->style, "Miss ratio",
                        rsc_profile_is_requests(screen->models[0]) ? "of an LRU cache of whole objects, by its size"
                                                                   : "of a fully associative LRU cache, by its size");
        draw(&part, screen, rows);
        if (lines_of(&part) <= lines) {
            rsc_text_append(text, &part);
            return;
        }
        free(part.text);
    }
}

/* ---- the worst lines ---- */

/* The size to rank at, and the model: the shared one in caches beyond the second level, which cores share. */
static const struct rsc_profile *model_ranked(const struct screen *screen, struct rsc_rank_size *size) {
    const struct rsc_profile *shared = screen->models[screen->count - 1];
    *size = rsc_rank_size(shared, screen->style, screen->style->at_bytes);
    if (screen->count == 1 || (size->level && size->level->level > 2)) return shared;
    struct rsc_rank_size private = rsc_rank_size(screen->models[0], screen->style, screen->style->at_bytes);
    if (!private.level || private.level->level <= 2) *size = private;
    return screen->models[0];
}

/* The worst lines: ordered by the cycles they are estimated to lose or, at a size that was asked for, by misses. */
struct worst_lines {
    struct rsc_why why;
    int by_cycles;
    double all; /* cycles or misses, of the whole profile */
};

/* Misses at the machine's caches, a column each; without the one that is ranked at. */
static void put_caches(struct rsc_text *text, const struct screen *screen, const struct worst_lines *worst,
                       const struct rsc_rank *rank) {
    const struct rsc_machine *machine = screen->style->machine;
    const struct rsc_why *why = &worst->why;
    for (size_t i = 0; machine && i < machine->level_count && screen->style->width >= 80; i++) {
        const struct rsc_machine_level *level = &machine->levels[i];
        uint64_t lines = level->size_bytes / why->lines->profile->made.line_bytes;
        if (!worst->by_cycles && level->size_bytes == why->size.bytes) continue;
        if (!rank) rsc_text_put(text, "%8s", level->name);
        else if (lines > rsc_rows_told_apart(why->lines->profile)) rsc_text_put(text, "%8s", "-");
        else rsc_text_put(text, "%8s", rsc_show_short(rsc_rank_misses(why->lines, rank, lines)).text);
    }
}

static void put_columns(struct rsc_text *text, const struct screen *screen, const struct worst_lines *worst) {
    const struct rsc_machine_level *level = worst->why.size.level;
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%10s%8s", worst->by_cycles ? "cycles" : level ? level->name : "misses", "share");
    put_caches(text, screen, worst, NULL);
    rsc_text_put(text, "  where");
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

static void put_line(struct rsc_text *text, const struct screen *screen, const struct worst_lines *worst,
                     const struct rsc_rank *rank) {
    const struct rsc_report_style *style = screen->style;
    const struct rsc_code_row *row = rank->rows[0];
    const struct rsc_ranking *lines = worst->why.lines;
    const struct rsc_place *place = lines->what == RSC_RANK_OWN ? rsc_own_place(row) : &row->place;
    struct rsc_why_words words = rsc_why_line(&worst->why, rank);
    rsc_text_put(text, "%10s%8s", (worst->by_cycles ? rsc_show_cycles(rank->cost) : rsc_show_short(rank->misses)).text,
                 rsc_show_share(worst->all > 0 ? rank->cost / worst->all : 0).text);
    put_caches(text, screen, worst, rank);
    rsc_text_put(text, "  ");
    rsc_put_place(text, place, style->width - text->column);
    rsc_text_put(text, "\n");
    if (!words.reason[0]) return;
    rsc_text_pad_to(text, 5);
    rsc_text_tint(text, RSC_DIM);
    rsc_text_foreign(text, words.reason, style->width - text->column);
    if (text->column + rsc_text_columns(words.use) <= style->width) rsc_text_put(text, "%s", words.use);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

/* Of a program, not of a trace with bare addresses. */
static int has_modules(const struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->code_count; i++)
        if (profile->code[i].place.module) return 1;
    return 0;
}

/* The interpreter that a module belongs to; NULL: none. */
static const char *interpreter_of(const char *module) {
    static const struct {
        const char *begins, *name;
    } known[] = {{"python", "python"}, {"libpython", "python"}, {"perl", "perl"}, {"libperl", "perl"},
                 {"node", "node"},     {"libnode", "node"},     {"ruby", "ruby"}, {"libruby", "ruby"},
                 {"php", "php"},       {"libjvm", "java"}};
    const char *name = module ? rsc_base_name(module) : "";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(name, known[i].begins, strlen(known[i].begins))) return known[i].name;
    return NULL;
}

/* Why there are no lines of the user, and what to do. */
static void put_no_lines(struct rsc_text *text, const struct rsc_report_style *style, const struct rsc_ranking *lines) {
    const char *interpreter = NULL;
    char words[160];
    for (size_t i = 0; i < lines->count && i < LINES_SHOWN && !interpreter; i++)
        interpreter = interpreter_of(((const struct rsc_code_row *)lines->ranks[i].rows[0])->place.module);
    snprintf(words, sizeof words,
             interpreter ? "These are places in %s itself: the lines of your program are not seen."
                         : "No source lines of the program are known: compile it with -g.",
             interpreter);
    rsc_text_paragraph(text, 3, style->width, words);
}

#define REST_TOLD 0.1 /* of cycles or misses */

/* What is in no line of the user: libraries, mostly their first touches. */
static void put_rest(struct rsc_text *text, const struct screen *screen, const struct worst_lines *worst, int own) {
    double sum = 0;
    char words[96];
    for (size_t i = 0; i < worst->why.lines->count; i++) sum += worst->why.lines->ranks[i].cost;
    double rest = worst->all > 0 ? 1 - sum / worst->all : 0;
    rest -= rsc_put_first_touches(text, worst->why.lines->profile, screen->style, worst->by_cycles, worst->all);
    if (rest < REST_TOLD || !own) return;
    snprintf(words, sizeof words, "%s more in libraries and at the start (--section lines)", rsc_show_share(rest).text);
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "          ");
    rsc_text_foreign(text, words, screen->style->width - text->column);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

static void put_worst(struct rsc_text *text, const struct screen *screen) {
    const struct rsc_report_style *style = screen->style;
    struct rsc_rank_size size;
    const struct rsc_profile *profile = model_ranked(screen, &size);
    struct rsc_ranking lines, pairs = {0};
    struct worst_lines worst = {.by_cycles = rsc_worst_by_cycles(profile, RSC_RANK_OWN, style)};
    char what[128];
    if (!profile->code_count) {
        rsc_put_section(text, style, "In words", "");
        rsc_put_summary(text, profile, style);
        return;
    }
    int own = 1, failed = rsc_ranking_make(&lines, profile, RSC_RANK_OWN, size.lines);
    if (!failed && !lines.count) {
        own = 0;
        rsc_ranking_free(&lines);
        failed = rsc_ranking_make(&lines, profile, RSC_RANK_LINES, size.lines);
    }
    if (!failed) failed = rsc_ranking_make(&pairs, profile, RSC_RANK_PAIRS, size.lines);
    text->failed |= failed != 0;
    unsigned room = style->width - (own ? 28 : 14);
    snprintf(what, sizeof what, "%s%s", own ? "of your code, " : "",
             worst.by_cycles ? rsc_cycles_words(style->machine, room).text : rsc_worst_words(&size, room).text);
    rsc_put_section(text, style, "Worst lines", what);
    if (!failed && worst.by_cycles) rsc_ranking_by_cycles(&lines, style->machine);
    worst.why = (struct rsc_why){&lines, &pairs, size, style->unicode, style->machine};
    worst.all = worst.by_cycles ? rsc_cost_of_profile(profile, style->machine)
                                : (double)rsc_profile_misses(profile, size.lines);
    text->modules_known = has_modules(profile);
    if (!failed && !own && text->modules_known) put_no_lines(text, style, &lines);
    if (!failed && (!lines.count || !(lines.ranks[0].cost > 0)))
        rsc_text_paragraph(text, 3, style->width,
                           profile->made.sampling   ? "No sample of your code misses."
                           : own && worst.by_cycles ? "No line of your code misses."
                                                    : "Nothing misses at this size.");
    else if (!failed) put_columns(text, screen, &worst);
    for (size_t i = 0; !failed && i < lines.count && i < LINES_SHOWN; i++)
        if (lines.ranks[i].cost > 0 && (!i || lines.ranks[i].cost >= SHARE_SHOWN * worst.all))
            put_line(text, screen, &worst, &lines.ranks[i]);
    if (!failed) put_rest(text, screen, &worst, own);
    rsc_ranking_free(&lines);
    rsc_ranking_free(&pairs);
}

/* ---- what to type next ---- */

static void put_next(struct rsc_text *text, const struct rsc_report_style *style, int has_code) {
    static const struct {
        const char *verb, *options, *what;
        int of_code;
    } commands[] = {
        {"report", " -o report.html", "one page: drag the cache size", 0},
        {"annotate", "", "source lines with their misses", 1},
        {"advise", "", "what to change", 1},
        {"report --full", "", "everything that is known", 0},
    };
    unsigned shown = 0;
    if (!style->data_file) return;
    rsc_text_put(text, "\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char command[256];
        int length = snprintf(command, sizeof command, "reusescope %s%s%s%s", commands[i].verb,
                              style->data_file[0] ? " " : "", style->data_file, commands[i].options);
        if ((commands[i].of_code && !has_code) || length > (int)sizeof command - 1 ||
            (unsigned)length + LABEL_COLUMNS > style->width)
            continue;
        rsc_text_tint(text, RSC_BOLD);
        rsc_text_put(text, "%-*s", LABEL_COLUMNS, shown++ ? "" : " Next");
        rsc_text_tint(text, RSC_PLAIN);
        rsc_text_put(text, "%s", command);
        if ((text->column < 44 ? 46 : text->column + 2) + strlen(commands[i].what) <= style->width) {
            rsc_text_put(text, "  ");
            rsc_text_pad_to(text, 46);
            rsc_text_tint(text, RSC_DIM);
            rsc_text_put(text, "%s", commands[i].what);
            rsc_text_tint(text, RSC_PLAIN);
        }
        rsc_text_put(text, "\n");
    }
}

/* ---- all of it ---- */

/* What is only there because it was asked for: --top-lines, --phases. */
static void put_asked(struct rsc_text *text, const struct screen *screen) {
    const struct rsc_profile *profile = screen->models[screen->count - 1];
    if (profile->line_count) {
        rsc_put_section(text, screen->style, "Worst cache lines", "");
        rsc_put_lines(text, profile, screen->style);
    }
    if (profile->phase_count) {
        rsc_put_section(text, screen->style, "Phases", "of the run, and their miss ratios at two cache sizes");
        rsc_put_phases(text, profile, screen->style);
    }
}

static void put_screen(struct rsc_text *text, const struct screen *screen, unsigned room, int last) {
    const struct rsc_profile *profile = screen->models[0];
    int requests = rsc_profile_is_requests(profile);
    struct rsc_text head, tail, asked, next;
    start_part(&head, screen->style);
    start_part(&tail, screen->style);
    start_part(&asked, screen->style);
    start_part(&next, screen->style);
    rsc_put_screen_facts(&head, profile, screen->style, screen->count > 1);
    if (profile->references && !requests) put_ratios(&head, screen);
    if (profile->references) put_worst(&tail, screen);
    put_asked(&asked, screen);
    if (last) put_next(&next, screen->style, profile->code_count > 0);
    unsigned used = lines_of(&head) + lines_of(&tail) + lines_of(&next);
    if (used + lines_of(&asked) + CURVE_ROWS_LEAST <= room) { /* else report --full shows it */
        used += lines_of(&asked);
        rsc_text_append(&tail, &asked);
    } else {
        free(asked.text);
    }
    rsc_text_append(&tail, &next);
    rsc_text_append(text, &head);
    if (profile->references) put_curve(text, screen, room > used ? room - used : 0);
    rsc_text_append(text, &tail);
}

static int same_text(const char *a, const char *b) { return !strcmp(a ? a : "", b ? b : ""); }

/* Private and shared model of one run. */
static int are_models_of_one(const struct rsc_profile *a, const struct rsc_profile *b) {
    char *const *left = a->made.command, *const *right = b->made.command;
    if (!same_text(a->made.model, "private") || !same_text(b->made.model, "shared")) return 0;
    if (a->made.line_bytes != b->made.line_bytes || !same_text(a->made.source, b->made.source)) return 0;
    while (left && right && *left && *right && !strcmp(*left, *right)) left++, right++;
    return (!left && !right) || (left && right && !*left && !*right);
}

void rsc_put_screens(struct rsc_text *text, struct rsc_profile *const *profiles, size_t count,
                     const struct rsc_report_style *style) {
    struct rsc_report_style without = *style;
    size_t screens = 0, shown = 0;
    without.machine = NULL; /* a processor's caches do not hold whole objects */
    for (size_t i = 0; i < count; i++, screens++)
        if (i + 1 < count && are_models_of_one(profiles[i], profiles[i + 1])) i++;
    for (size_t i = 0; i < count; shown++) {
        struct screen screen = {.models = {profiles[i]}, .count = 1, .style = style};
        if (i + 1 < count && are_models_of_one(profiles[i], profiles[i + 1]))
            screen.models[screen.count++] = profiles[i + 1];
        if (rsc_profile_is_requests(profiles[i])) screen.style = &without;
        unsigned taken =
            1 + (shown ? 1 : style->lines_taken); /* the title, and a blank line before all but the first */
        if (shown) rsc_text_put(text, "\n");
        rsc_put_title(text, style, shown, screens);
        i += screen.count;
        put_screen(text, &screen, RSC_SCREEN_LINES > taken ? RSC_SCREEN_LINES - taken : 0, i == count);
    }
}
