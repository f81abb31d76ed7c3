/* exact_state.c - set-up, growth and compaction of the exact engine's state. */
#include "distance/exact_state.h"

#include <string.h>

#include "base/pages.h"

/* Places in the bitmap per distinct line: how rarely compaction runs against how
 * far the set bits spread. At 8, renumbering touches each line about once in 7 references; not tuned further. */
#define PLACES_PER_LINE 8u
#define PLACES_MIN (1u << 16)

static void note_peak(struct rsc_exact *exact, uint64_t extra_bytes) {
    uint64_t bytes = rsc_u64_table_bytes(&exact->table) + rsc_rank_bytes(&exact->rank) + exact->old_time_bytes;
    if (bytes + extra_bytes > exact->peak_bytes) exact->peak_bytes = bytes + extra_bytes;
}

int rsc_exact_init(struct rsc_exact *exact, enum rsc_simd simd, uint64_t places_least) {
    memset(exact, 0, sizeof *exact);
    exact->places_least = places_least ? places_least : PLACES_MIN;
    exact->run = rsc_exact_run_plain;
    exact->run_tagged = rsc_exact_run_tagged_plain;
#if defined(__x86_64__)
    if (simd == RSC_SIMD_AVX2) {
        exact->run = rsc_exact_run_avx2;
        exact->run_tagged = rsc_exact_run_tagged_avx2;
    }
    if (simd == RSC_SIMD_AVX512) {
        exact->run = rsc_exact_run_avx512;
        exact->run_tagged = rsc_exact_run_tagged_avx512;
    }
#else
    (void)simd;
#endif
    if (rsc_u64_table_init(&exact->table, 4096) < 0 || rsc_rank_init(&exact->rank, exact->places_least) < 0) {
        rsc_exact_free(exact);
        return RSC_ENOMEM;
    }
    note_peak(exact, 0);
    return 0;
}

void rsc_exact_free(struct rsc_exact *exact) {
    rsc_u64_table_free(&exact->table);
    rsc_rank_free(&exact->rank);
    rsc_pages_free(exact->old_time, exact->old_time_bytes);
    exact->old_time = NULL;
    exact->old_time_bytes = 0;
}

int rsc_exact_grow(struct rsc_exact *exact) {
    uint64_t before = rsc_u64_table_bytes(&exact->table);
    int status = rsc_u64_table_rebuild(&exact->table);
    if (status < 0) return status;
    note_peak(exact, before);
    exact->last_entry = rsc_u64_table_find(&exact->table, exact->last_line);
    return 0;
}

/* Gives every line its new slot, beside the tag it keeps, and writes the time of its use by new place. */
static void renumber(struct rsc_exact *exact, uint64_t *new_time) {
    for (uint64_t i = 0; i <= exact->table.mask; i++) {
        struct rsc_u64_entry *entry = &exact->table.entries[i];
        if (!entry->value) continue;
        uint32_t slot = (uint32_t)(entry->value - 1);
        uint64_t place = rsc_rank_before(&exact->rank, slot);
        new_time[place] = rsc_exact_time(exact, slot);
        entry->value = (entry->value >> 32 << 32) | ((uint64_t)rsc_rank_slot(place) + 1);
    }
}

int rsc_exact_compact(struct rsc_exact *exact) {
    uint64_t live = exact->rank.set;
    uint64_t places = live * PLACES_PER_LINE;
    if (places < exact->places_least) places = exact->places_least;
    uint64_t held = (uint64_t)exact->rank.line_count * RSC_RANK_LINE_SLOTS;
    if (places > RSC_RANK_PLACES_MAX) places = RSC_RANK_PLACES_MAX;
    if (places < live + live / 4) return RSC_ELIMIT;

    uint64_t time_bytes = (live + 1) * sizeof(uint64_t);
    uint64_t *new_time = rsc_pages_new(time_bytes);
    if (!new_time) return RSC_ENOMEM;
    struct rsc_rank_bitmap larger = {0};
    if (places > held) {
        int status = rsc_rank_init(&larger, places + places / 2 > RSC_RANK_PLACES_MAX ? places : places + places / 2);
        if (status < 0) {
            rsc_pages_free(new_time, time_bytes);
            return status;
        }
    }
    note_peak(exact, time_bytes + rsc_rank_bytes(&larger));
    renumber(exact, new_time);
    if (larger.lines) {
        rsc_rank_free(&exact->rank);
        exact->rank = larger;
    }
    rsc_rank_fill(&exact->rank, live);
    rsc_pages_free(exact->old_time, exact->old_time_bytes);
    exact->old_time = new_time;
    exact->old_time_bytes = time_bytes;
    exact->compacted = live;
    exact->time_of_first = exact->now;
    return 0;
}
