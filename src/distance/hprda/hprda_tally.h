/*
 * hprda_tally.h - the distances of the current fragment, counted by one thread of the
 * analysis.
 *
 * Three kinds of distance, kept separate as long as needed:
 *   exact      both uses in one local trace; already true
 *   merged     by formula 1 between local traces of a block: below the length of
 *              a block, so one counter each, adjusted when the fragment ends
 *   waiting    by formula 1 between blocks, and between fragments, where the
 *              distance is beyond M as known so far: M is only known when the
 *              fragment ends. Smaller ones are counted at once.
 * Each distance by formula 1 is also counted in `low` and `high`, which bound the
 * true one; `high_joined` are those between fragments.
 */
#ifndef RSC_DISTANCE_HPRDA_HPRDA_TALLY_H
#define RSC_DISTANCE_HPRDA_HPRDA_TALLY_H

#include "base/histogram.h"

enum { RSC_HPRDA_BLOCKS, RSC_HPRDA_FRAGMENTS, RSC_HPRDA_WAITING };

struct rsc_hprda_list {
    uint64_t *items; /* owned */
    size_t count, room;
};

struct rsc_hprda_tally {
    uint32_t local, block;  /* references in a local trace, in a block */
    uint64_t *exact;        /* by distance, `local` of them */
    uint32_t *merged;       /* by distance, `block` of them */
    struct rsc_hprda_list waiting[RSC_HPRDA_WAITING];
    struct rsc_histogram estimate, low, high, high_joined; /* RSC_BINS_FINE */
};

/* The parts of the effective factor: ef = distinct / counts, applied to distances beyond `distinct`. */
struct rsc_hprda_factor {
    uint64_t distinct; /* M */
    uint64_t counts;   /* sum of count[i] */
};

/* Formula 2. Distances are integers: the product is truncated, not rounded. */
static inline uint64_t rsc_hprda_adjust(struct rsc_hprda_factor factor, uint64_t distance) {
    if (distance <= factor.distinct) return distance;
    return (uint64_t)((unsigned __int128)distance * factor.distinct / factor.counts);
}

/* Return 0 or RSC_ENOMEM. A zeroed tally may be freed. */
int rsc_hprda_tally_init(struct rsc_hprda_tally *tally, uint32_t local, uint32_t block);
void rsc_hprda_tally_free(struct rsc_hprda_tally *tally);
int rsc_hprda_list_add(struct rsc_hprda_list *list, uint64_t item);

/*
 * The final adjustment: moves `merged` and the waiting distances into `estimate`;
 * factors NULL: unadjusted.
 */
struct rsc_hprda_factors {
    struct rsc_hprda_factor inside; /* for distances inside the fragment */
    struct rsc_hprda_factor across; /* for those from earlier fragments */
};
void rsc_hprda_tally_adjust(struct rsc_hprda_tally *tally, const struct rsc_hprda_factors *factors);

/* The sums of all tallies and fragments: three views of the same reuses. */
struct rsc_hprda_sums {
    struct rsc_histogram estimate, low, high; /* RSC_BINS_FINE */
};
int rsc_hprda_sums_init(struct rsc_hprda_sums *sums);
void rsc_hprda_sums_free(struct rsc_hprda_sums *sums);

/*
 * Moves an adjusted tally into the sums and empties it. No distance inside the
 * fragment reaches its `distinct` lines, and none reaches `distinct_so_far`: higher
 * upper bounds are lowered to the largest possible distance.
 */
void rsc_hprda_tally_collect(struct rsc_hprda_tally *tally, uint64_t distinct, uint64_t distinct_so_far,
                             struct rsc_hprda_sums *sums);

#endif
