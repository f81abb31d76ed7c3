/*
 * object_wtinylfu.c - W-TinyLFU (Einziger, Friedman and Manes, 2017), with bytes.
 *
 * New objects enter a window, LRU, of a hundredth of the cache. What falls out of the
 * window is a candidate for the rest: while it does not fit there, the oldest on
 * probation (or, if there is none, of the protected) is evicted if the candidate is
 * requested more often than it; else the candidate is evicted. A hit on probation
 * protects; the protected have 80 % of that part, their oldest go back to probation.
 *
 * Request counts go to 15 and are halved after ten times as many requests as the cache
 * ever held objects. They are kept for every object, where the paper has a sketch of
 * counts that objects share: this is W-TinyLFU with a sketch that makes no errors.
 */
#include "simulate/objects/object_cache.h"

enum { WINDOW = 1, PROBATION, PROTECTED };
enum { COUNT_MAX = 15, SAMPLE = 10 };

static uint64_t window_bytes(const struct rsc_object_cache *cache) {
    return cache->capacity / 100 ? cache->capacity / 100 : 1;
}
static uint64_t main_bytes(const struct rsc_object_cache *cache) { return cache->capacity - window_bytes(cache); }

/* Requests for an object, with the halvings since they were counted. */
static uint8_t frequency(const struct rsc_object_cache *cache, uint32_t object) {
    const struct rsc_object_node *node = &cache->nodes[object];
    uint8_t halvings = (uint8_t)(cache->epoch - node->epoch);
    return halvings < 8 ? (uint8_t)(node->count >> halvings) : 0;
}

static void wtinylfu_seen(struct rsc_object_cache *cache, uint32_t object) {
    uint8_t count = frequency(cache, object);
    cache->nodes[object].count = (uint8_t)(count + (count < COUNT_MAX));
    cache->nodes[object].epoch = cache->epoch;
    if (++cache->counted < SAMPLE * (cache->most_residents ? cache->most_residents : 1)) return;
    cache->counted /= 2;
    /* Epochs are compared by their difference, below 256: before it could wrap, all counts are brought up to date. */
    if (++cache->epoch == UINT8_MAX) {
        for (size_t i = 1; i < cache->room; i++) {
            cache->nodes[i].count = frequency(cache, (uint32_t)i);
            cache->nodes[i].epoch = 0;
        }
        cache->epoch = 0;
    }
}

static uint64_t main_used(const struct rsc_object_cache *cache) {
    return cache->lists[PROBATION].bytes + cache->lists[PROTECTED].bytes;
}

static void demote(struct rsc_object_cache *cache) {
    while (cache->lists[PROTECTED].bytes > main_bytes(cache) / 5 * 4)
        rsc_object_move(cache, PROBATION, cache->lists[PROTECTED].oldest);
}

static uint32_t victim(const struct rsc_object_cache *cache) {
    return cache->lists[PROBATION].oldest ? cache->lists[PROBATION].oldest : cache->lists[PROTECTED].oldest;
}

/* The oldest of the window goes to the rest, or out of the cache. */
static void leave_window(struct rsc_object_cache *cache) {
    uint32_t candidate = cache->lists[WINDOW].oldest;
    uint64_t size = cache->nodes[candidate].size;
    int admitted = size <= main_bytes(cache);
    while (admitted && main_used(cache) + size > main_bytes(cache)) {
        admitted = frequency(cache, candidate) > frequency(cache, victim(cache));
        if (!admitted) break;
        rsc_object_drop(cache, victim(cache));
        cache->evictions++;
    }
    if (admitted) {
        rsc_object_move(cache, PROBATION, candidate);
    } else {
        rsc_object_drop(cache, candidate);
        cache->evictions++;
    }
}

static void keep_limits(struct rsc_object_cache *cache) {
    demote(cache);
    while (cache->lists[WINDOW].bytes > window_bytes(cache)) leave_window(cache);
    if (cache->residents > cache->most_residents) cache->most_residents = cache->residents;
}

static void wtinylfu_hit(struct rsc_object_cache *cache, uint32_t object) {
    uint8_t list = cache->nodes[object].list;
    rsc_object_move(cache, list == PROBATION ? PROTECTED : list, object);
    keep_limits(cache);
}

static void wtinylfu_miss(struct rsc_object_cache *cache, uint32_t object) {
    rsc_object_enter(cache, object);
    rsc_object_push(cache, WINDOW, object);
    keep_limits(cache);
    rsc_object_make_room(cache, 0);
}

/* Only where objects outside the window grew. */
static void wtinylfu_evict(struct rsc_object_cache *cache) { rsc_object_drop(cache, victim(cache)); }

const struct rsc_object_policy rsc_object_wtinylfu = {
    .name = "w-tinylfu",
    .what = "W-TinyLFU: a window, then admission by frequency",
    .hit = wtinylfu_hit,
    .miss = wtinylfu_miss,
    .evict = wtinylfu_evict,
    .drop = rsc_object_drop,
    .seen = wtinylfu_seen,
};
