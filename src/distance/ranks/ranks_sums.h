/*
 * ranks_sums.h - sums the counts of several ranks: each rank adds the counts of the
 * ranks after it to its own and passes them on, down to rank 0. Also gives common
 * numbers to threads of ranks with their own traces.
 */
#ifndef RSC_DISTANCE_RANKS_RANKS_SUMS_H
#define RSC_DISTANCE_RANKS_RANKS_SUMS_H

#include "distance/count/accumulate.h"
#include "distance/ranks/ranks.h"
#include "trace/source.h"

/* The cost of the exchange, over all ranks so far. */
struct rsc_rank_costs {
    uint64_t first_touches, replayed, sent_bytes; /* sums */
    uint64_t replayed_most;                       /* by one rank */
    double slice_seconds, exchange_seconds;       /* of the slowest */
};

/*
 * Counts a reuse, by thread and kind of access (its slot), whose reference was counted elsewhere; ri 0: not
 * wanted. Returns 0 or RSC_ENOMEM.
 */
int rsc_sums_add_reuse(struct rsc_accumulator *sum, uint32_t thread, uint32_t kind, uint64_t rd, uint64_t ri);
/* The same for a reference that turned out to be cold. */
int rsc_sums_add_cold(struct rsc_accumulator *sum, uint32_t thread, uint32_t kind);

/*
 * Receives the counts of the rank after this one, if any, adds them to sum, threads and
 * costs, and passes everything to the rank before, if any. `threads` has the thread of
 * each number; {0, n} as number n means unknown.
 */
int rsc_sums_hand_on(struct rsc_ranks *ranks, struct rsc_accumulator *sum, struct rsc_thread_table *threads,
                     struct rsc_rank_costs *costs, struct rsc_error *error);

/*
 * For ranks with their own traces: *map (the caller frees it) gives for each number in
 * `threads` its number in all traces together, in order of rank and then of first
 * access; `threads` becomes the table of these, up to this rank's. All ranks call it.
 */
int rsc_sums_common_threads(struct rsc_ranks *ranks, struct rsc_thread_table *threads, uint32_t **map,
                            struct rsc_error *error);

/* Renumbers the rows of `sum` by `map`. Returns 0 or RSC_ENOMEM. */
int rsc_sums_renumber(struct rsc_accumulator *sum, const uint32_t *map);

#endif
