/*
 * object_heap.c - policies that evict the least by a key: LFU and Belady. The residents
 * are a binary heap with the least at its root.
 *
 * LFU     the fewest hits since it entered; among those, the one whose last hit or
 *         insertion is longest ago.
 * Belady  the next use farthest in the future; among objects never used again, the one
 *         seen first. The optimum for objects of one size; with several sizes, other
 *         policies can miss less.
 */
#include "simulate/objects/object_cache.h"

static int less(const struct rsc_object_cache *cache, uint32_t a, uint32_t b) {
    const struct rsc_object_key *one = &cache->keys[a], *other = &cache->keys[b];
    return one->first != other->first ? one->first < other->first : one->second < other->second;
}

static void place(struct rsc_object_cache *cache, size_t at, uint32_t object) {
    cache->heap[at] = object;
    cache->keys[object].at = at;
}

/* Moves an object whose key changed to where it belongs. */
static void settle(struct rsc_object_cache *cache, uint32_t object) {
    size_t at = cache->keys[object].at, count = cache->residents;
    while (at && less(cache, object, cache->heap[(at - 1) / 2])) {
        place(cache, at, cache->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && less(cache, cache->heap[child + 1], cache->heap[child])) child++;
        if (!less(cache, cache->heap[child], object)) break;
        place(cache, at, cache->heap[child]);
    }
    place(cache, at, object);
}

static void heap_drop(struct rsc_object_cache *cache, uint32_t object) {
    size_t at = cache->keys[object].at;
    rsc_object_leave(cache, object);
    uint32_t last = cache->heap[cache->residents];
    if (last == object) return;
    place(cache, at, last);
    settle(cache, last);
}

static void heap_evict(struct rsc_object_cache *cache) { heap_drop(cache, cache->heap[0]); }

static void insert(struct rsc_object_cache *cache, uint32_t object) {
    rsc_object_make_room(cache, cache->nodes[object].size);
    rsc_object_enter(cache, object);
    place(cache, cache->residents - 1, object);
    settle(cache, object);
}

static void lfu_hit(struct rsc_object_cache *cache, uint32_t object) {
    cache->keys[object].first++;
    cache->keys[object].second = cache->clock++;
    settle(cache, object);
}

static void lfu_miss(struct rsc_object_cache *cache, uint32_t object) {
    cache->keys[object].first = 0;
    cache->keys[object].second = cache->clock++;
    insert(cache, object);
}

/* The farthest use is the least key. */
static void belady_hit(struct rsc_object_cache *cache, uint32_t object) {
    cache->keys[object].first = ~cache->next_use;
    settle(cache, object);
}

static void belady_miss(struct rsc_object_cache *cache, uint32_t object) {
    cache->keys[object].first = ~cache->next_use;
    cache->keys[object].second = object;
    insert(cache, object);
}

const struct rsc_object_policy rsc_object_lfu = {
    .name = "lfu",
    .what = "least frequently used since it entered",
    .has = RSC_OBJECT_HAS_KEYS,
    .hit = lfu_hit,
    .miss = lfu_miss,
    .evict = heap_evict,
    .drop = heap_drop,
};
const struct rsc_object_policy rsc_object_belady = {
    .name = "belady",
    .what = "next use farthest in the future; keeps the trace in memory, 12 bytes per request",
    .has = RSC_OBJECT_HAS_KEYS | RSC_OBJECT_HAS_FUTURE,
    .hit = belady_hit,
    .miss = belady_miss,
    .evict = heap_evict,
    .drop = heap_drop,
};
