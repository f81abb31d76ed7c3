/* cache.c - see cache.h. */
#include "simulate/cache/cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pages.h"
#include "simulate/cache/replacement.h"

int rsc_cache_init(struct rsc_cache *cache, const struct rsc_cache_config *config, uint64_t seed, const uint64_t *pids,
                   struct rsc_error *error) {
    memset(cache, 0, sizeof *cache);
    cache->config = *config;
    cache->sets = rsc_cache_sets(config);
    cache->ways = config->ways;
    cache->block_shift = (uint32_t)__builtin_ctz(config->block_bytes);
    cache->power_of_two = (cache->sets & (cache->sets - 1)) == 0;
    cache->index_bits = 63 - (uint32_t)__builtin_clzll(cache->sets);
    cache->ordered = config->policy == RSC_POLICY_LRU || config->policy == RSC_POLICY_FIFO;
    cache->pids = pids;
    cache->seed = seed;
    uint32_t state_bytes = rsc_replacement_state_bytes(config->policy, config->ways);
    cache->entries = rsc_pages_new(cache->sets * cache->ways * sizeof *cache->entries);
    cache->used = calloc(cache->sets, sizeof *cache->used);
    if (state_bytes) cache->state = malloc(cache->sets * state_bytes);
    if (rsc_replacement_draws(config->policy)) cache->random = malloc(cache->sets * sizeof *cache->random);
    if (config->policy == RSC_POLICY_OPT) cache->next_use = calloc(cache->sets * cache->ways, sizeof *cache->next_use);
    if (config->victim_blocks) cache->victims = calloc(config->victim_blocks, sizeof *cache->victims);
    if (config->streams) cache->streams = calloc(config->streams, sizeof *cache->streams);
    if (config->buffer_blocks) cache->writes = calloc(config->buffer_blocks, sizeof *cache->writes);
    if (config->sector_bytes) {
        cache->sector_shift = (uint32_t)__builtin_ctz(config->sector_bytes);
        cache->sectors = calloc(cache->sets * cache->ways, sizeof *cache->sectors);
    }
    if (!cache->entries || !cache->used || (state_bytes && !cache->state) ||
        (rsc_replacement_draws(config->policy) && !cache->random) ||
        (config->policy == RSC_POLICY_OPT && !cache->next_use) || (config->victim_blocks && !cache->victims) ||
        (config->buffer_blocks && !cache->writes) || (config->sector_bytes && !cache->sectors) ||
        (config->streams && !cache->streams)) {
        rsc_cache_free(cache);
        return rsc_fail_memory(error, "cache");
    }
    rsc_replacement_reset(cache);
    return 0;
}

void rsc_cache_free(struct rsc_cache *cache) {
    rsc_pages_free(cache->entries, cache->sets * cache->ways * sizeof *cache->entries);
    free(cache->state);
    free(cache->random);
    free(cache->used);
    free(cache->times);
    free(cache->next_use);
    free(cache->victims);
    free(cache->writes);
    free(cache->streams);
    free(cache->sectors);
    if (cache->shadow) rsc_shadow_free(cache->shadow);
    free(cache->shadow);
    *cache = (struct rsc_cache){0};
}

void rsc_cache_empty(struct rsc_cache *cache) {
    if (!cache->entries) return; /* of a thread that has not come yet */
    memset(cache->entries, 0, cache->sets * cache->ways * sizeof *cache->entries);
    memset(cache->used, 0, cache->sets * sizeof *cache->used);
    if (cache->times) memset(cache->times, 0, cache->sets * cache->ways * sizeof *cache->times);
    cache->filled = 0;
    cache->victim_count = cache->write_count = 0;
    if (cache->streams) memset(cache->streams, 0, cache->config.streams * sizeof *cache->streams);
    if (cache->shadow) rsc_shadow_empty(cache->shadow);
    rsc_replacement_reset(cache);
}

int rsc_cache_classify(struct rsc_cache *cache, struct rsc_error *error) {
    cache->shadow = malloc(sizeof *cache->shadow);
    if (!cache->shadow || rsc_shadow_init(cache->shadow, cache->sets * cache->ways) < 0) {
        free(cache->shadow);
        cache->shadow = NULL;
        return rsc_fail_memory(error, "classes of misses");
    }
    return 0;
}

int rsc_cache_set_watch(struct rsc_cache *cache, const struct rsc_cache_watch *watch, struct rsc_error *error) {
    if (!cache->times) cache->times = calloc(cache->sets * cache->ways, sizeof *cache->times);
    if (!cache->times) return rsc_fail_memory(error, "times of frames");
    cache->watch = *watch;
    return 0;
}

/* A mixing bijection of 64 bits: adjacent pages get unrelated frames. */
static uint64_t frame_of(uint64_t page, uint64_t seed) {
    uint64_t x = (page + seed * 0x9E3779B97F4A7C15ull) + 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

/* The process id. The number of the address space would depend on which process came first, which a sample changes. */
static uint64_t process_of(const struct rsc_cache *cache, uint64_t block) {
    return cache->pids ? cache->pids[block >> (48 - cache->block_shift) & 0xffff] : 0;
}

uint64_t rsc_cache_set_of(const struct rsc_cache *cache, uint64_t block) {
    uint64_t from = block;
    if (cache->config.indexing == RSC_INDEX_PAGES) {
        uint32_t shift = cache->block_shift;
        uint64_t seed = cache->seed + process_of(cache, block) * 0xD6E8FEB86659FD93ull;
        if (cache->pids) from &= (1ull << (48 - shift)) - 1;
        if (shift < RSC_SIM_PAGE_SHIFT) {
            uint32_t within = RSC_SIM_PAGE_SHIFT - shift;
            from = frame_of(from >> within, seed) << within | (from & ((1ull << within) - 1));
        } else {
            from = frame_of(from, seed);
        }
    }
    uint64_t set = cache->power_of_two ? from & (cache->sets - 1) : from % cache->sets;
    if (cache->config.indexing == RSC_INDEX_PID) {
        uint32_t hashed = cache->index_bits < 8 ? cache->index_bits : 8;
        set ^= (process_of(cache, block) & ((1u << hashed) - 1)) << (cache->index_bits - hashed);
    }
    return set;
}

int rsc_cache_find(const struct rsc_cache *cache, uint64_t set, uint64_t block) {
    assert(set < cache->sets && cache->used[set] <= cache->ways);
    const uint64_t *entries = cache->entries + set * cache->ways;
    const uint64_t mask = ~(uint64_t)(RSC_ENTRY_DIRTY | RSC_ENTRY_SHARED | RSC_ENTRY_PREFETCHED);
    uint64_t wanted = block << RSC_ENTRY_SHIFT | RSC_ENTRY_VALID;
    for (uint32_t way = 0; way < cache->ways; way++)
        if ((entries[way] & mask) == wanted) return (int)way;
    return -1;
}

/* Moves a way to the front of its set and shifts those before it back by one. */
static void to_front(struct rsc_cache *cache, uint64_t set, uint32_t way) {
    assert(set < cache->sets && way < cache->ways);
    uint64_t *entries = cache->entries + set * cache->ways, entry = entries[way];
    memmove(entries + 1, entries, way * sizeof *entries);
    entries[0] = entry;
    if (cache->sectors) {
        struct rsc_sectors *sectors = cache->sectors + set * cache->ways, moved = sectors[way];
        memmove(sectors + 1, sectors, way * sizeof *sectors);
        sectors[0] = moved;
    }
    if (cache->times) {
        struct rsc_frame_times *times = cache->times + set * cache->ways, moved = times[way];
        memmove(times + 1, times, way * sizeof *times);
        times[0] = moved;
    }
}

int rsc_cache_touch(struct rsc_cache *cache, uint64_t set, int way) {
    if (cache->times) cache->times[set * cache->ways + (uint64_t)way].last = cache->now;
    if (cache->config.policy == RSC_POLICY_LRU) {
        to_front(cache, set, (uint32_t)way);
        return 0;
    }
    if (cache->next_use) cache->next_use[set * cache->ways + (uint64_t)way] = cache->coming;
    else if (!cache->ordered) rsc_replacement_hit(cache, set, (uint32_t)way);
    return way;
}

/* Belady: the block with the farthest next use; of several without one, the lowest way. */
static uint32_t farthest(const struct rsc_cache *cache, uint64_t set) {
    const uint64_t *next = cache->next_use + set * cache->ways;
    uint32_t way = 0;
    for (uint32_t i = 1; i < cache->ways; i++)
        if (next[i] > next[way]) way = i;
    return way;
}

static uint32_t way_to_fill(struct rsc_cache *cache, uint64_t set) {
    const uint64_t *entries = cache->entries + set * cache->ways;
    if (cache->used[set] == cache->ways) {
        if (cache->next_use) return farthest(cache, set);
        return cache->ordered ? cache->ways - 1 : rsc_replacement_victim(cache, set);
    }
    if (cache->ordered) return cache->used[set];
    uint32_t way = 0;
    while (entries[way]) way++;
    return way;
}

int rsc_cache_fill(struct rsc_cache *cache, uint64_t set, uint64_t block, unsigned flags, uint64_t *evicted) {
    rsc_replacement_missed(cache, set);
    uint32_t way = way_to_fill(cache, set);
    assert(set < cache->sets && way < cache->ways);
    uint64_t *entry = &cache->entries[set * cache->ways + way];
    *evicted = *entry;
    if (!*entry) {
        cache->used[set]++;
        cache->filled++;
    }
    *entry = block << RSC_ENTRY_SHIFT | RSC_ENTRY_VALID | flags;
    if (cache->sectors) {
        cache->gone_sectors = cache->sectors[set * cache->ways + way];
        cache->sectors[set * cache->ways + way] = (struct rsc_sectors){0};
    }
    if (cache->times) {
        cache->gone = cache->times[set * cache->ways + way];
        cache->times[set * cache->ways + way] = (struct rsc_frame_times){cache->now, cache->now};
    }
    if (cache->ordered) {
        to_front(cache, set, way);
        return 0;
    }
    if (cache->next_use) cache->next_use[set * cache->ways + way] = cache->coming;
    else rsc_replacement_filled(cache, set, way);
    return (int)way;
}

uint64_t rsc_cache_remove(struct rsc_cache *cache, uint64_t set, int way) {
    uint64_t *entries = cache->entries + set * cache->ways, entry = entries[way];
    uint64_t behind = cache->ways - (uint64_t)way - 1;
    assert(set < cache->sets && (uint32_t)way < cache->ways && cache->used[set] && cache->filled);
    cache->used[set]--;
    cache->filled--;
    if (!cache->ordered) {
        entries[way] = 0;
        return entry;
    }
    memmove(entries + way, entries + way + 1, behind * sizeof *entries);
    entries[cache->ways - 1] = 0;
    if (cache->sectors) {
        struct rsc_sectors *sectors = cache->sectors + set * cache->ways;
        memmove(sectors + way, sectors + way + 1, behind * sizeof *sectors);
    }
    if (cache->times) {
        struct rsc_frame_times *times = cache->times + set * cache->ways;
        memmove(times + way, times + way + 1, behind * sizeof *times);
    }
    return entry;
}

uint64_t rsc_cache_take(struct rsc_cache *cache, uint64_t block) {
    uint64_t set = rsc_cache_set_of(cache, block);
    int way = rsc_cache_find(cache, set, block);
    if (way >= 0) return rsc_cache_remove(cache, set, way);
    for (uint32_t i = 0; i < cache->victim_count; i++) {
        uint64_t entry = cache->victims[i];
        if (rsc_entry_block(entry) != block) continue;
        memmove(cache->victims + i, cache->victims + i + 1, (cache->victim_count - i - 1) * sizeof entry);
        cache->victim_count--;
        return entry;
    }
    return 0;
}

uint64_t rsc_cache_count_dirty(const struct rsc_cache *cache) {
    uint64_t dirty = 0;
    for (uint32_t i = 0; i < cache->victim_count; i++) dirty += cache->victims[i] & RSC_ENTRY_DIRTY;
    for (uint64_t i = 0; i < cache->sets * cache->ways; i++)
        if (cache->entries[i] & RSC_ENTRY_DIRTY)
            dirty += cache->sectors ? (uint64_t)__builtin_popcountll(cache->sectors[i].dirty) : 1;
    return dirty;
}
