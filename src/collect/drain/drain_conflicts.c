/*
 * drain_conflicts.c - counts references that may be invalidated or not, depending on an order of threads that is not
 * known: both threads use the line in segments that overlap in time (drain_order.c).
 *
 * In whichever order two threads use a line, each write of one invalidates at most one use of the other. So a use is
 * counted when there is a write of the other that no other use was counted for. Only lines used in the same few
 * microseconds matter: a small table that forgets, of the two threads that last used each line.
 */
#include "collect/drain/drain_state.h"

static void match(struct rsc_drain *drain, struct rsc_drain_user *user, struct rsc_drain_user *writer) {
    uint32_t count = user->uses < writer->writes ? user->uses : writer->writes;
    user->uses -= count;
    writer->writes -= count;
    drain->stats.order.conflicts += count;
}

static void note(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor, uint64_t line, int is_write) {
    struct rsc_drain_line *entry = &drain->lines[(line * 0x9E3779B97F4A7C15ull) >> (64 - RSC_DRAIN_LINE_BITS)];
    if (entry->line != line + 1) *entry = (struct rsc_drain_line){.line = line + 1};
    uint32_t own = entry->users[0].thread == cursor->number + 1   ? 0
                   : entry->users[1].thread == cursor->number + 1 ? 1
                                                                  : entry->users[0].end_ns > entry->users[1].end_ns;
    struct rsc_drain_user *user = &entry->users[own], *other = &entry->users[!own];
    if (user->segment != cursor->segment || user->thread != cursor->number + 1)
        *user =
            (struct rsc_drain_user){.segment = cursor->segment, .end_ns = cursor->end_ns, .thread = cursor->number + 1};
    user->uses++;
    user->writes += (uint32_t)is_write;
    if (!other->thread || other->end_ns <= cursor->begin_ns) return; /* it was over before */
    match(drain, user, other);
    match(drain, other, user);
}

void rsc_drain_note_conflicts(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor, uint32_t from) {
    const uint64_t shift = drain->keep_shift;
    for (uint32_t i = from; i < drain->count; i++)
        note(drain, cursor, drain->addr[i] >> shift, (int)(drain->meta[i] >> 32 & 1));
}
