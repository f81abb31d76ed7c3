/*
 * ranks_sums.h - the counts of several ranks become one accumulator: each rank adds
 * what the ranks behind it have counted to its own and hands that on, down to rank 0.
 * And threads of ranks with traces of their own get common numbers.
 */
#ifndef RSC_DISTANCE_RANKS_RANKS_SUMS_H
#define RSC_DISTANCE_RANKS_RANKS_SUMS_H

#include "distance/count/accumulate.h"
#include "distance/ranks/ranks.h"
#include "trace/source.h"

/* What the exchange took, over all ranks so far. */
struct rsc_rank_costs {
    uint64_t first_touches, replayed, sent_bytes; /* sums */
    uint64_t replayed_most;                       /* by one rank */
    double slice_seconds, exchange_seconds;       /* of the slowest */
};

/*
 * Counts the reuse, by a thread and a kind of access (its slot), of a reference that was counted as a reference
 * elsewhere; ri 0: not wanted. Returns 0 or RSC_ENOMEM.
 */
int rsc_sums_add_reuse(struct rsc_accumulator *sum, uint32_t thread, uint32_t kind, uint64_t rd, uint64_t ri);
/* The same where it turned out to be cold. */
int rsc_sums_add_cold(struct rsc_accumulator *sum, uint32_t thread, uint32_t kind);

/*
 * Adds what the rank behind hands on, if there is one, into sum, threads and costs, and
 * hands all of it on to the rank before, if there is one. `threads` says who has which
 * number; {0, n} as number n says nothing.
 */
int rsc_sums_hand_on(struct rsc_ranks *ranks, struct rsc_accumulator *sum, struct rsc_thread_table *threads,
                     struct rsc_rank_costs *costs, struct rsc_error *error);

/*
 * Threads of ranks with traces of their own: *map (the caller's to free) says for each
 * number in `threads` which one it is in all traces together, in order of rank and then
 * of first access; `threads` becomes the table of those, up to this rank's. All ranks
 * call it.
 */
int rsc_sums_common_threads(struct rsc_ranks *ranks, struct rsc_thread_table *threads, uint32_t **map,
                            struct rsc_error *error);

/* Gives the rows of `sum` the numbers of `map`. Returns 0 or RSC_ENOMEM. */
int rsc_sums_renumber(struct rsc_accumulator *sum, const uint32_t *map);

#endif
