/* coherence.c - see coherence.h. */
#include "simulate/cache/coherence.h"

/* Whether two threads have the same cache at a level. */
static int common(const struct rsc_level *level, uint32_t other_thread, uint32_t thread) {
    uint32_t each = level->config.threads_each;
    return !each || other_thread / each == thread / each;
}

/* Writes a dirty copy back to the first level below it that its owner and the requesting thread share. */
static void write_back(struct rsc_hierarchy *hierarchy, int number, size_t group, uint64_t addr, uint32_t bytes,
                       const struct rsc_request *request) {
    struct rsc_request back = *request;
    uint32_t owner = (uint32_t)group * hierarchy->levels[number].config.threads_each;
    int to = hierarchy->levels[number].below;
    back.addr = addr;
    back.bytes = bytes;
    back.op = RSC_OP_WRITE_BACK;
    hierarchy->levels[number].counts.writebacks++;
    while (to >= 0 && !common(&hierarchy->levels[to], owner, request->thread)) to = hierarchy->levels[to].below;
    if (to >= 0) rsc_hierarchy_request(hierarchy, to, &back);
    else rsc_hierarchy_to_memory(hierarchy, &back);
}

/* Invalidates one block of another thread's cache, or makes it clean and shared. Returns whether it was there. */
static int snoop_block(struct rsc_hierarchy *hierarchy, int number, size_t group, uint64_t block,
                       const struct rsc_request *request) {
    struct rsc_level *level = &hierarchy->levels[number];
    struct rsc_cache *cache = &level->caches[group];
    uint64_t set = rsc_cache_set_of(cache, block);
    int way = rsc_cache_find(cache, set, block);
    if (way < 0) return 0;
    uint64_t *entry = rsc_cache_entry(cache, set, way), was = *entry;
    if (rsc_is_write(request)) {
        rsc_cache_remove(cache, set, way);
        level->counts.invalidated++;
        if (cache->shadow) rsc_shadow_lose(cache->shadow, block);
    } else {
        *entry = (was | RSC_ENTRY_SHARED) & ~(uint64_t)RSC_ENTRY_DIRTY;
    }
    if (was & RSC_ENTRY_DIRTY)
        write_back(hierarchy, number, group, block << cache->block_shift, cache->config.block_bytes, request);
    return 1;
}

static int snoop(struct rsc_hierarchy *hierarchy, uint64_t low, uint64_t high, const struct rsc_request *request) {
    int found = 0;
    for (size_t i = hierarchy->level_count; i-- > 0;) { /* deeper copies are older: write them back first */
        const struct rsc_level *level = &hierarchy->levels[i];
        uint32_t each = level->config.threads_each;
        for (size_t group = 0; each && group < level->cache_count; group++) {
            const struct rsc_cache *cache = &level->caches[group];
            if (group == request->thread / each || !cache->entries) continue;
            for (uint64_t block = low >> cache->block_shift; block <= high >> cache->block_shift; block++)
                found |= snoop_block(hierarchy, (int)i, group, block, request);
        }
    }
    return found;
}

int rsc_coherence_before(struct rsc_hierarchy *hierarchy, struct rsc_cache *cache, uint64_t block,
                         const struct rsc_request *request) {
    uint64_t set = rsc_cache_set_of(cache, block), unit = 1ull << hierarchy->coherence_shift;
    int way = rsc_cache_find(cache, set, block), write = rsc_is_write(request);
    uint64_t shared = way >= 0 ? *rsc_cache_entry(cache, set, way) & RSC_ENTRY_SHARED : 0;
    if (way >= 0 && (!write || !shared)) return shared != 0;
    uint64_t low = (block << cache->block_shift) & ~(unit - 1);
    int found = snoop(hierarchy, low, low + unit - 1, request);
    if (write && way >= 0) *rsc_cache_entry(cache, set, way) &= ~(uint64_t)RSC_ENTRY_SHARED;
    return !write && found;
}
