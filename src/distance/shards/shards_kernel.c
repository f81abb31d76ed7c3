/*
 * shards_kernel.c - distances of kept references, compiled once per width: widths
 * differ in counting bits and summing blocks.
 */
#include <reusescope/trace.h>

#include "base/cpu.h"
#include "distance/shards/shards_state.h"

/* Prefetch distances, in references: the chain, the node, and the slot of the last use. */
#define AHEAD_CHAIN 12u
#define AHEAD_NODE 8u
#define AHEAD_SLOT 4u

/* always_inline: gcc drops calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void prefetch(const struct rsc_sampled_stack *stack,
                                                           const struct rsc_kept *kept, uint32_t i) {
    if (i + AHEAD_CHAIN >= kept->count) return; /* the last few wait */
    __builtin_prefetch(&stack->chains[rsc_stack_chain(stack, kept->hash[i + AHEAD_CHAIN])]);
    uint32_t node = stack->chains[rsc_stack_chain(stack, kept->hash[i + AHEAD_NODE])];
    if (node != RSC_NO_NODE) __builtin_prefetch(&stack->nodes[node]);
    node = stack->chains[rsc_stack_chain(stack, kept->hash[i + AHEAD_SLOT])];
    if (node == RSC_NO_NODE) return;
    uint32_t slot = stack->nodes[node].slot;
    __builtin_prefetch(&stack->bits[slot >> RSC_STACK_BLOCK_BITS << (RSC_STACK_BLOCK_BITS - 6)], 1);
    __builtin_prefetch(stack->block_groups[slot >> RSC_STACK_BLOCK_BITS], 1);
}

/* What is counted of a kept reference. */
struct found {
    uint64_t distance; /* RSC_SHARDS_FIRST: of a first use */
    uint64_t interval;
    uint32_t group, thread;
};

static inline __attribute__((always_inline)) void count_one(struct rsc_shards *shards, const struct found *found,
                                                            double weight) {
    struct rsc_kept_sum *sum = &shards->sum;
    struct rsc_kept_row *row = NULL;
    if (found->thread && !sum->by_thread) {
        rsc_kept_split_threads(sum);
        sum->by_thread = 1;
    }
    if (sum->by_thread && found->thread < sum->thread_count) row = &sum->threads[found->thread];
    if (found->distance == RSC_SHARDS_FIRST) {
        rsc_kept_miss(sum, weight, found->group);
        if (row) row->cold += weight;
        return;
    }
    rsc_kept_count(sum, found->distance, found->interval, weight, found->group);
    if (row) row->rd[rsc_bin_of_coarse(found->distance)] += weight;
}

/* Moves the line of a kept reference to the top. */
static inline __attribute__((always_inline)) int place_one(struct rsc_shards *shards, uint64_t line, uint64_t hash,
                                                           uint64_t time, struct found *found) {
    struct rsc_sampled_stack *stack = &shards->stack;
    uint32_t node = rsc_sampled_stack_find(stack, line, hash);
    found->group = rsc_hash_group(hash, RSC_LINE_GROUPS);
    if (node == RSC_NO_NODE) {
        found->distance = RSC_SHARDS_FIRST;
        found->interval = 0;
        int status = rsc_sampled_stack_add(stack, line, hash, time, &node);
        if (!status && shards->lines_most) rsc_shards_bound(shards, hash, node);
        return status;
    }
    uint32_t above = rsc_sampled_stack_above(stack, node);
    found->interval = time - stack->nodes[node].time;
    found->distance = rsc_kept_place(&shards->sum, above, found->interval, shards->weight);
    if (above) rsc_kept_audit(&shards->sum, stack, node, found->distance);
    return rsc_sampled_stack_use(stack, node, time);
}

int RSC_WIDE(rsc_shards_take)(struct rsc_shards *shards, const uint64_t *meta) {
    const struct rsc_kept *kept = &shards->kept;
    for (uint32_t i = 0; i < kept->count; i++) {
        prefetch(&shards->stack, kept, i);
        if (kept->hash[i] > shards->filter.limit) continue; /* the limit has fallen since it was kept */
        const double weight = shards->weight;
        struct found found = {.thread = rsc_meta_thread(meta[kept->from[i]])};
        int status = place_one(shards, kept->line[i], kept->hash[i], kept->time[i], &found);
        if (status < 0) return status;
        count_one(shards, &found, weight);
    }
    return 0;
}

/* ---- in two steps, of a fixed rate ---- */

#define AHEAD_COLUMNS 48u /* prefetch distance: another core has written them */

int RSC_WIDE(rsc_shards_place)(struct rsc_shards *shards, const struct rsc_kept *kept, uint64_t before,
                               struct rsc_shards_found *out) {
    for (uint32_t i = 0; i < kept->count; i++) {
        struct found found;
        __builtin_prefetch(&kept->line[i + AHEAD_COLUMNS]);
        __builtin_prefetch(&kept->hash[i + AHEAD_COLUMNS]);
        __builtin_prefetch(&kept->time[i + AHEAD_COLUMNS]);
        prefetch(&shards->stack, kept, i);
        int status = place_one(shards, kept->line[i], kept->hash[i], before + kept->time[i], &found);
        if (status < 0) return status;
        out->distance[i] = found.distance;
        out->interval[i] = found.interval;
        out->group[i] = found.group;
    }
    return 0;
}

void RSC_WIDE(rsc_shards_count)(struct rsc_shards *shards, const struct rsc_shards_found *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        const struct found found = {all->distance[i], all->interval[i], all->group[i], all->thread[i]};
        count_one(shards, &found, shards->weight);
    }
}
