/* bootstrap_bars.h - error bars of the curve of all groups of threads. */
#ifndef RSC_FEATHERLIGHT_BOOTSTRAP_BARS_H
#define RSC_FEATHERLIGHT_BOOTSTRAP_BARS_H

#include "featherlight/watch_group.h"

/*
 * Sets low and high of profile->mrc from the spread of the estimates. shapes[0] are the groups, `count` of them; where
 * lines are modelled there are RSC_WATCH_LINE_SHAPES such lists, of the same threads, with distances in lines. Returns
 * 0 or RSC_ENOMEM.
 */
int rsc_groups_bars(const struct rsc_featherlight *feather, struct rsc_watch_group *const *shapes, uint32_t shape_count,
                    uint32_t count, struct rsc_profile *profile);

#endif
