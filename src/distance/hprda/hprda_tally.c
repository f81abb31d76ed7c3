/* hprda_tally.c - counts, adjusts and collects HP-RDA's distances; see hprda_tally.h. */
#include "distance/hprda/hprda_tally.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/grow.h"

int rsc_hprda_tally_init(struct rsc_hprda_tally *tally, uint32_t local, uint32_t block) {
    memset(tally, 0, sizeof *tally);
    tally->local = local;
    tally->block = block;
    tally->exact = calloc(local, sizeof *tally->exact);
    tally->merged = calloc(block, sizeof *tally->merged);
    if (tally->exact && tally->merged && rsc_histogram_init(&tally->estimate, RSC_BINS_FINE) == 0 &&
        rsc_histogram_init(&tally->low, RSC_BINS_FINE) == 0 && rsc_histogram_init(&tally->high, RSC_BINS_FINE) == 0 &&
        rsc_histogram_init(&tally->high_joined, RSC_BINS_FINE) == 0)
        return 0;
    rsc_hprda_tally_free(tally);
    return RSC_ENOMEM;
}

void rsc_hprda_tally_free(struct rsc_hprda_tally *tally) {
    free(tally->exact);
    free(tally->merged);
    for (int level = 0; level < RSC_HPRDA_WAITING; level++) free(tally->waiting[level].items);
    rsc_histogram_free(&tally->estimate);
    rsc_histogram_free(&tally->low);
    rsc_histogram_free(&tally->high);
    rsc_histogram_free(&tally->high_joined);
    memset(tally, 0, sizeof *tally);
}

int rsc_hprda_list_add(struct rsc_hprda_list *list, uint64_t item) {
    if (RSC_GROW(list->items, list->room, list->count + 1)) return RSC_ENOMEM;
    list->items[list->count++] = item;
    return 0;
}

void rsc_hprda_tally_adjust(struct rsc_hprda_tally *tally, const struct rsc_hprda_factors *factors) {
    uint64_t *estimate = tally->estimate.count;
    for (uint32_t distance = 0; distance < tally->block; distance++) {
        if (!tally->merged[distance]) continue;
        uint64_t adjusted = factors ? rsc_hprda_adjust(factors->inside, distance) : distance;
        estimate[rsc_bin_of_fine(adjusted)] += tally->merged[distance];
        tally->merged[distance] = 0;
    }
    for (int level = 0; level < RSC_HPRDA_WAITING; level++) {
        struct rsc_hprda_list *list = &tally->waiting[level];
        struct rsc_hprda_factor factor = {UINT64_MAX, 1};
        if (factors) factor = level == RSC_HPRDA_FRAGMENTS ? factors->across : factors->inside;
        for (size_t i = 0; i < list->count; i++) {
            estimate[rsc_bin_of_fine(rsc_hprda_adjust(factor, list->items[i]))]++;
        }
        list->count = 0;
    }
}

int rsc_hprda_sums_init(struct rsc_hprda_sums *sums) {
    memset(sums, 0, sizeof *sums);
    if (rsc_histogram_init(&sums->estimate, RSC_BINS_FINE) == 0 && rsc_histogram_init(&sums->low, RSC_BINS_FINE) == 0 &&
        rsc_histogram_init(&sums->high, RSC_BINS_FINE) == 0)
        return 0;
    rsc_hprda_sums_free(sums);
    return RSC_ENOMEM;
}

void rsc_hprda_sums_free(struct rsc_hprda_sums *sums) {
    rsc_histogram_free(&sums->estimate);
    rsc_histogram_free(&sums->low);
    rsc_histogram_free(&sums->high);
}

static void move(struct rsc_histogram *into, struct rsc_histogram *from) {
    rsc_histogram_merge(into, from);
    memset(from->count, 0, from->bin_count * sizeof *from->count);
}

/* Moves counts of distances >= `distinct` to distance distinct - 1. */
static void fold(struct rsc_histogram *histogram, uint64_t distinct) {
    uint32_t largest = rsc_bin_of_fine(distinct ? distinct - 1 : 0);
    for (uint32_t bin = largest + 1; bin < histogram->bin_count; bin++) {
        histogram->count[largest] += histogram->count[bin];
        histogram->count[bin] = 0;
    }
}

void rsc_hprda_tally_collect(struct rsc_hprda_tally *tally, uint64_t distinct, uint64_t distinct_so_far,
                             struct rsc_hprda_sums *sums) {
    for (uint32_t distance = 0; distance < tally->local; distance++) {
        uint64_t count = tally->exact[distance];
        if (!count) continue;
        rsc_histogram_add(&sums->estimate, distance, count);
        rsc_histogram_add(&sums->low, distance, count);
        rsc_histogram_add(&sums->high, distance, count);
    }
    memset(tally->exact, 0, tally->local * sizeof *tally->exact);
    fold(&tally->high, distinct);
    fold(&tally->high_joined, distinct_so_far);
    move(&sums->estimate, &tally->estimate);
    move(&sums->low, &tally->low);
    move(&sums->high, &tally->high);
    move(&sums->high, &tally->high_joined);
}
