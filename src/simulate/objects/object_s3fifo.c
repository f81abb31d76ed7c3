/*
 * object_s3fifo.c - S3-FIFO (Yang et al., SOSP 2023), with bytes.
 *
 * New objects enter the small queue, ghosts the main one. Hits count up to 3. If the
 * small queue has a tenth of the cache or more (or the main one is empty), its oldest
 * goes: to the main queue, its count 0, if it was hit twice, and on to the next; else
 * out of the cache and to the ghosts. Otherwise the oldest of the main queue goes: with
 * a count it becomes the newest, its count one less, and on to the next; without, it is
 * evicted. Ghosts take at most nine tenths of the cache's bytes.
 */
#include "simulate/objects/object_cache.h"

enum { SMALL = 1, MAIN, GHOSTS };
enum { COUNT_MAX = 3, TO_MAIN = 2 };

static uint64_t small_bytes(const struct rsc_object_cache *cache) { return cache->capacity / 10; }

static void s3fifo_hit(struct rsc_object_cache *cache, uint32_t object) {
    if (cache->nodes[object].count < COUNT_MAX) cache->nodes[object].count++;
}

/* There are too many when one was added, or has grown since. */
static void forget_ghosts(struct rsc_object_cache *cache) {
    while (cache->lists[GHOSTS].bytes > cache->capacity - small_bytes(cache))
        rsc_object_unlink(cache, cache->lists[GHOSTS].oldest);
}

/* Returns whether an object left the cache: all of the small queue may have moved to the main one. */
static int evict_small(struct rsc_object_cache *cache) {
    int left = 0;
    for (uint32_t object; !left && (object = cache->lists[SMALL].oldest);) {
        if (cache->nodes[object].count >= TO_MAIN) {
            cache->nodes[object].count = 0;
            rsc_object_move(cache, MAIN, object);
            continue;
        }
        rsc_object_leave(cache, object);
        rsc_object_move(cache, GHOSTS, object);
        left = 1;
    }
    forget_ghosts(cache);
    return left;
}

static void evict_main(struct rsc_object_cache *cache) {
    uint32_t object;
    while (cache->nodes[object = cache->lists[MAIN].oldest].count) {
        cache->nodes[object].count--;
        rsc_object_move(cache, MAIN, object);
    }
    rsc_object_drop(cache, object);
}

static void s3fifo_evict(struct rsc_object_cache *cache) {
    const struct rsc_object_list *small = &cache->lists[SMALL];
    int from_small = small->oldest && (small->bytes >= small_bytes(cache) || !cache->lists[MAIN].oldest);
    if (!from_small || !evict_small(cache)) evict_main(cache);
}

static void s3fifo_miss(struct rsc_object_cache *cache, uint32_t object) {
    rsc_object_make_room(cache, cache->nodes[object].size);
    int ghost = cache->nodes[object].list == GHOSTS; /* after making room, which may have forgotten it */
    if (ghost) rsc_object_unlink(cache, object);
    cache->nodes[object].count = 0;
    rsc_object_enter(cache, object);
    rsc_object_push(cache, ghost ? MAIN : SMALL, object);
}

const struct rsc_object_policy rsc_object_s3fifo = {
    .name = "s3-fifo",
    .what = "S3-FIFO: a small queue, a main queue and ghosts",
    .hit = s3fifo_hit,
    .miss = s3fifo_miss,
    .evict = s3fifo_evict,
    .drop = rsc_object_drop,
};
