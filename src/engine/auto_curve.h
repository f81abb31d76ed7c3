/*
 * auto_curve.h - the curve of a part of the trace that was sampled in two ways, and
 * the profile of an exact beginning followed by such a part.
 *
 * Lines sampled at rate p (SHARDS) measure distances of many times 1/p well, and
 * shorter ones hardly at all. So short distances come from *bursts* of exact analysis
 * at random times (auto_bursts.h). Bursts are unbiased; their only error is the
 * random choice of times:
 *     caches of up to half of `small_lines`   bursts
 *     caches from small_lines on              sampled lines
 *     in between                              a mean, weighted by the logarithm
 */
#ifndef RSC_ENGINE_AUTO_CURVE_H
#define RSC_ENGINE_AUTO_CURVE_H

#include "engine/auto_bursts.h"
#include "profile/profile_model.h"

/* Bursts added up. */
struct rsc_burst_curve {
    const struct rsc_burst_sample *burst;
    uint64_t small_lines;
    uint32_t parts; /* of bursts; fewer than 3: no estimate */
    double references;
};

/* Sums the bursts' counts, in place: nothing may be counted after this. */
struct rsc_burst_curve rsc_burst_curve_new(struct rsc_burst_sample *burst, uint64_t small_lines);

/* Weight of bursts, 0 to 1, for a cache of this many lines; sampled lines have the rest. */
double rsc_burst_weight(uint64_t small_lines, double lines);

/* Replaces the short distances and the curve of a profile of sampled lines, not sealed, by the bursts' estimate. In
 * percent. */
void rsc_auto_mend(struct rsc_profile *sampled, const struct rsc_burst_curve *bursts, double confidence);

/*
 * Adds a part, already combined with its bursts, to the exact profile of everything
 * before it, not sealed. The curve gets the part's error bars, scaled by its share of
 * references. Returns 0 or RSC_ENOMEM.
 */
int rsc_auto_append(struct rsc_profile *exact, struct rsc_profile *sampled);

#endif
