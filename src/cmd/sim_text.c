/* sim_text.c - see sim_text.h. */
#include "cmd/sim_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "cmd/sim_blame.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"

#define CONFIG_COLUMN 5
#define BLAME_SHOWN 10

static double ratio(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* Numbers stand right in their columns. */
static void put_right(struct rsc_text *text, unsigned end, const char *number) {
    unsigned columns = rsc_text_columns(number);
    rsc_text_pad_to(text, end > columns ? end - columns : 0);
    rsc_text_put(text, "%s", number);
}

static unsigned config_width(const struct rsc_sim_result *result) {
    unsigned width = 16;
    for (size_t i = 0; i < result->level_count; i++) {
        char config[160];
        unsigned columns = (unsigned)rsc_cache_config_text(&result->levels[i].config, config, sizeof config);
        if (columns > width) width = columns;
    }
    return width;
}

static void put_level(struct rsc_text *text, const struct rsc_sim_result *result,
                      const struct rsc_sim_level_result *level, unsigned from, int per_reference) {
    const struct rsc_level_counts *counts = &level->counts;
    uint64_t accesses = rsc_kinds_sum(counts->accesses), misses = rsc_kinds_sum(counts->misses);
    double per_instruction = rsc_sim_mpi(result, level);
    char config[160], per[40];
    rsc_cache_config_text(&level->config, config, sizeof config);
    rsc_text_put(text, "%s", level->config.name);
    rsc_text_pad_to(text, CONFIG_COLUMN);
    rsc_text_put(text, "%s", config);
    put_right(text, from + 9, rsc_show_short(accesses).text);
    put_right(text, from + 17, rsc_show_short(misses).text);
    put_right(text, from + 26, rsc_show_percent(ratio(misses, accesses)).text);
    put_right(text, from + 35, rsc_show_percent(ratio(misses, result->references)).text);
    if (per_reference) snprintf(per, sizeof per, "%.3f", 1000 * ratio(misses, result->references));
    else snprintf(per, sizeof per, "%.3f", 1000 * per_instruction);
    put_right(text, from + 44, per);
    put_right(text, from + 53, rsc_show_short(counts->writebacks).text);
    rsc_text_put(text, "\n");
}

static void put_levels(struct rsc_text *text, const struct rsc_sim_result *result, int per_reference) {
    unsigned from = CONFIG_COLUMN + config_width(result);
    rsc_text_put(text, "\n     cache");
    put_right(text, from + 9, "accesses");
    put_right(text, from + 17, "misses");
    put_right(text, from + 26, "local");
    put_right(text, from + 35, "global");
    put_right(text, from + 44, per_reference ? "/k refs" : "MPKI");
    put_right(text, from + 53, "wr-backs");
    rsc_text_put(text, "\n");
    for (size_t i = 0; i < result->level_count; i++) put_level(text, result, &result->levels[i], from, per_reference);
}

static void put_classes(struct rsc_text *text, const struct rsc_sim_result *result) {
    unsigned from = CONFIG_COLUMN + config_width(result);
    rsc_text_put(text, "\n     misses");
    put_right(text, from + 9, "cold");
    put_right(text, from + 18, "capacity");
    put_right(text, from + 27, "conflict");
    put_right(text, from + 37, "coherence");
    rsc_text_put(text, "\n");
    for (size_t i = 0; i < result->level_count; i++) {
        const struct rsc_sim_level_result *level = &result->levels[i];
        const struct rsc_level_counts *counts = &level->counts;
        char config[160];
        if (level->from_family) continue;
        rsc_cache_config_text(&level->config, config, sizeof config);
        rsc_text_put(text, "%s", level->config.name);
        rsc_text_pad_to(text, CONFIG_COLUMN);
        rsc_text_put(text, "%s", config);
        put_right(text, from + 9, rsc_show_short(rsc_kinds_sum(counts->cold)).text);
        put_right(text, from + 18, rsc_show_short(rsc_kinds_sum(counts->capacity)).text);
        put_right(text, from + 27, rsc_show_short(rsc_kinds_sum(counts->conflict)).text);
        put_right(text, from + 37, rsc_show_short(rsc_kinds_sum(counts->coherence)).text);
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
        rsc_text_put(text, "%s", level->config.name);
        rsc_text_pad_to(text, CONFIG_COLUMN);
        for (int kind = 0; kind < RSC_KINDS; kind++) {
            if (!level->counts.accesses[kind]) continue;
            rsc_text_put(text, "%s%s of %s %s", between, rsc_show_short(level->counts.misses[kind]).text,
                         rsc_show_short(level->counts.accesses[kind]).text, names[kind]);
            between = ", ";
        }
        rsc_text_put(text, "\n");
    }
}

static void put_windows(struct rsc_text *text, const struct rsc_sim_result *result) {
    rsc_text_put(text, "\n     window, from access");
    for (size_t row = 0; row < result->level_count; row++) {
        char title[24];
        if (result->levels[row].alternative) continue;
        snprintf(title, sizeof title, "%s misses", result->levels[row].config.name);
        put_right(text, 38 + 14 * (unsigned)row, title);
    }
    rsc_text_put(text, "\n");
    for (size_t w = 0; w < result->window_count; w++) {
        put_right(text, 24, rsc_show_count(result->windows[w].first).text);
        for (size_t row = 0; row < result->level_count; row++)
            if (!result->levels[row].alternative)
                put_right(text, 38 + 14 * (unsigned)row,
                          rsc_show_short(result->window_misses[w * result->level_count + row]).text);
        rsc_text_put(text, "\n");
    }
}

static void put_blame(struct rsc_text *text, const struct rsc_sim_result *result, const struct rsc_blame_table *table,
                      const char *title, int is_code) {
    const struct rsc_sim_level_result *last = NULL;
    int levels = 0;
    for (size_t i = 0; i < result->level_count; i++) {
        if (result->levels[i].alternative) continue;
        last = &result->levels[i];
        levels++;
    }
    if (!table->count || !last) return;
    uint64_t all = rsc_kinds_sum(last->counts.misses);
    rsc_text_put(text, "\n     %s, by misses of %s\n", title, last->config.name);
    for (size_t i = 0; i < table->count && i < BLAME_SHOWN; i++) {
        const struct rsc_blame_row *row = &table->rows[i];
        put_right(text, 11, rsc_show_short(row->misses[levels - 1]).text);
        put_right(text, 20, rsc_show_share(ratio(row->misses[levels - 1], all)).text);
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

int rsc_sim_text_with(const struct rsc_sim_result *result, const struct rsc_sim_text_style *style, char **out,
                      size_t *bytes, struct rsc_error *error) {
    struct rsc_text text;
    int per_reference = result->instructions == RSC_UNKNOWN || (style && style->per_reference);
    rsc_text_init(&text, 0, 0);
    rsc_text_put(&text, "%s references", rsc_show_count(result->references).text);
    if (result->instructions != RSC_UNKNOWN)
        rsc_text_put(&text, ", %s instructions", rsc_show_count(result->instructions).text);
    if (result->warm_accesses)
        rsc_text_put(&text, ", after %s accesses of warming up", rsc_show_count(result->warm_accesses).text);
    rsc_text_put(&text, "\n");
    if (result->left_out)
        rsc_text_put(&text, "%s accesses are of kinds that no first-level cache takes\n",
                     rsc_show_count(result->left_out).text);
    put_levels(&text, result, per_reference);
    put_kinds(&text, result);
    if (result->classified) put_classes(&text, result);
    if (result->window_count) put_windows(&text, result);
    if (style && style->blame) {
        put_blame(&text, result, &style->blame->code, "code", 1);
        put_blame(&text, result, &style->blame->things, "objects", 0);
    }
    return rsc_text_take(&text, out, bytes) < 0 ? rsc_fail_memory(error, "text") : 0;
}

int rsc_sim_text(const struct rsc_sim_result *result, char **text, size_t *bytes, struct rsc_error *error) {
    return rsc_sim_text_with(result, NULL, text, bytes, error);
}
