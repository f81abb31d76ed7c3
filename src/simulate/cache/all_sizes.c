/* all_sizes.c - see all_sizes.h. */
#include "simulate/cache/all_sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pages.h"

#define LOST_ALL UINT16_MAX

static uint32_t log2_up(uint32_t value) { return value <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(value - 1); }

static int init_stacks(struct rsc_all_stacks *stacks, const struct rsc_all_config *config, uint64_t sets) {
    uint64_t most = config->high_bytes / (sets * config->block_bytes);
    stacks->sets = sets;
    stacks->depth = most < config->ways_max ? (uint32_t)most : config->ways_max;
    stacks->blocks = rsc_pages_new(sets * stacks->depth * sizeof *stacks->blocks);
    stacks->lost = rsc_pages_new(sets * stacks->depth * sizeof *stacks->lost);
    return stacks->blocks && stacks->lost ? 0 : RSC_ENOMEM;
}

int rsc_all_init(struct rsc_all_sizes *all, const struct rsc_all_config *config, struct rsc_error *error) {
    uint64_t way_bytes = (uint64_t)config->ways_max * config->block_bytes;
    uint64_t sets = config->low_bytes > way_bytes ? config->low_bytes / way_bytes : 1;
    memset(all, 0, sizeof *all);
    all->config = *config;
    all->block_shift = (uint32_t)__builtin_ctz(config->block_bytes);
    all->stacks = calloc(64, sizeof *all->stacks);
    if (!all->stacks) return rsc_fail_memory(error, "stacks of caches");
    for (; sets * config->block_bytes <= config->high_bytes; sets *= 2)
        if (init_stacks(&all->stacks[all->stack_count++], config, sets) < 0)
            return rsc_fail_memory(error, "stacks of caches");
    return 0;
}

void rsc_all_free(struct rsc_all_sizes *all) {
    for (size_t i = 0; i < all->stack_count; i++) {
        struct rsc_all_stacks *stacks = &all->stacks[i];
        rsc_pages_free(stacks->blocks, stacks->sets * stacks->depth * sizeof *stacks->blocks);
        rsc_pages_free(stacks->lost, stacks->sets * stacks->depth * sizeof *stacks->lost);
    }
    free(all->stacks);
    memset(all, 0, sizeof *all);
}

/* A block dirty in caches of more than `lost` ways was evicted from those of up to `depth` ways. */
static void count_gone(struct rsc_all_stacks *stacks, uint32_t lost, uint32_t depth) {
    for (uint32_t log = log2_up(lost + 1); log < RSC_ALL_WAYS_LOG && 1u << log <= depth; log++)
        stacks->writebacks[log]++;
}

static void use(struct rsc_all_stacks *stacks, uint64_t block, const struct rsc_request *request) {
    uint64_t *blocks = stacks->blocks + (block & (stacks->sets - 1)) * stacks->depth;
    uint16_t *lost = stacks->lost + (block & (stacks->sets - 1)) * stacks->depth;
    uint32_t depth = 0;
    while (depth < stacks->depth && blocks[depth] && blocks[depth] != block + 1) depth++;
    int found = depth < stacks->depth && blocks[depth];
    uint16_t was = LOST_ALL;
    if (found) {
        if (rsc_is_demand(request)) stacks->hits[request->kind][log2_up(depth + 1)]++;
        was = lost[depth];
    }
    if (depth == stacks->depth) { /* the largest cache evicts the last one too */
        depth--;
        if (lost[depth] != LOST_ALL) count_gone(stacks, lost[depth], stacks->depth);
    } else if (found && was != LOST_ALL && depth > was) {
        count_gone(stacks, was, depth);
        was = (uint16_t)depth;
    }
    memmove(blocks + 1, blocks, depth * sizeof *blocks);
    memmove(lost + 1, lost, depth * sizeof *lost);
    blocks[0] = block + 1;
    lost[0] = rsc_is_write(request) ? 0 : was;
}

void rsc_all_request(struct rsc_all_sizes *all, const struct rsc_request *request) {
    uint64_t last = request->addr + (request->bytes ? request->bytes - 1 : 0);
    if (last < request->addr) last = UINT64_MAX;
    for (uint64_t block = request->addr >> all->block_shift; block <= last >> all->block_shift; block++) {
        if (rsc_is_demand(request)) all->accesses[request->kind]++;
        else all->writes_in += request->op == RSC_OP_WRITE_BACK;
        for (size_t i = 0; i < all->stack_count; i++) use(&all->stacks[i], block, request);
    }
}

/* The smaller caches have already evicted blocks deep in their stack: count these write-backs now. */
void rsc_all_settle(struct rsc_all_sizes *all) {
    for (size_t i = 0; i < all->stack_count; i++) {
        struct rsc_all_stacks *stacks = &all->stacks[i];
        memset(stacks->dirty, 0, sizeof stacks->dirty);
        memset(stacks->filled, 0, sizeof stacks->filled);
        for (uint64_t at = 0; at < stacks->sets * stacks->depth; at++) {
            uint32_t depth = (uint32_t)(at % stacks->depth);
            if (!stacks->blocks[at]) continue;
            for (uint32_t log = log2_up(depth + 1); 1u << log <= stacks->depth; log++) stacks->filled[log]++;
            if (stacks->lost[at] == LOST_ALL) continue;
            if (depth > stacks->lost[at]) {
                count_gone(stacks, stacks->lost[at], depth);
                stacks->lost[at] = (uint16_t)depth;
            }
            for (uint32_t log = log2_up(stacks->lost[at] + 1u); 1u << log <= stacks->depth; log++) stacks->dirty[log]++;
        }
    }
}

void rsc_all_forget_counts(struct rsc_all_sizes *all) {
    rsc_all_settle(all);
    for (size_t i = 0; i < all->stack_count; i++) {
        memset(all->stacks[i].hits, 0, sizeof all->stacks[i].hits);
        memset(all->stacks[i].writebacks, 0, sizeof all->stacks[i].writebacks);
    }
    memset(all->accesses, 0, sizeof all->accesses);
    all->writes_in = 0;
}

/* Size and ways of cache number `index`: sizes ascending, then ways. Returns 0 if index is out of range. */
static int nth(const struct rsc_all_sizes *all, size_t index, uint64_t *size, uint32_t *ways) {
    for (*size = all->config.low_bytes; *size <= all->config.high_bytes; *size *= 2)
        for (*ways = 1; *ways <= all->config.ways_max && (uint64_t)*ways * all->config.block_bytes <= *size; *ways *= 2)
            if (!index--) return 1;
    return 0;
}

size_t rsc_all_count(const struct rsc_all_sizes *all) {
    size_t count = 0;
    uint64_t size;
    uint32_t ways;
    while (nth(all, count, &size, &ways)) count++;
    return count;
}

void rsc_all_result(const struct rsc_all_sizes *all, size_t index, struct rsc_cache_config *config,
                    struct rsc_level_counts *counts) {
    uint64_t size = 0;
    uint32_t ways = 1;
    memset(config, 0, sizeof *config);
    memset(counts, 0, sizeof *counts);
    if (!nth(all, index, &size, &ways)) return;
    memcpy(config->name, all->config.name, sizeof config->name);
    config->level = all->config.level;
    config->kinds = all->config.kinds;
    config->size_bytes = size;
    config->ways = ways;
    config->block_bytes = all->config.block_bytes;
    uint64_t sets = rsc_cache_sets(config);
    const struct rsc_all_stacks *stacks = all->stacks;
    while (stacks->sets != sets) stacks++;
    uint32_t log = log2_up(ways);
    for (int kind = 0; kind < RSC_KINDS; kind++) {
        counts->accesses[kind] = counts->misses[kind] = all->accesses[kind];
        for (uint32_t i = 0; i <= log; i++) counts->misses[kind] -= stacks->hits[kind][i];
    }
    counts->writes_in = all->writes_in;
    counts->writebacks = stacks->writebacks[log];
    counts->dirty_at_end = stacks->dirty[log];
    counts->blocks_at_end = stacks->filled[log];
    counts->blocks = sets * ways;
}
