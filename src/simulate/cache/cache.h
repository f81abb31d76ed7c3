/*
 * cache.h - one cache: where its blocks are, and which one is evicted.
 *
 * Callers pass block numbers (address >> log2 of the block size). A lookup is two
 * steps, so that a hierarchy decides what happens on a miss:
 *
 *     uint64_t set = rsc_cache_set_of(cache, block);
 *     int way = rsc_cache_find(cache, set, block);
 *     if (way >= 0) way = rsc_cache_touch(cache, set, way);
 *     else way = rsc_cache_fill(cache, set, block, flags, &evicted);
 *
 * An entry is block << 4 | flags; 0 is empty. LRU and FIFO keep the entries
 * of a set in order, most recent first, so ways move; the other policies keep
 * blocks where they were filled.
 */
#ifndef RSC_SIMULATE_CACHE_CACHE_H
#define RSC_SIMULATE_CACHE_CACHE_H

#include "simulate/cache/cache_config.h"
#include "simulate/cache/miss_classes.h"
#include "simulate/cache/request.h"

#define RSC_ENTRY_DIRTY 1u
#define RSC_ENTRY_VALID 2u
#define RSC_ENTRY_SHARED 4u /* MESI: others may have it too; dirty: M, neither: E */
#define RSC_ENTRY_PREFETCHED 8u /* and not asked for since */
#define RSC_ENTRY_SHIFT 4

/* A frame's times, for the generations of paper 001's INITMR. In the unit of `now`, usually instructions. */
struct rsc_frame_times {
    uint64_t fill, last; /* last: of the newest reference */
};

/*
 * What an access did to its set, for sampling: passed to the watch of a cache after
 * the access. Write-backs from above are reported too (kind RSC_WRITE, write_back 1).
 */
struct rsc_cache_seen {
    uint64_t set;
    uint64_t block;
    uint8_t hit;
    uint8_t at_mru;     /* the hit was on the most recently used block (LRU and FIFO: first in order) */
    uint8_t set_was_full;
    uint8_t write_back; /* not a demand access */
    uint8_t evicted;    /* a block was evicted: `gone` has its times */
    uint8_t kind;       /* enum rsc_kind of the access behind it */
    struct rsc_frame_times gone;
    uint64_t now;
};

struct rsc_cache_watch {
    void (*seen)(void *user, const struct rsc_cache_seen *seen);
    void *user;
};

/* A stream that the prefetcher follows; used 0: none. */
struct rsc_cache_stream {
    uint64_t last; /* block */
    uint64_t used; /* the prefetcher's clock */
    int direction; /* 1, -1, or 0: one block seen so far */
};

/* The sectors of a block, the first in bit 0. The entry is dirty if one of them is. */
struct rsc_sectors {
    uint64_t valid, dirty;
};

struct rsc_cache {
    struct rsc_cache_config config;
    uint64_t sets;
    uint32_t ways;
    uint32_t block_shift;
    uint32_t index_bits;  /* log2 of the sets, if they are a power of two */
    int power_of_two;     /* the number of sets is one */
    int ordered;          /* LRU, FIFO: entries in order */
    const uint64_t *pids; /* process id of each address space, by the top 16 bits of an address; NULL: none */
    uint64_t seed;
    uint64_t *entries; /* owned: sets * ways */
    uint8_t *state;    /* owned: a byte per way; reference bits, predictions or tree nodes. NULL if not needed */
    uint64_t *random;  /* owned: a generator's state per set. NULL if not needed */
    uint16_t *used;    /* owned: valid entries of each set */
    int32_t psel;      /* DRRIP's duel */
    uint64_t filled;   /* valid entries in all */

    /* Only for Belady's optimum: the next use of each entry, and of the requested block. */
    uint64_t *next_use; /* owned; NULL: another policy */
    uint64_t coming;

    /* Only with sectors: */
    struct rsc_sectors *sectors; /* owned: beside entries; NULL: blocks are whole */
    uint32_t sector_shift;
    struct rsc_sectors gone_sectors; /* of the block that the last fill evicted */

    /* Beside the cache, if configured: */
    uint64_t *victims;          /* owned: entries of the victim cache, the newest first */
    uint32_t victim_count;
    struct rsc_request *writes; /* owned: the write buffer, the oldest first */
    uint32_t write_count;
    struct rsc_cache_stream *streams; /* owned: of the stream prefetcher */
    uint64_t stream_clock;
    struct rsc_shadow *shadow; /* owned: classifies misses; NULL: not requested */

    /* Only in a watched cache: */
    struct rsc_cache_watch watch;
    struct rsc_frame_times *times; /* owned: beside entries; NULL: not watched */
    struct rsc_frame_times gone;   /* of the block that the last fill evicted */
    uint64_t now;                  /* the caller's clock */
};

/* pids may be NULL and must outlive the cache. */
int rsc_cache_init(struct rsc_cache *cache, const struct rsc_cache_config *config, uint64_t seed, const uint64_t *pids,
                   struct rsc_error *error);
void rsc_cache_free(struct rsc_cache *cache);

/* Back to empty, as after init. */
void rsc_cache_empty(struct rsc_cache *cache);

/* Reports every access from here on to `watch` (copied), and keeps the times of frames. */
int rsc_cache_set_watch(struct rsc_cache *cache, const struct rsc_cache_watch *watch, struct rsc_error *error);

uint64_t rsc_cache_set_of(const struct rsc_cache *cache, uint64_t block);

/* The way of a block, or -1. */
int rsc_cache_find(const struct rsc_cache *cache, uint64_t set, uint64_t block);

/* Updates the policy after a hit on that way. Returns the way the block is in now. */
int rsc_cache_touch(struct rsc_cache *cache, uint64_t set, int way);

/* Inserts a block; *evicted is the entry it replaced, 0 if there was room. Returns its way. */
int rsc_cache_fill(struct rsc_cache *cache, uint64_t set, uint64_t block, unsigned flags, uint64_t *evicted);

/* Removes the entry in that way and returns it. */
uint64_t rsc_cache_remove(struct rsc_cache *cache, uint64_t set, int way);

/* Removes a block from the cache or its victim cache. Returns its entry, 0 if it is in neither. */
uint64_t rsc_cache_take(struct rsc_cache *cache, uint64_t block);

/* Classifies misses from here on. */
int rsc_cache_classify(struct rsc_cache *cache, struct rsc_error *error);

static inline uint64_t *rsc_cache_entry(struct rsc_cache *cache, uint64_t set, int way) {
    return &cache->entries[set * cache->ways + (uint64_t)way];
}
static inline uint64_t rsc_entry_block(uint64_t entry) { return entry >> RSC_ENTRY_SHIFT; }

static inline struct rsc_sectors *rsc_cache_sectors(struct rsc_cache *cache, uint64_t set, int way) {
    return &cache->sectors[set * cache->ways + (uint64_t)way];
}

/* Number of dirty entries, including the victim cache's; of dirty sectors, if there are sectors. */
uint64_t rsc_cache_count_dirty(const struct rsc_cache *cache);

#endif
