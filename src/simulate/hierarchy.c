/* hierarchy.c - see hierarchy.h. */
#include "simulate/hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define SPACES_MAX 65536u
#define SPACE_SHIFT 48

int rsc_hierarchy_init(struct rsc_hierarchy *hierarchy, const struct rsc_sim_config *config, struct rsc_error *error) {
    memset(hierarchy, 0, sizeof *hierarchy);
    int status = rsc_sim_config_check(config, error);
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
        hierarchy->by_process |= cache->indexing != RSC_INDEX_VIRTUAL;
        hierarchy->level_count++;
    }
    if (hierarchy->by_process && !(hierarchy->pids = calloc(SPACES_MAX, sizeof *hierarchy->pids)))
        return rsc_fail_memory(error, "address spaces");
    return 0;
}

void rsc_hierarchy_free(struct rsc_hierarchy *hierarchy) {
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        for (size_t k = 0; k < hierarchy->levels[i].cache_count; k++) rsc_cache_free(&hierarchy->levels[i].caches[k]);
        free(hierarchy->levels[i].caches);
    }
    free(hierarchy->pids);
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

/* The caches of a level grow with the threads that are seen; those of threads never seen stay without entries. */
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
    if (rsc_cache_init(&fresh, &level->config, hierarchy->seed, hierarchy->pids, NULL) < 0) return NULL;
    if (level->watch.seen && rsc_cache_set_watch(&fresh, &level->watch, NULL) < 0) {
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
    struct rsc_cache *cache = make_cache(hierarchy, level, group);
    if (!cache) hierarchy->status = RSC_ENOMEM;
    return cache;
}

/* ---- one block at one level ---- */

static int is_demand(const struct rsc_request *request) {
    return request->op == RSC_OP_READ || request->op == RSC_OP_WRITE;
}
static int is_write(const struct rsc_request *request) {
    return request->op == RSC_OP_WRITE || request->op == RSC_OP_WRITE_BACK;
}

static void ask_below(struct rsc_hierarchy *hierarchy, const struct rsc_level *level, const struct rsc_request *request) {
    if (level->below >= 0) rsc_hierarchy_request(hierarchy, level->below, request);
    else if (is_write(request)) hierarchy->memory_writes++;
    else hierarchy->memory_reads++;
}

static void tell_watch(const struct rsc_cache *cache, uint64_t set, uint64_t block, int hit_way, int was_full, uint64_t evicted,
                       const struct rsc_request *request) {
    struct rsc_cache_seen seen = {
        .set = set,
        .block = block,
        .hit = hit_way >= 0,
        .at_mru = hit_way == 0 && cache->ordered,
        .set_was_full = (uint8_t)was_full,
        .write_back = !is_demand(request),
        .evicted = evicted != 0,
        .kind = request->kind,
        .gone = cache->gone,
        .now = cache->now,
    };
    cache->watch.seen(cache->watch.user, &seen);
}

static void hit(struct rsc_hierarchy *hierarchy, struct rsc_level *level, struct rsc_cache *cache, uint64_t set, int way,
                const struct rsc_request *request) {
    way = rsc_cache_touch(cache, set, way);
    uint64_t *entry = rsc_cache_entry(cache, set, way);
    if (is_demand(request) && *entry & RSC_ENTRY_PREFETCHED) {
        *entry &= ~(uint64_t)RSC_ENTRY_PREFETCHED;
        level->counts.prefetches_used++;
    }
    if (!is_write(request)) return;
    if (!level->config.write_through) {
        *entry |= RSC_ENTRY_DIRTY;
        return;
    }
    level->counts.writethroughs++;
    ask_below(hierarchy, level, request);
}

/* Takes a block that an inclusive level evicts out of the caches above; tells whether one of them had it dirty. */
static int take_from_above(struct rsc_hierarchy *hierarchy, int number, uint64_t addr, uint32_t bytes, uint32_t thread);

static int take_from(struct rsc_hierarchy *hierarchy, struct rsc_level *above, struct rsc_cache *cache, uint64_t addr,
                     uint32_t bytes) {
    int dirty = 0;
    (void)hierarchy;
    if (!cache->entries) return 0;
    for (uint64_t block = addr >> cache->block_shift; block <= (addr + bytes - 1) >> cache->block_shift; block++) {
        uint64_t set = rsc_cache_set_of(cache, block);
        int way = rsc_cache_find(cache, set, block);
        if (way < 0) continue;
        dirty |= (rsc_cache_remove(cache, set, way) & RSC_ENTRY_DIRTY) != 0;
        above->counts.back_invalidated++;
    }
    return dirty;
}

static int take_from_above(struct rsc_hierarchy *hierarchy, int number, uint64_t addr, uint32_t bytes, uint32_t thread) {
    const struct rsc_level *level = &hierarchy->levels[number];
    uint32_t each = level->config.threads_each;
    int dirty = 0;
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        struct rsc_level *above = &hierarchy->levels[i];
        if (above->config.level >= level->config.level) continue;
        for (size_t group = 0; group < above->cache_count; group++) {
            /* only those above this very cache */
            if (each && group * above->config.threads_each / each != thread / each) continue;
            dirty |= take_from(hierarchy, above, &above->caches[group], addr, bytes);
        }
    }
    return dirty;
}

/* A block has gone: those above follow where the level is inclusive, and what is dirty is written below. */
static void evict(struct rsc_hierarchy *hierarchy, int number, const struct rsc_cache *cache, uint64_t evicted,
                  const struct rsc_request *request) {
    struct rsc_level *level = &hierarchy->levels[number];
    uint64_t addr = rsc_entry_block(evicted) << cache->block_shift;
    int dirty = (evicted & RSC_ENTRY_DIRTY) != 0;
    if (level->config.inclusive)
        dirty |= take_from_above(hierarchy, number, addr, level->config.block_bytes, request->thread);
    if (!dirty) return;
    struct rsc_request back = *request;
    back.addr = addr;
    back.bytes = level->config.block_bytes;
    back.op = RSC_OP_WRITE_BACK;
    level->counts.writebacks++;
    ask_below(hierarchy, level, &back);
}

static void miss(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t set, uint64_t block,
                 const struct rsc_request *request, uint64_t *evicted) {
    struct rsc_level *level = &hierarchy->levels[number];
    int through = is_write(request) && level->config.write_through;
    *evicted = 0;
    if (is_write(request) && level->config.no_write_allocate) {
        level->counts.writethroughs++;
        ask_below(hierarchy, level, request);
        return;
    }
    rsc_cache_fill(cache, set, block, is_write(request) && !through ? RSC_ENTRY_DIRTY : 0, evicted);
    if (request->op != RSC_OP_WRITE_BACK) {
        struct rsc_request read = *request;
        read.addr = block << cache->block_shift;
        read.bytes = level->config.block_bytes;
        read.op = request->op == RSC_OP_PREFETCH ? RSC_OP_PREFETCH : RSC_OP_READ;
        ask_below(hierarchy, level, &read);
    }
    if (through) {
        level->counts.writethroughs++;
        ask_below(hierarchy, level, request);
    }
    if (*evicted) evict(hierarchy, number, cache, *evicted, request);
}

/* The part of a request that lies in one block. */
static void serve(struct rsc_hierarchy *hierarchy, int number, struct rsc_cache *cache, uint64_t block,
                  const struct rsc_request *request) {
    struct rsc_level *level = &hierarchy->levels[number];
    uint64_t set = rsc_cache_set_of(cache, block), evicted = 0;
    int way = rsc_cache_find(cache, set, block), was_full = cache->used[set] == cache->ways;
    if (is_demand(request)) {
        level->counts.accesses[request->kind]++;
        level->counts.misses[request->kind] += way < 0;
    } else if (request->op == RSC_OP_WRITE_BACK) {
        level->counts.writes_in++;
        level->counts.writes_in_missed += way < 0;
    } else {
        level->counts.prefetches_in++;
    }
    if (way >= 0) hit(hierarchy, level, cache, set, way, request);
    else miss(hierarchy, number, cache, set, block, request, &evicted);
    if (cache->times) tell_watch(cache, set, block, way, was_full, evicted, request);
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

uint64_t rsc_hierarchy_address(struct rsc_hierarchy *hierarchy, const struct rsc_batch *batch, uint32_t access) {
    uint64_t addr = batch->addr[access];
    if (!hierarchy->by_process) return addr;
    uint32_t thread = rsc_meta_thread(batch->meta[access]);
    uint64_t pid = batch->threads && thread < batch->thread_count ? batch->threads[thread].pid : 0;
    if (!hierarchy->pid_count || pid != hierarchy->last_pid) {
        uint32_t space = 0;
        while (space < hierarchy->pid_count && hierarchy->pids[space] != pid) space++;
        if (space == SPACES_MAX) {
            hierarchy->status = RSC_ELIMIT;
            return addr;
        }
        if (space == hierarchy->pid_count) hierarchy->pids[hierarchy->pid_count++] = pid;
        hierarchy->last_pid = pid;
        hierarchy->last_space = space;
    }
    return (addr & ((1ull << SPACE_SHIFT) - 1)) | (uint64_t)hierarchy->last_space << SPACE_SHIFT;
}

int rsc_hierarchy_push(struct rsc_hierarchy *hierarchy, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                       struct rsc_error *error) {
    for (uint32_t i = first; i < end && !hierarchy->status; i++) {
        uint64_t meta = batch->meta[i];
        unsigned kind = rsc_meta_kind(meta);
        int level = kind < RSC_KINDS ? hierarchy->entry[kind] : -1;
        if (level < 0) {
            hierarchy->left_out++;
            continue;
        }
        struct rsc_request request = {
            .addr = rsc_hierarchy_address(hierarchy, batch, i),
            .bytes = rsc_meta_size(meta),
            .access = i,
            .thread = rsc_meta_thread(meta),
            .op = kind == RSC_WRITE ? RSC_OP_WRITE : RSC_OP_READ,
            .kind = (uint8_t)kind,
        };
        rsc_hierarchy_request(hierarchy, level, &request);
    }
    if (hierarchy->status == RSC_ELIMIT) return rsc_fail(error, RSC_ELIMIT, "more than %u processes", SPACES_MAX);
    return hierarchy->status ? rsc_fail_memory(error, "caches of threads") : 0;
}
