/*
 * selection.h - finds the code with low locality (paper 000, section 6): the
 * instructions whose reuses miss at a cache size, the fewest that cover a share of the
 * misses, and how good a selection by one profile is when judged by another.
 *
 * A miss here is a reuse at a distance of the cache's size or more, or one of a line that
 * another thread invalidated (private stacks; it misses at any size). Cold references do
 * not count. Sizes are edges of the rows' bins (4 per octave), so no bin is
 * split. Instructions are identified by address and module.
 */
#ifndef RSC_PROFILE_SELECTION_H
#define RSC_PROFILE_SELECTION_H

#include "profile/profile_model.h"

/* The largest size in lines, an edge of RSC_BINS_COARSE, at which `share` or more of the reuses that have a distance
 * miss; 1: there is none; 0: no reuses. */
uint64_t rsc_selection_size(const struct rsc_profile *profile, double share);

/* The largest edge <= `lines`. */
uint64_t rsc_selection_edge(uint64_t lines);

struct rsc_selected {
    const struct rsc_code_row *row;
    uint64_t misses; /* invalidated ones included */
};

struct rsc_selection {
    uint64_t size_lines;
    uint64_t misses, invalidated; /* of all rows */
    struct rsc_selected *codes; /* owned; all that miss, most misses first, then by address */
    size_t count;
};

/* Zeroed selections may be freed. Returns 0 or RSC_ENOMEM. */
int rsc_selection_make(struct rsc_selection *selection, const struct rsc_profile *profile, uint64_t size_lines);
void rsc_selection_free(struct rsc_selection *selection);

/* The number of leading codes that have `share` of all misses. */
size_t rsc_selection_cover(const struct rsc_selection *selection, double share);

/*
 * The first `count` of `estimate` against the first `count` of `truth`:
 *   weight  misses, by `truth`, of the codes `estimate` chose / of those `truth` chose (Wall's weight matching)
 *   key     share of the codes chosen by `truth` that `estimate` chose too (key matching)
 * Both are 1 if there is nothing to choose. Returns 0 or RSC_ENOMEM.
 */
struct rsc_matching {
    double weight, key;
};
int rsc_selection_match(const struct rsc_selection *truth, const struct rsc_selection *estimate, size_t count,
                        struct rsc_matching *matching);

#endif
