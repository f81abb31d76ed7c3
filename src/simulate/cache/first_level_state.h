/*
 * first_level_state.h - the inside of the fast first level.
 *
 * A single worker alternates between gathering into one list and serving it. Several workers proceed in *rounds*
 * of up to half a million accesses. A round's accesses are cut into *shares*, which free workers take; a worker
 * distributes the references it gathers to its own lists, one per part of the sets. In the next round every
 * worker first serves one part from all these lists, in the order of the shares, then helps to gather: so no
 * worker waits in the middle of a round. This needs two sets of lists, the *sides*.
 *
 * The caller gathers small batches and long accesses into a last share of the side, the *tail*.
 */
#ifndef RSC_SIMULATE_CACHE_FIRST_LEVEL_STATE_H
#define RSC_SIMULATE_CACHE_FIRST_LEVEL_STATE_H

#include <stdatomic.h>

#include "simulate/cache/first_level.h"
#include "simulate/cache/first_level_parts.h"

#define RSC_FAST_TILE_ROOM (RSC_FAST_TILE * RSC_FAST_SPAN)
#define RSC_FAST_ROUND (1u << 19) /* accesses */
#define RSC_FAST_SHARE (1u << 14)
#define RSC_FAST_SHARES (RSC_FAST_ROUND / RSC_FAST_SHARE)

/* Part of the accesses of a round, and what they became. */
struct rsc_fast_share {
    uint32_t first, end; /* accesses of the batch */
    uint32_t stop;       /* where gathering stopped: end, or before an access that could not be gathered */
    uint32_t seat;       /* the seat whose lists hold its references */
    struct rsc_fast_counts counts;
    struct {
        uint32_t from, to;
    } part[RSC_FAST_PARTS_MAX]; /* of that seat's list of the part */
};

struct rsc_fast_side {
    struct rsc_fast_list *lists; /* owned: of each seat and, last, of the tail; by part */
    struct rsc_fast_share shares[RSC_FAST_SHARES];
    uint32_t share_count;
};

/* A worker's gather state and the part it serves. A thread keeps its seat, so that both stay in one processor's
 * caches. */
struct rsc_fast_seat {
    struct rsc_fast_gather gather;
    atomic_uintptr_t who; /* the thread that had it last; 0: none */
    atomic_int taken; /* in this round */
} __attribute__((aligned(128)));

struct rsc_first_level {
    struct rsc_sim *sim;
    struct rsc_hierarchy *hierarchy;
    rsc_fast_gather_tile *gather_tile;
    rsc_fast_serve *serve;
    uint32_t part_count; /* as many as workers */
    struct rsc_fast_part *parts; /* owned */
    struct rsc_fast_seat *seats; /* owned: as many as parts */
    struct rsc_fast_gather tail; /* for accesses outside rounds; with one part, for all */
    uint32_t list_room;
    int unified;
    int fetch_level, data_level; /* -1: none */

    /* With several parts: */
    struct rsc_fast_side sides[2];
    uint32_t side; /* the side with gathered references not yet served */
    const struct rsc_batch *batch; /* of the round */
    atomic_uint next_share; /* of the other side: the next to gather */
};

/* Whether there is room for a tile's references. */
static inline int rsc_fast_has_room(const struct rsc_first_level *level, const struct rsc_fast_gather *gather) {
    return (gather->dealt ? gather->fullest : gather->list.used) + RSC_FAST_TILE_ROOM <= level->list_room;
}

/* Clears `recent`: the next references do not follow the last ones gathered here. */
void rsc_fast_forget_recent(struct rsc_fast_gather *gather);

/* Serves all that is gathered. */
void rsc_fast_serve_all(struct rsc_first_level *level);

/*
 * Runs a round: serves the references already gathered, and gathers from accesses first..end-1. Returns where it
 * stopped: after a round's worth, or before a long access.
 */
uint32_t rsc_fast_round(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first, uint32_t end);

/* Gathers from `first` on, until there is no room, the end, or a long access. Returns where it stopped. */
uint32_t rsc_fast_gather_some(struct rsc_first_level *level, struct rsc_fast_gather *gather,
                              const struct rsc_batch *batch, uint32_t first, uint32_t end);

/* Adds the counts of accesses, which are counted while gathering, to those of the levels. */
void rsc_fast_take_counts(struct rsc_first_level *level, struct rsc_fast_counts *counts);

#endif
