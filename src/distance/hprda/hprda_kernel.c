/*
 * hprda_kernel.c - the analysis of one local trace (Thread_Analysis in the paper's
 * figure 5), compiled once per vector width: counting bits is most of it.
 */
#include <reusescope/error.h>

#include "base/cpu.h"
#include "distance/hprda/hprda_block.h"

#define AHEAD 16u /* references whose table entry is prefetched */

/* Last uses of other lines after place `from`; no bit from place `to` on is set. */
static inline uint32_t last_uses_between(const uint64_t *bits, uint32_t from, uint32_t to) {
    uint32_t word = from / 64, end = to / 64, count;
    count = (uint32_t)__builtin_popcountll(bits[word] & ~1ull << from % 64);
    while (word < end) count += (uint32_t)__builtin_popcountll(bits[++word]);
    return count;
}

/* From the end of the trace to its start, each last use has one more line after it. Clears all bits. */
static inline void count_latest(struct rsc_hprda_work *work, uint32_t count) {
    uint32_t after = 0;
    for (uint32_t word = (count + 63) / 64; word-- > 0;) {
        for (uint64_t left = work->bits[word]; left;) {
            uint32_t bit = 63 - (uint32_t)__builtin_clzll(left);
            work->infos[work->owner[word * 64 + bit]].latest = after++;
            left ^= 1ull << bit;
        }
        work->bits[word] = 0;
    }
}

/* `start`: place in the block of the first reference. Adds the trace's access_infos; they are its distinct lines. */
static inline int hprda_kernel(struct rsc_hprda_work *work, const uint64_t *references, uint32_t count,
                               uint32_t start) {
    struct rsc_u64_table *table = &work->table;
    uint32_t first_info = work->info_count;
    for (uint32_t i = 0; i < count; i++) {
        if (rsc_u64_table_needs_rebuild(table) && rsc_u64_table_rebuild(table) < 0) return RSC_ENOMEM;
        if (i + AHEAD < count) rsc_u64_table_prefetch(table, references[i + AHEAD]);
        struct rsc_u64_entry *entry = rsc_u64_table_find(table, references[i]);
        uint32_t last = (uint32_t)entry->value, index = (uint32_t)(entry->value >> 32); /* index + 1 */
        if (index && last >= start) {
            last -= start;
            work->tally.exact[last_uses_between(work->bits, last, i)]++;
            work->bits[last / 64] &= ~(1ull << last % 64);
            work->owner[i] = work->owner[last];
        } else {
            if (!index) {
                work->lines[work->line_count] = (struct rsc_hprda_line){.line = references[i]};
                index = ++work->line_count;
                entry->key = references[i];
                table->used++;
            }
            work->owner[i] = work->info_count;
            work->infos[work->info_count] = (struct rsc_hprda_info){index - 1, work->info_count - first_info, 0};
            work->info_count++;
        }
        work->bits[i / 64] |= 1ull << i % 64;
        entry->value = (uint64_t)index << 32 | (start + i);
    }
    count_latest(work, count);
    return 0;
}

int RSC_WIDE(rsc_hprda_local)(struct rsc_hprda_work *work, const uint64_t *references, uint32_t count, uint32_t start) {
    return hprda_kernel(work, references, count, start);
}
