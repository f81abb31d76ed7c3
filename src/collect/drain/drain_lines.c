/*
 * drain_lines.c - blocks of programs that keep only the references to sampled lines
 * (runtime/recorder/asm_lines.c): those references, and how many were skipped between them. Valgrind's tool writes the
 * same records (drain_valgrind.c).
 *
 * Threads filter their own words. Words that a thread did not filter before it died are filtered
 * here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/line_hash.h"
#include "collect/drain/drain_state.h"

#define ADDRESS_MASK ((1ull << 48) - 1)

_Static_assert(RSC_RAW_WORDS <= RSC_BLOCK_WORDS, "what a thread left unlooked at is expanded as a block is");

static void take_kept(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint64_t addr, uint32_t size,
                      int is_write, uint64_t pc, uint64_t passed) {
    uint32_t at = drain->count++;
    drain->addr[at] = addr | cursor->space;
    drain->meta[at] = size | (uint64_t)is_write << 32 | (uint64_t)cursor->number << 40;
    drain->pc[at] = pc | cursor->space;
    drain->skipped[at] = cursor->skipped;
    if (drain->passed) drain->passed[at] = passed;
    cursor->skipped = 0;
}

void rsc_drain_filter(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint64_t addr, uint32_t size,
                      int is_write, uint64_t pc) {
    const uint64_t shift = drain->keep_shift;
    uint64_t end = addr + (size ? size - 1 : 0), last = end >> shift, references = 0;
    for (uint64_t line = addr >> shift; line <= last; line++, references++) {
        if (rsc_line_hash(line | cursor->space >> shift, drain->keep_offset) > drain->keep_limit) {
            cursor->skipped++;
            continue;
        }
        uint64_t start = line << shift, from = start > addr ? start : addr;
        uint64_t line_end = start + (1ull << shift) - 1, to = line_end < end ? line_end : end;
        take_kept(drain, cursor, from, size ? (uint32_t)(to - from + 1) : 0, is_write, pc,
                  drain->stats.references + references);
    }
    rsc_drain_count_references(drain, cursor->number, references, references - 1);
}

uint32_t rsc_drain_bytes_in_line(const struct rsc_drain *drain, const struct rsc_record *record) {
    const uint64_t line = 1ull << drain->keep_shift, left = line - (record->addr & ADDRESS_MASK & (line - 1));
    return rsc_record_size(record->word) < left ? rsc_record_size(record->word) : (uint32_t)left;
}

void rsc_drain_take_kept(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_record *record,
                         uint64_t passed) {
    take_kept(drain, cursor, record->addr & ADDRESS_MASK, rsc_drain_bytes_in_line(drain, record),
              rsc_record_type(record->word) == RSC_RECORD_KEPT_WRITE, rsc_record_pc(record->word), passed);
}

/* How many references a record stands for. This gives its time, because kept references come in bursts. */
static uint64_t references_of(const struct rsc_record *record) {
    uint32_t type = rsc_record_type(record->word);
    if (type == RSC_RECORD_KEPT_READ || type == RSC_RECORD_KEPT_WRITE) return (record->addr >> 48) + 1;
    if (type == RSC_RECORD_SKIPPED) return rsc_record_pc(record->word);
    return type == RSC_RECORD_READ || type == RSC_RECORD_WRITE;
}

uint64_t rsc_drain_count_lines(const struct rsc_record *records, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += references_of(&records[i]);
    return sum;
}

/* Takes records of up to `most` references; at least one record. */
int rsc_drain_take_lines(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                         uint64_t most) {
    const uint64_t end = most < UINT64_MAX - cursor->passed ? cursor->passed + most : UINT64_MAX;
    for (int first = 1; cursor->at < cursor->count && drain->count < RSC_BATCH_ACCESSES - RSC_DRAIN_LINES_OF_ONE;
         cursor->at++, first = 0) {
        const struct rsc_record *record = &cursor->records[cursor->at];
        uint64_t passed = cursor->passed + references_of(record);
        if (!first && passed > end) break;
        cursor->passed = passed;
        uint32_t type = rsc_record_type(record->word);
        uint64_t payload = rsc_record_pc(record->word);
        if (drain->most && drain->stats.accesses >= drain->most)
            __atomic_store_n(&drain->ring->enough, 1, __ATOMIC_RELAXED);
        else if (type == RSC_RECORD_KEPT_READ || type == RSC_RECORD_KEPT_WRITE) {
            cursor->skipped += record->addr >> 48;
            rsc_drain_count_references(drain, cursor->number, record->addr >> 48, 0);
            rsc_drain_take_kept(drain, cursor, record, drain->stats.references);
            rsc_drain_count_references(drain, cursor->number, 1, 0);
        } else if (type == RSC_RECORD_SKIPPED) {
            cursor->skipped += rsc_drain_count_references(drain, cursor->number, payload, record->addr);
        } else if (type == RSC_RECORD_READ || type == RSC_RECORD_WRITE) {
            rsc_drain_filter(drain, cursor, record->addr & ADDRESS_MASK, rsc_record_size(record->word),
                             type == RSC_RECORD_WRITE, payload);
        } else if (type == RSC_RECORD_SWITCH) {
            int in_turns = rsc_drain_take_switch(drain, cursor, slot, record);
            if (in_turns < 0) return RSC_ENOMEM;
            if (in_turns) {
                cursor->at++;
                break;
            }
        } else if (rsc_drain_take_event(drain, cursor, slot, record) < 0) {
            return RSC_ENOMEM;
        }
    }
    return 0;
}

void rsc_drain_take_untold(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    if (!__atomic_load_n(&slot->raw_busy, __ATOMIC_ACQUIRE)) {
        cursor->skipped += rsc_drain_count_references(drain, cursor->number, slot->skipped, slot->crossings);
        drain->stats.instructions += slot->own_instructions;
        drain->instructions += slot->own_instructions;
    }
    slot->skipped = slot->crossings = slot->own_instructions = 0;
}

/* The calls that a thread was in when it last filtered its words: later words continue from there. */
static int resume_calls(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    uint32_t count = rsc_rebuilt_resume(&cursor->rebuilt, (const struct rsc_own_calls *)slot->own, cursor->records);
    int status = 0;
    for (uint32_t i = 0; i < count && !status; i++)
        status = rsc_drain_take_event(drain, cursor, slot, &cursor->records[i]);
    return status;
}

/* Kept lines are expanded at once: no weighing is needed. */
static int begin(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                 const struct rsc_found_block *found) {
    drain->instructions += found->instructions;
    drain->stats.instructions += found->instructions;
    return rsc_drain_begin_rebuilt(drain, cursor, slot, found, 0);
}

/* Its reported records are taken; the words it did not filter are left. */
static int begin_left(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead) {
    struct rsc_found_block found = {
        .words = slot->raw, .is_left = 1, .start_ns = drain->taken_until_ns, .end_ns = drain->taken_until_ns};
    if (!dead) return 0;
    if (__atomic_load_n(&slot->raw_busy, __ATOMIC_ACQUIRE)) memset(slot->raw, 0, sizeof slot->raw);
    found.count = rsc_drain_count_unpublished(slot->raw, RSC_RAW_WORDS);
    if (!found.count) return 0;
    int status = rsc_drain_ready(drain, cursor, slot);
    if (status < 0) return status;
    if (rsc_drain_read_notes(drain, UINT64_MAX) < 0) return RSC_ENOMEM;
    rsc_drain_take_untold(drain, cursor, slot);
    if (resume_calls(drain, cursor, slot) < 0) return RSC_ENOMEM;
    status = rsc_drain_begin_rebuilt(drain, cursor, slot, &found, 0);
    return status < 0 ? status : 1;
}

const struct rsc_drain_mode rsc_drain_lines = {
    .rebuilt = 1,
    .looks_itself = 1,
    .spare = RSC_DRAIN_LINES_OF_ONE,
    .begin = begin,
    .go_on = rsc_drain_go_on_rebuilt,
    .begin_left = begin_left,
    .take = rsc_drain_take_lines,
    .steps = rsc_drain_count_lines,
    .gone = rsc_drain_take_untold,
};
