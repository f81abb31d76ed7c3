/*
 * drain_valgrind.c - blocks of Valgrind's tool (collect/valgrind/): addresses, whose meaning is in the plans of their
 * code (runtime/ring/ring.h).
 *
 * Words become accesses of the batch directly. Also made here, from the plans: calls and returns (a block's last
 * instruction, and where the next block begins), instruction counts, strings with a repeat prefix joined within lines
 * of 64 bytes as for QEMU, and the restriction to a region or to a window of instructions.
 *
 * A process has one slot. Its words are in the order of execution, and a record tells which thread runs. As soon as there
 * is a second thread, threads are interleaved anew (thread_turns.h).
 *
 * Words and plans are in memory that the program can write at any time: each is read once and validated.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/drain/block_reader.h"
#include "collect/drain/thread_turns.h"

#define FRAME_MOST 65536u /* bytes of a frame that a forked child returns from */
#define THREADS_MOST (RSC_VALGRIND_THREADS + 1)

void rsc_block_reader_free(struct rsc_block_reader *reader) {
    if (!reader) return;
    free(reader->threads);
    rsc_turns_free(reader->turns);
    free(reader);
}

/* ---- accesses ---- */

/* The batch, for the functions of block_accesses.h; then drain->count is the new count. */
static inline struct rsc_block_accesses batch_of(const struct rsc_drain *drain, const struct rsc_drain_cursor *cursor) {
    return (struct rsc_block_accesses){drain->addr,  drain->meta,   drain->pc,
                                       drain->count, cursor->space, (uint64_t)cursor->number << 40};
}

/* Strings that are being joined; they are complete. */
void rsc_reader_put_strings(struct rsc_drain *drain, struct rsc_drain_cursor *cursor) {
    struct rsc_block_accesses batch = batch_of(drain, cursor);
    rsc_block_put_strings(&batch, &cursor->reader->joins, 1);
    drain->count = batch.count;
}

/* The words of the running piece from `at` on. Returns where they end. */
static uint32_t take_words(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const uint64_t *words, uint32_t at,
                           uint32_t count) {
    struct rsc_block_reader *reader = cursor->reader;
    if (reader->piece == RSC_NO_PIECE) return at;
    const struct rsc_block_piece *piece = &drain->pieces.pieces[reader->piece];
    struct rsc_block_accesses batch = batch_of(drain, cursor);
    for (; reader->entry < piece->count && at < count; at++, reader->entry++) {
        const uint32_t place = piece->first + reader->entry;
        const uint64_t word = rsc_reader_look(&words[at]), flags = drain->pieces.flags[place];
        const uint64_t pc = drain->pieces.pcs[place], meta = drain->pieces.metas[place];
        if (word >> 56) break; /* a start or a record */
        if (!(word & RSC_BLOCK_ADDRESS) || !reader->recording) continue;
        if (flags == RSC_BLOCK_READS || flags == RSC_BLOCK_WRITES)
            rsc_block_put(&batch, word, pc, meta & 0xff, meta >> 32);
        else if (flags & RSC_BLOCK_KINDS)
            rsc_block_put_any(&batch, &reader->joins, word & RSC_BLOCK_ADDRESS, pc, (uint32_t)(meta & 0xff), flags);
    }
    drain->count = batch.count;
    return at;
}

/* ---- what is recorded ---- */

/* Every access, unless there is a region or a window. */
static void set_recording(struct rsc_drain *drain, struct rsc_block_reader *reader) {
    const struct rsc_drain_window *window = &drain->window;
    const int was = reader->recording;
    reader->recording = (!window->function || (reader->now && reader->now->entered)) &&
                        (!window->marked || reader->marked) && reader->passed >= window->skip &&
                        (!window->length || reader->passed - window->skip < window->length);
    if (was && !reader->recording && window->length && !window->function && !window->marked && drain->ring->images == 1)
        __atomic_store_n(&drain->ring->enough, 1, __ATOMIC_RELAXED);
}

static int is_limited(const struct rsc_drain *drain) {
    return drain->window.function || drain->window.marked || drain->window.skip || drain->window.length;
}

int rsc_reader_is_usual(const struct rsc_drain *drain, const struct rsc_block_reader *reader, uint64_t word) {
    return word & RSC_START && reader->now && !reader->joins.part_count && !is_limited(drain) &&
           drain->pieces.number_of;
}

static void count_instructions(struct rsc_drain *drain, struct rsc_block_reader *reader, uint64_t instructions) {
    if (reader->recording) {
        drain->instructions += instructions;
        drain->stats.instructions += instructions;
    } else {
        drain->stats.unrecorded_instructions += instructions;
    }
    reader->passed += instructions;
}

/* The running piece is over: its instructions are known. */
void rsc_reader_end_code(struct rsc_drain *drain, struct rsc_block_reader *reader) {
    if (reader->piece == RSC_NO_PIECE) return;
    const struct rsc_block_piece *piece = &drain->pieces.pieces[reader->piece];
    uint32_t instructions = piece->instructions;
    for (uint32_t i = 0; reader->entry < piece->count && i < piece->exit_count; i++) {
        const struct rsc_block_exit *left = &drain->pieces.exits[piece->exits + i];
        if (left->accesses == reader->entry) instructions = left->instructions;
    }
    if (instructions >= reader->continued) instructions -= reader->continued;
    reader->piece = RSC_NO_PIECE;
    reader->entry = reader->continued = 0;
    reader->joins.joins = 0;
    count_instructions(drain, reader, instructions);
}

/* ---- calls ---- */

/*
 * A piece of code begins with this stack pointer, which shows whether the thread is in the region's function, however
 * it left: returns, longjmp and exceptions all leave the stack above where the function was called. 0: not known.
 */
static void follow_region(struct rsc_block_thread *thread, const struct rsc_block_piece *piece, uint64_t stack) {
    if (!stack) return;
    if (!thread->top ||
        (thread->ends == RSC_PLAN_ENDS_RETURN && stack > thread->top && stack - thread->top < FRAME_MOST))
        thread->top = stack;
    if (stack > thread->entered && stack <= thread->top) thread->entered = 0;
    if (!thread->entered && piece->in_region) thread->entered = stack;
}

/* The jump that ended the thread's last block, now that its target is known. */
static int take_jump(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, uint64_t pc,
                     int calls_wanted) {
    struct rsc_block_thread *thread = cursor->reader->now;
    const int is_call = thread->ends == RSC_PLAN_ENDS_CALL;
    if (!calls_wanted || !cursor->reader->recording) return 0;
    struct rsc_record record = {pc, is_call ? rsc_record_word(RSC_RECORD_CALL, 1, thread->end_pc)
                                            : rsc_record_word(RSC_RECORD_RETURN, 1, 0)};
    return rsc_drain_take_event(drain, cursor, slot, &record);
}

/* ---- words ---- */

/* The piece of the start at words[*at], which is moved past it; RSC_NO_PIECE: it is invalid. */
uint32_t rsc_reader_find_piece(struct rsc_drain *drain, const uint64_t *words, uint32_t *at, uint32_t count,
                               uint64_t start) {
    uint32_t used = 0, from = ++*at;
    if (!(start & RSC_START_INLINE)) return rsc_block_pieces_find(&drain->pieces, drain->ring->plans, start);
    uint32_t piece = rsc_block_pieces_read(&drain->pieces, words + from, count - from, &used);
    *at += used;
    return piece;
}

static int take_start(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                      const uint64_t *words, uint32_t *at, uint32_t count) {
    struct rsc_block_reader *reader = cursor->reader;
    struct rsc_block_thread *thread = reader->now;
    const uint64_t start = rsc_reader_look(&words[*at]);
    int status = 0;
    rsc_reader_end_code(drain, reader);
    const uint32_t number = rsc_reader_find_piece(drain, words, at, count, start);
    if (number == RSC_NO_PIECE || !thread) return 0;
    const struct rsc_block_piece *piece = &drain->pieces.pieces[number];
    const int goes_on = thread->ends == RSC_PLAN_ENDS_REP && piece->pc == thread->end_pc;
    if (reader->joins.part_count && !goes_on) rsc_reader_put_strings(drain, cursor);
    if (!(start & RSC_START_RESUMED) && (thread->ends == RSC_PLAN_ENDS_CALL || thread->ends == RSC_PLAN_ENDS_RETURN))
        status = take_jump(drain, cursor, slot, piece->pc, (start & RSC_START_CALLS) != 0);
    if (is_limited(drain)) {
        const int has_stack = piece->count && *at < count && (drain->pieces.flags[piece->first] & RSC_BLOCK_STACK);
        follow_region(thread, piece, has_stack ? rsc_reader_look(&words[*at]) & RSC_BLOCK_ADDRESS : 0);
        set_recording(drain, reader);
    }
    reader->piece = number;
    reader->continued = (uint32_t)goes_on; /* the same instruction */
    thread->ends = piece->ends;
    thread->end_pc = piece->end_pc;
    return status;
}

/* ---- the usual case ---- */

/* Takes simple pieces, one after the other, as rsc_reader_take_next() does, in fewer steps. Returns where it stops. */
uint32_t rsc_reader_take_simple(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const uint64_t *words,
                                uint32_t at, uint32_t end, uint32_t count) {
    struct rsc_block_reader *reader = cursor->reader;
    struct rsc_simple_run run = {.words = words,
                                 .at = at,
                                 .end = end,
                                 .word_count = count,
                                 .addr = drain->addr,
                                 .meta = drain->meta,
                                 .pc = drain->pc,
                                 .space = cursor->space,
                                 .thread_bits = (uint64_t)cursor->number << 40,
                                 .count = drain->count,
                                 .count_most = RSC_BATCH_ACCESSES - RSC_READER_SPARE,
                                 .thread = cursor->number,
                                 .events = drain->events,
                                 .event_count = drain->event_count,
                                 .event_most = drain->event_room,
                                 .ends = reader->now->ends,
                                 .end_pc = reader->now->end_pc};
    rsc_reader_end_code(drain, reader);
    drain->take_simple(&drain->pieces, &run);
    drain->count = run.count;
    drain->event_count = run.event_count;
    drain->stats.calls += run.calls;
    reader->now->ends = run.ends;
    reader->now->end_pc = run.end_pc;
    count_instructions(drain, reader, run.instructions);
    return run.at;
}

/* ---- threads ---- */

/* The slot's first thread was numbered with it. */
static int number_thread(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_block_thread *thread) {
    struct rsc_block_reader *reader = cursor->reader;
    reader->living++;
    *thread = (struct rsc_block_thread){.known = 1, .number = cursor->number, .tid = cursor->tid};
    if (!reader->now) return rsc_guest_maps_first_stack(drain->maps, reader->process, thread->tid);
    uint64_t pid = rsc_drain_process_number(drain, reader->process);
    int status = rsc_drain_number_thread(drain, pid, &thread->tid, &thread->number);
    return status < 0 ? status
                      : rsc_drain_add_event(drain, RSC_EVENT_THREAD_START, thread->number, thread->tid, pid, NULL, 0);
}

int rsc_reader_take_switch(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_record *record) {
    struct rsc_block_reader *reader = cursor->reader;
    const uint32_t id = (uint32_t)record->addr;
    int status = 0;
    if (id >= THREADS_MOST) return 0;
    if (id >= reader->thread_count) {
        uint32_t place = reader->now ? (uint32_t)(reader->now - reader->threads) : 0;
        struct rsc_block_thread *threads = realloc(reader->threads, (id + 1) * sizeof *threads);
        if (!threads) return RSC_ENOMEM;
        memset(threads + reader->thread_count, 0, (id + 1 - reader->thread_count) * sizeof *threads);
        reader->threads = threads;
        reader->thread_count = id + 1;
        if (reader->now) reader->now = &threads[place];
    }
    struct rsc_block_thread *thread = &reader->threads[id];
    rsc_reader_put_strings(drain, cursor);
    if (!rsc_record_pc(record->word)) reader->filling = id;
    if (rsc_record_pc(record->word)) { /* it has ended */
        if (!thread->known) return 0;
        thread->known = 0;
        reader->living--;
        cursor->is_part |= cursor->number == thread->number; /* its end is told once */
        return rsc_drain_add_event(drain, RSC_EVENT_THREAD_END, thread->number, 0, 0, NULL, 0);
    }
    if (!thread->known && (status = number_thread(drain, cursor, thread)) < 0) return status;
    if (reader->living > 1 && drain->window.quantum && !reader->turns &&
        !(reader->turns = rsc_turns_new(drain->window.quantum, drain->window.fine)))
        return RSC_ENOMEM;
    rsc_reader_run_thread(cursor, thread);
    cursor->is_part = 0;
    return rsc_drain_add_maps(drain);
}

static int take_record(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                       const struct rsc_record *record) {
    struct rsc_block_reader *reader = cursor->reader;
    const uint32_t type = rsc_record_type(record->word);
    if (type == RSC_RECORD_SWITCH) {
        rsc_reader_end_code(drain, reader);
        return rsc_reader_take_switch(drain, cursor, record);
    }
    if (type == RSC_RECORD_MARKER) {
        reader->marked = rsc_record_pc(record->word) != 0;
        if (is_limited(drain)) set_recording(drain, reader);
        if (drain->window.marked && !reader->recording && !reader->marked) return 0;
    }
    int status = rsc_drain_take_event(drain, cursor, slot, record);
    if (reader->now) reader->now->stack_known = cursor->stack_known;
    return status;
}

/* ---- the mode ---- */

static int make_reader(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_slot *slot) {
    cursor->reader = calloc(1, sizeof *cursor->reader);
    if (!cursor->reader) return RSC_ENOMEM;
    cursor->reader->process = rsc_process_id(slot->image, slot->pid);
    cursor->reader->piece = RSC_NO_PIECE;
    set_recording(drain, cursor->reader);
    return 0;
}

/* A ring block stays where it is until its words are taken. */
static int begin(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                 const struct rsc_found_block *found) {
    if (!cursor->reader && make_reader(drain, cursor, slot) < 0) return RSC_ENOMEM;
    cursor->block = *found;
    cursor->passed = cursor->at = 0;
    cursor->count = found->count;
    drain->stats.blocks++;
    if (found->start_ns < drain->taken_until_ns) drain->stats.late++;
    cursor->start_ns = found->start_ns;
    cursor->step_ns_256 = (found->end_ns > found->start_ns ? found->end_ns - found->start_ns : 0) * 256 / found->count;
    return 0;
}

/* Strings that nothing continued. */
static int begin_left(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead) {
    (void)dead;
    struct rsc_block_reader *reader = cursor->generation == slot->generation ? cursor->reader : NULL;
    const int has_round = reader && reader->turns && rsc_turns_any(reader->turns);
    if (!reader || (!has_round && !reader->joins.part_count)) return 0;
    reader->taking = has_round;
    cursor->block = (struct rsc_found_block){.is_left = 1};
    cursor->passed = cursor->at = 0;
    cursor->count = 1;
    cursor->start_ns = drain->taken_until_ns;
    cursor->step_ns_256 = 0;
    return 1;
}

int rsc_reader_take_next(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                         const uint64_t *words, uint32_t count, uint32_t *at) {
    const uint64_t word = rsc_reader_look(&words[*at]);
    int status = 0;
    if (word & RSC_START) {
        status = take_start(drain, cursor, slot, words, at, count);
    } else if (word >> 56 && *at + 1 < count) {
        const struct rsc_record record = {rsc_reader_look(&words[*at + 1]), word};
        status = take_record(drain, cursor, slot, &record);
        *at += 2;
    } else if (!word || word >> 56 || cursor->reader->piece == RSC_NO_PIECE) {
        ++*at; /* not written by our code: also half a record at the end */
    }
    if (status < 0) return status;
    uint32_t after = take_words(drain, cursor, words, *at, count);
    if (after == *at && !(rsc_reader_look(&words[*at < count ? *at : 0]) >> 56)) cursor->reader->piece = RSC_NO_PIECE;
    *at = after;
    return status;
}

static int take(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, uint64_t most) {
    if (cursor->reader->turns) return rsc_reader_take_turns(drain, cursor, slot);
    const uint32_t end = cursor->count - cursor->at < most ? cursor->count : cursor->at + (uint32_t)most;
    const uint32_t before = drain->count;
    uint32_t at = cursor->at;
    int status = 0;
    if (!cursor->block.words) {
        rsc_reader_put_strings(drain, cursor);
        at = end;
    }
    while (at < end && status >= 0 && !cursor->reader->turns && drain->count < RSC_BATCH_ACCESSES - RSC_READER_SPARE &&
           drain->event_count < RSC_READER_EVENTS) {
        status = rsc_reader_take_next(drain, cursor, slot, cursor->block.words, cursor->count, &at);
        if (status >= 0 && at < end && rsc_reader_is_usual(drain, cursor->reader, cursor->block.words[at]))
            at = rsc_reader_take_simple(drain, cursor, cursor->block.words, at, end, cursor->count);
    }
    drain->stats.accesses += drain->count - before;
    cursor->passed = cursor->at = at;
    if (status < 0 || at < cursor->count || !cursor->block.words) return status < 0 ? status : 0;
    rsc_reader_end_code(drain, cursor->reader); /* blocks of code do not cross ring blocks */
    if (cursor->block.is_last) rsc_drain_free_block(drain, cursor, slot);
    return 0;
}

/* ---- a sample of lines: records, and words that the tool had not looked at when it was killed ---- */

int rsc_drain_take_switch(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_slot *slot,
                          const struct rsc_record *record) {
    if (!cursor->reader && make_reader(drain, cursor, slot) < 0) return RSC_ENOMEM;
    int status = rsc_reader_take_switch(drain, cursor, record);
    return status < 0 ? status : cursor->reader->turns != NULL;
}

static int begin_lines(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                       const struct rsc_found_block *found) {
    int status = begin(drain, cursor, slot, found);
    if (status < 0) return status;
    drain->instructions += found->instructions;
    drain->stats.instructions += found->instructions;
    cursor->count = found->count / 2;
    for (uint32_t i = 0; i < cursor->count; i++)
        cursor->records[i] =
            (struct rsc_record){rsc_reader_look(&found->words[2 * i + 1]), rsc_reader_look(&found->words[2 * i])};
    const uint64_t steps = rsc_drain_count_lines(cursor->records, cursor->count);
    cursor->step_ns_256 =
        steps && found->end_ns > found->start_ns ? (found->end_ns - found->start_ns) * 256 / steps : 0;
    cursor->block.words = NULL;
    if (found->is_last) rsc_drain_free_block(drain, cursor, slot);
    return 0;
}

static int begin_left_lines(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead) {
    struct rsc_block_reader *reader = cursor->generation == slot->generation ? cursor->reader : NULL;
    if (!reader || !reader->now) return 0;
    if (reader->turns && rsc_turns_any(reader->turns)) {
        reader->taking = 1;
        cursor->block = (struct rsc_found_block){.is_left = 1};
        cursor->at = 0;
        cursor->count = 1;
        cursor->start_ns = drain->taken_until_ns;
        cursor->passed = cursor->step_ns_256 = 0;
        return 1;
    }
    if (!dead) return 0;
    if (__atomic_load_n(&slot->raw_busy, __ATOMIC_ACQUIRE)) memset(slot->raw, 0, sizeof slot->raw);
    const uint32_t count = rsc_drain_count_unpublished(slot->raw, RSC_RAW_WORDS);
    if (!count) return 0;
    if (reader->turns) rsc_reader_run_thread(cursor, &reader->threads[reader->filling]); /* it ran last */
    rsc_drain_take_untold(drain, cursor, slot);
    reader->now->ends = (uint32_t)rsc_reader_look(&slot->own[0]) & 15;
    reader->now->end_pc = rsc_reader_look(&slot->own[1]) & RSC_BLOCK_ADDRESS;
    cursor->block = (struct rsc_found_block){.words = slot->raw, .count = count, .is_left = 1};
    cursor->passed = cursor->at = 0;
    cursor->count = count;
    cursor->start_ns = drain->taken_until_ns;
    cursor->step_ns_256 = 0;
    return 1;
}

/* Accesses of the batch from `first` on, which were not chosen: keeps those to sampled lines. */
static int filter_batch(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint32_t first) {
    const uint32_t count = drain->count - first;
    uint64_t *copy = malloc((3 * (size_t)count + 1) * sizeof *copy);
    if (!copy) return RSC_ENOMEM;
    memcpy(copy, drain->addr + first, count * sizeof *copy);
    memcpy(copy + count, drain->meta + first, count * sizeof *copy);
    memcpy(copy + 2 * (size_t)count, drain->pc + first, count * sizeof *copy);
    drain->count = first;
    for (uint32_t i = 0; i < count; i++)
        rsc_drain_filter(drain, cursor, copy[i] & RSC_BLOCK_ADDRESS, (uint32_t)(copy[count + i] & 0xff),
                         (int)(copy[count + i] >> 32 & 1), copy[2 * (size_t)count + i] & RSC_BLOCK_ADDRESS);
    free(copy);
    return 0;
}

static int take_lines(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, uint64_t most) {
    int status = 0;
    if (!cursor->block.words)
        return cursor->reader->turns ? rsc_reader_take_turns(drain, cursor, slot)
                                     : rsc_drain_take_lines(drain, cursor, slot, most);
    while (cursor->at < cursor->count && !status && drain->count < RSC_BATCH_ACCESSES - 4 * RSC_READER_SPARE) {
        const uint32_t before = drain->count;
        status = rsc_reader_take_next(drain, cursor, slot, cursor->block.words, cursor->count, &cursor->at);
        if (cursor->at >= cursor->count) {
            rsc_reader_end_code(drain, cursor->reader);
            rsc_reader_put_strings(drain, cursor);
        }
        if (status >= 0) status = filter_batch(drain, cursor, before);
    }
    if (cursor->at >= cursor->count) memset(slot->raw, 0, sizeof slot->raw);
    return status;
}

const struct rsc_drain_mode rsc_drain_valgrind_lines = {
    .looks_itself = 1,
    .spare = 4 * RSC_READER_SPARE,
    .begin = begin_lines,
    .begin_left = begin_left_lines,
    .take = take_lines,
    .steps = rsc_drain_count_lines,
    .gone = rsc_drain_take_untold,
};

const struct rsc_drain_mode rsc_drain_valgrind = {
    .spare = RSC_READER_SPARE,
    .begin = begin,
    .begin_left = begin_left,
    .take = take,
    .steps = rsc_drain_count_records,
};
