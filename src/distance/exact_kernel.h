/*
 * exact_kernel.h - the loop of the exact engine; included once per vector width.
 *
 * Two prefetches hide the two cache misses of a reference: the table entry
 * FAR references ahead, and, when that has arrived, the bitmap line it points to
 * NEAR ahead. A repeat of the line just used needs neither.
 *
 * `tags` and `last_tag` are both NULL or both not, and constants where this is
 * inlined: the loop without tags has nothing of them left.
 */
#ifndef RSC_DISTANCE_EXACT_KERNEL_H
#define RSC_DISTANCE_EXACT_KERNEL_H

#include "distance/exact_state.h"

/* Far enough to hide a miss to memory at some 20 ns a reference; not tuned further. */
#define PREFETCH_FAR 32u
#define PREFETCH_NEAR 12u

static inline __attribute__((always_inline)) int exact_kernel(struct rsc_exact *exact, const uint64_t *lines,
                                                              const uint32_t *tags, uint32_t count, uint32_t *rd,
                                                              uint64_t *ri, uint32_t *last_tag) {
    for (uint32_t i = 0; i < count; i++) {
        if (__builtin_expect(rsc_rank_full(&exact->rank), 0)) {
            int status = rsc_exact_compact(exact);
            if (status < 0) return status;
        }
        uint64_t line = lines[i];
        if (i + PREFETCH_FAR < count) rsc_u64_table_prefetch(&exact->table, lines[i + PREFETCH_FAR]);
        if (i + PREFETCH_NEAR < count) {
            const struct rsc_u64_entry *soon = rsc_u64_table_home(&exact->table, lines[i + PREFETCH_NEAR]);
            if (soon->value) rsc_rank_prefetch(&exact->rank, (uint32_t)(soon->value - 1));
        }
        if (line == exact->last_line && exact->now) {
            rsc_rank_take_last(&exact->rank, (uint32_t)(exact->last_entry->value - 1));
            rd[i] = 0;
            ri[i] = 1;
            if (tags) last_tag[i] = (uint32_t)(exact->last_entry->value >> 32);
            exact->last_entry->value = (uint64_t)rsc_rank_append(&exact->rank) + 1;
            if (tags) exact->last_entry->value |= (uint64_t)tags[i] << 32;
            exact->now++;
            continue;
        }
        struct rsc_u64_entry *entry = rsc_u64_table_find(&exact->table, line);
        if (__builtin_expect(entry->value != 0, 1)) {
            uint32_t slot = (uint32_t)(entry->value - 1);
            rd[i] = (uint32_t)(exact->rank.set - 1 - rsc_rank_before(&exact->rank, slot));
            ri[i] = exact->now - rsc_exact_time(exact, slot);
            if (tags) last_tag[i] = (uint32_t)(entry->value >> 32);
            rsc_rank_take(&exact->rank, slot);
        } else {
            if (__builtin_expect(rsc_u64_table_needs_rebuild(&exact->table), 0)) {
                int status = rsc_exact_grow(exact);
                if (status < 0) return status;
                entry = rsc_u64_table_find(&exact->table, line);
            }
            entry->key = line;
            exact->table.used++;
            rd[i] = RSC_RD_COLD;
            ri[i] = 0;
            if (tags) last_tag[i] = 0;
        }
        entry->value = (uint64_t)rsc_rank_append(&exact->rank) + 1;
        if (tags) entry->value |= (uint64_t)tags[i] << 32;
        exact->last_line = line;
        exact->last_entry = entry;
        exact->now++;
    }
    return 0;
}

#endif
