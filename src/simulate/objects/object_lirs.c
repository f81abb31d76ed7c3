/*
 * object_lirs.c - LIRS (Jiang and Zhang, SIGMETRICS 2002), with bytes where the paper has
 * blocks.
 *
 * Objects with short reuse distances (LIR) have 99 % of the cache, the other residents
 * (HIR) wait in the queue Q. The stack S orders objects by recency: all LIR ones, and
 * the HIR ones used since the oldest LIR one, evicted ones (ghosts) too. An HIR object
 * requested while in S becomes LIR, and the oldest LIR ones become HIR until their limit
 * holds. The oldest of Q is evicted; if Q is empty, the oldest LIR object is first moved
 * there. S is pruned so that its oldest is LIR. Ghosts take at most twice the bytes of
 * the cache; the first evicted are forgotten first (the paper has no limit).
 */
#include "simulate/objects/object_cache.h"

enum { QUEUE = 1, GHOSTS };

static uint64_t lir_limit(const struct rsc_object_cache *cache) {
    uint64_t hir = cache->capacity / 100;
    return cache->capacity - (hir ? hir : 1);
}

/* ---- the stack ---- */

static void stack_remove(struct rsc_object_cache *cache, uint32_t object) {
    struct rsc_object_second *second = cache->second, *node = &second[object];
    if (!node->in_stack) return;
    if (node->newer) second[node->newer].older = node->older;
    else cache->stack.newest = node->older;
    if (node->older) second[node->older].newer = node->newer;
    else cache->stack.oldest = node->newer;
    node->in_stack = 0;
}

static void stack_push(struct rsc_object_cache *cache, uint32_t object) {
    struct rsc_object_second *second = cache->second, *node = &second[object];
    stack_remove(cache, object);
    *node = (struct rsc_object_second){.older = cache->stack.newest, .in_stack = 1, .is_lir = node->is_lir};
    if (cache->stack.newest) second[cache->stack.newest].newer = object;
    else cache->stack.oldest = object;
    cache->stack.newest = object;
}

static void prune(struct rsc_object_cache *cache) {
    uint32_t object;
    while ((object = cache->stack.oldest) && !cache->second[object].is_lir) {
        if (cache->nodes[object].list == GHOSTS) rsc_object_unlink(cache, object);
        stack_remove(cache, object);
    }
}

/* The oldest LIR object becomes HIR. */
static void demote(struct rsc_object_cache *cache) {
    uint32_t object = cache->stack.oldest;
    cache->second[object].is_lir = 0;
    cache->lir_bytes -= cache->nodes[object].size;
    stack_remove(cache, object);
    rsc_object_push(cache, QUEUE, object);
    prune(cache);
}

static void keep_limit(struct rsc_object_cache *cache) {
    while (cache->lir_bytes > lir_limit(cache)) demote(cache);
}

static void make_lir(struct rsc_object_cache *cache, uint32_t object) {
    cache->second[object].is_lir = 1;
    cache->lir_bytes += cache->nodes[object].size;
    stack_push(cache, object);
}

/* ---- requests ---- */

static void lirs_evict(struct rsc_object_cache *cache) {
    if (!cache->lists[QUEUE].oldest) demote(cache);
    uint32_t object = cache->lists[QUEUE].oldest;
    rsc_object_drop(cache, object);
    if (!cache->second[object].in_stack) return;
    rsc_object_push(cache, GHOSTS, object);
    while (cache->lists[GHOSTS].bytes > 2 * cache->capacity) {
        uint32_t oldest = cache->lists[GHOSTS].oldest;
        rsc_object_unlink(cache, oldest);
        stack_remove(cache, oldest);
    }
}

static void lirs_hit(struct rsc_object_cache *cache, uint32_t object) {
    if (cache->second[object].is_lir) {
        stack_push(cache, object);
        prune(cache);
    } else if (cache->second[object].in_stack) {
        rsc_object_unlink(cache, object);
        make_lir(cache, object);
    } else {
        stack_push(cache, object);
        rsc_object_move(cache, QUEUE, object);
        prune(cache);
    }
    keep_limit(cache);
}

static void lirs_miss(struct rsc_object_cache *cache, uint32_t object) {
    rsc_object_make_room(cache, cache->nodes[object].size);
    int ghost = cache->nodes[object].list == GHOSTS; /* after making room, which may have forgotten it */
    if (ghost) rsc_object_unlink(cache, object);
    rsc_object_enter(cache, object);
    if (ghost || cache->lir_bytes + cache->nodes[object].size <= lir_limit(cache)) {
        make_lir(cache, object);
        keep_limit(cache);
    } else {
        stack_push(cache, object);
        rsc_object_push(cache, QUEUE, object);
        prune(cache);
    }
}

static void lirs_drop(struct rsc_object_cache *cache, uint32_t object) {
    rsc_object_leave(cache, object);
    if (cache->nodes[object].list) rsc_object_unlink(cache, object);
    if (cache->second[object].is_lir) cache->lir_bytes -= cache->nodes[object].size;
    cache->second[object].is_lir = 0;
    stack_remove(cache, object);
    prune(cache);
}

static void lirs_resized(struct rsc_object_cache *cache, uint32_t object, int64_t by) {
    if (cache->second[object].is_lir) cache->lir_bytes += (uint64_t)by;
}

const struct rsc_object_policy rsc_object_lirs = {
    .name = "lirs",
    .what = "LIRS: by the distance between the last two uses",
    .has = RSC_OBJECT_HAS_SECOND,
    .hit = lirs_hit,
    .miss = lirs_miss,
    .evict = lirs_evict,
    .drop = lirs_drop,
    .resized = lirs_resized,
};
