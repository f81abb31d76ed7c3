/* row_misses.c - see row_misses.h. */
#include "profile/row_misses.h"

#include <math.h>

/* ---- the whole profile ---- */

uint64_t rsc_profile_far_reuses(const struct rsc_profile *profile, uint64_t size_lines) {
    uint64_t capped = size_lines <= profile->rd_cap ? profile->rd_capped : 0;
    return rsc_histogram_at_least(&profile->rd, size_lines) + capped;
}

uint64_t rsc_profile_misses(const struct rsc_profile *profile, uint64_t size_lines) {
    if (rsc_profile_is_sample(profile)) /* what has no distance is in the curve */
        return (uint64_t)llround(rsc_profile_mrc_at(profile, size_lines).miss_ratio * (double)profile->references);
    return profile->cold + profile->invalidated + rsc_profile_far_reuses(profile, size_lines);
}

/* ---- rows ---- */

struct rsc_split rsc_split_at(const struct rsc_profile *profile, uint64_t size_lines) {
    const struct rsc_histogram *rd = &profile->rd;
    const uint32_t coarse = rsc_bin_of(RSC_BINS_COARSE, size_lines);
    const uint64_t lo = rsc_bin_lo(RSC_BINS_COARSE, coarse), hi = rsc_bin_hi(RSC_BINS_COARSE, coarse);
    struct rsc_split split = {.lines = size_lines};
    if (!rd->bin_count) return split;
    /* fine bins lie within coarse ones; that of the size is divided as rsc_histogram_at_least() does */
    const uint32_t first = rsc_bin_of(rd->bins, lo), last = rsc_bin_of(rd->bins, hi);
    const uint32_t at = rsc_bin_of(rd->bins, size_lines);
    const uint64_t at_lo = rsc_bin_lo(rd->bins, at), at_hi = rsc_bin_hi(rd->bins, at);
    const unsigned __int128 inside = (unsigned __int128)(at_hi - size_lines) + 1;
    split.far = (uint64_t)(rd->count[at] * inside / ((unsigned __int128)(at_hi - at_lo) + 1));
    for (uint32_t bin = first; bin <= last; bin++) split.all += rd->count[bin];
    for (uint32_t bin = at + 1; bin <= last; bin++) split.far += rd->count[bin];
    if (profile->rd_capped && profile->rd_cap >= lo && profile->rd_cap <= hi) {
        split.all += profile->rd_capped;
        if (size_lines <= profile->rd_cap) split.far += profile->rd_capped;
    }
    return split;
}

uint64_t rsc_split_far(const struct rsc_split *split, const struct rsc_histogram *rd) {
    const struct rsc_bins coarse = RSC_BINS_COARSE;
    if (!split->all || rd->bins.linear != coarse.linear || rd->bins.per_octave != coarse.per_octave)
        return rsc_histogram_at_least(rd, split->lines);
    const uint32_t first = rsc_bin_of(coarse, split->lines);
    uint64_t far = (uint64_t)((unsigned __int128)rd->count[first] * split->far / split->all);
    for (uint32_t bin = first + 1; bin < rd->bin_count; bin++) far += rd->count[bin];
    return far;
}

uint64_t rsc_row_misses(struct rsc_row_counts row, const struct rsc_split *split) {
    return (row.cold ? *row.cold : 0) + (row.invalidated ? *row.invalidated : 0) + rsc_split_far(split, row.rd);
}

uint64_t rsc_split_distance(const struct rsc_profile *profile, uint32_t coarse_bin, double share) {
    const struct rsc_histogram *rd = &profile->rd;
    const uint64_t lo = rsc_bin_lo(RSC_BINS_COARSE, coarse_bin), hi = rsc_bin_hi(RSC_BINS_COARSE, coarse_bin);
    const uint32_t first = rd->bin_count ? rsc_bin_of(rd->bins, lo) : 1;
    double left = share * (double)rsc_split_at(profile, lo).all, into = share;
    uint64_t from = lo, to = hi;
    for (uint32_t bin = rd->bin_count ? rsc_bin_of(rd->bins, hi) : 0; bin >= first && bin; bin--) {
        const double count = (double)rd->count[bin];
        if (!rd->count[bin]) continue;
        from = rsc_bin_lo(rd->bins, bin);
        to = rsc_bin_hi(rd->bins, bin);
        into = left / count;
        if (left <= count) break;
        left -= count;
    }
    return to - (uint64_t)((double)(to - from) * fmin(into, 1));
}
