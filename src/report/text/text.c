/*
 * text.c - the report for a terminal.
 *
 * From the whole to the parts: what was measured, the histogram, the curve, the
 * quantiles, a summary in words, then the worst lines, pairs and objects, cache lines,
 * phases, threads and kinds, if any. Requests for whole objects have a second curve, by
 * bytes, and no caches of this machine. No line is wider than the style's width, and in
 * ASCII no byte is above 0x7f, whatever a command line or a file contains.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/draw/picture.h"
#include "report/text/rows.h"
#include "report/text/sharing_text.h"
#include "report/text/summary.h"
#include "report/draw/units.h"
#include "report/text/worst.h"

#define LABEL 13 /* columns of a fact's name */

static void put_title(struct rsc_text *text, const struct rsc_report_style *style, size_t index, size_t count) {
    rsc_text_tint(text, RSC_BOLD);
    rsc_text_either(text, "── ", "-- ");
    if (count > 1) rsc_text_put(text, "Memory reuse, profile %zu of %zu ", index + 1, count);
    else rsc_text_put(text, "Memory reuse ");
    rsc_text_repeat(text, style->unicode ? "─" : "-", style->width > text->column ? style->width - text->column : 0);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

static void put_section(struct rsc_text *text, const struct rsc_report_style *style, const char *title,
                        const char *what) {
    rsc_text_put(text, "\n ");
    rsc_text_tint(text, RSC_BOLD);
    rsc_text_put(text, "%s", title);
    rsc_text_tint(text, RSC_PLAIN);
    if (what[0] && text->column + 2 + rsc_text_columns(what) <= style->width) {
        rsc_text_tint(text, RSC_DIM);
        rsc_text_put(text, "  %s", what);
        rsc_text_tint(text, RSC_PLAIN);
    }
    rsc_text_put(text, "\n");
}

static void begin_fact(struct rsc_text *text, const char *name) {
    rsc_text_put(text, " ");
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%s", name);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_pad_to(text, LABEL);
}

static void put_command(struct rsc_text *text, const struct rsc_made *made, const struct rsc_report_style *style) {
    if (!made->command || !made->command[0]) return;
    begin_fact(text, "command");
    for (char **word = made->command; *word && text->column + 4 < style->width; word++) {
        if (word != made->command) rsc_text_put(text, " ");
        rsc_text_foreign(text, *word, style->width - text->column);
    }
    rsc_text_put(text, "\n");
}

static const char *model_words(const char *model) {
    if (model && !strcmp(model, "private")) return "a stack for each thread";
    if (model && !strcmp(model, "shared")) return "one stack shared by all threads";
    if (model && !strcmp(model, "requests")) return "whole objects";
    return "one stack over all threads";
}

static void put_how(struct rsc_text *text, const struct rsc_made *made, const struct rsc_report_style *style) {
    begin_fact(text, "made by");
    rsc_text_foreign(text, made->by && made->by[0] ? made->by : "unknown", style->width - text->column);
    if (made->source && made->source[0] && text->column + 8 < style->width) {
        rsc_text_put(text, ", from ");
        rsc_text_foreign(text, made->source, style->width - text->column);
    }
    char words[96];
    snprintf(words, sizeof words, ", %s", model_words(made->model));
    if (text->column + strlen(words) <= style->width) rsc_text_put(text, "%s", words);
    snprintf(words, sizeof words, ", %s", rsc_show_seconds(made->seconds).text);
    if (made->seconds > 0 && text->column + strlen(words) <= style->width) rsc_text_put(text, "%s", words);
    rsc_text_put(text, "\n");
    if (made->modelled) {
        begin_fact(text, "modelled");
        rsc_text_foreign(text, made->modelled, style->width - text->column);
        rsc_text_put(text, "\n");
    }
    if (!made->sampling) return;
    begin_fact(text, "sampling");
    /* it may come from a file: shown on one line, with unsafe characters replaced */
    int plain = strlen(made->sampling) < 250;
    for (const char *s = made->sampling; *s; s++) plain &= *s >= ' ' && *s <= '~';
    if (plain) {
        rsc_text_paragraph(text, LABEL, style->width, made->sampling);
        return;
    }
    rsc_text_foreign(text, made->sampling, style->width - text->column);
    rsc_text_put(text, "\n");
}

/* A fact in our own words: wrapped if needed. */
static void put_fact(struct rsc_text *text, const struct rsc_report_style *style, const char *name, const char *words) {
    begin_fact(text, name);
    rsc_text_paragraph(text, LABEL, style->width, words);
}

static void put_request_facts(struct rsc_text *text, const struct rsc_profile *profile,
                              const struct rsc_report_style *style) {
    const struct rsc_request_bytes *bytes = &profile->requests;
    char words[256];
    snprintf(words, sizeof words, "%s by %s thread%s, %s", rsc_show_count(profile->references).text,
             rsc_show_count(profile->made.threads).text, profile->made.threads == 1 ? "" : "s",
             rsc_show_bytes(bytes->requested).text);
    put_fact(text, style, "requests", words);
    snprintf(words, sizeof words, "%s object%s, %s at most", rsc_show_count(profile->distinct).text,
             profile->distinct == 1 ? "" : "s", rsc_show_bytes(bytes->footprint).text);
    put_fact(text, style, "footprint", words);
    snprintf(words, sizeof words, "%s first request%s, %s of requests and %s of bytes",
             rsc_show_count(profile->cold).text, profile->cold == 1 ? "" : "s",
             rsc_show_percent((double)profile->cold / (double)profile->references).text,
             rsc_show_percent(bytes->requested ? (double)bytes->cold / (double)bytes->requested : 0).text);
    put_fact(text, style, "cold", words);
}

/* "620 fetches, 200 reads, 90 writes": the most first. */
static void put_kind_fact(struct rsc_text *text, const struct rsc_profile *profile,
                          const struct rsc_report_style *style) {
    char words[256];
    size_t used = 0;
    unsigned char said[RSC_KIND_NAMES] = {0};
    if (!profile->kind_count) return;
    for (size_t n = 0; n < profile->kind_count; n++) {
        size_t most = RSC_KIND_NAMES;
        for (size_t i = 0; i < profile->kind_count; i++)
            if (!said[i] && (most == RSC_KIND_NAMES || profile->kinds[i].references > profile->kinds[most].references))
                most = i;
        const struct rsc_kind_row *row = &profile->kinds[most];
        said[most] = 1;
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s %s%s", n ? ", " : "",
                                 rsc_show_count(row->references).text, row->kind,
                                 row->references == 1          ? ""
                                 : !strcmp(row->kind, "fetch") ? "es"
                                                               : "s");
    }
    put_fact(text, style, "kinds", words);
}

/* The bar of a total, as a share of `whole` or in lines; and in words if it says nothing. */
#define USELESS_SHARE 0.5 /* a bar wider than half of all references */
#define USELESS_TIMES 8   /* or a footprint known to less than a factor of this */
static void add_bar(char *words, size_t room, const struct rsc_count_bar *bar, uint64_t whole) {
    size_t used = strlen(words);
    const char *advice = "";
    if (!bar->is_known) return;
    if (whole ? (double)(bar->high - bar->low) > USELESS_SHARE * (double)whole : bar->high / USELESS_TIMES > bar->low)
        advice = whole ? ": too few samples to tell; --sample none is exact"
                       : ": not known from this sample; --model both is";
    if (whole)
        snprintf(words + used, room - used, " (%s to %s)%s", rsc_show_percent((double)bar->low / (double)whole).text,
                 rsc_show_percent((double)bar->high / (double)whole).text, advice);
    else
        snprintf(words + used, room - used, " (%s to %s lines)%s", rsc_show_count(bar->low).text,
                 rsc_show_count(bar->high).text, advice);
}

static void put_headline(struct rsc_text *text, const struct rsc_profile *profile,
                         const struct rsc_report_style *style) {
    char words[256];
    put_command(text, &profile->made, style);
    put_how(text, &profile->made, style);
    if (!profile->references) {
        put_fact(text, style, "accesses", "no accesses");
        return;
    }
    if (rsc_profile_is_requests(profile)) {
        put_request_facts(text, profile, style);
        return;
    }
    snprintf(words, sizeof words, "%s access%s by %s thread%s", rsc_show_count(profile->accesses).text,
             profile->accesses == 1 ? "" : "es", rsc_show_count(profile->made.threads).text,
             profile->made.threads == 1 ? "" : "s");
    put_fact(text, style, "accesses", words);
    snprintf(words, sizeof words, "%s reference%s to lines of %s", rsc_show_count(profile->references).text,
             profile->references == 1 ? "" : "s", rsc_show_bytes(profile->made.line_bytes).text);
    put_fact(text, style, "references", words);
    if (!style->brief) put_kind_fact(text, profile, style);
    snprintf(words, sizeof words, "%s distinct line%s, %s", rsc_show_count(profile->distinct).text,
             profile->distinct == 1 ? "" : "s",
             rsc_show_bytes(rsc_lines_to_bytes(profile->distinct, profile->made.line_bytes)).text);
    add_bar(words, sizeof words, &profile->bars.distinct, 0);
    put_fact(text, style, "footprint", words);
    /* samples see last touches instead: every line has one of each */
    uint64_t cold = profile->cold + profile->last_touch;
    snprintf(words, sizeof words, "%s first touch%s, %s of references", rsc_show_count(cold).text,
             cold == 1 ? "" : "es", rsc_show_percent((double)cold / (double)profile->references).text);
    add_bar(words, sizeof words, &profile->bars.cold, profile->references);
    put_fact(text, style, "cold", words);
    if (profile->made.threads_unseen) {
        snprintf(words, sizeof words, "%s threads: more ran at once than can be watched",
                 rsc_show_count(profile->made.threads_unseen).text);
        put_fact(text, style, "not seen", words);
    }
    if (!profile->invalidated) return;
    snprintf(words, sizeof words, "%s references to lines another thread had written, %s",
             rsc_show_count(profile->invalidated).text,
             rsc_show_percent((double)profile->invalidated / (double)profile->references).text);
    add_bar(words, sizeof words, &profile->bars.invalidated, profile->references);
    put_fact(text, style, "invalidated", words);
}

static void show_quantile(const struct rsc_profile *profile, uint64_t distance, int bytes, char *to, size_t room) {
    if (distance == UINT64_MAX)
        snprintf(to, room, bytes ? ">= %s" : ">= %s lines",
                 bytes ? rsc_show_bytes(rsc_lines_to_bytes(profile->rd_cap, profile->made.line_bytes)).text
                       : rsc_show_short(profile->rd_cap).text);
    else if (bytes)
        snprintf(to, room, "%s", rsc_show_bytes(rsc_lines_to_bytes(distance, profile->made.line_bytes)).text);
    else snprintf(to, room, "%s %s", rsc_show_short(distance).text, distance == 1 ? "line" : "lines");
}

/* The curve's error bars, if any: from 32 KiB, at sizes four octaves apart. */
static void put_bars(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    unsigned shown = 0;
    for (uint64_t bytes = 32 << 10; bytes < 1ull << 50 && shown < 4; bytes <<= 4, shown++) {
        uint64_t lines = bytes / profile->made.line_bytes;
        if (lines > profile->mrc[profile->mrc_count - 1].lines) break;
        struct rsc_mrc_point at = rsc_profile_mrc_at(profile, lines);
        if (!(at.high > at.low)) continue;
        rsc_text_put(text, "   at %-8s %8s", rsc_show_bytes(bytes).text, rsc_show_percent(at.miss_ratio).text);
        rsc_text_put(text, style->width < 50 ? "\n        (%s to %s)%s\n" : "  (%s to %s)%s\n",
                     rsc_show_percent(at.low).text, rsc_show_percent(at.high).text,
                     at.high - at.low > USELESS_SHARE ? ": not known from this sample; --sample none is exact" : "");
    }
}

static void put_quantiles(struct rsc_text *text, const struct rsc_profile *profile,
                          const struct rsc_report_style *style) {
    static const unsigned percents[] = {50, 70, 80, 90, 95};
    char lines[64], bytes[64];
    int in_bytes = rsc_profile_is_requests(profile);
    put_section(text, style, "Distance that covers",
                in_bytes ? "this share of all repeated requests" : "this share of all reuses");
    if (style->width >= 76) {
        for (unsigned row = 0; row < 3; row++) {
            if (row == 1 && in_bytes) continue;
            if (!row) rsc_text_tint(text, RSC_DIM);
            for (unsigned i = 0; i < 5; i++) {
                uint64_t distance = rsc_summary_quantile(profile, percents[i] / 100.0);
                show_quantile(profile, distance, row == 2, lines, sizeof lines);
                if (!row) snprintf(lines, sizeof lines, "p%u", percents[i]);
                rsc_text_put(text, "%15s", lines);
            }
            if (!row) rsc_text_tint(text, RSC_PLAIN);
            rsc_text_put(text, "\n");
        }
        return;
    }
    for (unsigned i = 0; i < 5; i++) {
        uint64_t distance = rsc_summary_quantile(profile, percents[i] / 100.0);
        show_quantile(profile, distance, 0, lines, sizeof lines);
        show_quantile(profile, distance, 1, bytes, sizeof bytes);
        rsc_text_put(text, "   p%u  %14s%14s\n", percents[i], in_bytes ? "" : lines, bytes);
    }
}

static void put_worst(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    static const struct {
        const char *title;
        void (*put)(struct rsc_text *, const struct rsc_profile *, const struct rsc_report_style *);
    } tables[] = {
        {"Worst lines", rsc_put_worst_lines},
        {"Worst pairs", rsc_put_worst_pairs},
        {"Worst objects", rsc_put_worst_objects},
    };
    const size_t rows[] = {profile->code_count, profile->pair_count, profile->object_count};
    struct rsc_rank_size size = rsc_rank_size(profile, style, style->at_bytes);
    for (size_t i = 0; i < 3; i++) {
        if (!rows[i]) continue;
        unsigned room = style->width - 3 - (unsigned)strlen(tables[i].title);
        put_section(text, style, tables[i].title, rsc_worst_words(&size, room).text);
        tables[i].put(text, profile, style);
    }
}

static int has_reuses(const struct rsc_profile *profile) {
    return rsc_profile_rd_quantile(profile, 0.5) != UINT64_MAX || profile->rd_capped;
}

/* The byte miss ratio curve, drawn like the other. */
static void draw_byte_curve(struct rsc_text *text, const struct rsc_profile *profile,
                            const struct rsc_report_style *style) {
    struct rsc_profile view = *profile;
    view.mrc = malloc(profile->mrc_count * sizeof *view.mrc);
    if (!view.mrc) {
        text->failed = 1;
        return;
    }
    for (size_t i = 0; i < profile->mrc_count; i++) {
        double ratio = profile->requests.miss_ratio[i];
        view.mrc[i] = (struct rsc_mrc_point){profile->mrc[i].lines, profile->mrc[i].bytes, ratio, ratio, ratio};
    }
    rsc_draw_curve(text, &view, style);
    free(view.mrc);
}

static void put_requests(struct rsc_text *text, const struct rsc_profile *profile,
                         const struct rsc_report_style *given) {
    struct rsc_report_style without = *given, *style = &without;
    without.machine = NULL; /* a processor's caches do not hold such objects */
    put_headline(text, profile, style);
    if (!profile->references) return;
    put_section(text, style, "Reuse distance", "bytes of other objects requested since, and its own");
    rsc_draw_histogram(text, profile, style);
    if (profile->mrc_count >= 4) {
        put_section(text, style, "Miss ratio", "of requests, in an LRU cache of whole objects, by its size");
        rsc_draw_curve(text, profile, style);
        put_section(text, style, "Byte miss ratio", "of the bytes requested, in the same cache");
        draw_byte_curve(text, profile, style);
    }
    if (has_reuses(profile)) put_quantiles(text, profile, style);
    put_section(text, style, "In words", "");
    rsc_put_summary(text, profile, style);
}

/* ---- in brief ---- */

static size_t lines_from(const struct rsc_text *text, size_t from) {
    size_t lines = 0;
    for (size_t i = from; i < text->used; i++) lines += text->text[i] == '\n';
    return lines;
}

/*
 * A sentence, facts, curve, summary, worst lines and pairs. Parts that do not fit are drawn and
 * removed again: the number of lines of a part depends on the width and on its notes.
 */
static void put_brief(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    struct rsc_rank_size size = rsc_rank_size(profile, style, style->at_bytes);
    size_t from = text->used;
    if (profile->references) rsc_put_verdict(text, profile, style);
    put_headline(text, profile, style);
    if (!profile->references) return;
    if (profile->mrc_count >= 4) {
        put_section(text, style, "Miss ratio", "of a fully associative LRU cache, by its size");
        rsc_draw_curve(text, profile, style);
    }
    for (int part = 0; part < 3 && !text->failed; part++) {
        size_t before = text->used;
        if (part == 0) {
            put_section(text, style, "In words", "");
            rsc_put_summary(text, profile, style);
        } else if (part == 1 && profile->code_count) {
            put_section(text, style, "Worst lines", rsc_worst_words(&size, style->width - 14).text);
            rsc_put_worst_lines(text, profile, style);
        } else if (part == 2 && profile->pair_count) {
            put_section(text, style, "Worst pairs", rsc_worst_words(&size, style->width - 14).text);
            rsc_put_worst_pairs(text, profile, style);
        }
        if (lines_from(text, from) + 1 > RSC_REPORT_BRIEF_LINES) text->used = before, text->column = 0;
    }
}

static void put_profile(struct rsc_text *text, const struct rsc_profile *profile,
                        const struct rsc_report_style *style) {
    if (rsc_profile_is_requests(profile)) {
        put_requests(text, profile, style);
        return;
    }
    if (style->brief) {
        put_brief(text, profile, style);
        return;
    }
    put_headline(text, profile, style);
    if (!profile->references) return;
    put_section(text, style, "Reuse distance", "other lines touched between two uses of a line");
    rsc_draw_histogram(text, profile, style);
    /* A footprint of a few lines has no useful curve. */
    if (profile->mrc_count >= 4) {
        put_section(text, style, "Miss ratio", "of a fully associative LRU cache, by its size");
        rsc_draw_curve(text, profile, style);
        put_bars(text, profile, style);
    }
    if (has_reuses(profile)) put_quantiles(text, profile, style);
    put_section(text, style, "In words", "");
    rsc_put_summary(text, profile, style);
    put_worst(text, profile, style);
    if (profile->lines_at_bytes) {
        char what[96];
        snprintf(what, sizeof what, "by misses in a cache of %s", rsc_show_bytes(profile->lines_at_bytes).text);
        put_section(text, style, "Worst cache lines", what);
        rsc_put_lines(text, profile, style);
    }
    if (profile->phase_count) {
        put_section(text, style, "Phases", "of the run, and their miss ratios at two cache sizes");
        rsc_put_phases(text, profile, style);
    }
    if (profile->thread_count > 1) {
        put_section(text, style, "Threads", "and their miss ratios at two cache sizes");
        rsc_put_threads(text, profile, style);
    }
    if (profile->sharing_count) {
        put_section(text, style, "Sharing", "misses of each thread (down) on lines that others took (across)");
        rsc_put_sharing(text, profile, style);
    }
    if (profile->false_sharing_count) {
        put_section(text, style, "False sharing", "lines taken by writes to other bytes than those used");
        rsc_put_false_sharing(text, profile, style);
    }
    if (profile->kind_count) {
        put_section(text, style, "Kinds", "of access in one cache, and their miss ratios at two sizes");
        rsc_put_kinds(text, profile, style);
    }
}

int rsc_report_text(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                    struct rsc_error *error) {
    struct rsc_report_style settled = style ? *style : (struct rsc_report_style){0};
    if (!settled.width) settled.width = 80;
    if (settled.width < RSC_REPORT_WIDTH_MIN) settled.width = RSC_REPORT_WIDTH_MIN;
    if (settled.width > RSC_REPORT_WIDTH_MAX) settled.width = RSC_REPORT_WIDTH_MAX;
    struct rsc_text out;
    rsc_text_init(&out, settled.unicode, settled.colour);
    for (size_t i = 0; i < result->count; i++) {
        if (i) rsc_text_put(&out, "\n");
        put_title(&out, &settled, i, result->count);
        put_profile(&out, result->profiles[i], &settled);
    }
    if (settled.brief) {
        put_section(&out, &settled, "Next", "");
        rsc_text_put(
            &out, "   reusescope report reusescope.data\n   reusescope advise\n   reusescope report -o report.html\n");
    }
    return rsc_text_take(&out, text, bytes) ? rsc_fail_memory(error, "text of the report") : 0;
}
