/*
 * burst_groups.h - how much less samples that were drawn in bursts (runtime/sampler/sampler.h) say than as many
 * drawn one by one.
 *
 * Samples of a burst are alike: a run that alternates between two loops has bursts in either. The bursts are dealt to
 * RSC_BURST_GROUPS groups in turn, so the spread between groups is that between bursts. For a share p of all references,
 * estimated as
 *     p = (sum of a + q sum of m) / W,    q = sum of b / sum of k,    W = sum of (s + m),
 * with, of each group, s the weight of samples that ended in time and a of those among them that count, m the weight of
 * those that did not (kept or dropped), k the weight of the kept ones and b of those among them that count, the
 * variance is
 *     groups / (groups - 1) * sum of r^2 / W^2,    r = a + q m - p (s + m) + (sum of m / sum of k) (b - q k).
 * Its ratio to the variance of independent draws is the design effect: bars are those of n / effect samples.
 */
#ifndef RSC_MULTICORE_BURST_GROUPS_H
#define RSC_MULTICORE_BURST_GROUPS_H

#include <stdint.h>

#include "runtime/sampler/sampler.h"

#define RSC_BURST_GROUPS 16u

struct rsc_burst_part {
    double weight[RSC_BURST_GROUPS];
    double outcome[RSC_SAMPLE_OUTCOMES][RSC_BURST_GROUPS];
    double (*rd)[RSC_BURST_GROUPS]; /* [fine bins] */
};

struct rsc_burst_groups {
    struct rsc_burst_part in_time, kept;
    double late[RSC_BURST_GROUPS]; /* weight of samples that did not end in time */
    uint64_t alone; /* samples without a burst so far */
    int bursts; /* 1: some were in bursts */
};

/* A zeroed one may be freed. Returns 0 or RSC_ENOMEM. */
int rsc_burst_groups_init(struct rsc_burst_groups *groups);
void rsc_burst_groups_free(struct rsc_burst_groups *groups);

/* A finished sample, or an RSC_SAMPLE_KEPT; its weight as drawn. */
void rsc_burst_groups_add(struct rsc_burst_groups *groups, const struct rsc_sample_record *record);

/*
 * Design effects, at least 1, for `size` independent samples: of the share of one outcome; of all bins, and of all tails
 * with references without a distance, into bins[] and tails[] (fine bins).
 */
double rsc_burst_effect(const struct rsc_burst_groups *groups, uint32_t outcome, double size);
void rsc_burst_effects(const struct rsc_burst_groups *groups, double size, double *bins, double *tails);

#endif
