/*
 * cache_config.h - what a simulated cache looks like, and a hierarchy of them.
 *
 * The text of a cache:
 *
 *     SIZE,WAYS,BLOCK[,POLICY][,WORD...]        4M,16,128,lru,private
 *
 * POLICY: lru (default), random, fifo, plru, nru, srrip, brrip, drrip, opt.
 * Words: wt (write-through; wb, write-back, is the default), nwa (a write that
 * misses is passed on, not allocated), inclusive, private (one per thread),
 * per=N (one for every N threads, by thread number), pid (index hashed with the
 * process id, as paper 001 does), pages (index from simulated physical pages),
 * prefetch or prefetch=N (of the next 1 or N blocks on a miss), stream=N (a stream
 * prefetcher that follows N streams) with depth=D (blocks ahead, 4), victim=N (a victim cache of N blocks),
 * buffer=N (a write buffer of N blocks towards the next level), sector=N (sub-blocks: a
 * miss fetches only the sectors of N bytes it touches; each has its own valid and dirty bit).
 */
#ifndef RSC_SIMULATE_CACHE_CACHE_CONFIG_H
#define RSC_SIMULATE_CACHE_CACHE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>
#include <reusescope/trace.h>

#include "profile/sim_result.h"
#include "simulate/cache/tlb_config.h"

enum rsc_indexing {
    RSC_INDEX_VIRTUAL, /* block number modulo the number of sets: bit selection if that is a power of two */
    RSC_INDEX_PID,     /* the upper eight index bits XOR the process id (fewer if the index has fewer) */
    RSC_INDEX_PAGES,   /* pages of 4 KiB are scattered over physical memory; the index comes from there */
};

#define RSC_SIM_PAGE_SHIFT 12

struct rsc_cache_config {
    char name[8];    /* of rsc_cache_names */
    unsigned level;  /* from 1 */
    unsigned kinds;  /* RSC_KIND_BIT()s of the accesses it serves */
    uint64_t size_bytes;
    uint32_t ways;
    uint32_t block_bytes; /* a power of two */
    uint32_t sector_bytes; /* a power of two that cuts a block into at most 64; 0: blocks are whole */
    enum rsc_policy policy;
    enum rsc_indexing indexing;
    uint32_t threads_each; /* threads per cache; 0: one cache for all */
    uint8_t write_through;
    uint8_t no_write_allocate;
    uint8_t inclusive; /* a block it evicts is removed from the caches above too */
    uint32_t prefetch_next; /* blocks fetched after one that missed; 0: none */
    uint32_t streams;       /* that its prefetcher follows; 0: no stream prefetcher */
    uint32_t stream_depth;  /* blocks it fetches ahead */
    uint32_t victim_blocks; /* 0: no victim cache */
    uint32_t buffer_blocks; /* 0: no write buffer */
};

/* Whether it fetches blocks that were not requested. */
static inline int rsc_cache_prefetches(const struct rsc_cache_config *config) {
    return config->prefetch_next || config->streams;
}

/*
 * Every power-of-two size from low to high, each with 1, 2, 4, ... ways_max ways, LRU
 * and write-back: "all:256K-64M[,WAYS[,BLOCK]]"; the default is up to 16 ways and
 * 64-byte blocks. They see the requests to the primary cache of their name or, if
 * there is none, of the level above.
 */
struct rsc_all_config {
    char name[8];
    unsigned level, kinds;
    uint64_t low_bytes, high_bytes; /* powers of two */
    uint32_t ways_max, block_bytes; /* powers of two */
};

#define RSC_SIM_ALLS_MAX 8
#define RSC_SIM_LEVELS_MAX 6
#define RSC_SIM_CACHES_MAX 64 /* of one hierarchy, alternatives too */
#define RSC_SECTORS_MAX 64

/* "l1", "l1i", "l1d", "l2" to "l6": in the order of results. */
#define RSC_CACHE_NAMES (RSC_SIM_LEVELS_MAX + 2)
extern const char *const rsc_cache_names[RSC_CACHE_NAMES];

/*
 * Caches in order of level, instruction cache before data cache. If several have
 * the same name, the first is the primary one: the levels below see its misses. The
 * others are alternatives that see the same requests.
 */
struct rsc_sim_config {
    struct rsc_cache_config caches[RSC_SIM_CACHES_MAX];
    size_t count;
    struct rsc_all_config alls[RSC_SIM_ALLS_MAX];
    size_t all_count;
    struct rsc_tlb_config tlbs[RSC_SIM_TLBS_MAX];
    size_t tlb_count;
    uint64_t pages; /* page sizes to simulate, each by itself: the sum of their bytes; 0: no TLBs */
    uint64_t seed; /* of random, brrip, drrip and page-mapped indexing */
    int coherent;  /* MESI between the private caches of different threads */
};

static inline uint64_t rsc_cache_sets(const struct rsc_cache_config *config) {
    return config->size_bytes / ((uint64_t)config->ways * config->block_bytes);
}

/* Parses the text of a cache called `name`. RSC_EINVAL names what is wrong: "--l2 3M,16,100: ...". */
int rsc_cache_config_parse(struct rsc_cache_config *config, const char *name, const char *text,
                           struct rsc_error *error);

/* Recognises and parses a text of the form "all:...". */
int rsc_all_config_is(const char *text);
int rsc_all_config_parse(struct rsc_all_config *config, const char *name, const char *text, struct rsc_error *error);

/*
 * Whether the sets of the cache are independent, so that some can be simulated without
 * the others. Not with prefetching, victim caches, write buffers or DRRIP.
 */
int rsc_cache_sets_independent(const struct rsc_cache_config *config);

/* Writes the text in its shortest form: "4M,16,128,lru". Returns its length. */
size_t rsc_cache_config_text(const struct rsc_cache_config *config, char *text, size_t room);

/* Name and text, for results. */
struct rsc_cache_label rsc_cache_config_label(const struct rsc_cache_config *config);

/* The primary cache of that name, or NULL. */
const struct rsc_cache_config *rsc_sim_config_primary(const struct rsc_sim_config *sim, const char *name);

/* Appends a cache in its place. RSC_ELIMIT when there are too many. */
int rsc_sim_config_add(struct rsc_sim_config *sim, const struct rsc_cache_config *cache, struct rsc_error *error);

int rsc_sim_config_add_tlb(struct rsc_sim_config *sim, const struct rsc_tlb_config *tlb, struct rsc_error *error);

/* Finds a cache smaller than a primary one above it, usually a mistake. Prefers an inclusive one, which cannot be
 * inclusive then. */
int rsc_sim_config_small_below(const struct rsc_sim_config *sim, const struct rsc_cache_config **below,
                               const struct rsc_cache_config **above);

/* Checks that the caches make a hierarchy: no level missing, split or unified first level, no contradictions. */
int rsc_sim_config_check(const struct rsc_sim_config *sim, struct rsc_error *error);

#endif
