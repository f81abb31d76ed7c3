/*
 * merge_parts.c - merges the kinds and lines of two profiles.
 *
 * Kinds join by name. No line of one run is a line of the other, so the lines
 * with the most misses in both together are in the list of one of them: the lists
 * are concatenated and the lines with the most misses kept.
 *
 * A table that only one of the profiles has would not cover the merged profile: it
 * is dropped, unless the other profile has no references.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/profile_rows.h"

/* ---- kinds ---- */

static const struct rsc_kind_row *kind_named(const struct rsc_profile *profile, const char *kind) {
    for (size_t i = 0; i < profile->kind_count; i++)
        if (!strcmp(profile->kinds[i].kind, kind)) return &profile->kinds[i];
    return NULL;
}

static void add_kind(struct rsc_kind_row *to, const struct rsc_kind_row *row) {
    if (!row) return;
    to->references += row->references;
    to->cold += row->cold;
    to->invalidated += row->invalidated;
    rsc_histogram_merge(&to->rd, &row->rd);
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

/* ---- lines ---- */

static int copy_line(struct rsc_line_row *to, const struct rsc_line_row *row) {
    struct rsc_histogram rd = to->rd;
    *to = *row;
    to->object = NULL;
    to->context = RSC_NO_CONTEXT;
    to->rd = rd;
    rsc_histogram_merge(&to->rd, &row->rd);
    return rsc_profile_set_text(&to->object, row->object);
}

static uint64_t certain(const struct rsc_line_row *row) { return row->misses - row->error; }

int rsc_lines_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    if (!both_have(a->lines_at_bytes != 0, a, b->lines_at_bytes != 0, b)) return 0;
    merged->lines_at_bytes = a->lines_at_bytes ? a->lines_at_bytes : b->lines_at_bytes;
    merged->lines_asked = a->lines_asked > b->lines_asked ? a->lines_asked : b->lines_asked;
    size_t kept = a->line_count + b->line_count, next_a = 0, next_b = 0;
    if (kept > merged->lines_asked) kept = merged->lines_asked;
    int rc = rsc_profile_set_lines(merged, kept);
    for (size_t i = 0; i < kept && !rc; i++) {
        int take_a = next_b == b->line_count ||
                     (next_a < a->line_count && certain(&a->lines[next_a]) >= certain(&b->lines[next_b]));
        rc = copy_line(&merged->lines[i], take_a ? &a->lines[next_a++] : &b->lines[next_b++]);
    }
    return rc;
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
