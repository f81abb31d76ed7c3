/*
 * auto_curve.h - the curve of a stretch of the trace that was sampled twice over,
 * and one profile of an exact beginning and such a stretch.
 *
 * Lines sampled at the rate p (SHARDS) tell distances of many times 1/p well and
 * those of less hardly at all. So short distances come from *bursts* of exact
 * analysis at random times (burst_sample.h), which tell them without bias, and
 * only chance in the choice of times is left:
 *     caches of up to half of `small_lines`   bursts
 *     caches from small_lines on              sampled lines
 *     in between                              a mean, weighted by the logarithm
 */
#ifndef RSC_ENGINE_AUTO_CURVE_H
#define RSC_ENGINE_AUTO_CURVE_H

#include "distance/count/accumulate.h"
#include "distance/time/burst_sample.h"
#include "distance/shards/kept_sum.h"

/* Bursts added up. */
struct rsc_burst_curve {
    const struct rsc_burst_sample *burst;
    uint64_t small_lines;
    uint32_t parts; /* of bursts; less than 3: nothing is known */
    double references;
};

/* Adds the bursts' counts up, in place: nothing may be taken after this. */
struct rsc_burst_curve rsc_burst_curve_new(struct rsc_burst_sample *burst, uint64_t small_lines);

/* Weight of bursts, 0 to 1, in what is said of a cache of so many lines; sampled lines have the rest. */
double rsc_burst_weight(uint64_t small_lines, double lines);

/* Puts short distances as the bursts say into a profile of sampled lines, not sealed, and its curve; percent. */
void rsc_auto_mend(struct rsc_profile *sampled, const struct rsc_burst_curve *bursts, double confidence);

/*
 * Adds a stretch, mended, to the exact profile of all before it, not sealed. The
 * curve gets the stretch's error bars, by its share. Returns 0 or RSC_ENOMEM.
 */
int rsc_auto_append(struct rsc_profile *exact, struct rsc_profile *sampled);

#endif
