/*
 * first_level_parts.h - data structures of the loops in first_level_kernel.c.
 *
 * A *reference* is block << 2 | kind. With several workers the sets of all caches are
 * divided by address bits that every index contains. The *parts* are independent, so
 * each worker simulates its part of the whole hierarchy, with its own counts.
 */
#ifndef RSC_SIMULATE_CACHE_FIRST_LEVEL_PARTS_H
#define RSC_SIMULATE_CACHE_FIRST_LEVEL_PARTS_H

#include "base/cpu.h"
#include "simulate/cache/hierarchy.h"

#define RSC_FAST_TILE 512u /* accesses gathered between checks for room */
#define RSC_FAST_SPAN 8u   /* an access of more blocks is served by itself */
#define RSC_FAST_WAYS_MAX 16u
#define RSC_FAST_PARTS_MAX 16u

struct rsc_fast_list {
    uint64_t *references; /* owned */
    uint32_t used;
};

struct rsc_fast_counts {
    uint64_t references, fetches, writes, left_out;
};

/*
 * References gathered from some accesses. With several parts each tile is distributed to a list per part
 * while it is in the cache, so that a worker later reads only its own part from other workers' lists.
 */
struct rsc_fast_gather {
    uint32_t shift;      /* log2 of the block size */
    uint32_t skip;       /* kinds that no cache takes: RSC_KIND_BIT()s */
    uint32_t unified;    /* one cache for all kinds */
    uint64_t addr_mask, addr_space; /* an address is (addr & mask) | space: all of a tile are of one process */
    uint64_t last[2];    /* of fetches (and all, unified), of data: block << 1 | write */
    struct rsc_fast_counts counts;
    uint64_t *tile;      /* owned: what a tile's accesses became, RSC_FAST_TILE * RSC_FAST_SPAN at most */
    uint32_t tile_used;
    uint32_t recent_mask; /* slots - 1; a slot covers at least one set */
    uint64_t *recent;    /* owned: the last reference to each slot, of data and, at odd places, of fetches */
    struct rsc_fast_list list; /* those that change something, in order; with several parts those of one tile */
    uint32_t part_shift, part_mask; /* of a block, to its part; parts - 1 */
    struct rsc_fast_list *dealt;    /* by part; NULL: one part */
    uint32_t fullest;               /* most used of these */
};

/* The fields of a first-level cache that the loop needs. */
struct rsc_fast_cache {
    uint64_t *entries; /* the cache's own */
    uint64_t mask;     /* sets - 1 */
    uint32_t ways;
    uint32_t shift;    /* log2 of the block size */
    int level;         /* its number in the hierarchy */
    struct rsc_cache *cache;
};

struct rsc_fast_part {
    struct rsc_hierarchy *hierarchy; /* with the counts of this part */
    struct rsc_hierarchy own;        /* with several parts, `hierarchy` points here */
    struct rsc_cache copies[RSC_SIM_LEVELS_MAX + 1]; /* its caches: the same arrays */
    struct rsc_fast_cache caches[2]; /* [0] for fetches, [1] for data; both the same, unified */
    uint32_t all_ways;               /* of both, where they are the same; else 0 */
    /* Levels below of the same kind, by number; without entries: serve them one request at a time. */
    struct rsc_fast_cache lower[RSC_SIM_LEVELS_MAX + 1];
};

/*
 * Gathers accesses first..end-1, RSC_FAST_TILE at most; every list must have room for
 * RSC_FAST_TILE * RSC_FAST_SPAN more. Stops before an access that spans too many blocks; returns where it stopped.
 */
typedef uint32_t rsc_fast_gather_tile(struct rsc_fast_gather *gather, const struct rsc_batch *batch, uint32_t first,
                                      uint32_t end);
/* Serves references, all of the part. */
typedef void rsc_fast_serve(struct rsc_fast_part *part, const uint64_t *references, uint32_t count);

RSC_WIDE_DECLARE(rsc_fast_gather_tile, rsc_fast_gather);
RSC_WIDE_DECLARE(rsc_fast_serve, rsc_fast_serve);

#endif
