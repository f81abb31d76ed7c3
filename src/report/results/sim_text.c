/* sim_text.c - the result of a simulation as text. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"
#include "report/results/results.h"

#define CONFIG_COLUMN 5
#define BLAME_SHOWN 10

static double ratio(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

static unsigned config_width(const struct rsc_sim_result *result) {
    unsigned width = 16;
    for (size_t i = 0; i < result->level_count; i++) {
        unsigned columns = (unsigned)strlen(result->levels[i].cache.text);
        if (columns > width) width = columns;
    }
    return width;
}

static void put_level(struct rsc_text *text, const struct rsc_sim_result *result,
                      const struct rsc_sim_level_result *level, unsigned from, int per_reference) {
    const struct rsc_level_counts *counts = &level->counts;
    uint64_t accesses = rsc_kinds_sum(counts->accesses), misses = rsc_kinds_sum(counts->misses);
    double per_instruction = rsc_sim_mpi(result, level);
    char per[40];
    rsc_text_put(text, "%s", level->cache.name);
    rsc_text_pad_to(text, CONFIG_COLUMN);
    rsc_text_put(text, "%s", level->cache.text);
    rsc_text_right(text, from + 9, rsc_show_short(accesses).text);
    rsc_text_right(text, from + 17, rsc_show_short(misses).text);
    rsc_text_right(text, from + 26, rsc_show_percent(ratio(misses, accesses)).text);
    rsc_text_right(text, from + 35, rsc_show_percent(ratio(misses, result->references)).text);
    if (per_reference) snprintf(per, sizeof per, "%.3f", 1000 * ratio(misses, result->references));
    else snprintf(per, sizeof per, "%.3f", 1000 * per_instruction);
    rsc_text_right(text, from + 44, per);
    rsc_text_right(text, from + 53, rsc_show_short(counts->writebacks).text);
    rsc_text_put(text, "\n");
}

static void put_levels(struct rsc_text *text, const struct rsc_sim_result *result, int per_reference) {
    unsigned from = CONFIG_COLUMN + config_width(result);
    rsc_text_put(text, "\n     cache");
    rsc_text_right(text, from + 9, "accesses");
    rsc_text_right(text, from + 17, "misses");
    rsc_text_right(text, from + 26, "local");
    rsc_text_right(text, from + 35, "global");
    rsc_text_right(text, from + 44, per_reference ? "/k refs" : "MPKI");
    rsc_text_right(text, from + 53, "wr-backs");
    rsc_text_put(text, "\n");
    for (size_t i = 0; i < result->level_count; i++) put_level(text, result, &result->levels[i], from, per_reference);
}

static void put_classes(struct rsc_text *text, const struct rsc_sim_result *result) {
    unsigned from = CONFIG_COLUMN + config_width(result);
    rsc_text_put(text, "\n     misses");
    rsc_text_right(text, from + 9, "cold");
    rsc_text_right(text, from + 18, "capacity");
    rsc_text_right(text, from + 27, "conflict");
    rsc_text_right(text, from + 37, "coherence");
    rsc_text_put(text, "\n");
    for (size_t i = 0; i < result->level_count; i++) {
        const struct rsc_sim_level_result *level = &result->levels[i];
        const struct rsc_level_counts *counts = &level->counts;
        if (level->from_family) continue;
        rsc_text_put(text, "%s", level->cache.name);
        rsc_text_pad_to(text, CONFIG_COLUMN);
        rsc_text_put(text, "%s", level->cache.text);
        rsc_text_right(text, from + 9, rsc_show_short(rsc_kinds_sum(counts->cold)).text);
        rsc_text_right(text, from + 18, rsc_show_short(rsc_kinds_sum(counts->capacity)).text);
        rsc_text_right(text, from + 27, rsc_show_short(rsc_kinds_sum(counts->conflict)).text);
        rsc_text_right(text, from + 37, rsc_show_short(rsc_kinds_sum(counts->coherence)).text);
        rsc_text_put(text, "\n");
    }
}

static void put_kinds(struct rsc_text *text, const struct rsc_sim_result *result) {
    static const char *const names[RSC_KINDS] = {"reads", "writes", "fetches"};
    rsc_text_put(text, "\n     misses by kind\n");
    for (size_t i = 0; i < result->level_count; i++) {
        const struct rsc_sim_level_result *level = &result->levels[i];
        const char *between = "";
        if (level->alternative || !rsc_kinds_sum(level->counts.accesses)) continue;
        rsc_text_put(text, "%s", level->cache.name);
        rsc_text_pad_to(text, CONFIG_COLUMN);
        for (int kind = 0; kind < RSC_KINDS; kind++) {
            if (!level->counts.accesses[kind]) continue;
            rsc_text_put(text, "%s%s of %s %s", between, rsc_show_short(level->counts.misses[kind]).text,
                         rsc_show_short(level->counts.accesses[kind]).text, names[kind]);
            between = ", ";
        }
        if (level->counts.sector_misses)
            rsc_text_put(text, "; %s found the block without the sector",
                         rsc_show_short(level->counts.sector_misses).text);
        rsc_text_put(text, "\n");
    }
}

#define TLB_COLUMN 7

/* TLBs, a table for each page size; page walks are what the last of them missed. */
static void put_pages(struct rsc_text *text, const struct rsc_sim_result *result,
                      const struct rsc_sim_pages_result *pages, int per_reference) {
    const uint64_t per = per_reference ? result->references : result->instructions;
    unsigned from = TLB_COLUMN + 16;
    char number[40];
    for (size_t i = 0; i < pages->tlb_count; i++) {
        unsigned end = TLB_COLUMN + (unsigned)strlen(pages->tlbs[i].tlb.text);
        if (end > from) from = end;
    }
    rsc_text_put(text, "\n       TLB, %s pages", rsc_show_bytes(pages->page_bytes).text);
    rsc_text_right(text, from + 9, "lookups");
    rsc_text_right(text, from + 17, "misses");
    rsc_text_right(text, from + 26, "local");
    rsc_text_right(text, from + 35, per_reference ? "/k refs" : "MPKI");
    rsc_text_put(text, "\n");
    for (size_t i = 0; i <= pages->tlb_count; i++) {
        const struct rsc_sim_tlb_result *tlb = i < pages->tlb_count ? &pages->tlbs[i] : NULL;
        uint64_t misses = rsc_kinds_sum(tlb ? tlb->misses : pages->walks);
        rsc_text_put(text, "%s", tlb ? tlb->tlb.name : "");
        rsc_text_pad_to(text, TLB_COLUMN);
        rsc_text_put(text, "%s", tlb ? tlb->tlb.text : "page walks");
        if (tlb) rsc_text_right(text, from + 9, rsc_show_short(rsc_kinds_sum(tlb->accesses)).text);
        rsc_text_right(text, from + 17, rsc_show_short(misses).text);
        if (tlb) rsc_text_right(text, from + 26, rsc_show_percent(ratio(misses, rsc_kinds_sum(tlb->accesses))).text);
        snprintf(number, sizeof number, "%.3f", 1000 * ratio(misses, per));
        rsc_text_right(text, from + 35, number);
        rsc_text_put(text, "\n");
    }
}

static void put_windows(struct rsc_text *text, const struct rsc_sim_result *result) {
    rsc_text_put(text, "\n     window, from access");
    for (size_t row = 0; row < result->level_count; row++) {
        char title[24];
        if (result->levels[row].alternative) continue;
        snprintf(title, sizeof title, "%s misses", result->levels[row].cache.name);
        rsc_text_right(text, 38 + 14 * (unsigned)row, title);
    }
    rsc_text_put(text, "\n");
    for (size_t w = 0; w < result->window_count; w++) {
        rsc_text_right(text, 24, rsc_show_count(result->windows[w].first).text);
        for (size_t row = 0; row < result->level_count; row++)
            if (!result->levels[row].alternative)
                rsc_text_right(text, 38 + 14 * (unsigned)row,
                               rsc_show_short(result->window_misses[w * result->level_count + row]).text);
        rsc_text_put(text, "\n");
    }
}

static void put_blame(struct rsc_text *text, const struct rsc_sim_result *result,
                      const struct rsc_sim_blame_rows *table, const char *title, int is_code) {
    const struct rsc_sim_level_result *last = NULL;
    int levels = 0;
    for (size_t i = 0; i < result->level_count; i++) {
        if (result->levels[i].alternative) continue;
        last = &result->levels[i];
        levels++;
    }
    if (!table->count || !last) return;
    uint64_t all = rsc_kinds_sum(last->counts.misses);
    rsc_text_put(text, "\n     %s, by misses of %s\n", title, last->cache.name);
    for (size_t i = 0; i < table->count && i < BLAME_SHOWN; i++) {
        const struct rsc_sim_blame_row *row = &table->row[i];
        rsc_text_right(text, 11, rsc_show_short(row->misses[levels - 1]).text);
        rsc_text_right(text, 20, rsc_show_share(ratio(row->misses[levels - 1], all)).text);
        rsc_text_put(text, "  ");
        if (is_code) rsc_text_put(text, "0x%" PRIx64 "%s", row->key, row->name ? " " : "");
        if (row->name) rsc_text_foreign(text, row->name, 40);
        if (row->file) {
            rsc_text_put(text, " ");
            rsc_text_foreign_end(text, row->file, 40);
            rsc_text_put(text, ":%u", row->line);
        }
        rsc_text_put(text, "\n");
    }
}

int rsc_sim_text(const struct rsc_result *of, const struct rsc_report_style *style, char **out, size_t *bytes,
                 struct rsc_error *error) {
    const struct rsc_sim_result *result = of->sim;
    if (result->sample != RSC_SIM_ALL) return rsc_sampling_text(result, out, bytes, error);
    (void)style;
    struct rsc_text text;
    int per_reference = result->instructions == RSC_UNKNOWN || result->per_reference;
    rsc_text_init(&text, 0, 0);
    rsc_text_put(&text, "%s references", rsc_show_count(result->references).text);
    if (result->instructions != RSC_UNKNOWN)
        rsc_text_put(&text, ", %s instructions", rsc_show_count(result->instructions).text);
    if (result->warm_accesses)
        rsc_text_put(&text, ", after %s accesses of warming up", rsc_show_count(result->warm_accesses).text);
    rsc_text_put(&text, "\n");
    if (result->left_out)
        rsc_text_put(&text, "%s accesses are of kinds that no first-level cache handles\n",
                     rsc_show_count(result->left_out).text);
    if (result->level_count) {
        put_levels(&text, result, per_reference);
        put_kinds(&text, result);
    }
    for (size_t i = 0; i < result->page_count; i++) put_pages(&text, result, &result->pages[i], per_reference);
    if (result->classified) put_classes(&text, result);
    if (result->window_count) put_windows(&text, result);
    put_blame(&text, result, &result->code, "code", 1);
    put_blame(&text, result, &result->objects, "objects", 0);
    return rsc_text_take(&text, out, bytes) < 0 ? rsc_fail_memory(error, "text") : 0;
}
