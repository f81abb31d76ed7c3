/* drain_qemu.c - blocks of QEMU's plugin: each is expanded (expand.h) and returned to the ring at once. */
#include "collect/drain/drain_state.h"

static int begin(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                 const struct rsc_found_block *found) {
    uint64_t instructions = found->instructions;
    const uint64_t start_ns = found->start_ns, end_ns = found->end_ns;
    cursor->passed = cursor->at = 0;
    cursor->count =
        rsc_expand(&cursor->expansion, found->words, found->count, drain->ring->plans, cursor->records, &instructions);
    if (found->is_last) rsc_drain_free_block(drain, cursor, slot);
    drain->instructions += instructions;
    drain->stats.instructions += instructions;
    drain->stats.blocks++;
    if (!cursor->count) return 0;
    if (start_ns < drain->taken_until_ns) drain->stats.late++;
    cursor->start_ns = start_ns;
    cursor->step_ns_256 = (end_ns > start_ns ? end_ns - start_ns : 0) * 256 / cursor->count;
    return 0;
}

/* Records held back because the next block might have continued them. */
static int begin_left(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead) {
    (void)dead;
    if (cursor->generation != slot->generation || !cursor->expansion.held_count) return 0;
    cursor->passed = cursor->at = 0;
    cursor->count = rsc_expand_held(&cursor->expansion, cursor->records);
    cursor->start_ns = drain->taken_until_ns;
    cursor->step_ns_256 = 0;
    return 1;
}

const struct rsc_drain_mode rsc_drain_qemu = {
    .begin = begin,
    .begin_left = begin_left,
    .take = rsc_drain_take_records,
    .steps = rsc_drain_count_records,
};
