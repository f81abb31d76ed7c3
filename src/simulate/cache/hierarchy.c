/* hierarchy.c - see hierarchy.h. */
#include "simulate/cache/hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "simulate/cache/coherence.h"

#define COHERENT_MOST 4096u /* private caches: each miss looks into all of them */

int rsc_hierarchy_init(struct rsc_hierarchy *hierarchy, const struct rsc_sim_config *config, struct rsc_error *error) {
    memset(hierarchy, 0, sizeof *hierarchy);
    int status = rsc_sim_config_check(config, error), by_process = 0;
    if (status < 0) return status;
    hierarchy->seed = config->seed;
    hierarchy->coherent = config->coherent;
    for (int kind = 0; kind < RSC_KINDS; kind++) hierarchy->entry[kind] = -1;
    for (size_t i = 0; i < config->count; i++) {
        const struct rsc_cache_config *cache = &config->caches[i];
        if (i && !strcmp(cache->name, config->caches[i - 1].name)) continue; /* an alternative */
        struct rsc_level *level = &hierarchy->levels[hierarchy->level_count];
        level->config = *cache;
        level->below = -1;
        for (size_t above = 0; above < hierarchy->level_count; above++)
            if (hierarchy->levels[above].config.level < cache->level && hierarchy->levels[above].below < 0)
                hierarchy->levels[above].below = (int)hierarchy->level_count;
        if (hierarchy->levels[0].config.level == cache->level)
            for (int kind = 0; kind < RSC_KINDS; kind++)
                if (cache->kinds & RSC_KIND_BIT(kind)) hierarchy->entry[kind] = (int)hierarchy->level_count;
        by_process |= cache->indexing != RSC_INDEX_VIRTUAL;
        hierarchy->level_count++;
    }
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        const struct rsc_cache_config *cache = &hierarchy->levels[i].config;
        uint32_t shift = (uint32_t)__builtin_ctz(cache->block_bytes);
        if (cache->threads_each && shift > hierarchy->coherence_shift) hierarchy->coherence_shift = shift;
    }
    if (!by_process) return 0;
    hierarchy->own_spaces = 1;
    hierarchy->spaces = calloc(1, sizeof *hierarchy->spaces);
    return hierarchy->spaces && rsc_spaces_init(hierarchy->spaces) == 0 ? 0 : rsc_fail_memory(error, "address spaces");
}

static void free_spaces(struct rsc_hierarchy *hierarchy) {
    if (!hierarchy->own_spaces || !hierarchy->spaces) return;
    rsc_spaces_free(hierarchy->spaces);
    free(hierarchy->spaces);
}

void rsc_hierarchy_use_spaces(struct rsc_hierarchy *hierarchy, struct rsc_spaces *spaces) {
    free_spaces(hierarchy);
    hierarchy->spaces = spaces;
    hierarchy->own_spaces = 0;
}

void rsc_hierarchy_free(struct rsc_hierarchy *hierarchy) {
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        for (size_t k = 0; k < hierarchy->levels[i].cache_count; k++) rsc_cache_free(&hierarchy->levels[i].caches[k]);
        free(hierarchy->levels[i].caches);
    }
    free_spaces(hierarchy);
    *hierarchy = (struct rsc_hierarchy){0};
}

void rsc_hierarchy_forget_counts(struct rsc_hierarchy *hierarchy) {
    for (size_t i = 0; i < hierarchy->level_count; i++)
        memset(&hierarchy->levels[i].counts, 0, sizeof hierarchy->levels[i].counts);
    hierarchy->left_out = hierarchy->memory_reads = hierarchy->memory_writes = 0;
}

void rsc_hierarchy_empty(struct rsc_hierarchy *hierarchy) {
    for (size_t i = 0; i < hierarchy->level_count; i++)
        for (size_t k = 0; k < hierarchy->levels[i].cache_count; k++) rsc_cache_empty(&hierarchy->levels[i].caches[k]);
    rsc_hierarchy_forget_counts(hierarchy);
}

struct rsc_level_counts rsc_level_total(const struct rsc_level *level) {
    struct rsc_level_counts counts = level->counts;
    counts.dirty_at_end = counts.blocks_at_end = counts.blocks = 0;
    for (size_t i = 0; i < level->cache_count; i++) {
        const struct rsc_cache *cache = &level->caches[i];
        if (!cache->entries) continue;
        counts.dirty_at_end += rsc_cache_count_dirty(cache);
        counts.blocks_at_end += cache->filled;
        counts.blocks += cache->sets * cache->ways;
    }
    return counts;
}

/* A level's array of caches grows with the threads seen; caches of threads not seen have no entries. */
static struct rsc_cache *make_cache(struct rsc_hierarchy *hierarchy, struct rsc_level *level, size_t group) {
    if (group >= level->cache_count) {
        struct rsc_cache *more = realloc(level->caches, (group + 1) * sizeof *more);
        if (!more) return NULL;
        memset(more + level->cache_count, 0, (group + 1 - level->cache_count) * sizeof *more);
        level->caches = more;
        level->cache_count = group + 1;
    }
    struct rsc_cache *cache = &level->caches[group];
    struct rsc_cache fresh;
    if (cache->entries) return cache;
    if (rsc_cache_init(&fresh, &level->config, hierarchy->seed, hierarchy->spaces ? hierarchy->spaces->pids : NULL,
                       NULL) < 0)
        return NULL;
    if ((hierarchy->classify && rsc_cache_classify(&fresh, NULL) < 0) ||
        (level->watch.seen && rsc_cache_set_watch(&fresh, &level->watch, NULL) < 0)) {
        rsc_cache_free(&fresh);
        return NULL;
    }
    *cache = fresh;
    return cache;
}

struct rsc_cache *rsc_hierarchy_cache(struct rsc_hierarchy *hierarchy, int number, uint32_t thread) {
    struct rsc_level *level = &hierarchy->levels[number];
    size_t group = level->config.threads_each ? thread / level->config.threads_each : 0;
    if (group < level->cache_count && level->caches[group].entries) return &level->caches[group];
    if (hierarchy->coherent && group >= COHERENT_MOST) {
        hierarchy->status = RSC_EINVAL;
        return NULL;
    }
    struct rsc_cache *cache = make_cache(hierarchy, level, group);
    if (!cache) hierarchy->status = RSC_ENOMEM;
    return cache;
}

/* ---- towards the level below ---- */

void rsc_hierarchy_to_memory(struct rsc_hierarchy *hierarchy, const struct rsc_request *request) {
    if (rsc_is_write(request)) hierarchy->memory_writes++;
    else hierarchy->memory_reads++;
    if (hierarchy->memory.request) hierarchy->memory.request(hierarchy->memory.user, request);
}

static void pass_below(struct rsc_hierarchy *hierarchy, int number, const struct rsc_request *request) {
    int below = hierarchy->levels[number].below;
    if (below >= 0) rsc_hierarchy_request(hierarchy, below, request);
    else rsc_hierarchy_to_memory(hierarchy, request);
}

/* Writes entry i of the write buffer to the level below. */
static void drain(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint32_t i) {
    struct rsc_request write = cache->writes[i];
    cache->write_count--;
    memmove(cache->writes + i, cache->writes + i + 1, (cache->write_count - i) * sizeof write);
    pass_below(hierarchy, number, &write);
}

/* Merges two writes to a block into one that spans both. */
static void merge(struct rsc_request *write, const struct rsc_request *more) {
    uint64_t end = write->addr + write->bytes, more_end = more->addr + more->bytes;
    if (more->addr < write->addr) write->addr = more->addr;
    write->bytes = (uint32_t)((end > more_end ? end : more_end) - write->addr);
    if (more->op == RSC_OP_WRITE_BACK) write->op = RSC_OP_WRITE_BACK;
}

/* Sends a request to the level below, or memory, through the write buffer if the cache has one. */
static void ask_below(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache,
                      const struct rsc_request *request) {
    if (!cache->writes) {
        pass_below(hierarchy, number, request);
        return;
    }
    uint32_t found = 0;
    uint64_t block = request->addr >> cache->block_shift;
    while (found < cache->write_count && cache->writes[found].addr >> cache->block_shift != block) found++;
    if (!rsc_is_write(request)) { /* a read below must see earlier writes: drain them first */
        if (found < cache->write_count) drain(hierarchy, number, cache, found);
        pass_below(hierarchy, number, request);
    } else if (found < cache->write_count) {
        merge(&cache->writes[found], request);
        hierarchy->levels[number].counts.buffer_merged++;
    } else {
        if (cache->write_count == cache->config.buffer_blocks) drain(hierarchy, number, cache, 0);
        cache->writes[cache->write_count++] = *request;
    }
}

void rsc_hierarchy_drain(struct rsc_hierarchy *hierarchy) {
    for (size_t i = 0; i < hierarchy->level_count; i++)
        for (size_t k = 0; k < hierarchy->levels[i].cache_count; k++)
            while (hierarchy->levels[i].caches[k].write_count)
                drain(hierarchy, (int)i, &hierarchy->levels[i].caches[k], 0);
}

/* ---- one block at one level ---- */

static void write_here(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t *entry,
                       const struct rsc_request *request) {
    if (!rsc_is_write(request)) return;
    if (!cache->config.write_through) {
        *entry |= RSC_ENTRY_DIRTY;
        return;
    }
    hierarchy->levels[number].counts.writethroughs++;
    ask_below(hierarchy, number, cache, request);
}

/* Uses a block that is there; returns its way from now on. */
static int touch(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t set, int way,
                 const struct rsc_request *request) {
    way = rsc_cache_touch(cache, set, way);
    uint64_t *entry = rsc_cache_entry(cache, set, way);
    if (rsc_is_demand(request) && *entry & RSC_ENTRY_PREFETCHED) {
        *entry &= ~(uint64_t)RSC_ENTRY_PREFETCHED;
        hierarchy->levels[number].counts.prefetches_used++;
    }
    return way;
}

static void hit(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t set, int way,
                const struct rsc_request *request) {
    way = touch(hierarchy, number, cache, set, way, request);
    write_here(hierarchy, number, cache, rsc_cache_entry(cache, set, way), request);
}

/* The sectors of a cache's block that lie in `bytes` from `addr` on; the first and last may lie there in part. */
static uint64_t sectors_in(const struct rsc_cache *cache, uint64_t addr, uint64_t bytes) {
    uint64_t most = ((uint64_t)cache->config.block_bytes >> cache->sector_shift) - 1;
    uint64_t first = addr >> cache->sector_shift & most, last = (addr + bytes - 1) >> cache->sector_shift & most;
    return (last == 63 ? UINT64_MAX : (1ull << (last + 1)) - 1) & ~((1ull << first) - 1);
}

/*
 * Removes a block that an inclusive level evicts from the caches above. Returns whether one of them had it dirty, or
 * which of its sectors.
 */
static uint64_t take_from_above(struct rsc_hierarchy *hierarchy, int number, const struct rsc_cache *own, uint64_t addr,
                                uint32_t thread) {
    const struct rsc_level *level = &hierarchy->levels[number];
    uint32_t each = level->config.threads_each, bytes = level->config.block_bytes;
    uint64_t dirty = 0;
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        struct rsc_level *above = &hierarchy->levels[i];
        if (above->config.level >= level->config.level) continue;
        for (size_t group = 0; group < above->cache_count; group++) {
            struct rsc_cache *cache = &above->caches[group];
            /* only caches above this one */
            if (!cache->entries || (each && group * above->config.threads_each / each != thread / each)) continue;
            for (uint64_t block = addr >> cache->block_shift; block <= (addr + bytes - 1) >> cache->block_shift;
                 block++) {
                uint64_t entry = rsc_cache_take(cache, block);
                above->counts.back_invalidated += entry != 0;
                if (!(entry & RSC_ENTRY_DIRTY)) continue;
                uint64_t low = block << cache->block_shift, size = 1ull << cache->block_shift;
                dirty |= !own->sectors ? 1 : size < bytes ? sectors_in(own, low, size) : sectors_in(own, addr, bytes);
            }
        }
    }
    return dirty;
}

/*
 * Finishes an eviction: removes the block above if the level is inclusive, and writes dirty data below. `dirty` is
 * whether it was, or which of its sectors.
 */
static void evict(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t evicted,
                  uint64_t dirty, const struct rsc_request *request) {
    struct rsc_level *level = &hierarchy->levels[number];
    uint64_t addr = rsc_entry_block(evicted) << cache->block_shift;
    struct rsc_request back = *request;
    if (level->config.inclusive) dirty |= take_from_above(hierarchy, number, cache, addr, request->thread);
    back.op = RSC_OP_WRITE_BACK;
    back.bytes = cache->sectors ? level->config.sector_bytes : level->config.block_bytes;
    for (; dirty; dirty &= dirty - 1) {
        back.addr = addr + (uint64_t)__builtin_ctzll(dirty) * back.bytes;
        level->counts.writebacks++;
        ask_below(hierarchy, number, cache, &back);
    }
}

/* Inserts a block. Returns the entry that leaves: with a victim cache, the one it drops. */
static uint64_t put_in(struct rsc_cache *cache, uint64_t set, uint64_t block, unsigned flags, int *way) {
    uint64_t evicted;
    *way = rsc_cache_fill(cache, set, block, flags, &evicted);
    if (!cache->victims || !evicted) return evicted;
    uint32_t most = cache->config.victim_blocks;
    uint64_t dropped = cache->victim_count == most ? cache->victims[most - 1] : 0;
    if (cache->victim_count < most) cache->victim_count++;
    memmove(cache->victims + 1, cache->victims, (cache->victim_count - 1) * sizeof evicted);
    cache->victims[0] = evicted;
    return dropped;
}

/* If the victim cache has the block, swaps it with the block evicted for it. */
static int swapped(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t set, uint64_t block,
                   const struct rsc_request *request) {
    uint64_t entry = cache->victim_count ? rsc_cache_take(cache, block) : 0;
    int way;
    if (!entry) return 0;
    put_in(cache, set, block, entry & (RSC_ENTRY_DIRTY | RSC_ENTRY_SHARED), &way);
    write_here(hierarchy, number, cache, rsc_cache_entry(cache, set, way), request);
    return 1;
}

/* A block with all its sectors, unless it is there already, be it in part. */
static void prefetch(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t block,
                     const struct rsc_request *request) {
    uint64_t set = rsc_cache_set_of(cache, block);
    struct rsc_request ahead = *request;
    int way;
    if (block << cache->block_shift >> cache->block_shift != block) return; /* past the end of memory */
    if (rsc_cache_find(cache, set, block) >= 0) return;
    for (uint32_t i = 0; i < cache->victim_count; i++)
        if (rsc_entry_block(cache->victims[i]) == block) return;
    ahead.addr = block << cache->block_shift;
    ahead.bytes = cache->config.block_bytes;
    ahead.op = RSC_OP_PREFETCH;
    hierarchy->levels[number].counts.prefetches++;
    uint64_t evicted = put_in(cache, set, block, RSC_ENTRY_PREFETCHED, &way), dirty = evicted & RSC_ENTRY_DIRTY;
    if (cache->sectors) {
        dirty = cache->gone_sectors.dirty;
        rsc_cache_sectors(cache, set, way)->valid = sectors_in(cache, ahead.addr, ahead.bytes);
    }
    ask_below(hierarchy, number, cache, &ahead);
    if (evicted) evict(hierarchy, number, cache, evicted, dirty, &ahead);
}

/*
 * The stream prefetcher sees demand misses and first uses of prefetched blocks. A block next to the only one of a
 * stream gives it a direction; one at most `depth` ahead in its direction continues it; then the `depth` blocks after
 * it are fetched. Any other block begins a stream, in place of the one that was continued longest ago.
 */
static void follow_streams(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t block,
                           const struct rsc_request *request) {
    uint32_t depth = cache->config.stream_depth;
    struct rsc_cache_stream *stream = NULL, *oldest = cache->streams;
    for (uint32_t i = 0; i < cache->config.streams && !stream; i++) {
        struct rsc_cache_stream *one = &cache->streams[i];
        uint64_t up = block - one->last, down = one->last - block;
        if (one->used < oldest->used) oldest = one;
        if (!one->used) continue;
        if (one->direction ? (one->direction > 0 ? up : down) - 1 < depth : up == 1 || down == 1) stream = one;
    }
    cache->stream_clock++;
    if (!stream) {
        *oldest = (struct rsc_cache_stream){.last = block, .used = cache->stream_clock};
        return;
    }
    if (!stream->direction) stream->direction = block - stream->last == 1 ? 1 : -1;
    stream->last = block;
    stream->used = cache->stream_clock;
    for (uint32_t k = 1; k <= depth; k++)
        prefetch(hierarchy, number, cache, stream->direction > 0 ? block + k : block - k, request);
}

/* Returns the evicted entry. */
static uint64_t miss(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t set, uint64_t block,
                     const struct rsc_request *request) {
    struct rsc_level *level = &hierarchy->levels[number];
    int write = rsc_is_write(request), through = write && level->config.write_through, way;
    unsigned flags = (write && !through ? RSC_ENTRY_DIRTY : 0) | (hierarchy->others_have ? RSC_ENTRY_SHARED : 0);
    if (write && level->config.no_write_allocate) {
        level->counts.writethroughs++;
        ask_below(hierarchy, number, cache, request);
        return 0;
    }
    uint64_t evicted = put_in(cache, set, block, flags, &way);
    if (request->op != RSC_OP_WRITE_BACK) {
        struct rsc_request read = *request;
        read.addr = block << cache->block_shift;
        read.bytes = level->config.block_bytes;
        read.op = request->op == RSC_OP_PREFETCH ? RSC_OP_PREFETCH : RSC_OP_READ;
        ask_below(hierarchy, number, cache, &read);
    }
    if (through) {
        level->counts.writethroughs++;
        ask_below(hierarchy, number, cache, request);
    }
    if (evicted) evict(hierarchy, number, cache, evicted, evicted & RSC_ENTRY_DIRTY, request);
    return evicted;
}

/*
 * Serves a request of a cache with sectors: those it lacks are read one by one. A block that has not all of them is
 * used as by a hit, but the request missed. Returns the evicted entry.
 */
static uint64_t serve_sectors(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t set,
                              uint64_t block, int way, const struct rsc_request *request) {
    struct rsc_level *level = &hierarchy->levels[number];
    const struct rsc_cache_config *config = &level->config;
    uint64_t wanted = sectors_in(cache, request->addr, request->bytes ? request->bytes : 1), evicted = 0;
    int write = rsc_is_write(request), through = write && config->write_through;
    struct rsc_sectors gone = {0};
    if (way >= 0) way = touch(hierarchy, number, cache, set, way, request);
    uint64_t missing = wanted & ~(way >= 0 ? rsc_cache_sectors(cache, set, way)->valid : 0);
    if (missing && write && config->no_write_allocate) {
        level->counts.writethroughs++;
        ask_below(hierarchy, number, cache, request);
        return 0;
    }
    if (way < 0) {
        way = rsc_cache_fill(cache, set, block, 0, &evicted);
        gone = cache->gone_sectors;
    }
    struct rsc_sectors *sectors = rsc_cache_sectors(cache, set, way);
    sectors->valid |= wanted;
    if (write && !through) {
        sectors->dirty |= wanted;
        *rsc_cache_entry(cache, set, way) |= RSC_ENTRY_DIRTY;
    }
    struct rsc_request read = *request;
    read.op = request->op == RSC_OP_PREFETCH ? RSC_OP_PREFETCH : RSC_OP_READ;
    read.bytes = config->sector_bytes;
    for (; missing && request->op != RSC_OP_WRITE_BACK; missing &= missing - 1) {
        read.addr = (block << cache->block_shift) + (uint64_t)__builtin_ctzll(missing) * read.bytes;
        ask_below(hierarchy, number, cache, &read);
    }
    if (through) {
        level->counts.writethroughs++;
        ask_below(hierarchy, number, cache, request);
    }
    if (evicted) evict(hierarchy, number, cache, evicted, gone.dirty, request);
    return evicted;
}

static void count(struct rsc_hierarchy *hierarchy, int number, const struct rsc_request *request, int missed,
                  int class) {
    struct rsc_level_counts *counts = &hierarchy->levels[number].counts;
    unsigned kind = request->kind;
    if (request->op == RSC_OP_WRITE_BACK) {
        counts->writes_in++;
        counts->writes_in_missed += (unsigned)missed;
        return;
    }
    if (request->op == RSC_OP_PREFETCH) {
        counts->prefetches_in++;
        return;
    }
    counts->accesses[kind]++;
    if (!missed) return;
    counts->misses[kind]++;
    if (hierarchy->missed.missed) hierarchy->missed.missed(hierarchy->missed.user, number, request);
    if (!hierarchy->classify) return;
    uint64_t *classes[] = {counts->cold, counts->coherence, counts->capacity, counts->conflict};
    classes[class][kind]++;
}

static void tell_watch(const struct rsc_cache *cache, uint64_t set, uint64_t block, int hit_way, int was_full,
                       uint64_t evicted, const struct rsc_request *request) {
    struct rsc_cache_seen seen = {
        .set = set,
        .block = block,
        .hit = hit_way >= 0,
        .at_mru = hit_way == 0 && cache->ordered,
        .set_was_full = (uint8_t)was_full,
        .write_back = !rsc_is_demand(request),
        .evicted = evicted != 0,
        .kind = request->kind,
        .gone = cache->gone,
        .now = cache->now,
    };
    cache->watch.seen(cache->watch.user, &seen);
}

/* Serves the part of a request that lies in one block. */
static void serve(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t block,
                  const struct rsc_request *request) {
    struct rsc_level *level = &hierarchy->levels[number];
    uint64_t set = rsc_cache_set_of(cache, block), evicted = 0;
    int first = level->config.level == hierarchy->levels[0].config.level, class = 0;
    hierarchy->others_have = first && hierarchy->coherent ? rsc_coherence_before(hierarchy, cache, block, request) : 0;
    int way = rsc_cache_find(cache, set, block), was_full = cache->used[set] == cache->ways;
    if (cache->shadow && request->op != RSC_OP_PREFETCH) {
        class = rsc_shadow_access(cache->shadow, block, !(rsc_is_write(request) && level->config.no_write_allocate));
        if (class < 0) hierarchy->status = class;
    }
    if (class < 0) return;
    if (way < 0 && cache->victims && swapped(hierarchy, number, cache, set, block, request)) {
        if (rsc_is_demand(request)) level->counts.victim_hits++;
        count(hierarchy, number, request, 0, 0);
        return;
    }
    int missed = way < 0;
    if (cache->sectors && !missed) {
        uint64_t wanted = sectors_in(cache, request->addr, request->bytes ? request->bytes : 1);
        missed = (wanted & ~rsc_cache_sectors(cache, set, way)->valid) != 0;
        if (missed && rsc_is_demand(request)) level->counts.sector_misses++;
    }
    count(hierarchy, number, request, missed, class);
    int fetched_ahead = way >= 0 && *rsc_cache_entry(cache, set, way) & RSC_ENTRY_PREFETCHED;
    if (missed && level->set_misses && rsc_is_demand(request)) level->set_misses[set]++;
    if (cache->sectors) evicted = serve_sectors(hierarchy, number, cache, set, block, way, request);
    else if (way >= 0) hit(hierarchy, number, cache, set, way, request);
    else evicted = miss(hierarchy, number, cache, set, block, request);
    if (cache->times) tell_watch(cache, set, block, way, was_full, evicted, request);
    if (!rsc_is_demand(request)) return;
    for (uint32_t k = 1; missed && k <= level->config.prefetch_next; k++)
        prefetch(hierarchy, number, cache, block + k, request);
    if (cache->streams && (missed || fetched_ahead)) follow_streams(hierarchy, number, cache, block, request);
}

void rsc_hierarchy_request(struct rsc_hierarchy *hierarchy, int number, const struct rsc_request *request) {
    struct rsc_level *level = &hierarchy->levels[number];
    struct rsc_cache *cache = rsc_hierarchy_cache(hierarchy, number, request->thread);
    if (!cache) return;
    if (level->tap.request) level->tap.request(level->tap.user, request);
    uint32_t shift = cache->block_shift;
    uint64_t last = request->addr + (request->bytes ? request->bytes - 1 : 0);
    if (last < request->addr) last = UINT64_MAX;
    for (uint64_t block = request->addr >> shift; block <= last >> shift; block++) {
        struct rsc_request part = *request;
        uint64_t low = block << shift, high = low + (1ull << shift) - 1;
        part.addr = low > request->addr ? low : request->addr;
        part.bytes = (uint32_t)((high < last ? high : last) - part.addr + 1);
        serve(hierarchy, number, cache, block, &part);
    }
}

/* ---- accesses ---- */

int rsc_hierarchy_make_request(struct rsc_hierarchy *hierarchy, const struct rsc_batch *batch, uint32_t i,
                               struct rsc_request *request) {
    uint64_t meta = batch->meta[i];
    unsigned kind = rsc_meta_kind(meta);
    *request = (struct rsc_request){
        .addr = batch->addr[i],
        .bytes = rsc_meta_size(meta),
        .access = i,
        .thread = rsc_meta_thread(meta),
        .op = kind == RSC_WRITE ? (hierarchy->writes_are_back ? RSC_OP_WRITE_BACK : RSC_OP_WRITE) : RSC_OP_READ,
        .kind = (uint8_t)kind,
    };
    int level = kind < RSC_KINDS ? hierarchy->entry[kind] : -1;
    hierarchy->left_out += level < 0;
    if (hierarchy->spaces) {
        hierarchy->status = rsc_spaces_address(hierarchy->spaces, batch, i, &request->addr);
        uint64_t room = rsc_space_room(request->addr);
        if (request->bytes > room) request->bytes = (uint32_t)room;
    }
    /* Such a write-back has the process of the access that evicted the block, not of the one that wrote it. */
    if (hierarchy->spaces && hierarchy->writes_are_back == RSC_WRITES_BACK && hierarchy->spaces->count > 1 &&
        !hierarchy->status)
        hierarchy->status = RSC_EUNSUPPORTED;
    return hierarchy->status ? -1 : level;
}

int rsc_hierarchy_fail(const struct rsc_hierarchy *hierarchy, struct rsc_error *error) {
    if (hierarchy->status == RSC_ELIMIT) return rsc_fail(error, RSC_ELIMIT, "more than %u processes", RSC_SPACES_MAX);
    if (hierarchy->status == RSC_EINVAL)
        return rsc_fail(error, RSC_EINVAL,
                        "--coherent keeps up to %u private caches coherent: select threads with --tid", COHERENT_MOST);
    if (hierarchy->status == RSC_EUNSUPPORTED)
        return rsc_fail(
            error, RSC_EUNSUPPORTED,
            "the write-backs of this miss stream have no process ids: for pid or pages, record it from caches with "
            "pid or pages");
    return hierarchy->status ? rsc_fail_memory(error, "caches") : 0;
}

int rsc_hierarchy_push(struct rsc_hierarchy *hierarchy, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                       struct rsc_error *error) {
    for (uint32_t i = first; i < end && !hierarchy->status; i++) {
        struct rsc_request request;
        int level = rsc_hierarchy_make_request(hierarchy, batch, i, &request);
        if (level >= 0) rsc_hierarchy_request(hierarchy, level, &request);
    }
    return rsc_hierarchy_fail(hierarchy, error);
}
