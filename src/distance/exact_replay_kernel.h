/*
 * exact_replay_kernel.h - the loop of rsc_exact_take_out(); included once per
 * vector width, and prefetched as exact_kernel.h is.
 *
 * A line is taken out by taking its bit away; its entry stays in the table and
 * says nothing any more. That leaves the table unwritten.
 */
#ifndef RSC_DISTANCE_EXACT_REPLAY_KERNEL_H
#define RSC_DISTANCE_EXACT_REPLAY_KERNEL_H

#include "distance/exact_replay.h"

#define REPLAY_FAR 32u
#define REPLAY_NEAR 12u

/* Whether a table entry is that of a line held. */
static inline int entry_is_held(const struct rsc_exact *exact, const struct rsc_u64_entry *entry) {
    if (!entry->value) return 0;
    uint32_t slot = (uint32_t)(entry->value - 1);
    return (int)(exact->rank.lines[(uint64_t)(slot >> 9) * 8 + (slot >> 6 & 7)] >> (slot & 63) & 1);
}

static inline __attribute__((always_inline)) void take_out_kernel(struct rsc_exact *exact, const uint64_t *lines,
                                                                  uint32_t count, struct rsc_replayed *replayed) {
    for (uint32_t i = 0; i < count; i++) {
        if (i + REPLAY_FAR < count) rsc_u64_table_prefetch(&exact->table, lines[i + REPLAY_FAR]);
        if (i + REPLAY_NEAR < count) {
            const struct rsc_u64_entry *soon = rsc_u64_table_home(&exact->table, lines[i + REPLAY_NEAR]);
            if (soon->value) rsc_rank_prefetch(&exact->rank, (uint32_t)(soon->value - 1));
        }
        const struct rsc_u64_entry *entry = rsc_u64_table_find(&exact->table, lines[i]);
        if (!entry_is_held(exact, entry)) {
            replayed[i] = (struct rsc_replayed){.time = RSC_NOT_HELD, .above = (uint32_t)exact->rank.set};
            continue;
        }
        uint32_t slot = (uint32_t)(entry->value - 1);
        replayed[i].time = rsc_exact_time(exact, slot);
        replayed[i].above = (uint32_t)(exact->rank.set - 1 - rsc_rank_before(&exact->rank, slot));
        replayed[i].tag = (uint32_t)(entry->value >> 32);
        rsc_rank_take(&exact->rank, slot);
    }
}

void rsc_exact_take_out_avx2(struct rsc_exact *, const uint64_t *, uint32_t, struct rsc_replayed *);
void rsc_exact_take_out_avx512(struct rsc_exact *, const uint64_t *, uint32_t, struct rsc_replayed *);

#endif
