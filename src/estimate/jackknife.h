/*
 * jackknife.h - the delete-a-group jackknife: the standard error of an estimate, from the same estimate computed
 * without each part of the sample in turn.
 *
 * With independent and identically drawn parts, (n - 1)/n times the sum of squares of the
 * n estimates about their mean is the variance of the whole estimate, with n - 1 degrees
 * of freedom for Student's t.
 *
 * Used by the time models, whose bars (held_bar.h) held the truth at 89 to 97 % of sizes
 * on traces where every size can be missed (bench_coverage, bars of 90 %, 500 seeds), and
 * by `auto`.
 */
#ifndef RSC_ESTIMATE_JACKKNIFE_H
#define RSC_ESTIMATE_JACKKNIFE_H

#include <stdint.h>

/* The standard error; without[i]: the estimate without part i, on the scale of the whole. count >= 2. */
double rsc_jackknife_error(const double *without, uint32_t count);

#endif
