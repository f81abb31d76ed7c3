/*
 * worst.c - tables of the worst lines, pairs and objects.
 *
 * Names come from the profiled program: they go through the text buffer's functions
 * for foreign text and are cut to the width. A line gets a sentence only if its own
 * counts support it.
 */
#include "report/text/worst.h"

#include <stdio.h>
#include <string.h>

#include "profile/pair_ancestor.h"
#include "report/draw/place_text.h"
#include "report/draw/units.h"
#include "report/text/why.h"

#define LINES_SHOWN 10
#define LINES_EXPLAINED 3
#define PAIRS_SHOWN 5
#define OBJECTS_SHOWN 8
#define SENTENCE 768
#define WIDE 64 /* columns: tables have all of theirs */
#define FIRST_TOUCHES_TOLD 0.01 /* of all cycles or misses */
#define SHARE_SHOWN 0.0005 /* of all misses: rows with less, "<0.1 %", are not shown */

/* Shared by all three tables. */
struct worst {
    struct rsc_text *text;
    const struct rsc_profile *profile;
    const struct rsc_report_style *style;
    struct rsc_rank_size size;
    uint64_t all_misses;
    double all_cycles; /* 0: the table is not ordered by cycles */
    struct rsc_ranking ranking;
    size_t shown;
};

struct rsc_worst_words rsc_worst_words(const struct rsc_rank_size *size, unsigned columns) {
    static const char *const whys[] = {
        [RSC_SIZE_GIVEN] = "",
        [RSC_SIZE_TOO_SMALL] = ", the largest too small",
        [RSC_SIZE_ALL_FIT] = ": no cache is too small",
    };
    struct rsc_worst_words words;
    struct rsc_shown bytes = rsc_show_bytes(size->bytes);
    for (int with_why = 1; with_why >= 0; with_why--) {
        const char *why = with_why ? whys[size->why] : "";
        if (size->level)
            snprintf(words.text, sizeof words.text, "by misses in %s (%s)%s", size->level->name, bytes.text, why);
        else snprintf(words.text, sizeof words.text, "by misses in a cache of %s%s", bytes.text, why);
        if (strlen(words.text) <= columns) return words;
    }
    snprintf(words.text, sizeof words.text, "at %s", bytes.text);
    return words;
}

struct rsc_worst_words rsc_cycles_words(const struct rsc_machine *machine, unsigned columns) {
    struct rsc_worst_words words;
    size_t used = (size_t)snprintf(words.text, sizeof words.text, "by cycles lost: ");
    for (size_t i = 1; i < machine->level_count && used < sizeof words.text; i++)
        used += (size_t)snprintf(words.text + used, sizeof words.text - used, "%s %.0f, ", machine->levels[i].name,
                                 machine->levels[i].cycles);
    if (used < sizeof words.text)
        used += (size_t)snprintf(words.text + used, sizeof words.text - used, "memory %.0f (%s)",
                                 machine->memory_cycles, rsc_latencies_words(machine));
    if (used > columns) snprintf(words.text, sizeof words.text, "by cycles lost");
    return words;
}

static int has_latencies(const struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->pair_count; i++)
        if (profile->pairs[i].latency > 0) return 1;
    return 0;
}

int rsc_worst_by_cycles(const struct rsc_profile *profile, enum rsc_ranked what, const struct rsc_report_style *style) {
    return !style->at_bytes && rsc_cost_is_known(profile, style->machine) &&
           !(what == RSC_RANK_PAIRS && has_latencies(profile));
}

/* The share of all cycles or misses. */
static double share_of(const struct worst *worst, const struct rsc_rank *rank) {
    double part = worst->all_cycles > 0 ? rank->cost : (double)rank->misses;
    double all = worst->all_cycles > 0 ? worst->all_cycles : (double)worst->all_misses;
    return all > 0 ? part / all : 0;
}

static int is_worth_a_row(const struct worst *worst, const struct rsc_rank *rank) {
    return rank->cost > 0 && share_of(worst, rank) >= SHARE_SHOWN;
}

static int begin(struct worst *worst, enum rsc_ranked what, size_t most) {
    worst->size = rsc_rank_size(worst->profile, worst->style, worst->style->at_bytes);
    worst->all_misses = rsc_profile_misses(worst->profile, worst->size.lines);
    if (rsc_ranking_make(&worst->ranking, worst->profile, what, worst->size.lines)) {
        worst->text->failed = 1;
        return -1;
    }
    if (rsc_worst_by_cycles(worst->profile, what, worst->style)) {
        worst->all_cycles = rsc_cost_of_profile(worst->profile, worst->style->machine);
        rsc_ranking_by_cycles(&worst->ranking, worst->style->machine);
    }
    while (worst->shown < worst->ranking.count && worst->shown < most &&
           is_worth_a_row(worst, &worst->ranking.ranks[worst->shown]))
        worst->shown++;
    if (worst->shown) return 0;
    rsc_text_paragraph(worst->text, 3, worst->style->width, "Nothing misses at this size.");
    rsc_ranking_free(&worst->ranking);
    return -1;
}

/* Beside cycles, misses have a column where there is room; pairs need more of it, for two places and what they share. */
static int has_misses_column(const struct worst *worst) {
    unsigned needed = worst->ranking.what == RSC_RANK_PAIRS ? WIDE + 32 : WIDE;
    return worst->all_cycles > 0 && worst->style->width >= needed;
}

static void put_numbers(struct worst *worst, const struct rsc_rank *rank) {
    if (worst->all_cycles > 0) rsc_text_put(worst->text, "%10s", rsc_show_cycles(rank->cost).text);
    else rsc_text_put(worst->text, "%10s", rsc_show_short(rank->misses).text);
    rsc_text_put(worst->text, "%9s", rsc_show_share(share_of(worst, rank)).text);
    if (has_misses_column(worst)) rsc_text_put(worst->text, "%11s", rsc_show_short(rank->misses).text);
}

double rsc_put_first_touches(struct rsc_text *text, const struct rsc_profile *profile,
                             const struct rsc_report_style *style, int by_cycles, double all) {
    const uint64_t unplaced = rsc_profile_is_sample(profile) ? rsc_profile_first_touches(profile) : 0;
    const double cost = (double)unplaced * (by_cycles ? style->machine->memory_cycles : 1);
    const double share = all > 0 ? cost / all : 0;
    char words[160];
    if (share < FIRST_TOUCHES_TOLD) return share;
    snprintf(words, sizeof words, "%s more: first touches; a sample does not show whose", rsc_show_share(share).text);
    rsc_text_tint(text, RSC_DIM);
    rsc_text_pad_to(text, 10);
    rsc_text_foreign(text, words, style->width - text->column);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
    return share;
}

/* Notes: references that may belong to other rows, and a size lowered by a cap on distances. */
static void put_notes(struct worst *worst) {
    char note[SENTENCE];
    size_t used = 0;
    const char *sign = worst->style->unicode ? "±" : "+-";
    for (size_t i = 0; i < worst->shown && used < SENTENCE - 160; i++) {
        if (!worst->ranking.ranks[i].error) continue;
        used += (size_t)snprintf(note + used, sizeof note - used, used ? ", %s%s (row %zu)" : "%s%s (row %zu)", sign,
                                 rsc_show_short(worst->ranking.ranks[i].error).text, i + 1);
    }
    if (worst->ranking.what != RSC_RANK_PAIRS)
        rsc_put_first_touches(worst->text, worst->profile, worst->style, worst->all_cycles > 0,
                              worst->all_cycles > 0 ? worst->all_cycles : (double)worst->all_misses);
    if (used) {
        snprintf(note + used, sizeof note - used, ": references that may belong to rows dropped from a full table.");
        rsc_text_paragraph(worst->text, 3, worst->style->width, note);
    }
    if (worst->size.lowered && worst->ranking.what == RSC_RANK_LINES)
        rsc_text_paragraph(worst->text, 3, worst->style->width,
                           "Ranked at this size because longer distances were not counted (--max-distance).");
}

static void begin_heading(struct worst *worst, const char *more) {
    rsc_text_tint(worst->text, RSC_DIM);
    rsc_text_put(worst->text, "%10s%9s", worst->all_cycles > 0 ? "cycles" : "misses", "share");
    if (has_misses_column(worst)) {
        char misses[24] = "misses";
        if (worst->size.level) snprintf(misses, sizeof misses, "%s misses", worst->size.level->name);
        rsc_text_put(worst->text, "%11s", misses);
    }
    rsc_text_put(worst->text, "%s", more);
}

static void end_heading(struct worst *worst) {
    rsc_text_tint(worst->text, RSC_PLAIN);
    rsc_text_put(worst->text, "\n");
}

/* ---- lines ---- */

static void explain_lines(struct worst *worst) {
    struct rsc_ranking pairs;
    char sentence[SENTENCE];
    if (rsc_ranking_make(&pairs, worst->profile, RSC_RANK_PAIRS, worst->size.lines)) {
        worst->text->failed = 1;
        return;
    }
    struct rsc_why why = {&worst->ranking, &pairs, worst->size, worst->style->unicode, worst->style->machine};
    for (size_t i = 0; i < worst->shown && i < LINES_EXPLAINED; i++) {
        const struct rsc_code_row *row = worst->ranking.ranks[i].rows[0];
        struct rsc_why_words words = rsc_why_line(&why, &worst->ranking.ranks[i]);
        if (!words.reason[0]) continue;
        snprintf(sentence, sizeof sentence, "%s: %s%s.", rsc_place_in_short(&row->place, worst->style->unicode).text,
                 words.reason, words.use);
        rsc_text_either(worst->text, " • ", " - ");
        rsc_text_paragraph(worst->text, 3, worst->style->width, sentence);
    }
    rsc_ranking_free(&pairs);
}

void rsc_put_worst_lines(struct rsc_text *text, const struct rsc_profile *profile,
                         const struct rsc_report_style *style) {
    struct worst worst = {.text = text, .profile = profile, .style = style};
    int wide = style->width >= WIDE;
    if (begin(&worst, RSC_RANK_LINES, LINES_SHOWN)) return;
    begin_heading(&worst, wide ? "    ratio      refs  where" : "  where");
    end_heading(&worst);
    for (size_t i = 0; i < worst.shown; i++) {
        const struct rsc_rank *rank = &worst.ranking.ranks[i];
        put_numbers(&worst, rank);
        if (wide)
            rsc_text_put(text, "%9s%10s", rsc_show_share((double)rank->misses / (double)rank->references).text,
                         rsc_show_short(rank->references).text);
        rsc_text_put(text, "  ");
        rsc_put_place(text, &((const struct rsc_code_row *)rank->rows[0])->place, style->width - text->column);
        rsc_text_put(text, "\n");
    }
    put_notes(&worst);
    explain_lines(&worst);
    rsc_ranking_free(&worst.ranking);
}

/* ---- pairs ---- */

/* "in the loop heat.c:101 main", or the call that both ends come from. */
static void put_ancestor(struct worst *worst, const struct rsc_pair_row *pair, unsigned from) {
    struct rsc_text *text = worst->text;
    const struct rsc_profile *profile = worst->profile;
    struct rsc_pair_ancestor common = rsc_pair_ancestor(profile, pair);
    const struct rsc_place *place = common.around ? &profile->loops[common.around - 1].place : NULL;
    const char *words = "both in the loop ";
    if (!place && common.context != RSC_NO_CONTEXT) {
        place = &profile->contexts[common.context].place;
        words = "both called from ";
    }
    if (!place || worst->style->width < from + 30) return;
    rsc_text_pad_to(text, from);
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%s", words);
    rsc_put_place(text, place, worst->style->width - text->column);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

struct rsc_source_words rsc_source_words(const struct rsc_pair_row *pair) {
    static const char *const names[RSC_SOURCES] = {
        "", "the L1 cache", "a line under way", "the L2 cache", "the L3 cache", "memory", "another node", "elsewhere"};
    struct rsc_source_words words = {""};
    int most = 0;
    for (int i = 1; i < RSC_SOURCES; i++)
        if (pair->sources[i] > pair->sources[most]) most = i;
    if (most)
        snprintf(words.text, sizeof words.text, "%s from %s", rsc_show_percent(pair->sources[most]).text, names[most]);
    return words;
}

/* "takes 210 cycles, 61 % from memory", if a PMU measured it. */
static void put_cost(struct worst *worst, const struct rsc_pair_row *pair, unsigned from) {
    struct rsc_text *text = worst->text;
    struct rsc_source_words source = rsc_source_words(pair);
    if ((!(pair->latency > 0) && !source.text[0]) || worst->style->width < from + 30) return;
    rsc_text_pad_to(text, from);
    rsc_text_tint(text, RSC_DIM);
    if (pair->latency > 0)
        rsc_text_put(text, "takes %.0f cycles%s%s", pair->latency, source.text[0] ? ", " : "", source.text);
    else rsc_text_put(text, "%s", source.text);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

/* The row of a rank with most references. */
static const struct rsc_pair_row *largest_pair(const struct rsc_rank *rank) {
    const struct rsc_pair_row *largest = rank->rows[0];
    for (size_t i = 1; i < rank->row_count; i++) {
        const struct rsc_pair_row *row = rank->rows[i];
        if (row->references > largest->references) largest = row;
    }
    return largest;
}

void rsc_put_worst_pairs(struct rsc_text *text, const struct rsc_profile *profile,
                         const struct rsc_report_style *style) {
    struct worst worst = {.text = text, .profile = profile, .style = style};
    int wide = style->width >= WIDE;
    if (begin(&worst, RSC_RANK_PAIRS, PAIRS_SHOWN)) return;
    begin_heading(&worst, wide ? "    median distance  used, then used again" : "  used, then again");
    end_heading(&worst);
    for (size_t i = 0; i < worst.shown; i++) {
        const struct rsc_rank *rank = &worst.ranking.ranks[i];
        const struct rsc_pair_row *pair = largest_pair(rank);
        /* ordered by cycles, a pair may miss only in a smaller cache */
        uint64_t far =
            rank->misses || !worst.all_cycles ? worst.size.lines : rsc_cost_lines(profile, style->machine, 0);
        uint64_t median = rsc_rank_median(&worst.ranking, rank, far);
        put_numbers(&worst, rank);
        if (wide) {
            char lines[48];
            int open = median >= rsc_rows_told_apart(profile);
            snprintf(lines, sizeof lines, "%s%s", open ? ">=" : "", rsc_show_short(median).text);
            rsc_text_put(text, "%9s%10s", lines,
                         rsc_show_bytes(rsc_lines_to_bytes(median, profile->made.line_bytes)).text);
        }
        rsc_text_put(text, "  ");
        unsigned from = text->column, room = style->width - from;
        rsc_put_place(text, &pair->use, room);
        rsc_text_put(text, "\n");
        rsc_text_pad_to(text, from - 3);
        rsc_text_either(text, "→  ", "-> ");
        rsc_put_place(text, &pair->reuse, room);
        rsc_text_put(text, "\n");
        put_ancestor(&worst, pair, from);
        put_cost(&worst, pair, from);
    }
    put_notes(&worst);
    rsc_ranking_free(&worst.ranking);
}

/* ---- objects ---- */

void rsc_put_worst_objects(struct rsc_text *text, const struct rsc_profile *profile,
                           const struct rsc_report_style *style) {
    struct worst worst = {.text = text, .profile = profile, .style = style};
    int wide = style->width >= WIDE;
    if (begin(&worst, RSC_RANK_OBJECTS, OBJECTS_SHOWN)) return;
    begin_heading(&worst, wide ? "       size  kind    name" : "  name");
    end_heading(&worst);
    for (size_t i = 0; i < worst.shown; i++) {
        const struct rsc_rank *rank = &worst.ranking.ranks[i];
        const struct rsc_object_row *object = rank->rows[0];
        uint64_t bytes = 0;
        for (size_t k = 0; k < rank->row_count; k++) {
            uint64_t more = ((const struct rsc_object_row *)rank->rows[k])->bytes;
            bytes = more > UINT64_MAX - bytes ? UINT64_MAX : bytes + more;
        }
        put_numbers(&worst, rank);
        if (wide) rsc_text_put(text, "%11s  %-6s", bytes ? rsc_show_bytes(bytes).text : "-", object->kind);
        rsc_text_put(text, "  ");
        rsc_text_foreign(text, object->name && object->name[0] ? object->name : "?", style->width - text->column);
        rsc_text_put(text, "\n");
    }
    put_notes(&worst);
    rsc_ranking_free(&worst.ranking);
}
