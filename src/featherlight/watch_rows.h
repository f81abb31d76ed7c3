/*
 * watch_rows.h - a profile's rows from watched reuses: threads, the code that reuses, and
 * pairs of use and reuse.
 *
 * Rows are parts of the profile's histogram: reuses have its distances, in the order of
 * their intervals, so that no row has more misses at a size than the profile.
 */
#ifndef RSC_FEATHERLIGHT_WATCH_ROWS_H
#define RSC_FEATHERLIGHT_WATCH_ROWS_H

#include "featherlight/line_model.h"

struct rsc_watch_reuse; /* a reuse, or the part of one in a bin of distances */

struct rsc_watch_reuses {
    struct rsc_watch_reuse *list; /* owned */
    size_t count, room;
};

/*
 * Adds the reuses of a group, given in each shape, with the distances of `rd`, the group's part of
 * the profile. `lines` (NULL: words) says how many lines are reused at which interval: the reuses
 * seen at an interval, of parts of lines, share these. Returns 0 or RSC_ENOMEM.
 */
int rsc_watch_reuses_add(struct rsc_watch_reuses *reuses, const struct rsc_watch_group *const *shapes,
                         uint32_t shape_count, const struct rsc_lines *lines, const struct rsc_histogram *rd);
void rsc_watch_reuses_free(struct rsc_watch_reuses *reuses);

/* Fills threads, code and pairs; pairs get the costs of the groups' samples. Returns 0 or RSC_ENOMEM. */
int rsc_watch_reuses_rows(struct rsc_watch_reuses *reuses, const struct rsc_featherlight *feather,
                          struct rsc_watch_group *const *shapes, uint32_t shape_count, uint32_t count,
                          struct rsc_profile *profile);

#endif
