/*
 * mrc.c - computes the miss ratio curve from a reuse distance histogram.
 *
 * In a fully associative LRU cache of c lines a reference hits exactly when its
 * reuse distance is below c, so
 *     misses(c) = cold + invalidated + references with RD >= c.
 * The curve has a point at every size from 1 to 1024 lines, then at the lower
 * edge of each fine bin (64 per octave), up to the footprint, which is always the
 * last point; with a cap on distances it ends at the cap, if that is less. Every
 * size but the last is the lower edge of a bin, so no bin is split: the bins from
 * that edge on miss. At the last size the bin it falls into counts as hits: no exact
 * distance reaches the footprint, and distances from the cap on are kept outside the
 * histogram.
 */
#include <stdlib.h>

#include "base/search.h"
#include "profile/profile_model.h"

static uint64_t bytes_of(uint64_t lines, uint64_t line_bytes) {
    uint64_t bytes;
    return __builtin_mul_overflow(lines, line_bytes, &bytes) ? UINT64_MAX : bytes;
}

static uint64_t last_size(const struct rsc_profile *profile) {
    uint64_t footprint = rsc_profile_footprint(profile), last = footprint ? footprint : 1;
    return profile->rd_cap && profile->rd_cap < last ? profile->rd_cap : last;
}

static struct rsc_mrc_point point_at(const struct rsc_profile *profile, uint64_t lines, uint64_t misses) {
    double ratio = (double)misses / (double)profile->references;
    return (struct rsc_mrc_point){lines, bytes_of(lines, profile->made.line_bytes), ratio, ratio, ratio};
}

int rsc_profile_derive_mrc(struct rsc_profile *profile) {
    free(profile->mrc);
    free(profile->requests.miss_ratio);
    profile->mrc = NULL;
    profile->requests.miss_ratio = NULL;
    profile->mrc_count = 0;
    if (!profile->references) return 0;

    const struct rsc_histogram *rd = &profile->rd;
    uint64_t last = last_size(profile);
    uint32_t last_bin = rsc_bin_of(rd->bins, last);
    int inside = rsc_bin_lo(rd->bins, last_bin) != last;
    size_t count = last_bin + (size_t)inside; /* the edges of bins 1 to last_bin, and the last size */
    struct rsc_mrc_point *points = malloc(count * sizeof *points);
    if (!points) return RSC_ENOMEM;

    uint64_t misses = profile->cold + profile->invalidated + profile->rd_capped;
    for (uint32_t bin = rd->bin_count - 1; bin > last_bin; bin--) misses += rd->count[bin];
    if (inside) points[count - 1] = point_at(profile, last, misses);
    for (uint32_t bin = last_bin; bin > 0; bin--) {
        misses += rd->count[bin];
        points[bin - 1] = point_at(profile, rsc_bin_lo(rd->bins, bin), misses);
    }
    profile->mrc = points;
    profile->mrc_count = count;
    return 0;
}

int rsc_profile_derive_every_size(struct rsc_profile *profile, const uint64_t *count, uint64_t room) {
    if (!profile->references) return 0;
    uint64_t last = last_size(profile), misses = profile->references, used = 0;
    for (uint64_t d = 0; d < last && d < room; d++) used += count[d] != 0;
    /* a step has two points, the one before it and its own; the first and the last size are always there */
    struct rsc_mrc_point *points = malloc((2 * used + 2) * sizeof *points);
    if (!points) return RSC_ENOMEM;
    size_t made = 0;
    for (uint64_t lines = 1; lines <= last; lines++) {
        uint64_t hits = lines <= room ? count[lines - 1] : 0, next = lines < room ? count[lines] : 0;
        misses -= hits;
        if (lines == 1 || lines == last || hits || next) points[made++] = point_at(profile, lines, misses);
    }
    free(profile->mrc);
    profile->mrc = points;
    profile->mrc_count = made;
    return 0;
}

/* Index of the last point of at most `lines` lines; there must be one. */
static size_t find_point(const struct rsc_profile *profile, uint64_t lines) {
    return RSC_SEARCH(1, profile->mrc_count, i, profile->mrc[i].lines <= lines) - 1;
}

struct rsc_mrc_point rsc_profile_mrc_at(const struct rsc_profile *profile, uint64_t lines) {
    struct rsc_mrc_point at = {lines, bytes_of(lines, profile->made.line_bytes), 1, 1, 1};
    if (!lines) return at;
    if (!profile->mrc_count) at.miss_ratio = at.low = at.high = 0;
    if (!profile->mrc_count || lines < profile->mrc[0].lines) return at;
    size_t index = find_point(profile, lines);
    const struct rsc_mrc_point *left = &profile->mrc[index];
    at.miss_ratio = left->miss_ratio, at.low = left->low, at.high = left->high;
    if (left->lines == lines || index + 1 == profile->mrc_count) return at;
    /* Between two points an even spread of distances is assumed. */
    const struct rsc_mrc_point *right = left + 1;
    double share = (double)(lines - left->lines) / (double)(right->lines - left->lines);
    at.miss_ratio += share * (right->miss_ratio - left->miss_ratio);
    at.low += share * (right->low - left->low);
    at.high += share * (right->high - left->high);
    return at;
}

double rsc_profile_miss_ratio(const struct rsc_profile *profile, uint64_t lines) {
    return rsc_profile_mrc_at(profile, lines).miss_ratio;
}
