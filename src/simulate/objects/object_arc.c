/*
 * object_arc.c - ARC (Megiddo and Modha, FAST 2003), with bytes where the paper has pages.
 *
 * T1 holds objects requested once, T2 those requested again, B1 and B2 the ghosts of
 * each. T1 aims at `target` bytes: a request for a ghost of B1 raises the target by the
 * object's size times max(1, B2/B1), one of B2 lowers it by its size times max(1, B1/B2).
 * T1 + B1 stay within the cache's size, all four within twice that.
 */
#include "simulate/objects/object_cache.h"

enum { T1 = 1, T2, B1, B2 };

/* Evicts from T1 or T2 into its ghosts; at equality from T1 only if the request is for a ghost of B2. */
static void replace(struct rsc_object_cache *cache, int for_b2) {
    uint64_t t1 = cache->lists[T1].bytes;
    int from_t1 = t1 && (!cache->lists[T2].oldest || t1 > cache->target || (for_b2 && t1 == cache->target));
    uint32_t object = cache->lists[from_t1 ? T1 : T2].oldest;
    rsc_object_leave(cache, object);
    rsc_object_move(cache, from_t1 ? B1 : B2, object);
}

static void arc_evict(struct rsc_object_cache *cache) { replace(cache, 0); }

static void arc_hit(struct rsc_object_cache *cache, uint32_t object) { rsc_object_move(cache, T2, object); }

/* size * max(1, others / own) */
static uint64_t step(uint64_t size, uint64_t others, uint64_t own) {
    if (others <= own) return size;
    unsigned __int128 scaled = (unsigned __int128)size * others / own;
    return scaled > UINT64_MAX / 2 ? UINT64_MAX / 2 : (uint64_t)scaled;
}

static void adapt(struct rsc_object_cache *cache, uint8_t ghosts, uint64_t size) {
    uint64_t b1 = cache->lists[B1].bytes, b2 = cache->lists[B2].bytes;
    if (ghosts == B1) {
        uint64_t by = step(size, b2, b1), room = cache->capacity - cache->target;
        cache->target += by < room ? by : room;
    } else {
        uint64_t by = step(size, b1, b2);
        cache->target -= by < cache->target ? by : cache->target;
    }
}

static void forget_oldest(struct rsc_object_cache *cache, uint8_t ghosts) {
    rsc_object_unlink(cache, cache->lists[ghosts].oldest);
}

static void arc_miss(struct rsc_object_cache *cache, uint32_t object) {
    const struct rsc_object_list *lists = cache->lists;
    uint64_t size = cache->nodes[object].size;
    uint8_t ghosts = cache->nodes[object].list;
    if (ghosts) {
        adapt(cache, ghosts, size);
        rsc_object_unlink(cache, object);
    } else {
        while (lists[T1].bytes + lists[B1].bytes + size > cache->capacity && lists[B1].oldest) forget_oldest(cache, B1);
        for (; lists[T1].bytes + size > cache->capacity; cache->evictions++) rsc_object_drop(cache, lists[T1].oldest);
        while (lists[T1].bytes + lists[T2].bytes + lists[B1].bytes + lists[B2].bytes + size > 2 * cache->capacity &&
               lists[B2].oldest)
            forget_oldest(cache, B2);
    }
    for (; cache->used + size > cache->capacity; cache->evictions++) replace(cache, ghosts == B2);
    rsc_object_enter(cache, object);
    rsc_object_push(cache, ghosts ? T2 : T1, object);
}

const struct rsc_object_policy rsc_object_arc = {
    .name = "arc",
    .what = "ARC: recency and frequency, balanced by what was evicted too early",
    .hit = arc_hit,
    .miss = arc_miss,
    .evict = arc_evict,
    .drop = rsc_object_drop,
};
