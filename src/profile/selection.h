/*
 * selection.h - finding the code with low locality (paper 000, section 6): which
 * instructions' reuses miss at a cache size, the fewest that cover a share of them, and
 * how good a selection by one profile is in the eyes of another.
 *
 * A miss here is a reuse at a distance of the cache's size or more; first uses and lines
 * that others took are no matter of distance. Sizes are edges of the rows' bins (4 an
 * octave), so nothing is divided. Instructions are the same by address and module.
 */
#ifndef RSC_PROFILE_SELECTION_H
#define RSC_PROFILE_SELECTION_H

#include "profile/profile_model.h"

/* The largest size in lines, an edge of RSC_BINS_COARSE, at which `share` of all reuses miss, or more; 1: there is none; 0: no reuses. */
uint64_t rsc_selection_size(const struct rsc_profile *profile, double share);

/* The last edge that is not above `lines`. */
uint64_t rsc_selection_edge(uint64_t lines);

struct rsc_selected {
    const struct rsc_code_row *row;
    uint64_t misses;
};

struct rsc_selection {
    uint64_t size_lines;
    uint64_t misses; /* of all rows */
    struct rsc_selected *codes; /* owned; all that miss, most misses first, then by address */
    size_t count;
};

/* Zeroed selections may be freed. Returns 0 or RSC_ENOMEM. */
int rsc_selection_make(struct rsc_selection *selection, const struct rsc_profile *profile, uint64_t size_lines);
void rsc_selection_free(struct rsc_selection *selection);

/* How many of its first have `share` of all misses. */
size_t rsc_selection_cover(const struct rsc_selection *selection, double share);

/*
 * The first `count` of `estimate` against the first `count` of `truth`:
 *   weight  misses, by `truth`, of those that `estimate` chose / of those that `truth` did (Wall's weight matching)
 *   key     share of those of `truth` that `estimate` chose too (key matching)
 * Both 1 where there is nothing to choose. Returns 0 or RSC_ENOMEM.
 */
struct rsc_matching {
    double weight, key;
};
int rsc_selection_match(const struct rsc_selection *truth, const struct rsc_selection *estimate, size_t count,
                        struct rsc_matching *matching);

#endif
