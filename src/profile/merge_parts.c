/*
 * merge_parts.c - merges the threads, phases, kinds, lines and sharing rows of two
 * profiles.
 *
 * Kinds join by name. Two runs have different threads and different lines, so the
 * lines with the most misses in both together are in the list of one of them: the
 * lists are merged and those with the most misses kept. The same holds for who takes
 * lines from whom.
 *
 * A table that only one of the profiles has would not cover the merged profile: it
 * is dropped, unless the other profile has no references.
 */
#include <stdlib.h>
#include <string.h>

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

static uint64_t sharing_value(const void *row) { return ((const struct rsc_sharing_row *)row)->misses; }

static uint64_t false_sharing_value(const void *row) { return ((const struct rsc_false_sharing_row *)row)->misses; }

int rsc_lines_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    if (!both_have(a->lines_at_bytes != 0, a, b->lines_at_bytes != 0, b)) return 0;
    merged->lines_at_bytes = a->lines_at_bytes ? a->lines_at_bytes : b->lines_at_bytes;
    merged->lines_asked = a->lines_asked > b->lines_asked ? a->lines_asked : b->lines_asked;
    return merge_ranked(&rsc_row_table_lines, merged, a, b, merged->lines_asked, line_value);
}

int rsc_sharing_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    int rc = merge_ranked(&rsc_row_table_sharing, merged, a, b, RSC_PROFILE_ROWS_MAX, sharing_value);
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
