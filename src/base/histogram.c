/* histogram.c - the rarely called part of histogram.h: everything except adding a value. */
#include "base/histogram.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/add_counts.h"

uint32_t rsc_bins_count(struct rsc_bins bins) {
    assert(bins.linear && (bins.linear & (bins.linear - 1)) == 0 && bins.per_octave);
    uint32_t first = (uint32_t)__builtin_ctz(bins.linear);
    return bins.linear + (64 - first) * bins.per_octave;
}

uint64_t rsc_bin_lo(struct rsc_bins bins, uint32_t bin) {
    if (bin < bins.linear) return bin;
    uint32_t octave = (uint32_t)__builtin_ctz(bins.linear) + (bin - bins.linear) / bins.per_octave;
    uint32_t step = (bin - bins.linear) % bins.per_octave;
    unsigned __int128 width = (unsigned __int128)step << octave;
    return (1ull << octave) + (uint64_t)((width + bins.per_octave - 1) / bins.per_octave);
}

uint64_t rsc_bin_hi(struct rsc_bins bins, uint32_t bin) {
    if (bin + 1 >= rsc_bins_count(bins)) return UINT64_MAX;
    return rsc_bin_lo(bins, bin + 1) - 1;
}

int rsc_histogram_init(struct rsc_histogram *histogram, struct rsc_bins bins) {
    histogram->bins = bins;
    histogram->bin_count = rsc_bins_count(bins);
    histogram->count = calloc(histogram->bin_count, sizeof *histogram->count);
    return histogram->count ? 0 : RSC_ENOMEM;
}

void rsc_histogram_free(struct rsc_histogram *histogram) {
    free(histogram->count);
    histogram->count = NULL;
    histogram->bin_count = 0;
}

int rsc_histogram_own(struct rsc_histogram *copy) {
    const uint64_t *count = copy->count;
    if (!count) return 0;
    if (rsc_histogram_init(copy, copy->bins) < 0) {
        copy->bin_count = 0;
        return RSC_ENOMEM;
    }
    memcpy(copy->count, count, copy->bin_count * sizeof *copy->count);
    return 0;
}

uint64_t rsc_histogram_total(const struct rsc_histogram *histogram) {
    uint64_t total = 0;
    for (uint32_t bin = 0; bin < histogram->bin_count; bin++) total += histogram->count[bin];
    return total;
}

uint64_t rsc_histogram_at_least(const struct rsc_histogram *histogram, uint64_t value) {
    uint32_t first = rsc_bin_of(histogram->bins, value);
    uint64_t total = 0;
    for (uint32_t bin = first + 1; bin < histogram->bin_count; bin++) total += histogram->count[bin];
    uint64_t lo = rsc_bin_lo(histogram->bins, first), hi = rsc_bin_hi(histogram->bins, first);
    unsigned __int128 inside = (unsigned __int128)(hi - value) + 1, width = (unsigned __int128)(hi - lo) + 1;
    return total + (uint64_t)(histogram->count[first] * inside / width);
}

void rsc_histogram_merge(struct rsc_histogram *into, const struct rsc_histogram *from) {
    assert(into->count || !from->bin_count);
    int same = into->bins.linear == from->bins.linear && into->bins.per_octave == from->bins.per_octave;
    for (uint32_t bin = 0; bin < from->bin_count; bin++) {
        if (!from->count[bin]) continue;
        uint32_t target = same ? bin : rsc_bin_of(into->bins, rsc_bin_lo(from->bins, bin));
        into->count[target] = rsc_add_counts(into->count[target], from->count[bin]);
    }
}

struct remainder {
    uint64_t part; /* remainder of the division by the old total */
    uint32_t bin;
};

static int by_part_descending(const void *left, const void *right) {
    const struct remainder *a = left, *b = right;
    if (a->part != b->part) return a->part < b->part ? 1 : -1;
    return a->bin < b->bin ? -1 : a->bin > b->bin;
}

int rsc_histogram_scale_to(struct rsc_histogram *histogram, uint64_t total) {
    uint64_t old_total = rsc_histogram_total(histogram), given = 0;
    if (!old_total) return 0;
    struct remainder *left = malloc(histogram->bin_count * sizeof *left);
    if (!left) return RSC_ENOMEM;
    uint32_t used = 0;
    for (uint32_t bin = 0; bin < histogram->bin_count; bin++) {
        if (!histogram->count[bin]) continue;
        unsigned __int128 share = (unsigned __int128)histogram->count[bin] * total;
        histogram->count[bin] = (uint64_t)(share / old_total);
        given += histogram->count[bin];
        left[used++] = (struct remainder){(uint64_t)(share % old_total), bin};
    }
    qsort(left, used, sizeof *left, by_part_descending);
    for (uint32_t i = 0; given < total && i < used; i++, given++) histogram->count[left[i].bin]++;
    assert(given == total);
    free(left);
    return 0;
}
