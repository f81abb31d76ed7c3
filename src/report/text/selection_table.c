/*
 * selection_table.c - `report --select`: the instructions that cover a share of the
 * misses of each profile, and how well every other profile's choice matches the first's.
 */
#include <inttypes.h>
#include <stdlib.h>

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

static void put_csv_rows(struct rsc_text *out, const struct rsc_selection *selection, size_t chosen, const char *name,
                         const struct rsc_matching *matching) {
    for (size_t i = 0; i < chosen; i++) {
        const struct rsc_place *place = &selection->codes[i].row->place;
        put_csv_text(out, name);
        rsc_text_put(out, ",%" PRIu64 ",%zu,0x%" PRIx64 ",", selection->size_lines, i + 1, place->pc);
        put_csv_text(out, place->function);
        rsc_text_put(out, ",");
        put_csv_text(out, place->file);
        rsc_text_put(out, ",%" PRIu32 ",%" PRIu64 ",%.6f", place->line, selection->codes[i].misses,
                     (double)selection->codes[i].misses / (double)selection->misses);
        if (matching) rsc_text_put(out, ",%.6f,%.6f\n", matching->weight, matching->key);
        else rsc_text_put(out, ",,\n");
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

static void put_text(struct rsc_text *out, const struct rsc_profile *profile, const struct rsc_selection *selection,
                     size_t chosen, const char *name, const struct rsc_choice *choice) {
    rsc_text_put(out, " ");
    rsc_text_foreign_end(out, name, NAME);
    if (!selection->count) {
        rsc_text_put(out, ": no code has a reuse that misses\n");
        return;
    }
    rsc_text_put(out, ": %zu instructions have %.4g %% of the %s reuses that miss in %s\n", chosen, 100 * choice->cover,
                 rsc_show_count(selection->misses).text,
                 rsc_show_bytes(rsc_lines_to_bytes(selection->size_lines, profile->made.line_bytes)).text);
    put_rows(out, selection, chosen);
}

/* The first profile's size; all are compared at it. */
static uint64_t size_of(const struct rsc_profile *first, const struct rsc_choice *choice,
                        const struct rsc_report_style *style) {
    if (style->at_bytes) return style->at_bytes / first->made.line_bytes;
    return rsc_selection_size(first, choice->share);
}

int rsc_table_selection(const struct rsc_result *result, const struct rsc_report_style *style, int as_csv, char **text,
                        size_t *bytes, struct rsc_error *error) {
    struct rsc_profile *const *profiles = result->profiles;
    const char *const *names = result->table->names;
    size_t count = result->count;
    const struct rsc_choice *choice = &result->table->choice;
    struct rsc_text out;
    struct rsc_selection first = {0}, here = {0};
    int failed = 0;
    uint64_t size = size_of(profiles[0], choice, style);
    rsc_text_init(&out, style->unicode, style->colour && !as_csv);
    if (as_csv)
        rsc_text_put(&out, "profile,lines,rank,pc,function,file,line,misses,share,weight_matching,key_matching\n");
    for (size_t i = 0; i < count && !failed; i++) {
        struct rsc_selection *selection = i ? &here : &first;
        struct rsc_matching matching;
        if (rsc_selection_make(selection, profiles[i], size) < 0) failed = 1;
        size_t chosen = rsc_selection_cover(&first, choice->cover);
        if (!failed && i && rsc_selection_match(&first, &here, chosen, &matching) < 0) failed = 1;
        size_t shown = i ? rsc_selection_cover(&here, choice->cover) : chosen;
        if (!failed && as_csv) put_csv_rows(&out, selection, shown, names[i], i ? &matching : NULL);
        if (!failed && !as_csv) {
            rsc_text_put(&out, "%s", i ? "\n" : "");
            put_text(&out, profiles[i], selection, shown, names[i], choice);
            if (i) {
                rsc_text_put(
                    &out, "%12s of %zu chosen by this, by the first: weight matching %.1f %%, key matching %.1f %%\n",
                    "", chosen, 100 * matching.weight, 100 * matching.key);
                double accuracy = rsc_profile_accuracy(profiles[0], profiles[i], 0);
                if (accuracy == accuracy)
                    rsc_text_put(&out, "%12s accuracy of distances: %.1f %%, without distance 0: %.1f %%\n", "",
                                 100 * accuracy, 100 * rsc_profile_accuracy(profiles[0], profiles[i], 1));
            }
        }
        if (i) rsc_selection_free(&here);
    }
    rsc_selection_free(&first);
    int status = rsc_text_take(&out, text, bytes);
    return failed || status ? rsc_fail_memory(error, "table") : 0;
}
