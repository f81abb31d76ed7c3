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

static inline int take_kernel(struct rsc_shards *shards, const uint64_t *meta) {
    struct rsc_sampled_stack *stack = &shards->stack;
    struct rsc_kept_sum *sum = &shards->sum;
    const struct rsc_kept *kept = &shards->kept;
    for (uint32_t i = 0; i < kept->count; i++) {
        prefetch(stack, kept, i);
        uint64_t line = kept->line[i], hash = kept->hash[i], time = kept->time[i];
        if (hash > shards->filter.limit) continue; /* the limit has fallen since it was kept */
        uint32_t node = rsc_sampled_stack_find(stack, line, hash);
        uint32_t group = rsc_hash_group(hash, RSC_LINE_GROUPS);
        struct rsc_kept_row *row = NULL;
        double weight = shards->weight;
        uint32_t number = rsc_meta_thread(meta[kept->from[i]]);
        if (number && !sum->by_thread) {
            rsc_kept_split_threads(sum);
            sum->by_thread = 1;
        }
        if (sum->by_thread && number < sum->thread_count) row = &sum->threads[number];
        if (node == RSC_NO_NODE) {
            int status = rsc_sampled_stack_add(stack, line, hash, time, &node);
            if (status < 0) return status;
            rsc_kept_miss(sum, weight, group);
            if (row) row->cold += weight;
            if (shards->lines_most) rsc_shards_bound(shards, hash, node);
            continue;
        }
        uint32_t above = rsc_sampled_stack_above(stack, node);
        uint64_t interval = time - stack->nodes[node].time;
        uint64_t distance = rsc_kept_reuse(sum, above, interval, interval, weight, group);
        if (row) row->rd[rsc_bin_of_coarse(distance)] += weight;
        if (above) rsc_kept_audit(sum, stack, node, distance);
        int status = rsc_sampled_stack_use(stack, node, time);
        if (status < 0) return status;
    }
    return 0;
}

int RSC_WIDE(rsc_shards_take)(struct rsc_shards *shards, const uint64_t *meta) { return take_kernel(shards, meta); }
