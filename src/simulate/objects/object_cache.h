/*
 * object_cache.h - a cache of whole objects with sizes, as web, storage and key-value
 * caches are: which objects it holds, and which one it evicts.
 *
 * Objects are numbered 1, 2, 3... by the caller; 0 is none. A cache keeps a node per
 * object it has ever seen, so that finding one is one array access, and links nodes
 * into up to RSC_OBJECT_LISTS queues; an object is in at most one of them, which may
 * be a list of *ghosts*, objects that were evicted and are remembered.
 *
 * Rules for all policies, those of libCacheSim unless noted:
 *   - an object larger than the cache always misses and changes nothing (noted: a
 *     smaller copy that is cached is dropped; libCacheSim counts a hit there);
 *   - a miss evicts until the object fits;
 *   - a hit with another size is a hit; the object takes that size, and if the cache is
 *     too full then, objects are evicted at once (noted: libCacheSim waits for the next miss).
 */
#ifndef RSC_SIMULATE_OBJECTS_OBJECT_CACHE_H
#define RSC_SIMULATE_OBJECTS_OBJECT_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#define RSC_OBJECT_LISTS 5
#define RSC_OBJECTS_MAX (UINT32_MAX - 1)

struct rsc_object_node {
    uint32_t newer, older; /* neighbours in its list */
    uint32_t size;
    uint8_t list;     /* 0: none */
    uint8_t resident; /* in the cache; else unknown or a ghost */
    uint8_t count;    /* what the policy counts: a reference bit, a frequency */
    uint8_t epoch;    /* of that count (W-TinyLFU) */
};

struct rsc_object_list {
    uint32_t newest, oldest;
    uint64_t bytes;
};

/* The second links of LIRS, whose objects are in two orders at a time, and their state. */
struct rsc_object_second {
    uint32_t newer, older;
    uint8_t in_stack, is_lir;
};

/* A place in the heap of LFU and Belady: the object with the least (first, then second) is evicted. */
struct rsc_object_key {
    uint64_t first, second;
    size_t at; /* index in the heap */
};

struct rsc_object_cache {
    const struct rsc_object_policy *policy;
    uint64_t capacity;          /* bytes */
    uint64_t used, residents;   /* bytes and number of objects it holds */
    uint64_t evictions;
    struct rsc_object_node *nodes; /* owned, by object */
    size_t room;                /* of nodes, second and keys */
    struct rsc_object_list lists[RSC_OBJECT_LISTS]; /* from 1 */
    /* Of single policies: */
    uint32_t hand;                     /* SIEVE */
    uint64_t target;                   /* ARC: bytes of T1 to aim at */
    struct rsc_object_second *second;  /* owned; LIRS */
    struct rsc_object_list stack;      /* LIRS: S */
    uint64_t lir_bytes;                /* LIRS */
    struct rsc_object_key *keys;       /* owned; LFU, Belady */
    uint32_t *heap;                    /* owned; `residents` objects */
    uint64_t clock;                    /* LFU: hits and insertions */
    uint64_t next_use;                 /* Belady: of the object requested now */
    uint64_t counted, most_residents;  /* W-TinyLFU: requests since counts were halved; the most objects held */
    uint8_t epoch;                     /* W-TinyLFU: halvings */
};

struct rsc_object_policy {
    const char *name, *what;
    unsigned has; /* RSC_OBJECT_HAS_... */
    void (*hit)(struct rsc_object_cache *cache, uint32_t object);
    /* Makes room for an object of nodes[object].size bytes that fits, and inserts it. */
    void (*miss)(struct rsc_object_cache *cache, uint32_t object);
    void (*evict)(struct rsc_object_cache *cache);                   /* one object of at least one */
    void (*drop)(struct rsc_object_cache *cache, uint32_t object);   /* it is resident; leaves no ghost */
    void (*resized)(struct rsc_object_cache *cache, uint32_t object, int64_t by); /* may be NULL */
    void (*seen)(struct rsc_object_cache *cache, uint32_t object);   /* every request that fits, first; may be NULL */
};

#define RSC_OBJECT_HAS_SECOND 1u
#define RSC_OBJECT_HAS_KEYS 2u
#define RSC_OBJECT_HAS_FUTURE 4u

/* All policies, ending with NULL. */
extern const struct rsc_object_policy *const rsc_object_policies[];

/* The policy of that name, or NULL. */
const struct rsc_object_policy *rsc_object_policy_find(const char *name, size_t length);

void rsc_object_cache_init(struct rsc_object_cache *cache, const struct rsc_object_policy *policy, uint64_t capacity);
void rsc_object_cache_free(struct rsc_object_cache *cache);

/* Makes room for objects up to `last`. Returns 0 or RSC_ENOMEM. */
int rsc_object_cache_reserve(struct rsc_object_cache *cache, uint32_t last);

/* Serves a request of at least one byte; next_use is only for Belady (UINT64_MAX: never). Returns whether it hit. */
int rsc_object_cache_request(struct rsc_object_cache *cache, uint32_t object, uint32_t size, uint64_t next_use);

/* ---- for policies ---- */

void rsc_object_push(struct rsc_object_cache *cache, uint8_t list, uint32_t object); /* as its newest */
void rsc_object_unlink(struct rsc_object_cache *cache, uint32_t object);
void rsc_object_move(struct rsc_object_cache *cache, uint8_t list, uint32_t object); /* unlink and push */

void rsc_object_enter(struct rsc_object_cache *cache, uint32_t object); /* it is resident now */
void rsc_object_leave(struct rsc_object_cache *cache, uint32_t object); /* it is not any more */

/* Evicts until `bytes` more fit. */
void rsc_object_make_room(struct rsc_object_cache *cache, uint64_t bytes);

/* `drop` of policies whose residents are in one list and nothing else. */
void rsc_object_drop(struct rsc_object_cache *cache, uint32_t object);

extern const struct rsc_object_policy rsc_object_lru, rsc_object_fifo, rsc_object_clock, rsc_object_sieve,
    rsc_object_lfu, rsc_object_arc, rsc_object_lirs, rsc_object_s3fifo, rsc_object_wtinylfu, rsc_object_belady;

#endif
