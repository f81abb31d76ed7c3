/*
 * half_samples.h - a bootstrap by half-samples, for samples taken one after the other,
 * and Wilson's interval for a share.
 *
 * Neighbours in time are alike, so single samples would look more independent than they
 * are: they are cut into RSC_HALF_BLOCKS runs, and neighbouring runs are paired. In each
 * replicate one run of every pair, by the toss of a coin, counts 1 + RSC_HALF_TILT times
 * and the other 1 - RSC_HALF_TILT times, and the whole estimate is made again. The spread
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

/* How often each of `count` samples, in order of time, counts in a replicate. */
void rsc_half_sample(struct rsc_rng *rng, double *times, size_t count);

/* The variance of an estimate, from the same one made in `count` replicates; those that are NaN could not be made. */
double rsc_half_sample_variance(const double *replicates, uint32_t count);

/* Wilson's interval for a share p seen in n samples, z standard deviations wide: near 0 and 1, where the spread says too little,
 * it stays wide enough. */
void rsc_wilson_bar(double p, double n, double z, double *low, double *high);

#endif
