/*
 * drain_turns.c - several threads under Valgrind, which ran one at a time: gathers what each did in its last slice, and
 * takes it into batches in turns (thread_turns.h). Of a sample of lines these are the kept references, and how many were
 * skipped before each. What threads synchronise by in other lines is not seen: then only system calls keep them in step.
 */
#include "collect/drain/block_reader.h"
#include "collect/drain/thread_turns.h"

/* One block of code with its words, from `at` on, which is a start. */
static int gather_code(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint32_t *at) {
    struct rsc_block_reader *reader = cursor->reader;
    const uint64_t *words = cursor->block.words;
    const uint32_t first = *at;
    const uint64_t start = rsc_reader_look(&words[first]);
    const uint32_t number = rsc_reader_find_piece(drain, words, at, cursor->count, start);
    const struct rsc_block_piece *piece = number == RSC_NO_PIECE ? NULL : &drain->pieces.pieces[number];
    const uint32_t entries = piece ? piece->count : 0;
    uint64_t *kept = rsc_turns_begin(reader->turns, reader->filling, cursor->count - first);
    uint32_t count = 0;
    int status = kept ? 0 : RSC_ENOMEM;
    for (uint32_t i = first; !status && i < *at && i < cursor->count; i++) kept[count++] = rsc_reader_look(&words[i]);
    for (uint32_t entry = 0; !status && *at < cursor->count;) {
        const uint64_t word = rsc_reader_look(&words[*at]);
        if (__builtin_expect(word >> 56 != 0, 0)) {
            const uint32_t type = rsc_record_type(word);
            if (word & RSC_START || (type != RSC_RECORD_ALLOC && type != RSC_RECORD_FREE && type != RSC_RECORD_MARKER))
                break;
            kept[count++] = word;
            if (++*at < cursor->count) kept[count++] = rsc_reader_look(&words[(*at)++]);
            continue;
        }
        kept[count++] = word;
        ++*at;
        if (entry < entries) {
            const uint32_t place = piece->first + entry;
            const uint64_t flags = drain->pieces.flags[place];
            if (word & RSC_BLOCK_ADDRESS && flags & RSC_BLOCK_KINDS)
                status =
                    rsc_turns_access(reader->turns, word & RSC_BLOCK_ADDRESS,
                                     (uint32_t)(drain->pieces.metas[place] & 0xff), (flags & RSC_BLOCK_WRITES) != 0);
        }
        entry++;
    }
    if (!status) rsc_turns_end(reader->turns, count, piece && piece->ends == RSC_PLAN_ENDS_REP);
    return status;
}

/* A thread that was in the round runs again, or has ended, or calls the system: all others are in step then. */
static int ends_round(const struct rsc_block_reader *reader, const struct rsc_record *record) {
    const int runs = rsc_record_type(record->word) == RSC_RECORD_SWITCH && !rsc_record_pc(record->word);
    return runs ? rsc_turns_has(reader->turns, (uint32_t)record->addr) : rsc_turns_any(reader->turns);
}

/* Adds to the round, from `at` on, or finds that it is complete. */
static int gather(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint32_t *at) {
    struct rsc_block_reader *reader = cursor->reader;
    const uint64_t word = rsc_reader_look(&cursor->block.words[*at]);
    const int is_last = *at + 1 >= cursor->count;
    if (word & RSC_START) {
        int status = gather_code(drain, cursor, at);
        reader->taking = rsc_turns_full(reader->turns);
        return status;
    }
    if (!(word >> 56) || is_last) {
        ++*at; /* not written by our code */
        return 0;
    }
    const struct rsc_record record = {rsc_reader_look(&cursor->block.words[*at + 1]), word};
    const uint32_t type = rsc_record_type(word);
    if (type == RSC_RECORD_SWITCH || type == RSC_RECORD_CALLED) {
        if (ends_round(reader, &record)) {
            reader->taking = 1;
            return 0;
        }
        *at += 2;
        if (type == RSC_RECORD_CALLED) return 0;
        rsc_reader_end_code(drain, reader);
        return rsc_reader_take_switch(drain, cursor, &record);
    }
    uint64_t *kept = rsc_turns_begin(reader->turns, reader->filling, 2);
    if (!kept) return RSC_ENOMEM;
    kept[0] = word;
    kept[1] = record.addr;
    rsc_turns_end(reader->turns, 2, 0);
    *at += 2;
    return 0;
}

/* The same of a sample of lines. */
static int gather_line(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint32_t *at) {
    struct rsc_block_reader *reader = cursor->reader;
    const struct rsc_record record = cursor->records[*at];
    const uint32_t type = rsc_record_type(record.word);
    const int is_kept = type == RSC_RECORD_KEPT_READ || type == RSC_RECORD_KEPT_WRITE;
    if (type == RSC_RECORD_SWITCH || type == RSC_RECORD_CALLED) {
        if (ends_round(reader, &record)) {
            reader->taking = 1;
            return 0;
        }
        ++*at;
        return type == RSC_RECORD_SWITCH ? rsc_reader_take_switch(drain, cursor, &record) : 0;
    }
    ++*at;
    if (!rsc_turns_any(reader->turns)) reader->before_round = drain->stats.references;
    uint64_t *kept = rsc_turns_begin(reader->turns, reader->filling, 2);
    int status = kept ? 0 : RSC_ENOMEM;
    if (status) return status;
    kept[0] = record.word;
    kept[1] = record.addr;
    if (is_kept || type == RSC_RECORD_SKIPPED) {
        const uint32_t number = reader->threads[reader->filling].number;
        const uint64_t skipped = rsc_drain_count_references(
            drain, number, is_kept ? record.addr >> 48 : rsc_record_pc(record.word), is_kept ? 0 : record.addr);
        if (!is_kept) kept[0] = rsc_record_word(RSC_RECORD_SKIPPED, 1, skipped);
        rsc_turns_pass(reader->turns, skipped);
        cursor->passed += skipped + (uint64_t)is_kept;
        if (is_kept && rsc_drain_count_references(drain, number, 1, 0))
            status = rsc_turns_access(reader->turns, record.addr & RSC_BLOCK_ADDRESS,
                                      rsc_drain_bytes_in_line(drain, &record), type == RSC_RECORD_KEPT_WRITE);
    }
    rsc_turns_end(reader->turns, 2, 0);
    reader->taking = rsc_turns_full(reader->turns);
    return status;
}

void rsc_reader_run_thread(struct rsc_drain_cursor *cursor, struct rsc_block_thread *thread) {
    struct rsc_block_reader *reader = cursor->reader;
    if (reader->now) reader->now->skipped = cursor->skipped;
    cursor->skipped = thread->skipped;
    reader->now = thread;
    cursor->number = thread->number;
    cursor->tid = thread->tid;
    cursor->stack_known = thread->stack_known;
}

/* References are counted: they are only put into the batch, with the number of all that came before. */
static int take_line_units(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                           const struct rsc_turn_units *units) {
    struct rsc_block_reader *reader = cursor->reader;
    uint64_t passed = reader->before_round + units->passed;
    if (units->thread < reader->thread_count && reader->now != &reader->threads[units->thread])
        rsc_reader_run_thread(cursor, &reader->threads[units->thread]);
    for (uint32_t at = 0; at + 1 < units->count; at += 2) {
        const struct rsc_record record = {units->words[at + 1], units->words[at]};
        const uint32_t type = rsc_record_type(record.word);
        const int is_kept = type == RSC_RECORD_KEPT_READ || type == RSC_RECORD_KEPT_WRITE;
        if (is_kept || type == RSC_RECORD_SKIPPED) {
            const uint64_t skipped = is_kept ? record.addr >> 48 : rsc_record_pc(record.word);
            cursor->skipped += skipped;
            if (at) passed += skipped; /* before the first they have passed */
            if (is_kept) rsc_drain_take_kept(drain, cursor, &record, passed++);
        } else if (rsc_drain_take_event(drain, cursor, slot, &record) < 0) {
            return RSC_ENOMEM;
        }
    }
    return 0;
}

static int take_units(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                      const struct rsc_turn_units *units) {
    struct rsc_block_reader *reader = cursor->reader;
    struct rsc_block_thread *thread =
        units->thread < reader->thread_count ? &reader->threads[units->thread] : reader->now;
    int status = 0;
    if (thread != reader->now) {
        rsc_reader_end_code(drain, reader);
        rsc_reader_put_strings(drain, cursor);
        rsc_reader_run_thread(cursor, thread);
    }
    for (uint32_t at = 0; at < units->count && status >= 0;) {
        if (rsc_reader_is_usual(drain, reader, units->words[at]))
            at = rsc_reader_take_simple(drain, cursor, units->words, at, units->count, units->count);
        if (at < units->count) status = rsc_reader_take_next(drain, cursor, slot, units->words, units->count, &at);
    }
    return status;
}

/* Whether there is no more to gather from the block: of none, the round that was begun is left. */
static int is_gathered(const struct rsc_drain_cursor *cursor, uint32_t at) {
    return cursor->block.is_left || at >= cursor->count;
}

/* Returns where it stops; everything before is taken, or in the round. */
static int take_turns(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, uint32_t *at) {
    struct rsc_block_reader *reader = cursor->reader;
    const int is_sample = drain->mode == &rsc_drain_valgrind_lines;
    struct rsc_turn_units units;
    int status = 0;
    while (status >= 0 && drain->count < RSC_BATCH_ACCESSES - RSC_READER_SPARE &&
           drain->event_count < RSC_READER_EVENTS) {
        if (!reader->taking && is_gathered(cursor, *at)) break;
        if (!reader->taking && reader->living < 2 && !rsc_turns_any(reader->turns)) break;
        if (!reader->taking) status = is_sample ? gather_line(drain, cursor, at) : gather(drain, cursor, at);
        else if (rsc_turns_next(reader->turns, &units))
            status = is_sample ? take_line_units(drain, cursor, slot, &units) : take_units(drain, cursor, slot, &units);
        else {
            rsc_reader_end_code(drain, reader); /* the next plan that is written out replaces its own */
            reader->taking = 0;
        }
    }
    return status;
}

int rsc_reader_take_turns(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    struct rsc_block_reader *reader = cursor->reader;
    const int is_sample = drain->mode == &rsc_drain_valgrind_lines;
    const uint32_t before = drain->count;
    uint32_t at = reader->gathered > cursor->at ? reader->gathered : cursor->at;
    int status = take_turns(drain, cursor, slot, &at);
    if (!is_sample) drain->stats.accesses += drain->count - before;
    reader->gathered = at;
    if (status < 0 || reader->taking) {
        cursor->at = at < cursor->count ? at : cursor->count - 1; /* not done with the block */
        if (!is_sample) cursor->passed = cursor->at;
        return status < 0 ? status : 0;
    }
    if (cursor->block.is_left) {
        rsc_reader_put_strings(drain, cursor);
        at = cursor->count;
    }
    cursor->at = at;
    if (!is_sample) cursor->passed = at;
    if (reader->living < 2 && !rsc_turns_any(reader->turns)) { /* as before there were others */
        rsc_turns_free(reader->turns);
        reader->turns = NULL;
        reader->gathered = 0;
    }
    if (at < cursor->count) return 0;
    reader->gathered = 0;
    rsc_reader_end_code(drain, reader);
    if (cursor->block.words && cursor->block.is_last) rsc_drain_free_block(drain, cursor, slot);
    return 0;
}
