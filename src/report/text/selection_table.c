/*
 * selection_table.c - `report --select`: the instructions that cover a share of the
 * misses of each profile, and how well its choice matches that of the first profile with the
 * same stacks (private, or one for all threads) and line size.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "profile/metrics.h"
#include "profile/selection.h"
#include "report/draw/place_text.h"
#include "report/text/tables.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"

#define ROWS 20
#define NAME 40

static void put_csv_text(struct rsc_text *out, const char *value) {
    rsc_text_put(out, "\"");
    rsc_text_in_quotes(out, value ? value : "");
    rsc_text_put(out, "\"");
}

/* A profile of the table. */
struct entry {
    const struct rsc_profile *profile;
    const char *name;
    size_t base; /* the first entry with the same stacks and line size, which this one is compared with */
    struct rsc_selection selection;
    size_t chosen;
    struct rsc_matching matching; /* with its base */
};

static const char *model_of(const struct rsc_profile *profile) {
    return profile->made.model ? profile->made.model : "";
}

static int is_private(const struct rsc_profile *profile) { return !strcmp(model_of(profile), "private"); }

static void put_csv_rows(struct rsc_text *out, const struct entry *entry, int is_base) {
    const struct rsc_selection *selection = &entry->selection;
    for (size_t i = 0; i < entry->chosen; i++) {
        const struct rsc_place *place = &selection->codes[i].row->place;
        put_csv_text(out, entry->name);
        rsc_text_put(out, ",");
        put_csv_text(out, model_of(entry->profile));
        rsc_text_put(out, ",%" PRIu64 ",%zu,0x%" PRIx64 ",", selection->size_lines, i + 1, place->pc);
        put_csv_text(out, place->function);
        rsc_text_put(out, ",");
        put_csv_text(out, place->file);
        rsc_text_put(out, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%.6f", place->line, selection->codes[i].misses,
                     selection->codes[i].row->invalidated,
                     (double)selection->codes[i].misses / (double)selection->misses);
        if (is_base) rsc_text_put(out, ",,\n");
        else rsc_text_put(out, ",%.6f,%.6f\n", entry->matching.weight, entry->matching.key);
    }
}

static void put_rows(struct rsc_text *out, const struct rsc_selection *selection, size_t chosen) {
    uint64_t sum = 0;
    rsc_text_put(out, "%12s%9s%9s  code\n", "misses", "share", "in all");
    for (size_t i = 0; i < chosen && i < ROWS; i++) {
        const struct rsc_selected *code = &selection->codes[i];
        sum += code->misses;
        rsc_text_put(out, "%12s%9s%9s  ", rsc_show_short(code->misses).text,
                     rsc_show_share((double)code->misses / (double)selection->misses).text,
                     rsc_show_share((double)sum / (double)selection->misses).text);
        rsc_put_place(out, &code->row->place, 60);
        rsc_text_put(out, "\n");
    }
    if (chosen > ROWS) rsc_text_put(out, "%12s and %zu more\n", "", chosen - ROWS);
}

/* "exact.data, private". */
static void put_name(struct rsc_text *out, const struct entry *entry) {
    rsc_text_foreign_end(out, entry->name, NAME);
    rsc_text_put(out, ", ");
    rsc_text_foreign(out, model_of(entry->profile), NAME);
}

static void put_text(struct rsc_text *out, const struct entry *entry, const struct rsc_choice *choice) {
    const struct rsc_selection *selection = &entry->selection;
    rsc_text_put(out, " ");
    put_name(out, entry);
    if (!selection->count) {
        rsc_text_put(out, entry->profile->code_count ? ": no code has a reuse that misses\n"
                                                     : ": has no code rows: record it with pcs\n");
        return;
    }
    rsc_text_put(out, ": %zu instruction%s %.4g %% of the %s reuses that miss in %s", entry->chosen,
                 entry->chosen == 1 ? " has" : "s have", 100 * choice->cover, rsc_show_count(selection->misses).text,
                 rsc_show_bytes(rsc_lines_to_bytes(selection->size_lines, entry->profile->made.line_bytes)).text);
    if (selection->invalidated)
        rsc_text_put(out, " (%s of them invalidated)", rsc_show_count(selection->invalidated).text);
    rsc_text_put(out, "\n");
    put_rows(out, selection, entry->chosen);
}

static void put_matching(struct rsc_text *out, const struct entry *entry, const struct entry *base) {
    rsc_text_put(out, "%12s against ", "");
    put_name(out, base);
    rsc_text_put(out, ", and its %zu: weight matching %.1f %%, key matching %.1f %%\n", base->chosen,
                 100 * entry->matching.weight, 100 * entry->matching.key);
    double accuracy = rsc_profile_accuracy(base->profile, entry->profile, 0);
    if (accuracy == accuracy)
        rsc_text_put(out, "%12s accuracy of distances: %.1f %%, without distance 0: %.1f %%\n", "", 100 * accuracy,
                     100 * rsc_profile_accuracy(base->profile, entry->profile, 1));
}

/* The size of the style, or that of the base; all with the same base are compared at it. */
static uint64_t size_of(const struct entry *entries, size_t i, const struct rsc_choice *choice,
                        const struct rsc_report_style *style) {
    const struct rsc_profile *profile = entries[i].profile;
    if (style->at_bytes) return style->at_bytes / profile->made.line_bytes;
    return entries[i].base < i ? entries[entries[i].base].selection.size_lines
                               : rsc_selection_size(profile, choice->share);
}

static int fill_entry(struct entry *entries, size_t i, const struct rsc_choice *choice,
                      const struct rsc_report_style *style) {
    struct entry *entry = &entries[i];
    while (is_private(entries[entry->base].profile) != is_private(entry->profile) ||
           entries[entry->base].profile->made.line_bytes != entry->profile->made.line_bytes)
        entry->base++;
    if (rsc_selection_make(&entry->selection, entry->profile, size_of(entries, i, choice, style)) < 0)
        return RSC_ENOMEM;
    entry->chosen = rsc_selection_cover(&entry->selection, choice->cover);
    const struct entry *base = &entries[entry->base];
    return rsc_selection_match(&base->selection, &entry->selection, base->chosen, &entry->matching);
}

int rsc_table_selection(const struct rsc_result *result, const struct rsc_report_style *style, int as_csv, char **text,
                        size_t *bytes, struct rsc_error *error) {
    const struct rsc_choice *choice = &result->table->choice;
    struct entry *entries = calloc(result->count + 1, sizeof *entries);
    struct rsc_text out;
    if (!entries) return rsc_fail_memory(error, "table");
    int failed = 0;
    rsc_text_init(&out, style->unicode, style->colour && !as_csv);
    if (as_csv)
        rsc_text_put(&out, "profile,model,lines,rank,pc,function,file,line,misses,invalidated,share,weight_matching,"
                           "key_matching\n");
    for (size_t i = 0; i < result->count && !failed; i++) {
        entries[i].profile = result->profiles[i];
        entries[i].name = result->table->names[i];
        failed = fill_entry(entries, i, choice, style) < 0;
        if (failed) break;
        if (as_csv) {
            put_csv_rows(&out, &entries[i], entries[i].base == i);
            continue;
        }
        rsc_text_put(&out, "%s", i ? "\n" : "");
        put_text(&out, &entries[i], choice);
        if (entries[i].base < i) put_matching(&out, &entries[i], &entries[entries[i].base]);
    }
    for (size_t i = 0; i < result->count; i++) rsc_selection_free(&entries[i].selection);
    free(entries);
    out.failed |= failed;
    return rsc_text_take(&out, text, bytes) < 0 ? rsc_fail_memory(error, "table") : 0;
}
