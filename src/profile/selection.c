/* selection.c - see selection.h. */
#include "profile/selection.h"
#include "profile/row_misses.h"

#include <stdlib.h>
#include <string.h>

uint64_t rsc_selection_edge(uint64_t lines) {
    return lines ? rsc_bin_lo(RSC_BINS_COARSE, rsc_bin_of_coarse(lines)) : 0;
}

uint64_t rsc_selection_size(const struct rsc_profile *profile, double share) {
    double reuses = (double)rsc_histogram_total(&profile->rd) + (double)profile->rd_capped,
           above = (double)profile->rd_capped;
    if (!(reuses > 0)) return 0;
    /* every edge of a coarse bin is an edge of a fine bin */
    uint32_t bin = profile->rd.bin_count;
    for (uint32_t coarse = rsc_bins_count(RSC_BINS_COARSE); coarse-- > 1;) {
        uint64_t edge = rsc_bin_lo(RSC_BINS_COARSE, coarse);
        if (edge > rsc_bin_hi(RSC_BINS_COARSE, coarse)) continue;
        while (bin > 0 && rsc_bin_lo(RSC_BINS_FINE, bin - 1) >= edge) above += (double)profile->rd.count[--bin];
        if (above >= share * reuses) return edge;
    }
    return 1;
}

static int by_place(const struct rsc_code_row *a, const struct rsc_code_row *b) {
    const char *left = a->place.module ? a->place.module : "", *right = b->place.module ? b->place.module : "";
    if (a->place.pc != b->place.pc) return a->place.pc < b->place.pc ? -1 : 1;
    return strcmp(left, right);
}

static int by_misses(const void *left, const void *right) {
    const struct rsc_selected *a = left, *b = right;
    if (a->misses != b->misses) return a->misses < b->misses ? 1 : -1;
    return by_place(a->row, b->row);
}

static int by_row(const void *left, const void *right) {
    return by_place(((const struct rsc_selected *)left)->row, ((const struct rsc_selected *)right)->row);
}

int rsc_selection_make(struct rsc_selection *selection, const struct rsc_profile *profile, uint64_t size_lines) {
    memset(selection, 0, sizeof *selection);
    selection->size_lines = rsc_selection_edge(size_lines);
    if (!profile->code_count) return 0;
    selection->codes = malloc(profile->code_count * sizeof *selection->codes);
    if (!selection->codes) return RSC_ENOMEM;
    const struct rsc_split split = rsc_split_at(profile, selection->size_lines);
    for (size_t i = 0; i < profile->code_count; i++) {
        const struct rsc_code_row *row = &profile->code[i];
        uint64_t misses = rsc_split_far(&split, &row->rd) + row->invalidated;
        selection->misses += misses;
        selection->invalidated += row->invalidated;
        if (misses && !rsc_place_is_other(&row->place))
            selection->codes[selection->count++] = (struct rsc_selected){row, misses};
    }
    qsort(selection->codes, selection->count, sizeof *selection->codes, by_misses);
    return 0;
}

void rsc_selection_free(struct rsc_selection *selection) {
    free(selection->codes);
    memset(selection, 0, sizeof *selection);
}

size_t rsc_selection_cover(const struct rsc_selection *selection, double share) {
    uint64_t sum = 0;
    size_t count = 0;
    while (count < selection->count && (double)sum < share * (double)selection->misses)
        sum += selection->codes[count++].misses;
    return count;
}

int rsc_selection_match(const struct rsc_selection *truth, const struct rsc_selection *estimate, size_t count,
                        struct rsc_matching *matching) {
    *matching = (struct rsc_matching){1, 1};
    if (count > truth->count) count = truth->count;
    if (!count) return 0;
    struct rsc_selected *known = malloc(truth->count * sizeof *known);
    if (!known) return RSC_ENOMEM;
    uint64_t best = 0, chosen = 0;
    size_t both = 0;
    for (size_t i = 0; i < count; i++) best += truth->codes[i].misses;
    uint64_t least = truth->codes[count - 1].misses;
    memcpy(known, truth->codes, truth->count * sizeof *known);
    qsort(known, truth->count, sizeof *known, by_row);
    for (size_t i = 0; i < count && i < estimate->count; i++) {
        const struct rsc_selected *found = bsearch(&estimate->codes[i], known, truth->count, sizeof *known, by_row);
        if (!found) continue;
        chosen += found->misses;
        both += found->misses >= least; /* ties at the end are equally good */
    }
    matching->weight = best ? (double)chosen / (double)best : 1;
    matching->key = (double)both / (double)count;
    free(known);
    return 0;
}
