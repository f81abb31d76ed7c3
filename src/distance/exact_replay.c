/*
 * exact_replay.c - see exact_replay.h.
 *
 * The time of a line that was put is not told by its place: all places of a state
 * that was put to are "old" ones, whose times are remembered one by one. Entries
 * of lines taken out are dropped from the table when it has to grow, and before
 * compaction, which would take them for lines.
 */
#include "distance/exact_replay.h"

#include <string.h>

#include "base/pages.h"
#include "distance/exact_replay_kernel.h"

/* Places used before a state that is put to is compacted, per line held and at least. Compaction costs about as
 * much as putting every line held: it follows three times as many puts. */
#define PLACES_PER_LINE 4u
#define PLACES_LEAST 65536u

void rsc_exact_take_out(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, struct rsc_replayed *replayed) {
#if defined(__x86_64__)
    enum rsc_simd simd = rsc_simd_best();
    if (simd == RSC_SIMD_AVX512) {
        rsc_exact_take_out_avx512(exact, lines, count, replayed);
        return;
    }
    if (simd == RSC_SIMD_AVX2) {
        rsc_exact_take_out_avx2(exact, lines, count, replayed);
        return;
    }
#endif
    take_out_kernel(exact, lines, count, replayed);
}

uint64_t rsc_exact_held(const struct rsc_exact *exact) { return exact->rank.set; }

void rsc_exact_list(struct rsc_exact *exact, struct rsc_held_line *list) {
    for (uint64_t i = 0; exact->rank.set && i <= exact->table.mask; i++) {
        const struct rsc_u64_entry *entry = &exact->table.entries[i];
        if (!entry_is_held(exact, entry)) continue;
        uint32_t slot = (uint32_t)(entry->value - 1);
        list[rsc_rank_before(&exact->rank, slot)] =
            (struct rsc_held_line){entry->key, rsc_exact_time(exact, slot), (uint32_t)(entry->value >> 32)};
    }
}

void rsc_exact_empty(struct rsc_exact *exact) {
    memset(exact->table.entries, 0, rsc_u64_table_bytes(&exact->table));
    exact->table.used = 0;
    exact->table.long_probe = 0;
    rsc_rank_fill(&exact->rank, 0);
    exact->now = 0;
    exact->compacted = 0;
    exact->time_of_first = 0;
}

/* Drops what was taken out from the table, with room for twice what is left. */
static int sweep(struct rsc_exact *exact) {
    struct rsc_u64_table fresh;
    if (rsc_u64_table_init(&fresh, 2 * exact->rank.set + 1) < 0) return RSC_ENOMEM;
    for (uint64_t i = 0; i <= exact->table.mask; i++) {
        const struct rsc_u64_entry *entry = &exact->table.entries[i];
        if (!entry_is_held(exact, entry)) continue;
        *rsc_u64_table_find(&fresh, entry->key) = *entry;
        fresh.used++;
    }
    rsc_u64_table_free(&exact->table);
    exact->table = fresh;
    while (rsc_u64_table_needs_rebuild(&exact->table)) /* probes got long: another seed, or more room */
        if (rsc_u64_table_rebuild(&exact->table) < 0) return RSC_ENOMEM;
    return 0;
}

/* Room to remember the time of the place that the next append will take. */
static int reserve_time(struct rsc_exact *exact, uint64_t place) {
    uint64_t bytes = exact->old_time_bytes;
    if (place < bytes / sizeof *exact->old_time) return 0;
    uint64_t more = 2 * (bytes > place * sizeof *exact->old_time ? bytes : place * sizeof *exact->old_time) + 65536;
    uint64_t *old_time = rsc_pages_new(more);
    if (!old_time) return RSC_ENOMEM;
    if (exact->compacted) memcpy(old_time, exact->old_time, exact->compacted * sizeof *old_time);
    rsc_pages_free(exact->old_time, bytes);
    exact->old_time = old_time;
    exact->old_time_bytes = more;
    return 0;
}

int rsc_exact_put(struct rsc_exact *exact, const struct rsc_held_line *list, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t place = rsc_rank_place(exact->rank.top);
        int status = 0;
        if (rsc_rank_full(&exact->rank) || place != exact->compacted ||
            place >= PLACES_PER_LINE * exact->rank.set + PLACES_LEAST) {
            status = sweep(exact);
            if (!status) status = rsc_exact_compact(exact);
            place = exact->compacted;
        }
        if (!status && rsc_u64_table_needs_rebuild(&exact->table)) status = sweep(exact);
        if (!status) status = reserve_time(exact, place);
        if (status < 0) return status;
        if (i + REPLAY_NEAR < count) rsc_u64_table_prefetch(&exact->table, list[i + REPLAY_NEAR].line);
        struct rsc_u64_entry *entry = rsc_u64_table_find(&exact->table, list[i].line);
        if (!entry->value) {
            entry->key = list[i].line;
            exact->table.used++;
        }
        entry->value = ((uint64_t)rsc_rank_append(&exact->rank) + 1) | (uint64_t)list[i].tag << 32;
        exact->old_time[place] = list[i].time;
        exact->compacted = place + 1;
    }
    return 0;
}
