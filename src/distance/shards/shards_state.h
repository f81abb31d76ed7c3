/*
 * shards_state.h - the state of the engines of engine_shards.c, and the step from
 * kept references to counts.
 */
#ifndef RSC_DISTANCE_SHARDS_SHARDS_STATE_H
#define RSC_DISTANCE_SHARDS_SHARDS_STATE_H

#include "distance/shards/line_filter.h"
#include "distance/shards/kept_sum.h"
#include "distance/shards/sampled_stack.h"

#define RSC_SHARDS_KEPT 1024u

struct rsc_hash_node {
    uint64_t hash;
    uint32_t node;
};

#define RSC_SHARDS_FIRST UINT64_MAX

/* What is to be counted of kept references, in order; arrays of `room`. */
struct rsc_shards_found {
    uint64_t *distance; /* RSC_SHARDS_FIRST: of a first use */
    uint64_t *interval;
    uint32_t *group, *thread; /* of the line; that used it */
    uint32_t count, room;
};

struct rsc_shards {
    struct rsc_line_filter filter;
    struct rsc_sampled_stack stack;
    struct rsc_kept_sum sum;
    double rate, weight;        /* weight = 1/rate */
    uint32_t lines_most;        /* 0: no bound, a fixed rate */
    struct rsc_hash_node *heap; /* with a bound: lines held, greatest hash first; lines_most + 1 of them */
    uint32_t lines_peak;        /* most lines held between references */

    struct rsc_kept kept; /* columns of the filter's last output */
    uint64_t kept_line[RSC_SHARDS_KEPT], kept_hash[RSC_SHARDS_KEPT], kept_time[RSC_SHARDS_KEPT];
    uint32_t kept_from[RSC_SHARDS_KEPT];
    int (*take)(struct rsc_shards *, const uint64_t *);
    int (*place)(struct rsc_shards *, const struct rsc_kept *, uint64_t, struct rsc_shards_found *);
    void (*count)(struct rsc_shards *, const struct rsc_shards_found *);
};

/* Keeps hashes up to `limit`, all of them for UINT64_MAX. Returns 0 or RSC_ENOMEM; a zeroed struct may be freed. */
int rsc_shards_init(struct rsc_shards *shards, enum rsc_simd simd, uint32_t line_shift, uint64_t seed, uint64_t limit,
                    uint32_t lines_most, uint64_t rd_cap);
void rsc_shards_free(struct rsc_shards *shards);

/* Counts the references in `kept`; meta is the column of their batch. Returns 0, RSC_ENOMEM or RSC_ELIMIT. */
static inline int rsc_shards_take(struct rsc_shards *shards, const uint64_t *meta) {
    return shards->take(shards, meta);
}

/*
 * The same in two steps, for a fixed rate: moving lines and finding distances, and counting these, which another thread may
 * do meanwhile. `before` is added to the times. `found` has room for all, and its threads; place() sets the rest.
 */
static inline int rsc_shards_place(struct rsc_shards *shards, const struct rsc_kept *kept, uint64_t before,
                                   struct rsc_shards_found *found) {
    return shards->place(shards, kept, before, found);
}
static inline void rsc_shards_count(struct rsc_shards *shards, const struct rsc_shards_found *found) {
    shards->count(shards, found);
}

/* With a bound: records a line just added, and drops the one with the greatest hash if there are too many. */
void rsc_shards_bound(struct rsc_shards *shards, uint64_t hash, uint32_t node);

/* Bytes that grow with the sample, at most. */
uint64_t rsc_shards_peak_bytes(const struct rsc_shards *shards);

/* shards_kernel.c per width. */
typedef int rsc_shards_take_fn(struct rsc_shards *, const uint64_t *);
RSC_WIDE_DECLARE(rsc_shards_take_fn, rsc_shards_take);
typedef int rsc_shards_place_fn(struct rsc_shards *, const struct rsc_kept *, uint64_t, struct rsc_shards_found *);
RSC_WIDE_DECLARE(rsc_shards_place_fn, rsc_shards_place);
typedef void rsc_shards_count_fn(struct rsc_shards *, const struct rsc_shards_found *);
RSC_WIDE_DECLARE(rsc_shards_count_fn, rsc_shards_count);

#endif
