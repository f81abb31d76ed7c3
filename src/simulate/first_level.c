/* first_level.c - see first_level.h; the loops themselves are in first_level_kernel.h. */
#include "simulate/first_level.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "simulate/first_level_parts.h"
#include "simulate/simulator_state.h"

#define TILE_ROOM (RSC_FAST_TILE * RSC_FAST_SPAN)
#define LIST_ALONE (2 * TILE_ROOM)   /* 64 KiB: stays in the second-level cache between the two loops */
#define ROUND (1u << 20)             /* accesses gathered at once by several workers: what waiting for each other costs is little */
#define SCRIBBLED 8u /* vectors are stored whole: so many references past the last one may be written */
#define RECENT_MAX 4096u /* slots: 64 KiB with those of fetches */
#define NEIGHBOURS 16u   /* sets whose counts share a line of the processor's cache */
#define BIG_BATCH 65536u /* accesses that are worth gathering in parallel */

struct rsc_first_level {
    struct rsc_sim *sim;
    struct rsc_hierarchy *hierarchy;
    rsc_fast_gather_tile *gather_tile;
    rsc_fast_serve *serve;
    uint32_t part_count;
    struct rsc_fast_part *parts; /* owned */
    struct rsc_fast_gather *gathers; /* owned: as many as parts; only the first is used for small batches */
    uint32_t list_room;
    int unified;
    int fetch_level, data_level; /* -1: none */

    /* A round of gathering in parallel: */
    const struct rsc_batch *batch;
    uint32_t starts[RSC_FAST_PARTS_MAX + 1], stops[RSC_FAST_PARTS_MAX];
};

/* ---- whether it can be fast ---- */

static int usual(const struct rsc_level *level) {
    const struct rsc_cache_config *config = &level->config;
    uint64_t sets = rsc_cache_sets(config);
    return config->policy == RSC_POLICY_LRU && !config->write_through && !config->no_write_allocate &&
           !config->threads_each && config->indexing == RSC_INDEX_VIRTUAL && !(sets & (sets - 1)) &&
           config->ways <= RSC_FAST_WAYS_MAX && rsc_cache_sets_independent(config) && !level->tap.request &&
           !level->watch.seen;
}

static int can_be_fast(const struct rsc_sim *sim) {
    const struct rsc_hierarchy *hierarchy = &sim->segments[0].hierarchy;
    const struct rsc_level *levels = hierarchy->levels;
    if (!hierarchy->level_count || hierarchy->coherent || hierarchy->classify ||
        hierarchy->writes_are_back || sim->options.missed || sim->options.past_last)
        return 0;
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        if (levels[i].config.inclusive) return 0;
        if (levels[i].config.level == levels[0].config.level &&
            (!usual(&levels[i]) || levels[i].config.block_bytes != levels[0].config.block_bytes))
            return 0;
    }
    return 1;
}

/* How many parts the sets can be dealt out in: address bits in every index, of caches whose sets go their own ways. */
static uint32_t count_parts(const struct rsc_sim *sim, uint32_t *part_shift) {
    const struct rsc_hierarchy *hierarchy = &sim->segments[0].hierarchy;
    uint32_t largest = 0, parts = 1, wanted = sim->options.workers;
    if (!sim->pool || sim->stream_count || sim->segment_count > 1) return 1;
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        const struct rsc_cache_config *config = &hierarchy->levels[i].config;
        uint64_t sets = rsc_cache_sets(config);
        if (config->threads_each || config->indexing != RSC_INDEX_VIRTUAL || (sets & (sets - 1)) ||
            !rsc_cache_sets_independent(config) || hierarchy->levels[i].watch.seen)
            return 1;
        if (config->block_bytes > largest) largest = config->block_bytes;
    }
    if (wanted > RSC_FAST_PARTS_MAX) wanted = RSC_FAST_PARTS_MAX;
    while (2 * parts <= wanted) parts *= 2;
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        const struct rsc_cache_config *config = &hierarchy->levels[i].config;
        while (parts > 1 && rsc_cache_sets(config) * config->block_bytes < (uint64_t)largest * parts) parts /= 2;
    }
    /*
     * Parts are runs of neighbouring sets where there are enough: what the processor fetches beside a set it looks at, and
     * the sets' counts, would be another worker's otherwise (serving took 0.026 s with every second set, 0.020 s so).
     */
    uint32_t run = NEIGHBOURS;
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        const struct rsc_cache_config *config = &hierarchy->levels[i].config;
        while (run > 1 && rsc_cache_sets(config) * config->block_bytes < (uint64_t)largest * parts * run) run /= 2;
    }
    *part_shift = (uint32_t)__builtin_ctz(largest / hierarchy->levels[0].config.block_bytes * run);
    return parts;
}

/* ---- making ---- */

/* The part's own view of the hierarchy: the same arrays, other counts. */
static void open_part(struct rsc_first_level *level, uint32_t number, uint32_t part_shift) {
    struct rsc_hierarchy *main = level->hierarchy;
    struct rsc_fast_part *part = &level->parts[number];
    part->part_shift = part_shift;
    part->part_mask = level->part_count - 1;
    part->number = number;
    part->hierarchy = main;
    if (level->part_count > 1) {
        part->own = *main;
        for (size_t i = 0; i < main->level_count; i++) {
            part->copies[i] = main->levels[i].caches[0];
            part->copies[i].filled = 0;
            part->own.levels[i].caches = &part->copies[i];
        }
        part->hierarchy = &part->own;
    }
    for (size_t i = 0; i < main->level_count; i++) {
        /* a request from above must be one block here */
        if (!usual(&main->levels[i]) || main->levels[i].config.block_bytes < main->levels[i ? i - 1 : 0].config.block_bytes)
            continue;
        struct rsc_cache *cache = &part->hierarchy->levels[i].caches[0];
        part->lower[i] = (struct rsc_fast_cache){cache->entries, cache->sets - 1, cache->ways, cache->block_shift, (int)i, cache};
    }
    if (level->fetch_level >= 0) part->caches[0] = part->lower[level->fetch_level];
    if (level->data_level >= 0) part->caches[1] = part->lower[level->data_level];
    if (part->caches[0].ways == part->caches[1].ways) part->all_ways = part->caches[0].ways;
}

/* What came before is another's, or nothing. */
static void forget_recent(struct rsc_fast_gather *gather) {
    gather->last[0] = gather->last[1] = UINT64_MAX; /* of no block: those have fewer bits */
    for (uint32_t i = 0; i < 2 * (gather->recent_mask + 1); i++) gather->recent[i] = UINT64_MAX;
}

static int open_gather(struct rsc_first_level *level, struct rsc_fast_gather *gather) {
    const struct rsc_hierarchy *hierarchy = level->hierarchy;
    gather->shift = (uint32_t)__builtin_ctz(hierarchy->levels[0].config.block_bytes);
    gather->unified = (uint32_t)level->unified;
    gather->addr_mask = UINT64_MAX;
    gather->recent_mask = RECENT_MAX - 1;
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        uint64_t sets = rsc_cache_sets(&hierarchy->levels[i].config);
        if (hierarchy->levels[i].config.level == hierarchy->levels[0].config.level && sets <= gather->recent_mask)
            gather->recent_mask = (uint32_t)sets - 1;
    }
    gather->tile = malloc((TILE_ROOM + SCRIBBLED) * sizeof *gather->tile);
    gather->recent = malloc(2 * ((size_t)gather->recent_mask + 1) * sizeof *gather->recent);
    gather->list = malloc(level->list_room * sizeof *gather->list);
    if (!gather->tile || !gather->recent || !gather->list) return RSC_ENOMEM;
    forget_recent(gather);
    for (int kind = 0; kind < RSC_KINDS; kind++)
        if (hierarchy->entry[kind] < 0) gather->skip |= RSC_KIND_BIT(kind);
    return 0;
}

static void choose_loops(struct rsc_first_level *level) {
    level->gather_tile = rsc_fast_gather_plain;
    level->serve = rsc_fast_serve_plain;
#if defined(__x86_64__)
    enum rsc_simd simd = rsc_simd_best();
    if (simd == RSC_SIMD_AVX2) {
        level->gather_tile = rsc_fast_gather_avx2;
        level->serve = rsc_fast_serve_avx2;
    }
    if (simd == RSC_SIMD_AVX512) {
        level->gather_tile = rsc_fast_gather_avx512;
        level->serve = rsc_fast_serve_avx512;
    }
#endif
}

int rsc_first_level_new(struct rsc_first_level **out, struct rsc_sim *sim, struct rsc_error *error) {
    *out = NULL;
    if (!can_be_fast(sim)) return 0;
    struct rsc_first_level *level = calloc(1, sizeof *level);
    struct rsc_hierarchy *hierarchy = &sim->segments[0].hierarchy;
    uint32_t part_shift = 0;
    int status = level ? 0 : RSC_ENOMEM;
    if (status) goto out;
    level->sim = sim;
    level->hierarchy = hierarchy;
    level->fetch_level = hierarchy->entry[RSC_FETCH];
    level->data_level = hierarchy->entry[RSC_READ];
    level->unified = level->fetch_level == level->data_level;
    level->part_count = count_parts(sim, &part_shift);
    level->list_room = level->part_count > 1 ? ROUND / level->part_count + TILE_ROOM : LIST_ALONE;
    choose_loops(level);
    for (size_t i = 0; !status && i < hierarchy->level_count; i++)
        if (!hierarchy->levels[i].config.threads_each && !rsc_hierarchy_cache(hierarchy, (int)i, 0)) status = RSC_ENOMEM;
    level->parts = calloc(level->part_count, sizeof *level->parts);
    level->gathers = calloc(level->part_count, sizeof *level->gathers);
    if (!level->parts || !level->gathers) status = RSC_ENOMEM;
    for (uint32_t p = 0; !status && p < level->part_count; p++) {
        open_part(level, p, part_shift);
        status = open_gather(level, &level->gathers[p]);
    }
out:
    if (status) {
        rsc_first_level_free(level);
        return rsc_fail_memory(error, "caches");
    }
    *out = level;
    return 0;
}

void rsc_first_level_free(struct rsc_first_level *level) {
    if (!level) return;
    for (uint32_t g = 0; level->gathers && g < level->part_count; g++) {
        free(level->gathers[g].list);
        free(level->gathers[g].tile);
        free(level->gathers[g].recent);
    }
    free(level->gathers);
    free(level->parts);
    free(level);
}

/* ---- serving what was gathered ---- */

/* Counts of accesses, which the loops leave to the gathering. */
static void take_counts(struct rsc_first_level *level, struct rsc_fast_gather *gather) {
    struct rsc_hierarchy *hierarchy = level->hierarchy;
    uint64_t reads = gather->references - gather->fetches - gather->writes;
    if (level->fetch_level >= 0) hierarchy->levels[level->fetch_level].counts.accesses[RSC_FETCH] += gather->fetches;
    if (level->data_level >= 0) {
        hierarchy->levels[level->data_level].counts.accesses[RSC_WRITE] += gather->writes;
        hierarchy->levels[level->data_level].counts.accesses[RSC_READ] += reads;
    }
    hierarchy->left_out += gather->left_out;
    gather->references = gather->fetches = gather->writes = gather->left_out = 0;
}

static void serve_part(void *argument, size_t p) {
    struct rsc_first_level *level = argument;
    for (uint32_t g = 0; g < level->part_count; g++)
        level->serve(&level->parts[p], level->gathers[g].list, level->gathers[g].used);
}

static void serve_all(struct rsc_first_level *level) {
    if (level->part_count > 1) rsc_pool_for(level->sim->pool, level->part_count, serve_part, level);
    else serve_part(level, 0);
    for (uint32_t g = 0; g < level->part_count; g++) level->gathers[g].used = 0;
}

static void add_counts(struct rsc_level_counts *to, struct rsc_level_counts *from) {
    uint64_t *sum = (uint64_t *)to, *more = (uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++) sum[i] += more[i];
    memset(from, 0, sizeof *from);
}

void rsc_first_level_flush(struct rsc_first_level *level) {
    struct rsc_hierarchy *main = level->hierarchy;
    serve_all(level);
    for (uint32_t g = 0; g < level->part_count; g++) take_counts(level, &level->gathers[g]);
    for (uint32_t p = 0; level->part_count > 1 && p < level->part_count; p++) {
        struct rsc_hierarchy *own = &level->parts[p].own;
        for (size_t i = 0; i < main->level_count; i++) {
            add_counts(&main->levels[i].counts, &own->levels[i].counts);
            main->levels[i].caches[0].filled += own->levels[i].caches[0].filled;
            own->levels[i].caches[0].filled = 0;
        }
        main->memory_reads += own->memory_reads;
        main->memory_writes += own->memory_writes;
        own->memory_reads = own->memory_writes = 0;
        if (own->status) main->status = own->status;
    }
}

/* ---- accesses ---- */

static int has_room(const struct rsc_first_level *level, const struct rsc_fast_gather *gather) {
    return gather->used + TILE_ROOM <= level->list_room;
}

/* An access of many blocks, in pieces of one block each; its kind is taken. */
static void serve_long(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t i) {
    struct rsc_fast_gather *gather = &level->gathers[0];
    uint64_t size = 1ull << gather->shift, low = batch->addr[i], left = rsc_meta_size(batch->meta[i]);
    uint64_t high = low + (left ? left - 1 : 0);
    if (high < low) high = UINT64_MAX;
    for (uint64_t block = low >> gather->shift; block <= high >> gather->shift; block++) {
        uint64_t addr = block * size, meta = rsc_meta(1, rsc_meta_kind(batch->meta[i]), 0);
        struct rsc_batch piece = {.count = 1, .addr = &addr, .meta = &meta};
        if (!has_room(level, gather)) serve_all(level);
        level->gather_tile(gather, &piece, 0, 1);
    }
}

/* Gathers from `first` on into one gather's lists, until they are full, the end, or a long access. */
static uint32_t gather_some(struct rsc_first_level *level, struct rsc_fast_gather *gather, const struct rsc_batch *batch,
                            uint32_t first, uint32_t end) {
    while (first < end && has_room(level, gather)) {
        uint32_t tile = end - first < RSC_FAST_TILE ? end : first + RSC_FAST_TILE;
        uint32_t stop = level->gather_tile(gather, batch, first, tile);
        first = stop;
        if (stop < tile) break;
    }
    return first;
}

static void gather_share(void *argument, size_t g) {
    struct rsc_first_level *level = argument;
    struct rsc_fast_gather *gather = &level->gathers[g];
    forget_recent(gather);
    level->stops[g] = gather_some(level, gather, level->batch, level->starts[g], level->starts[g + 1]);
}

/*
 * A round of many accesses: each worker gathers a share of them, then each serves its part
 * of the sets from all shares in order. Returns where the first share that was cut short stopped;
 * what later shares gathered is forgotten.
 */
static uint32_t push_round(struct rsc_first_level *level, uint32_t first, uint32_t end) {
    uint32_t shares = level->part_count, stopped, g;
    if (end - first > ROUND) end = first + ROUND;
    stopped = end;
    for (g = 0; g <= shares; g++) level->starts[g] = first + (uint32_t)((uint64_t)(end - first) * g / shares);
    rsc_pool_for(level->sim->pool, shares, gather_share, level);
    for (g = 0; g < shares; g++) {
        if (level->stops[g] == level->starts[g + 1]) continue;
        stopped = level->stops[g];
        break;
    }
    for (g++; g < shares; g++) {
        struct rsc_fast_gather *gather = &level->gathers[g];
        gather->used = 0;
        gather->references = gather->fetches = gather->writes = gather->left_out = 0;
    }
    serve_all(level);
    forget_recent(&level->gathers[0]); /* that was the first share's, not the round's */
    return stopped;
}

/*
 * Where an address depends on its process: sets the gathers to that of access `first`, and
 * returns the end of the accesses of that process.
 */
static uint32_t one_process(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first, uint32_t end) {
    struct rsc_hierarchy *hierarchy = level->hierarchy;
    uint64_t addr, thread = batch->meta[first] >> 40;
    uint32_t i = first + 1;
    if (!hierarchy->spaces) return end;
    hierarchy->status = rsc_spaces_address(hierarchy->spaces, batch, first, &addr);
    uint32_t space = hierarchy->spaces->last;
    for (; !hierarchy->status && i < end; i++) {
        if (batch->meta[i] >> 40 == thread) continue;
        thread = batch->meta[i] >> 40;
        hierarchy->status = rsc_spaces_address(hierarchy->spaces, batch, i, &addr);
        if (hierarchy->spaces->last != space) break;
    }
    for (uint32_t g = 0; g < level->part_count; g++) {
        level->gathers[g].addr_mask = (1ull << RSC_SPACE_SHIFT) - 1;
        level->gathers[g].addr_space = (uint64_t)space << RSC_SPACE_SHIFT;
    }
    return i;
}

static void push_process(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first, uint32_t end) {
    struct rsc_fast_gather *gather = &level->gathers[0];
    while (first < end) {
        uint32_t before = first;
        if (level->part_count > 1 && end - first >= BIG_BATCH) {
            serve_all(level); /* what smaller batches left */
            first = push_round(level, first, end);
        } else {
            first = gather_some(level, gather, batch, first, end);
        }
        if (first < end && has_room(level, gather) && first - before < BIG_BATCH) {
            serve_long(level, batch, first++);
        } else if (!has_room(level, gather)) {
            serve_all(level);
        }
    }
}

int rsc_first_level_push(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                         struct rsc_error *error) {
    level->batch = batch;
    while (first < end && !level->hierarchy->status) {
        uint32_t stop = one_process(level, batch, first, end);
        if (!level->hierarchy->status) push_process(level, batch, first, stop);
        first = stop;
    }
    if (level->part_count == 1) serve_all(level);
    for (uint32_t p = 0; p < level->part_count; p++)
        if (level->parts[p].hierarchy->status) level->hierarchy->status = level->parts[p].hierarchy->status;
    return rsc_hierarchy_fail(level->hierarchy, error);
}
