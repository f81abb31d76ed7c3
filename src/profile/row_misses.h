/*
 * row_misses.h - misses of rows at any cache size.
 *
 * Distances of rows are in coarse bins, and most sizes fall inside one. The reuses of the
 * whole profile are known in fine bins: a row's reuses in the bin are divided by the size
 * as those of the whole are. So rows add up to the whole, and a row that has all reuses of
 * the bin is exact.
 */
#ifndef RSC_PROFILE_ROW_MISSES_H
#define RSC_PROFILE_ROW_MISSES_H

#include "profile/profile_model.h"
#include "profile/row_tables.h"

/* A size, and of the profile's reuses in its coarse bin, how many are at this distance or farther. */
struct rsc_split {
    uint64_t lines;
    uint64_t far, all;
};
struct rsc_split rsc_split_at(const struct rsc_profile *profile, uint64_t size_lines);

/* Reuses of a row at this distance or farther, and its misses. */
uint64_t rsc_split_far(const struct rsc_split *split, const struct rsc_histogram *rd);
uint64_t rsc_row_misses(struct rsc_row_counts row, const struct rsc_split *split);

/* The distance that `share` of the profile's reuses in a coarse bin have or exceed; shares from 0 to 1. */
uint64_t rsc_split_distance(const struct rsc_profile *profile, uint32_t coarse_bin, double share);

/* Reuses of the whole profile at this distance or farther, and its misses. */
uint64_t rsc_profile_far_reuses(const struct rsc_profile *profile, uint64_t size_lines);
uint64_t rsc_profile_misses(const struct rsc_profile *profile, uint64_t size_lines);

#endif
