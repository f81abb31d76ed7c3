/*
 * object_queues.c - policies with one queue: LRU, FIFO, CLOCK and SIEVE. A new object
 * enters at the newest end.
 *
 * LRU   evicts the oldest; a hit makes an object the newest.
 * FIFO  evicts the oldest; a hit changes nothing.
 * CLOCK a hit sets an object's bit. The oldest is evicted if its bit is clear; else the
 *       bit is cleared and the object becomes the newest (FIFO with reinsertion).
 * SIEVE a hit sets the bit. A hand moves from the oldest to the newest, and starts again;
 *       it clears bits and evicts the first object whose bit is clear. Objects stay where
 *       they are.
 */
#include "simulate/objects/object_cache.h"

#define QUEUE 1

static void insert(struct rsc_object_cache *cache, uint32_t object) {
    rsc_object_make_room(cache, cache->nodes[object].size);
    cache->nodes[object].count = 0;
    rsc_object_enter(cache, object);
    rsc_object_push(cache, QUEUE, object);
}

static void evict_oldest(struct rsc_object_cache *cache) { rsc_object_drop(cache, cache->lists[QUEUE].oldest); }

static void make_newest(struct rsc_object_cache *cache, uint32_t object) { rsc_object_move(cache, QUEUE, object); }

static void stay(struct rsc_object_cache *cache, uint32_t object) {
    (void)cache;
    (void)object;
}

static void set_bit(struct rsc_object_cache *cache, uint32_t object) { cache->nodes[object].count = 1; }

static void clock_evict(struct rsc_object_cache *cache) {
    const struct rsc_object_list *queue = &cache->lists[QUEUE];
    while (cache->nodes[queue->oldest].count) {
        cache->nodes[queue->oldest].count = 0;
        make_newest(cache, queue->oldest);
    }
    evict_oldest(cache);
}

static void sieve_drop(struct rsc_object_cache *cache, uint32_t object) {
    if (cache->hand == object) cache->hand = cache->nodes[object].newer;
    rsc_object_drop(cache, object);
}

static void sieve_evict(struct rsc_object_cache *cache) {
    uint32_t at = cache->hand ? cache->hand : cache->lists[QUEUE].oldest;
    while (cache->nodes[at].count) {
        cache->nodes[at].count = 0;
        at = cache->nodes[at].newer ? cache->nodes[at].newer : cache->lists[QUEUE].oldest;
    }
    cache->hand = at;
    sieve_drop(cache, at);
}

const struct rsc_object_policy rsc_object_lru = {
    .name = "lru",
    .what = "least recently used",
    .hit = make_newest,
    .miss = insert,
    .evict = evict_oldest,
    .drop = rsc_object_drop,
};
const struct rsc_object_policy rsc_object_fifo = {
    .name = "fifo",
    .what = "first in, first out",
    .hit = stay,
    .miss = insert,
    .evict = evict_oldest,
    .drop = rsc_object_drop,
};
const struct rsc_object_policy rsc_object_clock = {
    .name = "clock",
    .what = "FIFO that reinserts what was hit, one bit per object",
    .hit = set_bit,
    .miss = insert,
    .evict = clock_evict,
    .drop = rsc_object_drop,
};
const struct rsc_object_policy rsc_object_sieve = {
    .name = "sieve",
    .what = "a hand that passes over what was hit, one bit per object",
    .hit = set_bit,
    .miss = insert,
    .evict = sieve_evict,
    .drop = sieve_drop,
};
