/*
 * drain_rebuilt.c - blocks of rebuilt programs: a word may stand for any number of records, so a block is expanded in
 * parts (expand_rebuilt.h) and returned to the ring when all of it is expanded.
 */
#include <string.h>

#include "collect/drain/drain_state.h"

/*
 * The process reports its first thread's stack when it starts. To look for it at the first call would be too
 * late for earlier accesses, and for a program that has already ended.
 */
static int know_first_stack(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_slot *slot) {
    if (cursor->stack_known || slot->tid != slot->pid) return 0;
    int known = rsc_guest_maps_first_stack(drain->maps, rsc_process_id(slot->image, slot->pid), cursor->tid);
    if (known <= 0) return known;
    cursor->stack_known = 1;
    return rsc_drain_add_maps(drain);
}

/* Expands as many records of the block as there is room for. */
void rsc_drain_go_on_rebuilt(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    const struct rsc_found_block *block = &cursor->block;
    const uint64_t time_ns = block->end_ns > block->start_ns ? block->end_ns - block->start_ns : 0;
    uint64_t instructions = 0, unknown = cursor->rebuilt.unknown, calls_lost = cursor->rebuilt.calls_lost;
    cursor->passed = cursor->at = 0;
    cursor->count = rsc_expand_rebuilt(&cursor->rebuilt, block->words, block->count, cursor->records,
                                       RSC_DRAIN_RECORDS_MAX, &instructions);
    uint64_t done = cursor->block_done, whole = done + drain->mode->steps(cursor->records, cursor->count);
    cursor->block_done = whole;
    if (whole < cursor->block_steps) whole = cursor->block_steps;
    if (!whole) whole = 1;
    cursor->start_ns = block->start_ns + (uint64_t)((double)time_ns * (double)done / (double)whole);
    cursor->step_ns_256 = time_ns * 256 / whole;
    drain->instructions += instructions;
    drain->stats.instructions += instructions;
    drain->stats.unknown += cursor->rebuilt.unknown - unknown;
    drain->stats.calls_lost += cursor->rebuilt.calls_lost - calls_lost;
    if (cursor->rebuilt.under_way) return;
    if (block->is_left) memset(block->words, 0, block->count * sizeof *block->words);
    if (block->is_last) rsc_drain_free_block(drain, cursor, slot);
}

int rsc_drain_begin_rebuilt(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                            const struct rsc_found_block *found, int weighed) {
    if (rsc_drain_read_notes(drain, UINT64_MAX) < 0 || know_first_stack(drain, cursor, slot) < 0)
        return RSC_ENOMEM; /* tables of the code that ran */
    cursor->block = *found;
    /* With only one thread, the times do not matter. */
    cursor->block_steps = weighed && drain->ring->slots_used > 1
                              ? rsc_rebuilt_weigh(&cursor->rebuilt, found->words, found->count, NULL)
                              : 0;
    cursor->block_done = 0;
    drain->stats.blocks++;
    if (found->start_ns < drain->taken_until_ns) drain->stats.late++;
    rsc_drain_go_on_rebuilt(drain, cursor, slot);
    return 0;
}

int rsc_drain_begin_weighed(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                            const struct rsc_found_block *found) {
    return rsc_drain_begin_rebuilt(drain, cursor, slot, found, 1);
}

int rsc_drain_none_left(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead) {
    (void)drain, (void)cursor, (void)slot, (void)dead;
    return 0;
}

static uint32_t whole(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const uint64_t *words, uint32_t count) {
    uint32_t last = 0;
    if (rsc_drain_read_notes(drain, UINT64_MAX) == 0) rsc_rebuilt_weigh(&cursor->rebuilt, words, count, &last);
    return last;
}

const struct rsc_drain_mode rsc_drain_rebuilt = {
    .rebuilt = 1,
    .whole = whole,
    .begin = rsc_drain_begin_weighed,
    .go_on = rsc_drain_go_on_rebuilt,
    .begin_left = rsc_drain_none_left,
    .take = rsc_drain_take_records,
    .steps = rsc_drain_count_records,
};
