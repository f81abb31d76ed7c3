/*
 * metrics.h - how far two profiles are apart, in the field's usual measures.
 *
 * All are symmetric. Histograms are compared as distributions (each divided by
 * its own total); both must have the same bins, else the result is NaN.
 */
#ifndef RSC_PROFILE_METRICS_H
#define RSC_PROFILE_METRICS_H

#include <stddef.h>

#include "profile/profile_model.h"

/*
 * Overlap of the RD of two profiles, "accuracy" in the papers: 1 - (sum of |a_i - b_i|) / 2,
 * from 0 (nothing in common) to 1 (the same). References without a distance (cold,
 * invalidated, ...) are one more bin. Two empty profiles overlap fully, an empty and a
 * filled one not at all.
 */
double rsc_profile_overlap(const struct rsc_profile *a, const struct rsc_profile *b);

/*
 * The accuracy of paper 000: the overlap of the RD in the profiles' second binning
 * (--bins, 10 per octave in the paper); references without a distance are one more
 * bin. without_zero excludes distance 0 from both, as the paper's figures do. NaN
 * unless both have the same second binning.
 */
double rsc_profile_accuracy(const struct rsc_profile *a, const struct rsc_profile *b, int without_zero);

/*
 * Two runs of a program with threads differ themselves, as its threads interleave differently. So an estimate is
 * compared with the mean of several exact runs: the share of each bin is the mean of theirs. Runs without references
 * do not count in it.
 */
double rsc_profile_accuracy_of_runs(const struct rsc_profile *const *runs, size_t count,
                                    const struct rsc_profile *estimate, int without_zero);

/*
 * How well exact runs agree: the mean accuracy of each against the mean of all others. No estimate of such runs can be
 * expected to do better. (An estimate without any error of its own would have slightly more: it is compared with one run
 * more.) NaN for fewer than two runs.
 */
double rsc_profile_runs_agree(const struct rsc_profile *const *runs, size_t count, int without_zero);

/*
 * The error rate e of paper 002: the mean over H bins of |a_i - b_i|, a_i being
 * the share of references in bin i. The RD is rebinned to `bins`, which must be
 * coarser than the profiles' own (RSC_BINS_FINE), or equal, and not split its bins; H
 * counts the bins up to the last that either profile uses, and one more for
 * references without a distance. *used (may be NULL) is set to H: e is
 * 2 (1 - overlap) / H, so it shrinks as bins are added and is meaningless without H.
 * An empty profile has nothing in any bin. NaN when out of memory.
 */
double rsc_profile_error_rate(const struct rsc_profile *a, const struct rsc_profile *b, struct rsc_bins bins,
                              uint32_t *used);

/*
 * Mean absolute error of two curves over the sizes (in bytes) that both have, with
 * equal weights; *points (may be NULL) is set to their number. NaN if none.
 */
double rsc_profile_mrc_error(const struct rsc_profile *a, const struct rsc_profile *b, size_t *points);

/*
 * The same over a logarithmic grid of sizes: the whole numbers of lines nearest to
 * 2^(i / per_octave), each once, from 1 to the larger footprint (past its end a curve
 * keeps its last value). NaN if either has no curve.
 */
double rsc_profile_mrc_error_octaves(const struct rsc_profile *a, const struct rsc_profile *b, uint32_t per_octave,
                                     size_t *points);

/* The error a curve states: the mean of half the width of its error bars over the same grid, 8 sizes per octave. */
double rsc_profile_stated_error(const struct rsc_profile *profile);

/* That grid: the size after `lines` (0: the first). */
uint64_t rsc_grid_next(uint64_t lines, uint32_t per_octave);

/*
 * Earth mover's distance: the octaves that the average reuse must be moved to turn
 * one histogram into the other, on the scale log2(1 + lo of its bin). 0 for two
 * empty histograms, NaN if only one is empty.
 */
double rsc_histogram_emd_octaves(const struct rsc_histogram *a, const struct rsc_histogram *b);

/*
 * The measures of paper 003, section V: shares of all reuses in 20 bins, [0,4Ki),
 * [4Ki,8Ki), ... [512Mi,1Gi), and everything from 1 Gi up. Bins of the histogram
 * must not straddle these edges (RSC_BINS_FINE does not). An empty histogram has
 * shares of 0.
 */
#define RSC_OCTAVE_SHARES 20u
void rsc_histogram_octave_shares(const struct rsc_histogram *histogram, double shares[RSC_OCTAVE_SHARES]);

/* S = 1 - (sum of |a_i - b_i|) / 2. */
double rsc_octave_accuracy(const double a[RSC_OCTAVE_SHARES], const double b[RSC_OCTAVE_SHARES]);

/* S-hat: the same over the means of neighbouring bins, which tolerates counts just across an edge. */
double rsc_octave_accuracy_windowed(const double a[RSC_OCTAVE_SHARES], const double b[RSC_OCTAVE_SHARES]);

/* Earth mover's distance: the bins that the average reuse must be moved by. */
double rsc_octave_emd(const double a[RSC_OCTAVE_SHARES], const double b[RSC_OCTAVE_SHARES]);

#endif
