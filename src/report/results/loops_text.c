/*
 * loops_text.c - results of `loops` as text: for each loop the curves of all thread
 * counts in one chart, a table of sizes, the references that miss most, and the misses
 * of per-thread caches.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/draw/picture.h"
#include "report/draw/units.h"
#include "report/results/results.h"

#define CURVES_MAX 26
#define ROWS_SHOWN 8

static void heading(struct rsc_text *to, const struct rsc_loops_found *loop) {
    rsc_text_tint(to, RSC_BOLD);
    rsc_text_foreign_end(to, loop->file, 50);
    if (loop->line) rsc_text_put(to, ":%u", loop->line);
    rsc_text_tint(to, RSC_PLAIN);
    rsc_text_put(to, "  ");
    rsc_text_foreign(to, loop->function ? loop->function : loop->name, 30);
    rsc_text_put(to, ", %s\n", loop->schedule);
}

static void put_gaps(struct rsc_text *to, const struct rsc_loops_found *loop) {
    size_t assumed = loop->variant_count ? loop->assumed_count : 0;
    if (loop->gap_count)
        rsc_text_put(to, "  %s (%zu%s):\n", loop->variant_count ? "analysed without these" : "not analysed for these",
                     loop->gap_count, loop->refusal ? "" : ", not affine");
    for (size_t i = 0; i < loop->gap_count + assumed; i++) {
        const struct rsc_loops_gap *gap = i < loop->gap_count ? &loop->gap[i] : &loop->assumed[i - loop->gap_count];
        if (i == loop->gap_count)
            rsc_text_put(to, "  conditions that depend on data (%zu; --taken sets how often they hold):\n", assumed);
        rsc_text_put(to, "    ");
        rsc_text_foreign_end(to, gap->file ? gap->file : loop->file, 40);
        rsc_text_put(to, ":%u: ", gap->line);
        rsc_text_foreign(to, gap->reason, 180);
        rsc_text_put(to, "\n");
    }
}

/* Curves of the unchanged loop, and of its changed versions at the largest thread count. */
static void draw(struct rsc_text *to, const struct rsc_loops_findings *findings, const struct rsc_loops_found *loop,
                 const struct rsc_report_style *style) {
    struct rsc_curve curves[CURVES_MAX];
    char labels[CURVES_MAX][80];
    size_t count = 0;
    for (size_t v = 0; v < loop->variant_count; v++) {
        const struct rsc_loops_variant *variant = &loop->variant[v];
        for (size_t i = v ? variant->result_count - 1 : 0; i < variant->result_count && count < CURVES_MAX; i++) {
            const struct rsc_loops_result *result = variant->result[i];
            if (v) snprintf(labels[count], sizeof labels[count], "%u threads, %.40s", result->threads, variant->what);
            else snprintf(labels[count], sizeof labels[count], "%s", rsc_show_threads(result->threads).text);
            curves[count] = (struct rsc_curve){labels[count], result->mrc, result->mrc_count};
            count++;
        }
    }
    rsc_draw_curves(to, curves, count, findings->line_bytes, style);
}

/* One row per size, one column per thread count; +- is half of the band. */
static void put_table(struct rsc_text *to, const struct rsc_loops_findings *findings,
                      const struct rsc_loops_variant *variant, unsigned width) {
    size_t fit = width > 30 ? (width - 12) / 17 : 1;
    for (size_t from = 0; from < variant->result_count; from += fit) {
        size_t end = from + fit < variant->result_count ? from + fit : variant->result_count;
        rsc_text_put(to, "%11s", variant->what ? "" : "cache");
        for (size_t i = from; i < end; i++)
            rsc_text_put(to, "%17s", rsc_show_threads(variant->result[i]->threads).text);
        rsc_text_put(to, "\n");
        for (uint64_t bytes = 4096; bytes <= UINT64_C(1) << 50; bytes *= 4) {
            uint64_t lines = bytes / findings->line_bytes;
            if (!lines) continue;
            rsc_text_put(to, "%11s", rsc_show_bytes(bytes).text);
            for (size_t i = from; i < end; i++) {
                struct rsc_mrc_point at = rsc_loops_result_at(variant->result[i], lines);
                char cell[48];
                double half = 50 * (at.high - at.low);
                if (variant->result[i]->exact) snprintf(cell, sizeof cell, "%.2f %%", 100 * at.miss_ratio);
                else snprintf(cell, sizeof cell, "%.2f +- %.2f %%", 100 * at.miss_ratio, half);
                rsc_text_put(to, "%17s", cell);
            }
            rsc_text_put(to, "\n");
            if (lines >= variant->distinct) break;
        }
    }
}

struct ranked {
    double misses;
    size_t row;
};

static int by_misses(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->misses != y->misses) return x->misses < y->misses ? 1 : -1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void put_references(struct rsc_text *to, const struct rsc_loops_findings *findings,
                           const struct rsc_loops_result *result) {
    struct ranked *ranked = calloc(result->row_count + 1, sizeof *ranked);
    double all = 0, *misses = calloc(result->row_count + 1, sizeof *misses);
    if (!ranked || !misses) {
        to->failed = 1;
        free(ranked);
        free(misses);
        return;
    }
    rsc_loops_blame(result, findings->at_bytes / findings->line_bytes, misses);
    for (size_t i = 0; i < result->row_count; i++) {
        ranked[i] = (struct ranked){misses[i], i};
        all += misses[i];
    }
    free(misses);
    qsort(ranked, result->row_count, sizeof *ranked, by_misses);
    if (!result->row_count || ranked[0].misses < 0.5) {
        free(ranked);
        return;
    }
    rsc_text_put(to, "  misses in a shared cache of %s, %u thread%s:\n", rsc_show_bytes(findings->at_bytes).text,
                 result->threads, result->threads == 1 ? "" : "s");
    for (size_t i = 0; i < result->row_count && i < ROWS_SHOWN; i++) {
        const struct rsc_loops_row *row = &result->rows[ranked[i].row];
        if (ranked[i].misses < 0.5) break;
        rsc_text_put(to, "    %8s %6s  ", rsc_show_short((uint64_t)llround(ranked[i].misses)).text,
                     rsc_show_share(ranked[i].misses / all).text);
        if (row->line) rsc_text_put(to, "line %u: ", row->line);
        rsc_text_put(to, "%s ", row->is_write ? "write" : "read");
        rsc_text_foreign(to, row->text ? row->text : row->array, 44);
        rsc_text_put(to, "\n");
    }
    rsc_text_put(to, "    %8s in all: %s fetched, without write-backs\n", rsc_show_short((uint64_t)llround(all)).text,
                 rsc_show_bytes((uint64_t)llround(all) * findings->line_bytes).text);
    free(ranked);
}

static void put_private(struct rsc_text *to, const struct rsc_loops_findings *findings,
                        const struct rsc_loops_result *result) {
    const struct rsc_loops_private *own = &result->own;
    uint64_t lines = findings->at_bytes / findings->line_bytes;
    if (!own->mrc_count || result->threads < 2) return;
    size_t i = 0;
    while (i + 1 < own->mrc_count && own->mrc[i + 1].lines <= lines) i++;
    rsc_text_put(to, "  one cache of %s per thread: %s of references miss, %s by coherence",
                 rsc_show_bytes(findings->at_bytes).text, rsc_show_percent(own->mrc[i].miss_ratio).text,
                 rsc_show_percent(own->invalidated / (double)result->references).text);
    rsc_text_put(to, "\n");
    for (size_t a = 0; a < own->array_count && a < 4; a++) {
        rsc_text_put(to, "    ");
        rsc_text_foreign(to, own->arrays[a].array, 30);
        rsc_text_put(
            to, ": %s coherence misses, %s of them by false sharing\n",
            rsc_show_short((uint64_t)llround(own->arrays[a].coherence)).text,
            rsc_show_percent(own->arrays[a].coherence > 0 ? own->arrays[a].false_sharing / own->arrays[a].coherence : 0)
                .text);
    }
}

/* The caches of a named machine: a row per thread count. */
static void put_levels(struct rsc_text *to, const char *machine, const struct rsc_loops_variant *variant) {
    const struct rsc_loops_result *first = variant->result[0];
    if (!first->level_count) return;
    rsc_text_put(to, "  ");
    rsc_text_foreign(to, machine, 40);
    rsc_text_put(to, ", share of references that miss%s%.40s:\n%11s", variant->what ? ", what if " : "",
                 variant->what ? variant->what : "", "");
    for (size_t i = 0; i < first->level_count; i++) {
        char title[64];
        snprintf(title, sizeof title, "%s %s,%u", first->level[i].name, rsc_show_bytes(first->level[i].size_bytes).text,
                 first->level[i].ways);
        rsc_text_put(to, "%17s", title);
    }
    rsc_text_put(to, "\n");
    for (size_t r = 0; r < variant->result_count; r++) {
        const struct rsc_loops_result *result = variant->result[r];
        rsc_text_put(to, "%11s", rsc_show_threads(result->threads).text);
        for (size_t i = 0; i < result->level_count; i++) {
            char cell[48];
            const struct rsc_loops_level *level = &result->level[i];
            double half = 50 * (level->high - level->low);
            if (half <= 0) snprintf(cell, sizeof cell, "%.2f %%", 100 * level->miss_ratio);
            else snprintf(cell, sizeof cell, "%.2f +- %.2f %%", 100 * level->miss_ratio, half);
            rsc_text_put(to, "%17s", cell);
        }
        rsc_text_put(to, "  %s\n", result->levels_simulated ? "simulated" : "estimated");
    }
}

static void put_loop(struct rsc_text *to, const struct rsc_loops_findings *findings, const struct rsc_loops_found *loop,
                     const struct rsc_report_style *style) {
    unsigned width = style->width ? style->width : 80;
    heading(to, loop);
    put_gaps(to, loop);
    if (!loop->variant_count) return;
    if (*loop->left_out) rsc_text_put(to, "  left out (--max-seconds): %s\n", loop->left_out);
    const struct rsc_loops_variant *plain = &loop->variant[0];
    rsc_text_put(to, "  %s references, %s lines of %s (%s)", rsc_show_count(plain->references).text,
                 rsc_show_count(plain->distinct).text, rsc_show_bytes(findings->line_bytes).text,
                 rsc_show_bytes(rsc_lines_to_bytes(plain->distinct, findings->line_bytes)).text);
    if (!plain->references || !plain->result_count) {
        rsc_text_put(to, "\n");
        return;
    }
    const struct rsc_loops_result *last = plain->result[plain->result_count - 1];
    rsc_text_put(to, "; %s\n\n", last->interleave);
    draw(to, findings, loop, style);
    rsc_text_put(to, "\n");
    for (size_t v = 0; v < loop->variant_count; v++) {
        const struct rsc_loops_variant *variant = &loop->variant[v];
        if (v) {
            rsc_text_put(to, "\n  what if %s", variant->what);
            if (variant->note) rsc_text_put(to, " (%s)", variant->note);
            rsc_text_put(to, "\n");
        }
        put_table(to, findings, variant, width);
    }
    rsc_text_put(to, "\n");
    put_references(to, findings, last);
    put_private(to, findings, last);
    for (size_t v = 0; findings->machine && v < loop->variant_count; v++)
        if (loop->variant[v].result_count) put_levels(to, findings->machine, &loop->variant[v]);
}

int rsc_loops_text(const struct rsc_result *of, const struct rsc_report_style *style, char **text, size_t *bytes,
                   struct rsc_error *error) {
    const struct rsc_loops_findings *findings = of->loops;
    struct rsc_text to;
    rsc_text_init(&to, style->unicode, style->colour);
    size_t shown = 0, asides = 0;
    for (size_t i = 0; i < findings->loop_count; i++) {
        if (findings->loop[i].aside) asides++;
        else {
            if (shown++) rsc_text_put(&to, "\n");
            put_loop(&to, findings, &findings->loop[i], style);
        }
    }
    if (asides)
        rsc_text_put(&to,
                     asides == 1 ? "\n1 loop that initialises or prints: --all shows it\n"
                                 : "\n%zu loops that initialise or print: --all shows them\n",
                     asides);
    return rsc_text_take(&to, text, bytes) < 0 ? rsc_fail_memory(error, "text") : 0;
}
