/*
 * held_bar.h - a bar that always contains a given number, and the truth as often as
 * stated.
 *
 * A model gives M; a sample gives X, which has a random error of known standard
 * deviation. The bar is [min(M, X - a sd), max(M, X + a sd)]: it always contains M.
 * It misses the truth only if M and X are on the same side of it, X by more than a sd.
 *
 *   M without chance   one side is M's, so only an X too far to that side misses: with
 *                      a the quantile of one tail (1.28 sd for 90 %) the truth is held
 *                      as often as stated, whether M is far off or near. If M is the
 *                      truth itself, it is held always, as any bar would that holds M.
 *   M by chance too    (from a sample that X has too, at best without a bias): M is to
 *                      X's side more often, the more they have in common. With the
 *                      correlation r, the miss has the probability of a skew-normal
 *                      tail with delta = r: one tail of the normal at r = 0, both at
 *                      r = 1, where M is X (1.64 sd for 90 %).
 *
 * Measured with the time models: see jackknife.h.
 */
#ifndef RSC_ESTIMATE_HELD_BAR_H
#define RSC_ESTIMATE_HELD_BAR_H

struct rsc_held_level {
    double confidence, freedom; /* 0 to 1; of Student's t */
    double normal[2], student[2]; /* quantiles, of one tail and of both */
};

void rsc_held_level_set(struct rsc_held_level *level, double confidence, double freedom);

/*
 * a, for a correlation clipped to 0..1. `own` is the share of the variance that was
 * estimated with those degrees of freedom (the rest is known): the degrees of freedom
 * grow by 1/own^2 (Satterthwaite).
 */
double rsc_held_reach(const struct rsc_held_level *level, double correlation, double own);

void rsc_held_bar(double model, double value, double reach, double *low, double *high);

#endif
