/* object_cache.c - see object_cache.h: requests, lists, and the table of policies. */
#include "simulate/objects/object_cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct rsc_object_policy *const rsc_object_policies[] = {
    &rsc_object_lru,
    &rsc_object_fifo,
    &rsc_object_clock,
    &rsc_object_sieve,
    &rsc_object_lfu,
    &rsc_object_arc,
    &rsc_object_lirs,
    &rsc_object_s3fifo,
    &rsc_object_wtinylfu,
    &rsc_object_belady,
    NULL,
};

const struct rsc_object_policy *rsc_object_policy_find(const char *name, size_t length) {
    for (const struct rsc_object_policy *const *policy = rsc_object_policies; *policy; policy++)
        if (strlen((*policy)->name) == length && !memcmp((*policy)->name, name, length)) return *policy;
    return NULL;
}

void rsc_object_cache_init(struct rsc_object_cache *cache, const struct rsc_object_policy *policy, uint64_t capacity) {
    *cache = (struct rsc_object_cache){.policy = policy, .capacity = capacity};
}

void rsc_object_cache_free(struct rsc_object_cache *cache) {
    free(cache->nodes);
    free(cache->second);
    free(cache->keys);
    free(cache->heap);
    *cache = (struct rsc_object_cache){0};
}

/* Resizes an array, with zeros in the new part. Returns whether it did. */
static int extend(void *array, size_t old, size_t room, size_t bytes) {
    void **at = array, *larger = realloc(*at, room * bytes);
    if (!larger) return 0;
    memset((char *)larger + old * bytes, 0, (room - old) * bytes);
    *at = larger;
    return 1;
}

int rsc_object_cache_reserve(struct rsc_object_cache *cache, uint32_t last) {
    size_t room = cache->room ? cache->room : 1024;
    if (last < cache->room) return 0;
    while (room <= last) room *= 2;
    if (!extend(&cache->nodes, cache->room, room, sizeof *cache->nodes)) return RSC_ENOMEM;
    if (cache->policy->has & RSC_OBJECT_HAS_SECOND && !extend(&cache->second, cache->room, room, sizeof *cache->second))
        return RSC_ENOMEM;
    if (cache->policy->has & RSC_OBJECT_HAS_KEYS && (!extend(&cache->keys, cache->room, room, sizeof *cache->keys) ||
                                                     !extend(&cache->heap, cache->room, room, sizeof *cache->heap)))
        return RSC_ENOMEM;
    cache->room = room;
    return 0;
}

/* ---- lists ---- */

void rsc_object_push(struct rsc_object_cache *cache, uint8_t list, uint32_t object) {
    struct rsc_object_list *to = &cache->lists[list];
    struct rsc_object_node *node = &cache->nodes[object];
    assert(!node->list);
    node->list = list;
    node->newer = 0;
    node->older = to->newest;
    if (to->newest) cache->nodes[to->newest].newer = object;
    else to->oldest = object;
    to->newest = object;
    to->bytes += node->size;
}

void rsc_object_unlink(struct rsc_object_cache *cache, uint32_t object) {
    struct rsc_object_node *node = &cache->nodes[object];
    struct rsc_object_list *from = &cache->lists[node->list];
    assert(node->list);
    if (node->newer) cache->nodes[node->newer].older = node->older;
    else from->newest = node->older;
    if (node->older) cache->nodes[node->older].newer = node->newer;
    else from->oldest = node->newer;
    from->bytes -= node->size;
    node->list = 0;
}

void rsc_object_move(struct rsc_object_cache *cache, uint8_t list, uint32_t object) {
    rsc_object_unlink(cache, object);
    rsc_object_push(cache, list, object);
}

void rsc_object_enter(struct rsc_object_cache *cache, uint32_t object) {
    assert(!cache->nodes[object].resident);
    cache->nodes[object].resident = 1;
    cache->used += cache->nodes[object].size;
    cache->residents++;
}

void rsc_object_leave(struct rsc_object_cache *cache, uint32_t object) {
    assert(cache->nodes[object].resident);
    cache->nodes[object].resident = 0;
    cache->used -= cache->nodes[object].size;
    cache->residents--;
}

void rsc_object_drop(struct rsc_object_cache *cache, uint32_t object) {
    rsc_object_leave(cache, object);
    rsc_object_unlink(cache, object);
}

/* ---- requests ---- */

void rsc_object_make_room(struct rsc_object_cache *cache, uint64_t bytes) {
    assert(bytes <= cache->capacity);
    while (cache->used + bytes > cache->capacity) {
        cache->policy->evict(cache);
        cache->evictions++;
    }
}

static void resize(struct rsc_object_cache *cache, uint32_t object, uint32_t size) {
    struct rsc_object_node *node = &cache->nodes[object];
    int64_t by = (int64_t)size - node->size;
    if (!by) return;
    if (node->list) cache->lists[node->list].bytes += (uint64_t)by;
    if (node->resident) cache->used += (uint64_t)by;
    node->size = size;
    if (cache->policy->resized) cache->policy->resized(cache, object, by);
}

int rsc_object_cache_request(struct rsc_object_cache *cache, uint32_t object, uint32_t size, uint64_t next_use) {
    const struct rsc_object_policy *policy = cache->policy;
    assert(object && object < cache->room && size);
    if (size > cache->capacity) {
        if (cache->nodes[object].resident) policy->drop(cache, object);
        return 0;
    }
    cache->next_use = next_use;
    if (policy->seen) policy->seen(cache, object);
    resize(cache, object, size);
    if (cache->nodes[object].resident) {
        policy->hit(cache, object);
        rsc_object_make_room(cache, 0);
        return 1;
    }
    policy->miss(cache, object);
    return 0;
}
