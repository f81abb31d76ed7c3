/*
 * watch_group.h - threads whose samples are estimated together: one thread with
 * enough samples, or all threads with too few.
 */
#ifndef RSC_FEATHERLIGHT_WATCH_GROUP_H
#define RSC_FEATHERLIGHT_WATCH_GROUP_H

#include "featherlight/samples.h"

#define RSC_GROUP_SAMPLES 256u /* a thread with fewer is estimated together with other such threads */

struct rsc_watch_group {
    struct rsc_watched *samples; /* owned; contexts of different threads are different */
    uint32_t *thread;            /* [count], owned: the sample's thread */
    size_t count;
    uint32_t contexts;
    uint64_t references;
    struct rsc_estimator estimator;
    struct rsc_estimate estimate; /* in references; the three parts sum to `references` */
    double *weight;               /* [count], owned: references that a reused sample represents */
    double *distance;             /* [count], owned: RD of a reused sample */
};

/*
 * Divides all threads into groups, of samples that watched a shape. The groups of every shape have the same threads, in
 * the same order. The caller owns *groups and frees each group. Returns 0 or RSC_ENOMEM.
 */
int rsc_groups_make(const struct rsc_featherlight *feather, enum rsc_watch_shape shape, struct rsc_watch_group **groups,
                    uint32_t *count);
void rsc_groups_free(struct rsc_watch_group *groups, uint32_t count);

/*
 * Weights and distances of one estimate, with each sample counted `times` times
 * (NULL: once). Distances are StatStack's sum (profile/ri_models.h) over the weighted
 * intervals themselves, not their bins.
 */
struct rsc_estimate rsc_group_estimate(struct rsc_watch_group *group, const double *times, double *weight,
                                       double *distance);

#endif
