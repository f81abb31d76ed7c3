/*
 * merge_parts.c - merges the threads, phases, kinds, lines and sharing rows of two
 * profiles.
 *
 * Kinds join by name. Two runs have different threads and different lines, so the
 * lines with the most misses in both together are in the list of one of them: the
 * lists are merged and those with the most misses kept. The same holds for falsely
 * shared lines. Cells of the sharing matrix of the same two threads (of traces, whose
 * threads have no process) are added, and so are the ends of their bars: the sum is in
 * the bar whenever both counts are in theirs.
 *
 * A table that only one of the profiles has would not cover the merged profile: it
 * is dropped, unless the other profile has no references.
 */
#include <stdlib.h>
#include <string.h>

#include "base/add_counts.h"
#include "profile/profile_rows.h"
#include "profile/row_tables.h"

/* ---- kinds ---- */

static const struct rsc_kind_row *kind_named(const struct rsc_profile *profile, const char *kind) {
    for (size_t i = 0; i < profile->kind_count; i++)
        if (!strcmp(profile->kinds[i].kind, kind)) return &profile->kinds[i];
    return NULL;
}

static void add_kind(struct rsc_kind_row *to, const struct rsc_kind_row *row) {
    if (!row) return;
    rsc_row_add_counts(&rsc_row_table_kinds, to, row);
    rsc_histogram_merge(&to->rd_fine, &row->rd_fine);
}

static int both_have(size_t a_rows, const struct rsc_profile *a, size_t b_rows, const struct rsc_profile *b) {
    return (a_rows || !a->references) && (b_rows || !b->references);
}

int rsc_kinds_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    const char *present[RSC_KIND_NAMES];
    size_t count = 0;
    if (!both_have(a->kind_count, a, b->kind_count, b)) return 0;
    for (unsigned k = 0; k < RSC_KIND_NAMES; k++)
        if (kind_named(a, rsc_kind_names[k]) || kind_named(b, rsc_kind_names[k])) present[count++] = rsc_kind_names[k];
    int rc = rsc_profile_set_kinds(merged, count);
    for (size_t i = 0; i < count && !rc; i++) {
        merged->kinds[i].kind = present[i];
        add_kind(&merged->kinds[i], kind_named(a, present[i]));
        add_kind(&merged->kinds[i], kind_named(b, present[i]));
    }
    return rc;
}

/* ---- threads and phases ---- */

/* The first `most` rows. */
static int append(const struct rsc_row_table *table, struct rsc_profile *merged, const struct rsc_profile *a,
                  const struct rsc_profile *b, size_t most) {
    size_t first = rsc_row_table_count(table, a), count = first + rsc_row_table_count(table, b);
    if (count > most) count = most;
    int rc = rsc_row_table_set(table, merged, count);
    for (size_t i = 0; !rc && i < count; i++)
        rc = rsc_row_copy(table, rsc_row_table_row(table, merged, i),
                          i < first ? rsc_row_table_row(table, a, i) : rsc_row_table_row(table, b, i - first));
    return rc;
}

int rsc_threads_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    int rc = append(&rsc_row_table_threads, merged, a, b, RSC_THREAD_ROWS_MAX);
    if (!rc) rc = append(&rsc_row_table_phases, merged, a, b, SIZE_MAX);
    for (size_t i = a->phase_count; !rc && i < merged->phase_count; i++) merged->phases[i].first += a->references;
    return rc;
}

/* ---- lines ---- */

/* Merges two tables that descend by `value`, and keeps the first rows. */
static int merge_ranked(const struct rsc_row_table *table, struct rsc_profile *merged, const struct rsc_profile *a,
                        const struct rsc_profile *b, size_t most, uint64_t (*value)(const void *row)) {
    size_t a_count = rsc_row_table_count(table, a), b_count = rsc_row_table_count(table, b), next_a = 0, next_b = 0;
    size_t count = a_count + b_count < most ? a_count + b_count : most;
    int rc = rsc_row_table_set(table, merged, count);
    for (size_t i = 0; i < count && !rc; i++) {
        const void *of_a = rsc_row_table_row(table, a, next_a), *of_b = rsc_row_table_row(table, b, next_b);
        int take_a = next_b == b_count || (next_a < a_count && value(of_a) >= value(of_b));
        *(take_a ? &next_a : &next_b) += 1;
        rc = rsc_row_copy(table, rsc_row_table_row(table, merged, i), take_a ? of_a : of_b);
    }
    return rc;
}

static uint64_t line_value(const void *row) {
    return ((const struct rsc_line_row *)row)->misses - ((const struct rsc_line_row *)row)->error;
}

static uint64_t false_sharing_value(const void *row) { return ((const struct rsc_false_sharing_row *)row)->misses; }

int rsc_lines_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    if (!both_have(a->lines_at_bytes != 0, a, b->lines_at_bytes != 0, b)) return 0;
    merged->lines_at_bytes = a->lines_at_bytes ? a->lines_at_bytes : b->lines_at_bytes;
    merged->lines_asked = a->lines_asked > b->lines_asked ? a->lines_asked : b->lines_asked;
    return merge_ranked(&rsc_row_table_lines, merged, a, b, merged->lines_asked, line_value);
}

/* ---- sharing ---- */

static int same_cell(const struct rsc_sharing_row *a, const struct rsc_sharing_row *b) {
    return a->by_pid == b->by_pid && a->by_tid == b->by_tid && a->from_pid == b->from_pid && a->from_tid == b->from_tid;
}

/* By threads; of one cell, by nothing. */
static int cell_order(const void *left, const void *right) {
    const struct rsc_sharing_row *a = left, *b = right;
    if (a->by_pid != b->by_pid) return a->by_pid < b->by_pid ? -1 : 1;
    if (a->by_tid != b->by_tid) return a->by_tid < b->by_tid ? -1 : 1;
    if (a->from_pid != b->from_pid) return a->from_pid < b->from_pid ? -1 : 1;
    return a->from_tid < b->from_tid ? -1 : a->from_tid > b->from_tid;
}

static int worse_cell_first(const void *left, const void *right) {
    const struct rsc_sharing_row *a = left, *b = right;
    if (a->misses != b->misses) return a->misses < b->misses ? 1 : -1;
    if (a->taken != b->taken) return a->taken < b->taken ? 1 : -1;
    return cell_order(left, right);
}

static void add_count(uint64_t *sum, uint64_t more) { *sum = rsc_add_counts(*sum, more); }

static void add_range(struct rsc_count_range *sum, const struct rsc_count_range *more) {
    add_count(&sum->low, more->low);
    add_count(&sum->high, more->high);
}

/* A count without bars is exact. */
static struct rsc_sharing_bars bars_of(const struct rsc_sharing_row *row) {
    if (row->bars.taken.high) return row->bars;
    return (struct rsc_sharing_bars){{row->taken, row->taken},
                                     {row->false_taken, row->false_taken},
                                     {row->misses, row->misses},
                                     {row->false_misses, row->false_misses}};
}

static void add_cell(struct rsc_sharing_row *sum, const struct rsc_sharing_row *more) {
    if (sum->bars.taken.high || more->bars.taken.high) {
        const struct rsc_sharing_bars bars = bars_of(more);
        sum->bars = bars_of(sum);
        add_range(&sum->bars.taken, &bars.taken);
        add_range(&sum->bars.false_taken, &bars.false_taken);
        add_range(&sum->bars.misses, &bars.misses);
        add_range(&sum->bars.false_misses, &bars.false_misses);
    }
    add_count(&sum->taken, more->taken);
    add_count(&sum->false_taken, more->false_taken);
    add_count(&sum->misses, more->misses);
    add_count(&sum->false_misses, more->false_misses);
    add_count(&sum->error, more->error);
}

static int join_cells(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    const size_t all = a->sharing_count + b->sharing_count;
    struct rsc_sharing_row *rows = malloc((all + 1) * sizeof *rows);
    size_t count = 0;
    if (!rows) return RSC_ENOMEM;
    for (size_t i = 0; i < all; i++) rows[i] = i < a->sharing_count ? a->sharing[i] : b->sharing[i - a->sharing_count];
    qsort(rows, all, sizeof *rows, cell_order);
    for (size_t i = 0; i < all; i++)
        if (count && same_cell(&rows[count - 1], &rows[i])) add_cell(&rows[count - 1], &rows[i]);
        else rows[count++] = rows[i];
    qsort(rows, count, sizeof *rows, worse_cell_first);
    if (count > RSC_PROFILE_ROWS_MAX) count = RSC_PROFILE_ROWS_MAX;
    int rc = rsc_profile_set_sharing(merged, count);
    for (size_t i = 0; !rc && i < count; i++) merged->sharing[i] = rows[i];
    free(rows);
    return rc;
}

int rsc_sharing_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    int rc = join_cells(merged, a, b);
    if (rc) return rc;
    return merge_ranked(&rsc_row_table_false_sharing, merged, a, b, RSC_PROFILE_ROWS_MAX, false_sharing_value);
}

/* ---- what is dropped ---- */

const char *rsc_profile_merge_loses(const struct rsc_profile *a, const struct rsc_profile *b) {
    static const char *const words[8] = {NULL,    "--bins",           "kinds",           "--bins and kinds",
                                         "lines", "--bins and lines", "kinds and lines", "--bins, kinds and lines"};
    int bins = a->bins_per_octave != b->bins_per_octave;
    int kinds = (a->kind_count || b->kind_count) && !both_have(a->kind_count, a, b->kind_count, b);
    int lines =
        (a->lines_at_bytes || b->lines_at_bytes) && !both_have(a->lines_at_bytes != 0, a, b->lines_at_bytes != 0, b);
    return words[bins | kinds << 1 | lines << 2];
}
