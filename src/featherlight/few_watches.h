/*
 * few_watches.h - the part of the sampling error that half-samples cannot show.
 *
 * Estimates are made within contexts (code), each with its share w of all references. A context with n
 * watches adds w^2 p (1 - p) / n to the variance at a size, p its own miss ratio there; but p (1 - p) as seen is too small
 * by 1 / n of itself, and 0 where there is one watch. So p is taken for likely nearer to that of all contexts,
 * as if one more watch had been seen there that is like them all. A context without a watch, which is taken to be
 * like all, may be as different from them as one watch would be.
 *
 * Where lines are modelled (line_model.h), errors of each shape count by how much the product depends on it.
 */
#ifndef RSC_FEATHERLIGHT_FEW_WATCHES_H
#define RSC_FEATHERLIGHT_FEW_WATCHES_H

#include "featherlight/watch_group.h"

struct rsc_few_variance {
    double lacking; /* to be added to what half-samples show */
    double least;   /* if all watches were independent: it is not less than that */
};

struct rsc_few_watches {
    struct few_size *sizes; /* owned; 4 an octave */
    uint32_t count;
};

/* Shapes as of rsc_groups_bars(). Returns 0 or RSC_ENOMEM. Zeroed, it may be freed. */
int rsc_few_watches_make(struct rsc_few_watches *few, struct rsc_watch_group *const *shapes, uint32_t shape_count,
                         uint32_t count, const struct rsc_profile *profile);
void rsc_few_watches_free(struct rsc_few_watches *few);

/* Of the miss ratio at a size. */
struct rsc_few_variance rsc_few_watches_at(const struct rsc_few_watches *few, uint64_t lines);

#endif
