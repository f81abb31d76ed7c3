/*
 * histogram.h - counts of distances in bins that are exact where it matters.
 *
 * A layout has `linear` single-value bins (0 .. linear-1, linear a power of two)
 * and then `per_octave` bins of equal width in each octave [2^e, 2^(e+1)). Two
 * are used everywhere:
 *   RSC_BINS_FINE    exact below 1024, then 64 per octave (the profile's own)
 *   RSC_BINS_COARSE  4 per octave (per code line, object, thread, phase)
 * Counts are integers, so merging exact histograms gives an exact histogram.
 */
#ifndef RSC_BASE_HISTOGRAM_H
#define RSC_BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

struct rsc_bins {
    uint32_t linear;     /* a power of two, 1 or more */
    uint32_t per_octave; /* 1 to 64 */
};

#define RSC_BINS_FINE ((struct rsc_bins){1024, 64})
#define RSC_BINS_COARSE ((struct rsc_bins){4, 4})
#define RSC_BINS_COARSE_COUNT (4 + 62 * 4)

struct rsc_histogram {
    struct rsc_bins bins;
    uint32_t bin_count; /* entries in count: covers every uint64_t */
    uint64_t *count;    /* owned */
};

/* The bin of the contract for `per_octave` bins: exact for 0, then octaves. */
static inline struct rsc_bins rsc_bins_per_octave(uint32_t per_octave) { return (struct rsc_bins){1, per_octave}; }

static inline uint32_t rsc_bin_of(struct rsc_bins bins, uint64_t value) {
    if (value < bins.linear) return (uint32_t)value;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(value);
    uint32_t first = (uint32_t)__builtin_ctz(bins.linear);
    uint64_t above = value - (1ull << octave);
    uint32_t step = (uint32_t)(((unsigned __int128)above * bins.per_octave) >> octave);
    return bins.linear + (octave - first) * bins.per_octave + step;
}

/* rsc_bin_of() for the constants of RSC_BINS_FINE: shifts only. */
static inline uint32_t rsc_bin_of_fine(uint64_t value) {
    if (value < 1024) return (uint32_t)value;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(value);
    return 1024 + (octave - 10) * 64 + (uint32_t)(value >> (octave - 6) & 63);
}
/* The same without a branch, for values that fall unpredictably on either side of 1024. */
static inline uint32_t rsc_bin_of_fine_any(uint64_t value) {
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(value | 1024);
    uint32_t above = 1024 + (octave - 10) * 64 + (uint32_t)(value >> (octave - 6) & 63);
    return value < 1024 ? (uint32_t)value : above;
}
static inline uint32_t rsc_bin_of_coarse(uint64_t value) {
    /* without a branch: values below 4 are in their octave of 4, minus the 4 */
    uint32_t above = 61 - (uint32_t)__builtin_clzll(value | 4);
    return above * 4 + (uint32_t)(value >> above);
}

/* The number of bins of a layout, and the range of values a bin holds (lo > hi: empty range). */
uint32_t rsc_bins_count(struct rsc_bins bins);
uint64_t rsc_bin_lo(struct rsc_bins bins, uint32_t bin);
uint64_t rsc_bin_hi(struct rsc_bins bins, uint32_t bin);

/* Returns 0, or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_histogram_init(struct rsc_histogram *histogram, struct rsc_bins bins);
void rsc_histogram_free(struct rsc_histogram *histogram);

/* Gives a histogram, assigned from another, counts of its own. Returns 0, or RSC_ENOMEM: it has none then. */
int rsc_histogram_own(struct rsc_histogram *copy);

static inline void rsc_histogram_add(struct rsc_histogram *histogram, uint64_t value, uint64_t count) {
    histogram->count[rsc_bin_of(histogram->bins, value)] += count;
}

uint64_t rsc_histogram_total(const struct rsc_histogram *histogram);

/* The number of values >= value; a bin that straddles value counts in proportion, rounded down. */
uint64_t rsc_histogram_at_least(const struct rsc_histogram *histogram, uint64_t value);

/* Adds `from` into `into`, bin by bin when layouts agree, else by each bin's lo. A bin's count stops at INT64_MAX. */
void rsc_histogram_merge(struct rsc_histogram *into, const struct rsc_histogram *from);

/*
 * Multiplies all counts so that they sum to exactly `total`, keeping each within
 * one of its exact share (largest remainders first). Does nothing when empty.
 * Returns 0 or RSC_ENOMEM.
 */
int rsc_histogram_scale_to(struct rsc_histogram *histogram, uint64_t total);

#endif
