/* shards_state.c - set-up of shards_state.h, and the bound on lines. */
#include "distance/shards/shards_state.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

/* Sets or lowers the limit: from here on lines up to this hash are kept. */
static void set_limit(struct rsc_shards *shards, uint64_t limit) {
    shards->filter.limit = limit;
    shards->rate = rsc_line_rate(limit);
    shards->weight = 1 / shards->rate;
}

int rsc_shards_init(struct rsc_shards *shards, enum rsc_simd simd, uint32_t line_shift, uint64_t seed, uint64_t limit,
                    uint32_t lines_most, uint64_t rd_cap) {
    memset(shards, 0, sizeof *shards);
    shards->lines_most = lines_most;
    if (rsc_sampled_stack_init(&shards->stack) < 0 || rsc_kept_sum_init(&shards->sum, rd_cap, seed) < 0 ||
        (lines_most && !(shards->heap = malloc((lines_most + 1ull) * sizeof *shards->heap)))) {
        rsc_shards_free(shards);
        return RSC_ENOMEM;
    }
    rsc_line_filter_init(&shards->filter, simd, line_shift, seed, limit);
    set_limit(shards, limit);
    shards->kept = (struct rsc_kept){.line = shards->kept_line,
                                     .hash = shards->kept_hash,
                                     .time = shards->kept_time,
                                     .from = shards->kept_from,
                                     .room = RSC_SHARDS_KEPT};
    shards->take = RSC_WIDE_PICK(simd, rsc_shards_take);
    shards->place = RSC_WIDE_PICK(simd, rsc_shards_place);
    shards->count = RSC_WIDE_PICK(simd, rsc_shards_count);
    return 0;
}

void rsc_shards_free(struct rsc_shards *shards) {
    rsc_sampled_stack_free(&shards->stack);
    rsc_kept_sum_free(&shards->sum);
    free(shards->heap);
    shards->heap = NULL;
}

uint64_t rsc_shards_peak_bytes(const struct rsc_shards *shards) {
    return shards->stack.peak_bytes + (shards->heap ? (shards->lines_most + 1ull) * sizeof *shards->heap : 0);
}

static void heap_add(struct rsc_shards *shards, uint32_t count, struct rsc_hash_node entry) {
    struct rsc_hash_node *heap = shards->heap;
    uint32_t at = count;
    while (at && heap[(at - 1) / 2].hash < entry.hash) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = entry;
}

/* Drops the first of `count` entries. */
static void heap_drop(struct rsc_shards *shards, uint32_t count) {
    struct rsc_hash_node *heap = shards->heap, last = heap[count - 1];
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < count - 1) {
        if (child + 1 < count - 1 && heap[child + 1].hash > heap[child].hash) child++;
        if (heap[child].hash <= last.hash) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

void rsc_shards_bound(struct rsc_shards *shards, uint64_t hash, uint32_t node) {
    uint32_t count = shards->stack.lines;
    heap_add(shards, count - 1, (struct rsc_hash_node){hash, node});
    if (count <= shards->lines_most) {
        if (count > shards->lines_peak) shards->lines_peak = count;
        return;
    }
    struct rsc_hash_node first = shards->heap[0];
    heap_drop(shards, count);
    rsc_sampled_stack_remove(&shards->stack, first.node);
    set_limit(shards, first.hash ? first.hash - 1 : 0);
}
