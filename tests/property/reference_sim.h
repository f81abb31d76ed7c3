/*
 * reference_sim.h - caches simulated from their definitions, as simply as can be, to
 * hold the simulator against. Nothing is shared with it but the description of a cache.
 *
 * Every line is a struct with times and numbers; every search is a loop over all of
 * them. What is asked of a cache, and what follows, is docs/guide/sim.md in C.
 */
#ifndef RSC_TESTS_REFERENCE_SIM_H
#define RSC_TESTS_REFERENCE_SIM_H

#undef NDEBUG /* its asserts are part of the tests, in every build */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/cache/cache_config.h"

#define REF_THREADS 8
#define REF_CACHES 8
#define REF_ADDRESSES (1u << 19) /* addresses of tests lie below; blocks have at least 16 bytes */

enum ref_op { REF_READ, REF_WRITE, REF_WRITE_BACK, REF_PREFETCH };

struct ref_line {
    uint64_t block, used, inserted;
    int valid, dirty, prefetched, touched, rrpv;
    unsigned char has[64], changed[64]; /* with sectors: by sector; then dirty is whether one is changed */
};

struct ref_stream {
    int64_t last, way;
    uint64_t blocks, touched;
};

struct ref_cache {
    struct ref_stream streams[8];
    uint64_t stream_time;
    struct ref_line *lines; /* sets * ways */
    uint64_t *generator;    /* of each set */
    unsigned char *tree;    /* of each set: 512 nodes, by (low + high) of the range they split */
    struct ref_line victims[64];
    int victim_count;
    struct {
        uint64_t low, high;
        int back;
    } buffer[16];
    int buffered;
    int psel;
    struct ref_line *shadow; /* fully associative, as many lines */
    unsigned char *seen, *lost; /* by block */
};

struct ref_counts {
    uint64_t accesses[3], misses[3], classes[4][3]; /* cold, coherence, capacity, conflict */
    uint64_t writes_in, writes_in_missed, writebacks, sector_misses, writethroughs, prefetches, prefetches_used,
        prefetches_in;
    uint64_t victim_hits, merged, invalidated, back_invalidated;
};

struct ref_request {
    uint64_t low, high; /* addresses, both included */
    int op, kind, thread;
};

struct ref_level {
    struct rsc_cache_config config;
    struct ref_cache cache[REF_THREADS];
    struct ref_counts counts;
    struct ref_request *log; /* what it was asked for, by block */
    int log_count;
    struct ref_request *asked; /* the same as it was asked */
    int asked_count, asked_warm; /* asked_warm: before counting started */
    const struct ref_request *future; /* Belady: the log of an earlier run */
    int future_count, position;
};

struct ref_sim {
    struct ref_level level[REF_CACHES];
    int levels;
    int coherent;
    uint64_t seed, clock;
    uint64_t pids[2];
    struct ref_request *memory; /* what memory was asked for */
    int memory_count, memory_warm;
};

static inline uint64_t ref_sets(const struct rsc_cache_config *c) { return c->size_bytes / c->ways / c->block_bytes; }

static inline uint64_t ref_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

/* Where a block's marks are: two processes at most. */
static inline uint64_t ref_mark(const struct ref_level *level, uint64_t block) {
    return block % (REF_ADDRESSES / 16) + (block * level->config.block_bytes >> 48) * (REF_ADDRESSES / 16);
}

static inline uint64_t ref_index(const struct ref_sim *sim, const struct rsc_cache_config *c, uint64_t block) {
    uint64_t sets = ref_sets(c), addr = block * c->block_bytes, bits = 0;
    while ((2ull << bits) <= sets) bits++;
    if (c->indexing == RSC_INDEX_PAGES) {
        uint64_t page = addr % (1ull << 48) / 4096, seed = sim->seed + sim->pids[addr >> 48] * 0xD6E8FEB86659FD93ull;
        uint64_t frame = ref_mix(page + seed * 0x9E3779B97F4A7C15ull + 0x9E3779B97F4A7C15ull);
        return (frame * (4096 / c->block_bytes) + addr % 4096 / c->block_bytes) % sets;
    }
    uint64_t index = block % sets;
    if (c->indexing == RSC_INDEX_PID) {
        uint64_t hashed = bits < 8 ? bits : 8, pid = sim->pids[addr >> 48];
        index ^= pid % (1ull << hashed) * (sets >> hashed);
    }
    return index;
}

static inline void ref_open(struct ref_sim *sim) {
    for (int l = 0; l < sim->levels; l++) {
        struct ref_level *level = &sim->level[l];
        uint64_t sets = ref_sets(&level->config), lines = sets * level->config.ways;
        level->log = level->asked = NULL;
        for (int i = 0; i < REF_THREADS; i++) {
            struct ref_cache *cache = &level->cache[i];
            cache->lines = calloc(lines, sizeof *cache->lines);
            cache->shadow = calloc(lines, sizeof *cache->shadow);
            cache->generator = calloc(sets, sizeof *cache->generator);
            cache->tree = calloc(sets, 512);
            cache->seen = calloc(2 * (REF_ADDRESSES / 16), 1);
            cache->lost = calloc(2 * (REF_ADDRESSES / 16), 1);
            cache->psel = 512;
            for (uint64_t s = 0; s < sets; s++)
                cache->generator[s] = ref_mix(sim->seed + (s + 1) * 0x9E3779B97F4A7C15ull);
        }
    }
    sim->memory = NULL;
}

static inline void ref_close(struct ref_sim *sim) {
    for (int l = 0; l < sim->levels; l++) {
        free(sim->level[l].log);
        free(sim->level[l].asked);
        for (int i = 0; i < REF_THREADS; i++) {
            struct ref_cache *cache = &sim->level[l].cache[i];
            free(cache->lines);
            free(cache->shadow);
            free(cache->generator);
            free(cache->tree);
            free(cache->seen);
            free(cache->lost);
        }
    }
    free(sim->memory);
}

static inline int ref_group(const struct ref_level *level, int thread) {
    return level->config.threads_each ? thread / (int)level->config.threads_each : 0;
}

/* The level below: the first with a higher number. */
static inline int ref_below(const struct ref_sim *sim, int l) {
    for (int k = l + 1; k < sim->levels; k++)
        if (sim->level[k].config.level > sim->level[l].config.level) return k;
    return -1;
}

static inline struct ref_line *ref_find(struct ref_sim *sim, struct ref_level *level, struct ref_cache *cache,
                                        uint64_t block) {
    struct ref_line *set = cache->lines + ref_index(sim, &level->config, block) * level->config.ways;
    for (uint32_t w = 0; w < level->config.ways; w++)
        if (set[w].valid && set[w].block == block) return &set[w];
    return NULL;
}

/* ---- replacement ---- */

static inline uint64_t ref_draw(struct ref_cache *cache, uint64_t set) {
    uint64_t x = cache->generator[set];
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (cache->generator[set] = x) >> 32;
}

static inline void ref_tree_touch(unsigned char *tree, uint32_t low, uint32_t high, uint32_t way) {
    if (high - low < 2) return;
    uint32_t middle = low + (high - low) / 2;
    unsigned char *node = &tree[low + high + (high - low == 1)];
    *node = way < middle; /* 1: the right half is the older */
    if (way < middle) ref_tree_touch(tree, low, middle, way);
    else ref_tree_touch(tree, middle, high, way);
}

static inline uint32_t ref_tree_oldest(const unsigned char *tree, uint32_t low, uint32_t high) {
    if (high - low < 2) return low;
    uint32_t middle = low + (high - low) / 2;
    return tree[low + high] ? ref_tree_oldest(tree, middle, high) : ref_tree_oldest(tree, low, middle);
}

static inline void ref_touch(struct ref_sim *sim, struct ref_level *level, struct ref_cache *cache,
                             struct ref_line *line) {
    uint64_t number = (uint64_t)(line - cache->lines), set = number / level->config.ways;
    uint32_t ways = level->config.ways, way = (uint32_t)(number % ways), others = 0;
    struct ref_line *lines = cache->lines + set * ways;
    line->used = ++sim->clock;
    line->touched = 1;
    line->rrpv = 0;
    for (uint32_t w = 0; w < ways; w++) others += lines[w].touched;
    for (uint32_t w = 0; others == ways && w < ways; w++) lines[w].touched = w == way;
    ref_tree_touch(cache->tree + set * 512, 0, ways, way);
}

static inline int ref_leads(uint64_t sets, uint64_t set) {
    uint64_t stride = sets < 64 ? 2 : sets / 32;
    if (set / stride > 31) return 0;
    return set % stride == 0 ? 'S' : set % stride == stride - 1 ? 'B' : 0;
}

static inline uint64_t ref_next_use(const struct ref_level *level, uint64_t block) {
    for (int i = level->position; i < level->future_count; i++)
        if (level->future[i].low / level->config.block_bytes == block) return (uint64_t)i;
    return UINT64_MAX;
}

static inline struct ref_line *ref_victim(struct ref_level *level, struct ref_cache *cache, uint64_t set) {
    uint32_t ways = level->config.ways, best = 0;
    struct ref_line *lines = cache->lines + set * ways;
    for (uint32_t w = 0; w < ways; w++)
        if (!lines[w].valid) return &lines[w];
    switch (level->config.policy) {
    case RSC_POLICY_LRU:
        for (uint32_t w = 0; w < ways; w++)
            if (lines[w].used < lines[best].used) best = w;
        break;
    case RSC_POLICY_FIFO:
        for (uint32_t w = 0; w < ways; w++)
            if (lines[w].inserted < lines[best].inserted) best = w;
        break;
    case RSC_POLICY_RANDOM: best = (uint32_t)(ref_draw(cache, set) * ways >> 32); break;
    case RSC_POLICY_PLRU: best = ref_tree_oldest(cache->tree + set * 512, 0, ways); break;
    case RSC_POLICY_NRU:
        while (best < ways - 1 && lines[best].touched) best++;
        if (ways == 1) best = 0;
        break;
    case RSC_POLICY_OPT:
        for (uint32_t w = 1; w < ways; w++)
            if (ref_next_use(level, lines[w].block) > ref_next_use(level, lines[best].block)) best = w;
        break;
    default: /* RRIP */
        for (;; best = 0) {
            while (best < ways && lines[best].rrpv != 3) best++;
            if (best < ways) break;
            for (uint32_t w = 0; w < ways; w++) lines[w].rrpv++;
        }
    }
    return &lines[best];
}

/* Puts a block in; returns what was there. */
static inline struct ref_line ref_insert(struct ref_sim *sim, struct ref_level *level, struct ref_cache *cache,
                                         uint64_t block, struct ref_line **at) {
    uint64_t sets = ref_sets(&level->config), set = ref_index(sim, &level->config, block);
    enum rsc_policy policy = level->config.policy;
    int leads = ref_leads(sets, set);
    if (policy == RSC_POLICY_DRRIP && leads == 'S' && cache->psel < 1023) cache->psel++;
    if (policy == RSC_POLICY_DRRIP && leads == 'B' && cache->psel > 0) cache->psel--;
    struct ref_line *line = ref_victim(level, cache, set), old = *line;
    *line = (struct ref_line){.block = block, .valid = 1};
    ref_touch(sim, level, cache, line);
    line->inserted = line->used;
    line->rrpv = 2;
    int bimodal =
        policy == RSC_POLICY_BRRIP || (policy == RSC_POLICY_DRRIP && (leads == 'B' || (!leads && cache->psel > 512)));
    if (bimodal && ref_draw(cache, set) / (1u << 27) != 0) line->rrpv = 3;
    *at = line;
    return old;
}

/* ---- requests ---- */

static inline void ref_ask(struct ref_sim *sim, int l, struct ref_request request);

/* A list of `count` elements, with room for one more: it has room for a power of two of them, 1024 at least. */
static inline void *ref_room(void *list, size_t count, size_t bytes) {
    if (count && (count < 1024 || (count & (count - 1)))) return list;
    list = realloc(list, (count < 1024 ? 1024 : 2 * count) * bytes);
    if (!list) abort();
    return list;
}

static inline void ref_ask_memory(struct ref_sim *sim, struct ref_request request) {
    sim->memory = ref_room(sim->memory, sim->memory_count, sizeof *sim->memory);
    sim->memory[sim->memory_count++] = request;
}

static inline void ref_pass(struct ref_sim *sim, int l, struct ref_request request) {
    int below = ref_below(sim, l);
    if (below >= 0) ref_ask(sim, below, request);
    else ref_ask_memory(sim, request);
}

static inline void ref_drain(struct ref_sim *sim, int l, struct ref_cache *cache, int i, int thread, int kind) {
    struct ref_request write = {cache->buffer[i].low, cache->buffer[i].high,
                                cache->buffer[i].back ? REF_WRITE_BACK : REF_WRITE, kind, thread};
    for (cache->buffered--; i < cache->buffered; i++) cache->buffer[i] = cache->buffer[i + 1];
    ref_pass(sim, l, write);
}

/* Towards the level below, through the write buffer if there is one. */
static inline void ref_send(struct ref_sim *sim, int l, struct ref_cache *cache, struct ref_request request) {
    struct ref_level *level = &sim->level[l];
    uint64_t size = level->config.block_bytes;
    int found = -1, writes = request.op == REF_WRITE || request.op == REF_WRITE_BACK;
    for (int i = 0; i < cache->buffered; i++)
        if (cache->buffer[i].low / size == request.low / size) found = i;
    if (!level->config.buffer_blocks || (!writes && found < 0)) {
        ref_pass(sim, l, request);
    } else if (!writes) {
        ref_drain(sim, l, cache, found, request.thread, RSC_WRITE);
        ref_pass(sim, l, request);
    } else if (found >= 0) {
        if (request.low < cache->buffer[found].low) cache->buffer[found].low = request.low;
        if (request.high > cache->buffer[found].high) cache->buffer[found].high = request.high;
        cache->buffer[found].back |= request.op == REF_WRITE_BACK;
        level->counts.merged++;
    } else {
        if (cache->buffered == (int)level->config.buffer_blocks) ref_drain(sim, l, cache, 0, request.thread, RSC_WRITE);
        cache->buffer[cache->buffered].low = request.low;
        cache->buffer[cache->buffered].high = request.high;
        cache->buffer[cache->buffered++].back = request.op == REF_WRITE_BACK;
    }
}

/* Takes a block out of a cache or its victim cache. */
static inline struct ref_line ref_take(struct ref_sim *sim, struct ref_level *level, struct ref_cache *cache,
                                       uint64_t block) {
    struct ref_line *line = ref_find(sim, level, cache, block), gone = {0};
    if (line) {
        gone = *line;
        line->valid = 0;
        return gone;
    }
    for (int i = 0; i < cache->victim_count; i++)
        if (cache->victims[i].block == block) {
            gone = cache->victims[i];
            for (cache->victim_count--; i < cache->victim_count; i++) cache->victims[i] = cache->victims[i + 1];
        }
    return gone;
}

/* A line has left a cache for good. */
static inline void ref_evict(struct ref_sim *sim, int l, struct ref_cache *cache, struct ref_line gone, int thread) {
    struct ref_level *level = &sim->level[l];
    uint64_t size = level->config.block_bytes, low = gone.block * size;
    int dirty = gone.dirty;
    for (int a = 0; level->config.inclusive && a < l; a++) {
        struct ref_level *above = &sim->level[a];
        if (above->config.level >= level->config.level) continue;
        for (int t = 0; t < REF_THREADS; t++) {
            int each = (int)above->config.threads_each;
            if (t != (each ? t / each * each : 0)) continue; /* one thread of each group */
            if (ref_group(level, t) != ref_group(level, thread)) continue;
            struct ref_cache *of = &above->cache[ref_group(above, t)];
            for (uint64_t b = low / above->config.block_bytes; b <= (low + size - 1) / above->config.block_bytes; b++) {
                struct ref_line taken = ref_take(sim, above, of, b);
                above->counts.back_invalidated += taken.valid;
                dirty |= taken.valid && taken.dirty;
                for (uint64_t at = low; level->config.sector_bytes && taken.valid && taken.dirty && at < low + size;
                     at++)
                    if (at / above->config.block_bytes == b) gone.changed[(at - low) / level->config.sector_bytes] = 1;
            }
        }
    }
    if (!dirty) return;
    for (uint64_t k = 0, sector = level->config.sector_bytes; sector && k < size / sector; k++) {
        if (!gone.changed[k]) continue;
        level->counts.writebacks++;
        ref_send(sim, l, cache,
                 (struct ref_request){low + k * sector, low + (k + 1) * sector - 1, REF_WRITE_BACK, RSC_WRITE, thread});
    }
    if (level->config.sector_bytes) return;
    level->counts.writebacks++;
    ref_send(sim, l, cache, (struct ref_request){low, low + size - 1, REF_WRITE_BACK, RSC_WRITE, thread});
}

/* Puts a block in and says what leaves for good: with a victim cache, its last. */
static inline struct ref_line ref_put(struct ref_sim *sim, struct ref_level *level, struct ref_cache *cache,
                                      uint64_t block, struct ref_line **at) {
    struct ref_line old = ref_insert(sim, level, cache, block, at), out = {0};
    int most = (int)level->config.victim_blocks;
    if (!most || !old.valid) return old;
    if (cache->victim_count == most) out = cache->victims[--cache->victim_count];
    for (int i = cache->victim_count++; i > 0; i--) cache->victims[i] = cache->victims[i - 1];
    cache->victims[0] = old;
    return out;
}

/* What a miss would be, and the shadow afterwards. */
static inline int ref_classify(struct ref_sim *sim, struct ref_level *level, struct ref_cache *cache, uint64_t block,
                               int allocates) {
    uint64_t lines = ref_sets(&level->config) * level->config.ways, oldest = 0, at = ref_mark(level, block);
    struct ref_line *found = NULL;
    for (uint64_t i = 0; i < lines; i++) {
        if (cache->shadow[i].valid && cache->shadow[i].block == block) found = &cache->shadow[i];
        if (cache->shadow[i].used < cache->shadow[oldest].used) oldest = i;
    }
    int class = !cache->seen[at] ? 0 : cache->lost[at] ? 1 : found ? 3 : 2;
    cache->seen[at] = 1;
    cache->lost[at] = 0;
    if (!found && allocates) found = &cache->shadow[oldest];
    if (found) *found = (struct ref_line){.block = block, .valid = 1, .used = ++sim->clock};
    return class;
}

/* Other threads' caches, before a first level serves: copies go (write) or become clean (read that misses). */
static inline void ref_cohere(struct ref_sim *sim, int l, uint64_t block, const struct ref_request *request) {
    uint64_t unit = 0, low = block * sim->level[l].config.block_bytes;
    int writes = request->op == REF_WRITE || request->op == REF_WRITE_BACK;
    struct ref_level *own = &sim->level[l];
    if (!writes && ref_find(sim, own, &own->cache[ref_group(own, request->thread)], block)) return;
    for (int k = 0; k < sim->levels; k++)
        if (sim->level[k].config.threads_each && sim->level[k].config.block_bytes > unit)
            unit = sim->level[k].config.block_bytes;
    low = low / unit * unit;
    for (int k = sim->levels - 1; k >= 0; k--) {
        struct ref_level *level = &sim->level[k];
        uint64_t size = level->config.block_bytes;
        for (int g = 0; level->config.threads_each && g < REF_THREADS; g++) {
            if (g == ref_group(level, request->thread)) continue;
            for (uint64_t b = low / size; b <= (low + unit - 1) / size; b++) {
                struct ref_line *line = ref_find(sim, level, &level->cache[g], b);
                if (!line) continue;
                int dirty = line->dirty, owner = g * (int)level->config.threads_each, to = ref_below(sim, k);
                line->dirty = 0;
                if (writes) {
                    line->valid = 0;
                    level->counts.invalidated++;
                    level->cache[g].lost[ref_mark(level, b)] = 1;
                }
                if (!dirty) continue;
                level->counts.writebacks++;
                while (to >= 0 && ref_group(&sim->level[to], owner) != ref_group(&sim->level[to], request->thread))
                    to = ref_below(sim, to);
                struct ref_request back = {b * size, b * size + size - 1, REF_WRITE_BACK, RSC_WRITE, request->thread};
                if (to >= 0) ref_ask(sim, to, back);
                else ref_ask_memory(sim, back);
            }
        }
    }
}

/* Fetches a block that was not asked for, unless the cache or its victim cache has it. */
static inline void ref_prefetch(struct ref_sim *sim, int l, struct ref_cache *cache, int64_t block,
                                const struct ref_request *request) {
    struct ref_level *level = &sim->level[l];
    struct ref_line *line, gone;
    uint64_t size = level->config.block_bytes, low = (uint64_t)block * size;
    if (block < 0 || ref_find(sim, level, cache, (uint64_t)block)) return;
    for (int i = 0; i < cache->victim_count; i++)
        if (cache->victims[i].block == (uint64_t)block) return;
    level->counts.prefetches++;
    gone = ref_put(sim, level, cache, (uint64_t)block, &line);
    line->prefetched = 1;
    for (uint32_t k = 0; level->config.sector_bytes && k < size / level->config.sector_bytes; k++) line->has[k] = 1;
    ref_send(sim, l, cache, (struct ref_request){low, low + size - 1, REF_PREFETCH, request->kind, request->thread});
    if (gone.valid) ref_evict(sim, l, cache, gone, request->thread);
}

/* Streams, each a list of the blocks that made it, of which the last two matter. */
static inline void ref_streams(struct ref_sim *sim, int l, struct ref_cache *cache, int64_t block,
                               const struct ref_request *request) {
    const struct rsc_cache_config *config = &sim->level[l].config;
    int64_t depth = config->stream_depth;
    int found = -1, place = 0;
    for (uint32_t i = 0; i < config->streams; i++) {
        const struct ref_stream *one = &cache->streams[i];
        int64_t step = block - one->last;
        if (found < 0 && one->blocks == 1 && (step == 1 || step == -1)) found = (int)i;
        if (found < 0 && one->blocks > 1 && step * one->way >= 1 && step * one->way <= depth) found = (int)i;
        if (one->touched < cache->streams[place].touched) place = (int)i;
    }
    cache->stream_time++;
    if (found < 0) {
        cache->streams[place] = (struct ref_stream){.last = block, .blocks = 1, .touched = cache->stream_time};
        return;
    }
    struct ref_stream *stream = &cache->streams[found];
    if (stream->blocks++ == 1) stream->way = block - stream->last;
    stream->last = block;
    stream->touched = cache->stream_time;
    int64_t way = stream->way;
    for (int64_t k = 1; k <= depth; k++) ref_prefetch(sim, l, cache, block + way * k, request);
}

/* A request of a cache with sectors: each sector it touches is there or is read. *missed: one was; *ahead: the block had
 * been fetched ahead and was used for the first time. */
static inline void ref_sectors(struct ref_sim *sim, int l, struct ref_cache *cache, uint64_t block,
                               struct ref_request request, int *missed, int *ahead) {
    struct ref_level *level = &sim->level[l];
    const struct rsc_cache_config *config = &level->config;
    struct ref_line *line = ref_find(sim, level, cache, block), gone = {0};
    int demand = request.op == REF_READ || request.op == REF_WRITE,
        writes = request.op == REF_WRITE || request.op == REF_WRITE_BACK, found = line != NULL, lacking = 0,
        lacks[64] = {0};
    uint64_t sector = config->sector_bytes, low = block * config->block_bytes;
    for (uint64_t at = request.low; at <= request.high; at++)
        if (!line || !line->has[(at - low) / sector]) lacks[(at - low) / sector] = lacking = 1;
    if (line) ref_touch(sim, level, cache, line);
    if (line && demand && line->prefetched) {
        level->counts.prefetches_used++;
        line->prefetched = 0;
        *ahead = 1;
    }
    *missed = lacking;
    if (demand && lacking) level->counts.misses[request.kind]++, level->counts.sector_misses += (unsigned)found;
    level->counts.writes_in_missed += lacking && request.op == REF_WRITE_BACK;
    if (lacking && writes && config->no_write_allocate) {
        level->counts.writethroughs++;
        ref_send(sim, l, cache, request);
        return;
    }
    if (!line) gone = ref_put(sim, level, cache, block, &line);
    for (uint64_t at = request.low; at <= request.high; at++) {
        line->has[(at - low) / sector] = 1;
        if (writes && !config->write_through) line->dirty = line->changed[(at - low) / sector] = 1;
    }
    for (uint64_t k = 0; request.op != REF_WRITE_BACK && k < config->block_bytes / sector; k++)
        if (lacks[k])
            ref_send(sim, l, cache,
                     (struct ref_request){low + k * sector, low + (k + 1) * sector - 1,
                                          request.op == REF_PREFETCH ? REF_PREFETCH : REF_READ, request.kind,
                                          request.thread});
    if (writes && config->write_through) {
        level->counts.writethroughs++;
        ref_send(sim, l, cache, request);
    }
    if (gone.valid) ref_evict(sim, l, cache, gone, request.thread);
}

static inline void ref_serve(struct ref_sim *sim, int l, uint64_t block, struct ref_request request) {
    struct ref_level *level = &sim->level[l];
    const struct rsc_cache_config *config = &level->config;
    struct ref_cache *cache = &level->cache[ref_group(level, request.thread)];
    struct ref_counts *counts = &level->counts;
    uint64_t size = config->block_bytes;
    int demand = request.op == REF_READ || request.op == REF_WRITE;
    int writes = request.op == REF_WRITE || request.op == REF_WRITE_BACK, kind = request.kind, class = 0;
    struct ref_line *line, gone;
    level->position++;
    if (sim->coherent && config->level == sim->level[0].config.level) ref_cohere(sim, l, block, &request);
    line = ref_find(sim, level, cache, block);
    if (request.op != REF_PREFETCH)
        class = ref_classify(sim, level, cache, block, !(writes && config->no_write_allocate));
    if (demand) counts->accesses[kind]++;
    counts->writes_in += request.op == REF_WRITE_BACK;
    counts->prefetches_in += request.op == REF_PREFETCH;
    int ahead = 0;
    if (config->sector_bytes) {
        int missed;
        ref_sectors(sim, l, cache, block, request, &missed, &ahead);
        for (uint32_t k = 1; demand && missed && k <= config->prefetch_next; k++)
            ref_prefetch(sim, l, cache, (int64_t)(block + k), &request);
        if (demand && config->streams && (missed || ahead)) ref_streams(sim, l, cache, (int64_t)block, &request);
        return;
    }
    if (line) {
        ref_touch(sim, level, cache, line);
        ahead = demand && line->prefetched;
        if (ahead) {
            counts->prefetches_used++;
            line->prefetched = 0;
        }
    } else if (cache->victim_count && (gone = ref_take(sim, level, cache, block)).valid) {
        counts->victim_hits += demand;
        ref_put(sim, level, cache, block, &line);
        line->dirty = gone.dirty;
    }
    if (line) {
        if (writes && !config->write_through) line->dirty = 1;
        if (writes && config->write_through) {
            counts->writethroughs++;
            ref_send(sim, l, cache, request);
        }
        if (ahead && config->streams) ref_streams(sim, l, cache, (int64_t)block, &request);
        return;
    }
    if (demand) counts->misses[kind]++, counts->classes[class][kind]++;
    counts->writes_in_missed += request.op == REF_WRITE_BACK;
    if (writes && config->no_write_allocate) {
        counts->writethroughs++;
        ref_send(sim, l, cache, request);
    } else {
        gone = ref_put(sim, level, cache, block, &line);
        line->dirty = writes && !config->write_through;
        if (request.op != REF_WRITE_BACK)
            ref_send(sim, l, cache,
                     (struct ref_request){block * size, block * size + size - 1,
                                          request.op == REF_PREFETCH ? REF_PREFETCH : REF_READ, kind, request.thread});
        if (writes && config->write_through) {
            counts->writethroughs++;
            ref_send(sim, l, cache, request);
        }
        if (gone.valid) ref_evict(sim, l, cache, gone, request.thread);
    }
    if (!demand) return;
    for (uint32_t k = 1; k <= config->prefetch_next; k++) ref_prefetch(sim, l, cache, (int64_t)(block + k), &request);
    if (config->streams) ref_streams(sim, l, cache, (int64_t)block, &request);
}

static inline void ref_ask(struct ref_sim *sim, int l, struct ref_request request) {
    struct ref_level *level = &sim->level[l];
    uint64_t size = level->config.block_bytes;
    level->asked = ref_room(level->asked, level->asked_count, sizeof *level->asked);
    level->asked[level->asked_count++] = request;
    for (uint64_t block = request.low / size; block <= request.high / size; block++) {
        struct ref_request part = request;
        if (part.low < block * size) part.low = block * size;
        if (part.high > block * size + size - 1) part.high = block * size + size - 1;
        level->log = ref_room(level->log, level->log_count, sizeof *level->log);
        level->log[level->log_count++] = part;
        ref_serve(sim, l, block, part);
    }
}

/* Empties write buffers, first level first. */
static inline void ref_end(struct ref_sim *sim) {
    for (int l = 0; l < sim->levels; l++)
        for (int i = 0; i < REF_THREADS; i++)
            while (sim->level[l].cache[i].buffered)
                ref_drain(sim, l, &sim->level[l].cache[i], 0, i * (int)sim->level[l].config.threads_each, RSC_WRITE);
}

static inline uint64_t ref_held(const struct ref_level *level, int dirty_only) {
    uint64_t count = 0, lines = ref_sets(&level->config) * level->config.ways;
    for (int i = 0; i < REF_THREADS; i++) {
        for (uint64_t k = 0; k < lines; k++) {
            const struct ref_line *line = &level->cache[i].lines[k];
            for (uint32_t s = 0; dirty_only && level->config.sector_bytes && s < 64; s++)
                count += line->valid && line->changed[s];
            if (dirty_only && level->config.sector_bytes) continue;
            count += line->valid && (line->dirty || !dirty_only);
        }
        for (int k = 0; dirty_only && k < level->cache[i].victim_count; k++)
            count += level->cache[i].victims[k].dirty != 0;
    }
    return count;
}

#endif
