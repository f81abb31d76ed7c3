/* first_level.c - see first_level.h; the loops are in first_level_kernel.c, the parallel rounds in
 * first_level_rounds.c. */
#include "simulate/cache/first_level.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "simulate/cache/first_level_state.h"
#include "simulate/simulator_state.h"

#define LIST_ALONE (2 * RSC_FAST_TILE_ROOM) /* 64 KiB: stays in the second-level cache between the two loops */
#define SCRIBBLED 8u /* whole vectors are stored: this many references past the last one may be written */
#define RECENT_MAX 4096u /* slots: 64 KiB with those of fetches */
#define NEIGHBOURS 16u /* sets whose counts share a line of the processor's cache */
#define BIG_BATCH 65536u /* accesses that are worth gathering in parallel */

/* ---- whether the fast path applies ---- */

static int usual(const struct rsc_level *level) {
    const struct rsc_cache_config *config = &level->config;
    uint64_t sets = rsc_cache_sets(config);
    return config->policy == RSC_POLICY_LRU && !config->write_through && !config->no_write_allocate &&
           !config->threads_each && config->indexing == RSC_INDEX_VIRTUAL && !(sets & (sets - 1)) &&
           config->ways <= RSC_FAST_WAYS_MAX && !config->sector_bytes && rsc_cache_sets_independent(config) &&
           !level->tap.request && !level->watch.seen;
}

static int can_be_fast(const struct rsc_sim *sim) {
    const struct rsc_hierarchy *hierarchy = &sim->segments[0].hierarchy;
    const struct rsc_level *levels = hierarchy->levels;
    if (!hierarchy->level_count || hierarchy->coherent || hierarchy->classify || hierarchy->writes_are_back ||
        sim->options.missed || sim->options.past_last)
        return 0;
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        if (levels[i].config.inclusive) return 0;
        if (levels[i].config.level == levels[0].config.level &&
            (!usual(&levels[i]) || levels[i].config.block_bytes != levels[0].config.block_bytes))
            return 0;
    }
    return 1;
}

/* The number of parts the sets can be divided into: by address bits in every index, if all caches have independent
 * sets. */
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
     * If there are enough sets, parts are runs of neighbouring sets: workers then share no cache lines of adjacent sets
     * and counts (serving took 0.026 s with every second set, 0.020 s with runs).
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

/* Makes the part's view of the hierarchy: the same arrays, its own counts. */
static void open_part(struct rsc_first_level *level, uint32_t number) {
    struct rsc_hierarchy *main = level->hierarchy;
    struct rsc_fast_part *part = &level->parts[number];
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
        if (!usual(&main->levels[i]) ||
            main->levels[i].config.block_bytes < main->levels[i ? i - 1 : 0].config.block_bytes)
            continue;
        struct rsc_cache *cache = &part->hierarchy->levels[i].caches[0];
        part->lower[i] =
            (struct rsc_fast_cache){cache->entries, cache->sets - 1, cache->ways, cache->block_shift, (int)i, cache};
    }
    if (level->fetch_level >= 0) part->caches[0] = part->lower[level->fetch_level];
    if (level->data_level >= 0) part->caches[1] = part->lower[level->data_level];
    if (part->caches[0].ways == part->caches[1].ways) part->all_ways = part->caches[0].ways;
}

void rsc_fast_forget_recent(struct rsc_fast_gather *gather) {
    gather->last[0] = gather->last[1] = UINT64_MAX; /* not a block: block numbers have fewer bits */
    for (uint32_t i = 0; i < 2 * (gather->recent_mask + 1); i++) gather->recent[i] = UINT64_MAX;
}

static int open_gather(struct rsc_first_level *level, struct rsc_fast_gather *gather, uint32_t part_shift) {
    const struct rsc_hierarchy *hierarchy = level->hierarchy;
    gather->shift = (uint32_t)__builtin_ctz(hierarchy->levels[0].config.block_bytes);
    gather->unified = (uint32_t)level->unified;
    gather->addr_mask = UINT64_MAX;
    gather->part_shift = part_shift;
    gather->part_mask = level->part_count - 1;
    gather->recent_mask = RECENT_MAX - 1;
    for (size_t i = 0; i < hierarchy->level_count; i++) {
        uint64_t sets = rsc_cache_sets(&hierarchy->levels[i].config);
        if (hierarchy->levels[i].config.level == hierarchy->levels[0].config.level && sets <= gather->recent_mask)
            gather->recent_mask = (uint32_t)sets - 1;
    }
    uint32_t room = level->part_count > 1 ? RSC_FAST_TILE_ROOM : level->list_room;
    gather->tile = malloc((RSC_FAST_TILE_ROOM + SCRIBBLED) * sizeof *gather->tile);
    gather->recent = malloc(2 * ((size_t)gather->recent_mask + 1) * sizeof *gather->recent);
    gather->list.references = malloc((room + SCRIBBLED) * sizeof *gather->list.references);
    if (!gather->tile || !gather->recent || !gather->list.references) return RSC_ENOMEM;
    rsc_fast_forget_recent(gather);
    for (int kind = 0; kind < RSC_KINDS; kind++)
        if (hierarchy->entry[kind] < 0) gather->skip |= RSC_KIND_BIT(kind);
    return 0;
}

static void close_gather(struct rsc_fast_gather *gather) {
    free(gather->list.references);
    free(gather->tile);
    free(gather->recent);
}

/* Makes the seats, and lists by part for each of them and the tail. */
static int open_sides(struct rsc_first_level *level, uint32_t part_shift) {
    const uint32_t parts = level->part_count, lists = (parts + 1) * parts;
    level->seats = aligned_alloc(_Alignof(struct rsc_fast_seat), parts * sizeof *level->seats);
    if (!level->seats) return RSC_ENOMEM;
    memset(level->seats, 0, parts * sizeof *level->seats);
    for (uint32_t s = 0; s < parts; s++)
        if (open_gather(level, &level->seats[s].gather, part_shift) < 0) return RSC_ENOMEM;
    for (int side = 0; side < 2; side++) {
        struct rsc_fast_list *all = level->sides[side].lists = calloc(lists, sizeof *all);
        for (uint32_t i = 0; i < lists; i++)
            if (!all || !(all[i].references = malloc((level->list_room + SCRIBBLED) * sizeof *all[i].references)))
                return RSC_ENOMEM;
    }
    level->tail.dealt = &level->sides[0].lists[parts * parts];
    return 0;
}

static void choose_loops(struct rsc_first_level *level) {
    enum rsc_simd simd = rsc_simd_best();
    level->gather_tile = RSC_WIDE_PICK(simd, rsc_fast_gather);
    level->serve = RSC_WIDE_PICK(simd, rsc_fast_serve);
}

/*
 * References a worker can gather for one part in a round: twice its share if every access becomes one
 * reference, plus some for small batches. A full list ends a round early.
 */
static uint32_t list_room(uint32_t parts) { return 2 * RSC_FAST_ROUND / (parts * parts) + 8 * RSC_FAST_TILE_ROOM; }

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
    level->list_room = level->part_count > 1 ? list_room(level->part_count) : LIST_ALONE;
    choose_loops(level);
    level->parts = calloc(level->part_count, sizeof *level->parts);
    if (!level->parts) status = RSC_ENOMEM;
    for (uint32_t p = 0; !status && p < level->part_count; p++) open_part(level, p);
    if (!status) status = open_gather(level, &level->tail, part_shift);
    if (!status && level->part_count > 1) status = open_sides(level, part_shift);
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
    const uint32_t parts = level->part_count, lists = (parts + 1) * parts;
    for (uint32_t s = 0; level->seats && s < parts; s++) close_gather(&level->seats[s].gather);
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; level->sides[side].lists && i < lists; i++) free(level->sides[side].lists[i].references);
        free(level->sides[side].lists);
    }
    close_gather(&level->tail);
    free(level->seats);
    free(level->parts);
    free(level);
}

/* ---- counts ---- */

void rsc_fast_take_counts(struct rsc_first_level *level, struct rsc_fast_counts *counts) {
    struct rsc_hierarchy *hierarchy = level->hierarchy;
    uint64_t reads = counts->references - counts->fetches - counts->writes;
    if (level->fetch_level >= 0) hierarchy->levels[level->fetch_level].counts.accesses[RSC_FETCH] += counts->fetches;
    if (level->data_level >= 0) {
        hierarchy->levels[level->data_level].counts.accesses[RSC_WRITE] += counts->writes;
        hierarchy->levels[level->data_level].counts.accesses[RSC_READ] += reads;
    }
    hierarchy->left_out += counts->left_out;
    *counts = (struct rsc_fast_counts){0};
}

static void add_counts(struct rsc_level_counts *to, struct rsc_level_counts *from) {
    uint64_t *sum = (uint64_t *)to, *more = (uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++) sum[i] += more[i];
    memset(from, 0, sizeof *from);
}

void rsc_first_level_flush(struct rsc_first_level *level) {
    struct rsc_hierarchy *main = level->hierarchy;
    rsc_fast_serve_all(level);
    rsc_fast_take_counts(level, &level->tail.counts);
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

/* Serves an access of many blocks in pieces of one block each. */
static void serve_long(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t i) {
    struct rsc_fast_gather *gather = &level->tail;
    uint64_t size = 1ull << gather->shift, most = gather->addr_mask, low = batch->addr[i] & most;
    uint64_t left = rsc_meta_size(batch->meta[i]), high = low + (left ? left - 1 : 0);
    if (high < low || high > most) high = most;
    for (uint64_t block = low >> gather->shift; block <= high >> gather->shift; block++) {
        uint64_t addr = block * size, meta = rsc_meta(1, rsc_meta_kind(batch->meta[i]), 0);
        struct rsc_batch piece = {.count = 1, .addr = &addr, .meta = &meta};
        if (!rsc_fast_has_room(level, gather)) rsc_fast_serve_all(level);
        level->gather_tile(gather, &piece, 0, 1);
    }
}

uint32_t rsc_fast_gather_some(struct rsc_first_level *level, struct rsc_fast_gather *gather,
                              const struct rsc_batch *batch, uint32_t first, uint32_t end) {
    while (first < end && rsc_fast_has_room(level, gather)) {
        uint32_t tile = end - first < RSC_FAST_TILE ? end : first + RSC_FAST_TILE;
        uint32_t stop = level->gather_tile(gather, batch, first, tile);
        first = stop;
        if (stop < tile) break;
    }
    return first;
}

/*
 * If addresses depend on the process (then there is one worker): gathers for the process of access `first` from
 * here on, and returns the end of its run of accesses.
 */
static uint32_t one_process(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first,
                            uint32_t end) {
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
    level->tail.addr_mask = RSC_SPACE_MASK;
    level->tail.addr_space = (uint64_t)space << RSC_SPACE_SHIFT;
    return i;
}

static void push_process(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first, uint32_t end) {
    uint32_t alone = first; /* end of the accesses that the caller gathers before it tries another round */
    while (first < end) {
        if (level->part_count > 1 && first >= alone && end - first >= BIG_BATCH) {
            uint32_t before = first;
            first = rsc_fast_round(level, batch, first, end);
            if (first < end && first - before < RSC_FAST_ROUND)
                alone = end - first < RSC_FAST_SHARE ? end : first + RSC_FAST_SHARE;
            continue;
        }
        uint32_t stop = rsc_fast_gather_some(level, &level->tail, batch, first, alone > first ? alone : end);
        if (!rsc_fast_has_room(level, &level->tail)) rsc_fast_serve_all(level);
        else if (stop == first) serve_long(level, batch, stop++);
        first = stop;
    }
}

int rsc_first_level_push(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                         struct rsc_error *error) {
    while (first < end && !level->hierarchy->status) {
        uint32_t stop = one_process(level, batch, first, end);
        if (!level->hierarchy->status) push_process(level, batch, first, stop);
        first = stop;
    }
    if (level->part_count == 1) rsc_fast_serve_all(level);
    for (uint32_t p = 0; p < level->part_count; p++)
        if (level->parts[p].hierarchy->status) level->hierarchy->status = level->parts[p].hierarchy->status;
    return rsc_hierarchy_fail(level->hierarchy, error);
}
