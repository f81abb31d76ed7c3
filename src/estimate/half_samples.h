/*
 * half_samples.h - a bootstrap by half-samples, for samples taken one after the other,
 * and Wilson's interval for a share.
 *
 * Samples close in time are correlated, so they are cut into RSC_HALF_BLOCKS runs, and
 * neighbouring runs are paired. In each replicate a randomly chosen run of every pair
 * gets weight 1 + RSC_HALF_TILT and the other 1 - RSC_HALF_TILT, and the whole estimate
 * is computed again. The spread
 * over the replicates divided by RSC_HALF_TILT is the standard error (Fay's variant of
 * balanced half-samples); pairs, not all runs, are exchanged because a run's phases are
 * always sampled in full.
 *
 * Used by featherlight (bootstrap_bars.c), whose bars of 90 % held what its model makes of
 * the exact intervals at 94 to 100 % of sizes of 28 traces (bench_feather_bars, 100 seeds).
 */
#ifndef RSC_ESTIMATE_HALF_SAMPLES_H
#define RSC_ESTIMATE_HALF_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

#define RSC_HALF_BLOCKS 128u /* even */
#define RSC_HALF_TILT 0.5

/* Sets times[] to the weights of `count` samples, in order of time, in a replicate. */
void rsc_half_sample(struct rsc_rng *rng, double *times, size_t count);

/* The variance of an estimate, from its values in `count` replicates; NaN marks a replicate without an estimate. */
double rsc_half_sample_variance(const double *replicates, uint32_t count);

/* Wilson's interval for a share p observed in n samples, z standard deviations wide: it stays wide enough near 0 and 1,
 * where the spread is too small. */
void rsc_wilson_bar(double p, double n, double z, double *low, double *high);

#endif
