/*
 * text.c - the report for a terminal: the first screen (screen.h), or all of its sections.
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
#include "report/draw/units.h"
#include "report/text/facts.h"
#include "report/text/rows.h"
#include "report/text/screen.h"
#include "report/text/sharing_text.h"
#include "report/text/summary.h"
#include "report/text/worst.h"

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
        const int useless = at.high - at.low > RSC_USELESS_SHARE;
        rsc_text_put(text, style->width < 50 ? "\n        (%s to %s)%s%s\n" : "  (%s to %s)%s%s\n",
                     rsc_show_percent(at.low).text, rsc_show_percent(at.high).text,
                     useless ? ": not known from this sample" : "", useless ? rsc_instead_of_sample(profile) : "");
    }
}

static void put_quantiles(struct rsc_text *text, const struct rsc_profile *profile,
                          const struct rsc_report_style *style) {
    static const unsigned percents[] = {50, 70, 80, 90, 95};
    char lines[64], bytes[64];
    int in_bytes = rsc_profile_is_requests(profile);
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

static void put_curves(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    rsc_draw_curve(text, profile, style);
    if (!rsc_profile_is_requests(profile)) {
        put_bars(text, profile, style);
        return;
    }
    rsc_put_section(text, style, "Byte miss ratio", "of the bytes requested, in the same cache");
    draw_byte_curve(text, profile, style);
}

/* ---- sections ---- */

static int has_references(const struct rsc_profile *profile) { return profile->references > 0; }
static int has_curve(const struct rsc_profile *profile) {
    return profile->mrc_count >= 4;
} /* useless for a few lines */
static int has_code(const struct rsc_profile *profile) { return profile->code_count > 0; }
static int has_pairs(const struct rsc_profile *profile) { return profile->pair_count > 0; }
static int has_objects(const struct rsc_profile *profile) { return profile->object_count > 0; }
static int has_lines(const struct rsc_profile *profile) { return profile->lines_at_bytes > 0; }
static int has_phases(const struct rsc_profile *profile) { return profile->phase_count > 0; }
static int has_threads(const struct rsc_profile *profile) { return profile->thread_count > 1; }
static int has_sharing(const struct rsc_profile *profile) {
    return profile->sharing_count > 0 || rsc_sharing_is_unclear(profile);
}
static int has_false_sharing(const struct rsc_profile *profile) { return profile->false_sharing_count > 0; }
static int has_kinds(const struct rsc_profile *profile) { return profile->kind_count > 0; }

/* The parts of a report, in order. `of_requests`: what it is about in a profile of requests; NULL: not in one. */
static const struct {
    const char *name, *title, *what, *of_requests;
    int (*has)(const struct rsc_profile *);
    void (*put)(struct rsc_text *, const struct rsc_profile *, const struct rsc_report_style *);
} sections[] = {
    {"facts", NULL, NULL, "", NULL, rsc_put_facts},
    {"distances", "Reuse distance", "other lines touched between two uses of a line",
     "bytes of other objects requested since, and its own", has_references, rsc_draw_histogram},
    {"curve", "Miss ratio", "of a fully associative LRU cache, by its size",
     "of requests, in an LRU cache of whole objects, by its size", has_curve, put_curves},
    {"quantiles", "Distance that covers", "this share of all reuses", "this share of all repeated requests", has_reuses,
     put_quantiles},
    {"words", "In words", "", "", has_references, rsc_put_summary},
    {"lines", "Worst lines", NULL, NULL, has_code, rsc_put_worst_lines},
    {"pairs", "Worst pairs", NULL, NULL, has_pairs, rsc_put_worst_pairs},
    {"objects", "Worst objects", NULL, NULL, has_objects, rsc_put_worst_objects},
    {"cache-lines", "Worst cache lines", NULL, NULL, has_lines, rsc_put_lines},
    {"phases", "Phases", "of the run, and their miss ratios at two cache sizes", NULL, has_phases, rsc_put_phases},
    {"threads", "Threads", "and their miss ratios at two cache sizes", NULL, has_threads, rsc_put_threads},
    {"sharing", "Sharing", "misses of each thread on lines that other threads took", NULL, has_sharing,
     rsc_put_sharing},
    {"false-sharing", "False sharing", "lines taken by writes to other bytes than those used", NULL, has_false_sharing,
     rsc_put_false_sharing},
    {"kinds", "Kinds", "of access in one cache, and their miss ratios at two sizes", NULL, has_kinds, rsc_put_kinds},
};

uint32_t rsc_report_section_of_name(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strlen(sections[i].name) == length && !strncmp(sections[i].name, name, length)) return 1u << i;
    return 0;
}

/* Ranked tables name the cache size. */
static void put_heading(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style,
                        size_t section) {
    const char *title = sections[section].title, *what = sections[section].what;
    if (rsc_profile_is_requests(profile) && sections[section].of_requests) what = sections[section].of_requests;
    if (what) {
        rsc_put_section(text, style, title, what);
        return;
    }
    struct rsc_rank_size size = rsc_rank_size(profile, style, style->at_bytes);
    if (sections[section].has == has_lines) size = (struct rsc_rank_size){.bytes = profile->lines_at_bytes};
    unsigned room = style->width - 3 - (unsigned)strlen(title);
    int by_cycles =
        sections[section].has != has_lines &&
        rsc_worst_by_cycles(profile, sections[section].has == has_pairs ? RSC_RANK_PAIRS : RSC_RANK_LINES, style);
    rsc_put_section(text, style, title,
                    by_cycles ? rsc_cycles_words(style->machine, room).text : rsc_worst_words(&size, room).text);
}

static void put_profile(struct rsc_text *text, const struct rsc_profile *profile,
                        const struct rsc_report_style *given) {
    struct rsc_report_style settled = *given, *style = &settled;
    int requests = rsc_profile_is_requests(profile);
    if (requests) settled.machine = NULL; /* a processor's caches do not hold such objects */
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        int asked = style->sections >> i & 1;
        int has = !sections[i].has ||
                  (profile->references && sections[i].has(profile) && (!requests || sections[i].of_requests));
        if (style->sections ? !asked : !has) continue;
        if (sections[i].title) put_heading(text, profile, style, i);
        if (has) sections[i].put(text, profile, style);
        else rsc_text_paragraph(text, 3, style->width, "None in this profile.");
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
    out.root = settled.source_root;
    out.full_names = settled.full_names;
    if (settled.screen) rsc_put_screens(&out, result->profiles, result->count, &settled);
    for (size_t i = 0; i < result->count && !settled.screen; i++) {
        if (i) rsc_text_put(&out, "\n");
        rsc_put_title(&out, &settled, i, result->count);
        put_profile(&out, result->profiles[i], &settled);
    }
    return rsc_text_take(&out, text, bytes) ? rsc_fail_memory(error, "text of the report") : 0;
}
