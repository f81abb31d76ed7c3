/*
 * drain_conflicts.c - counts references whose order against a write of another thread is uncertain: both are of one
 * line, in segments of their threads that overlap in time (drain_order.c).
 *
 * Only lines used in the same few microseconds matter, so a small table that forgets suffices.
 */
#include "collect/drain/drain_state.h"

static void note(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor, uint64_t line, int is_write) {
    struct rsc_drain_conflict *entry =
        &drain->conflicts[(line * 0x9E3779B97F4A7C15ull) >> (64 - RSC_DRAIN_CONFLICT_BITS)];
    const int known = entry->line == line + 1;
    if (known && entry->segment == cursor->segment) {
        if (entry->contested) drain->stats.order.conflicts++;
        else entry->count++;
        entry->wrote |= (uint8_t)is_write;
        return;
    }
    int contested = 0;
    /* A segment of another thread that had not ended when this one began; its own earlier ones had. */
    if (known && entry->end_ns > cursor->begin_ns && (is_write || entry->wrote)) {
        drain->stats.order.conflicts += entry->count + 1;
        contested = 1;
    }
    uint8_t wrote = (uint8_t)(is_write || (contested && entry->wrote));
    uint64_t end_ns = contested && entry->end_ns > cursor->end_ns ? entry->end_ns : cursor->end_ns;
    *entry = (struct rsc_drain_conflict){.line = line + 1,
                                         .end_ns = end_ns,
                                         .segment = cursor->segment,
                                         .count = !contested,
                                         .contested = (uint8_t)contested,
                                         .wrote = wrote};
}

void rsc_drain_note_conflicts(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor, uint32_t from) {
    const uint64_t shift = drain->ring->keep_lines ? drain->ring->keep_shift & 63 : 6;
    for (uint32_t i = from; i < drain->count; i++)
        note(drain, cursor, drain->addr[i] >> shift, (int)(drain->meta[i] >> 32 & 1));
}
