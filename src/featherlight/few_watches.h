/*
 * few_watches.h - the part of the sampling error that half-samples cannot show.
 *
 * Estimates are made within contexts (code), each with its share w of all references. A context with n watches adds w^2
 * p (1 - p) / n to the variance at a size, where p is its own miss ratio; but the observed p (1 - p) is too small by 1
 * / n of itself, and 0 with one watch. So p is shrunk towards that of all contexts, as if one more average watch had
 * been seen. A context without watches is assumed average; its variance is that of one watch.
 *
 * Where lines are modelled (line_model.h), errors of each shape are weighted by how much the product depends on it.
 */
#ifndef RSC_FEATHERLIGHT_FEW_WATCHES_H
#define RSC_FEATHERLIGHT_FEW_WATCHES_H

#include "featherlight/watch_group.h"

struct rsc_few_variance {
    double lacking; /* added to the variance of half-samples */
    double least;   /* of independent watches: a lower bound */
};

struct rsc_few_watches {
    struct few_size *sizes; /* owned; 4 per octave */
    uint32_t count;
};

/* Shapes as for rsc_groups_bars(). Returns 0 or RSC_ENOMEM. A zeroed struct may be freed. */
int rsc_few_watches_make(struct rsc_few_watches *few, struct rsc_watch_group *const *shapes, uint32_t shape_count,
                         uint32_t count, const struct rsc_profile *profile);
void rsc_few_watches_free(struct rsc_few_watches *few);

/* The variances of the miss ratio at a size. */
struct rsc_few_variance rsc_few_watches_at(const struct rsc_few_watches *few, uint64_t lines);

#endif
