/* drain.c - see drain.h: threads, and batches of what is taken. In which order is drain_order.c's. */
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "collect/drain/drain_state.h"

#define SAMPLES_BATCH 16384u
#define HELD_WAIT_NS 500000
#define SILENT_NS 1000000000ull /* a thread that took a slot has written its ids long before */
#define REFERENCES_MAX (1ull << 60) /* of all threads: 30 years at 1 GHz */
#define BY_PART (1ull << 63) /* in thread_of: only signal handlers of that thread have been seen */

int rsc_drain_new(struct rsc_drain **out, struct rsc_ring *ring, struct rsc_error *error) {
    struct rsc_drain *drain = calloc(1, sizeof *drain);
    *out = NULL;
    if (!drain) return rsc_fail_memory(error, "collector");
    drain->ring = ring;
    drain->cores = ring->cores ? ring->cores : UINT32_MAX;
    rsc_ancestors_find(&drain->ancestors);
    drain->take_simple = RSC_WIDE_PICK(rsc_simd_best(), rsc_simple_pieces_take);
    drain->mode = ring->valgrind     ? ring->keep_lines ? &rsc_drain_valgrind_lines : &rsc_drain_valgrind
                  : !ring->rebuilt   ? &rsc_drain_qemu
                  : ring->keep_lines ? &rsc_drain_lines
                  : ring->sampled    ? &rsc_drain_samples
                                     : &rsc_drain_rebuilt;
    drain->keep_shift = ring->keep_lines ? ring->keep_shift & 63 : 6;
    drain->keep_limit = ring->keep_limit;
    drain->keep_offset = ring->keep_offset;
    const int in_order = drain->mode == &rsc_drain_valgrind_lines, skips = drain->mode == &rsc_drain_lines || in_order;
    drain->addr = malloc(RSC_BATCH_ACCESSES * sizeof *drain->addr);
    drain->meta = malloc(RSC_BATCH_ACCESSES * sizeof *drain->meta);
    drain->pc = malloc(RSC_BATCH_ACCESSES * sizeof *drain->pc);
    drain->note_text = malloc(RSC_NOTES_BYTES);
    if (skips) drain->skipped = malloc(RSC_BATCH_ACCESSES * sizeof *drain->skipped);
    if (in_order) drain->passed = malloc(RSC_BATCH_ACCESSES * sizeof *drain->passed);
    drain->maps = rsc_guest_maps_new();
    drain->tables = rsc_asm_tables_new();
    rsc_arena_init(&drain->event_data);
    if (!drain->addr || !drain->meta || !drain->pc || (skips && !drain->skipped) || (in_order && !drain->passed) ||
        !drain->maps || !drain->tables || !drain->note_text || rsc_u64_table_init(&drain->processes, 64) < 0 ||
        rsc_u64_table_init(&drain->thread_of, 64) < 0 || rsc_u64_table_init(&drain->sampled_threads, 64) < 0 ||
        rsc_u64_table_init(&drain->forked_inside, 64) < 0) {
        rsc_drain_free(drain);
        return rsc_fail_memory(error, "collector");
    }
    *out = drain;
    return 0;
}

void rsc_drain_set_one_process(struct rsc_drain *drain) { drain->one_process = 1; }

void rsc_drain_free(struct rsc_drain *drain) {
    if (!drain) return;
    for (uint32_t i = 0; i < RSC_RING_SLOTS; i++) {
        free(drain->cursors[i].records);
        rsc_rebuilt_reset(&drain->cursors[i].rebuilt);
        rsc_block_reader_free(drain->cursors[i].reader);
    }
    rsc_asm_tables_free(drain->tables);
    rsc_block_pieces_free(&drain->pieces);
    rsc_u64_table_free(&drain->thread_of);
    rsc_u64_table_free(&drain->sampled_threads);
    rsc_u64_table_free(&drain->forked_inside);
    free(drain->samples);
    free(drain->steps);
    rsc_guest_maps_free(drain->maps);
    rsc_thread_table_free(&drain->threads);
    rsc_u64_table_free(&drain->processes);
    rsc_arena_free(&drain->event_data);
    free(drain->addr);
    free(drain->meta);
    free(drain->pc);
    free(drain->skipped);
    free(drain->passed);
    free(drain->thread_references);
    free(drain->in_region);
    free(drain->pids);
    free(drain->events);
    free(drain->note_text);
    free(drain);
}

void rsc_drain_set_region(struct rsc_drain *drain, struct rsc_roi *roi) { drain->roi = roi; }
void rsc_drain_set_window(struct rsc_drain *drain, const struct rsc_drain_window *window) { drain->window = *window; }
void rsc_drain_set_most(struct rsc_drain *drain, uint64_t accesses) { drain->most = accesses; }

/* ---- records into the batch ---- */

uint64_t rsc_drain_count_records(const struct rsc_record *records, uint32_t count) {
    (void)records;
    return count;
}

int rsc_drain_take_records(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                           uint64_t most) {
    uint32_t end = cursor->count - cursor->at < most ? cursor->count : cursor->at + (uint32_t)most;
    const uint64_t thread_bits = (uint64_t)cursor->number << 40, space = cursor->space;
    const uint32_t filled_before = drain->count;
    uint32_t at = cursor->at, filled = filled_before;
    for (; at < end && filled < RSC_BATCH_ACCESSES; at++) {
        struct rsc_record record = cursor->records[at];
        uint32_t type = rsc_record_type(record.word);
        if (__builtin_expect(type == RSC_RECORD_READ || type == RSC_RECORD_WRITE, 1)) {
            if (drain->roi) {
                rsc_drain_enter_region(drain, cursor, rsc_record_pc(record.word));
                if (!drain->in_region[cursor->number]) continue;
            }
            if (drain->most && drain->stats.accesses + (filled - filled_before) >= drain->most) {
                __atomic_store_n(&drain->ring->enough, 1, __ATOMIC_RELAXED);
                continue;
            }
            drain->addr[filled] = record.addr | space;
            drain->meta[filled] =
                rsc_record_size(record.word) | (uint64_t)(type == RSC_RECORD_WRITE) << 32 | thread_bits;
            drain->pc[filled] = rsc_record_pc(record.word) | space;
            filled++;
        } else {
            drain->count = filled;
            if (drain->roi) rsc_drain_follow_region(drain, cursor, &record);
            if (rsc_drain_take_event(drain, cursor, slot, &record) < 0) return RSC_ENOMEM;
        }
        cursor->last_addr = record.addr;
        cursor->last_word = record.word;
    }
    drain->stats.accesses += filled - filled_before;
    drain->count = filled;
    cursor->passed = cursor->at = at;
    return 0;
}

uint64_t rsc_drain_count_references(struct rsc_drain *drain, uint32_t thread, uint64_t references, uint64_t crossings) {
    if (references > REFERENCES_MAX - drain->stats.references) {
        drain->stats.unknown++;
        return 0;
    }
    drain->stats.references += references;
    drain->stats.accesses += references;
    drain->stats.accesses -= crossings < drain->stats.accesses ? crossings : drain->stats.accesses;
    if (thread < drain->thread_room) drain->thread_references[thread] += references;
    return references;
}

/* Returns a taken block to the ring. */
void rsc_drain_free_block(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    struct rsc_block *block = &slot->blocks[cursor->consumed % RSC_RING_BLOCKS];
    memset(block->words, 0, cursor->words_taken * sizeof *block->words);
    block->count = block->mark_count = 0; /* taken once, even if `published` is overwritten */
    cursor->words_taken = cursor->marks_taken = cursor->asleep_words = 0;
    cursor->asleep_ns = 0;
    __atomic_store_n(&slot->consumed, ++cursor->consumed, __ATOMIC_RELEASE);
    __atomic_fetch_add(&slot->consumed_signal, 1, __ATOMIC_RELEASE);
    /*
     * A thread that found its ring full continues when half of it is free, or all, not after every block; so do the
     * threads waiting for it.
     */
    if (__atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) - cursor->consumed == rsc_ring_goes_on_at(drain->ring))
        syscall(SYS_futex, &slot->consumed_signal, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- which block next ---- */

/* The number by which a thread's other slots find it. NULL when out of memory. */
static struct rsc_u64_entry *thread_entry(struct rsc_drain *drain, const struct rsc_slot *slot) {
    struct rsc_u64_table *table = &drain->thread_of;
    uint64_t ids = ((uint64_t)slot->image << 44 ^ (uint64_t)slot->pid << 22 ^ slot->tid) + 1; /* pids have 22 bits */
    if (rsc_u64_table_needs_rebuild(table) && rsc_u64_table_rebuild(table) < 0) return NULL;
    struct rsc_u64_entry *entry = rsc_u64_table_find(table, ids);
    if (!entry->value) {
        entry->key = ids;
        table->used++;
    }
    return entry;
}

/* Numbers a thread and counts its references. */
static int make_thread_room(struct rsc_drain *drain, uint32_t number) {
    uint32_t room = drain->thread_room ? drain->thread_room : 64;
    while (room <= number) room *= 2;
    if (room == drain->thread_room) return 0;
    const uint32_t more = room - drain->thread_room;
    uint64_t *grown = realloc(drain->thread_references, room * sizeof *grown);
    if (!grown) return RSC_ENOMEM;
    memset(grown + drain->thread_room, 0, more * sizeof *grown);
    drain->thread_references = grown;
    uint32_t *in_region = realloc(drain->in_region, room * sizeof *in_region);
    if (!in_region) return RSC_ENOMEM;
    memset(in_region + drain->thread_room, 0, more * sizeof *in_region);
    drain->in_region = in_region;
    drain->thread_room = room;
    return 0;
}

int rsc_drain_number_thread(struct rsc_drain *drain, uint64_t pid, uint64_t *tid, uint32_t *number) {
    int64_t made = rsc_thread_number(&drain->threads, pid, ++drain->stats.threads);
    if (made < 0) return (int)made;
    *tid = drain->stats.threads;
    *number = (uint32_t)made;
    return make_thread_room(drain, *number);
}

/* Whether a program that replaced the first one begins here: where only one process is watched, its first thread goes on. */
static int goes_on(const struct rsc_drain *drain, const struct rsc_slot *slot) {
    return drain->one_process && slot->pid == drain->first_pid && slot->tid == slot->pid;
}

static int name_thread(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_slot *slot) {
    const uint64_t process = rsc_process_id(slot->image, slot->pid);
    uint64_t pid = rsc_drain_process_number(drain, process), tid = 0;
    struct rsc_u64_entry *entry = drain->mode->rebuilt ? thread_entry(drain, slot) : NULL;
    if (drain->mode->rebuilt && !entry) return RSC_ENOMEM;
    /*
     * A handler's first block may be taken before the first block of the thread it interrupted: that thread joins it
     * then.
     */
    int by_part = entry && slot->part && (!entry->value || entry->value & BY_PART);
    int joins = entry && entry->value && (slot->part || entry->value & BY_PART);
    uint32_t number = joins ? (uint32_t)(entry->value & 0xffffffffu) - 1 : 0;
    if (joins) {
        tid = (entry->value & ~BY_PART) >> 32;
    } else if (goes_on(drain, slot)) {
        tid = drain->first_tid;
        number = drain->first_number;
    } else {
        int status = rsc_drain_number_thread(drain, pid, &tid, &number);
        if (status < 0) return status;
    }
    if (!drain->first_pid && slot->tid == slot->pid) {
        drain->first_pid = slot->pid;
        drain->first_tid = tid;
        drain->first_number = number;
    }
    if (entry) entry->value = (by_part ? BY_PART : 0) | tid << 32 | (uint64_t)(number + 1);
    rsc_drain_leave_region(drain, cursor);
    rsc_rebuilt_reset(&cursor->rebuilt);
    rsc_block_reader_free(cursor->reader);
    *cursor = (struct rsc_drain_cursor){
        .generation = slot->generation,
        .dead_generation = cursor->dead_generation,
        .left_generation = cursor->left_generation,
        .ids = rsc_drain_ids(slot),
        .number = number,
        .tid = tid,
        .space = (pid - 1) << 48,
        .consumed = cursor->consumed,
        .words_taken = cursor->words_taken,
        .marks_taken = cursor->marks_taken,
        .records = cursor->records,
        .rebuilt = {.tables = drain->tables, .process = process, .knows_jumps = drain->roi != NULL},
        .is_part = entry && slot->part};
    if (rsc_drain_add_maps(drain) < 0) return RSC_ENOMEM;
    if (drain->mode == &rsc_drain_samples && rsc_drain_know_sampled(drain, cursor, slot) < 0) return RSC_ENOMEM;
    return joins ? 0 : rsc_drain_add_event(drain, RSC_EVENT_THREAD_START, cursor->number, tid, pid, NULL, 0);
}

/* ---- the order of threads ---- */

/* Whether the slot's thread has written something: then its ids are set. */
static int has_written(const struct rsc_drain *drain, uint32_t i) {
    const struct rsc_slot *slot = &drain->ring->slots[i];
    const struct rsc_block *next = &slot->blocks[drain->cursors[i].consumed % RSC_RING_BLOCKS];
    if (__atomic_load_n(&slot->open_since_ns, __ATOMIC_ACQUIRE)) return 1;
    if (__atomic_load_n(&next->mark_count, __ATOMIC_ACQUIRE)) return 1; /* it rests */
    return drain->mode->looks_itself && (slot->raw[0] || slot->skipped); /* private so far */
}

static int is_unnumbered(const struct rsc_drain *drain, uint32_t i) {
    const struct rsc_drain_cursor *cursor = &drain->cursors[i];
    const struct rsc_slot *slot = &drain->ring->slots[i];
    if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == RSC_SLOT_FREE) return 0;
    if (!has_written(drain, i) && __atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) == cursor->consumed) return 0;
    if (cursor->count || cursor->rebuilt.under_way)
        return 0; /* its words are being taken: the program changed its ids */
    return slot->generation && cursor->generation != slot->generation;
}

/*
 * Processes in the order in which they began, and their threads as they were created: the system's numbers rise from that of
 * the process, and begin again from the lowest when they reach kernel.pid_max, so a later thread may have a smaller one.
 */
static int compare_starts(const struct rsc_slot *a, const struct rsc_slot *b) {
    const uint32_t a_after = a->tid - a->pid, b_after = b->tid - b->pid; /* wrapped around: the largest */
    if (a->image != b->image) return a->image < b->image ? -1 : 1;
    if (a_after != b_after) return a_after < b_after ? -1 : 1;
    return (a->part != 0) - (b->part != 0);
}

/* The first of those that have written something, have no number and were created before `slot`; NULL: there is none. */
static struct rsc_slot *oldest_unnumbered(const struct rsc_drain *drain, struct rsc_slot *slot) {
    struct rsc_slot *oldest = slot;
    uint32_t used = __atomic_load_n(&drain->ring->slots_used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < used && i < RSC_RING_SLOTS; i++) {
        struct rsc_slot *other = &drain->ring->slots[i];
        if (is_unnumbered(drain, i) && compare_starts(other, oldest) < 0) oldest = other;
    }
    return oldest == slot ? NULL : oldest;
}

/*
 * Threads and processes are numbered in the order of their creation, not by system ids, so two runs of the same program give
 * the same trace, and samples, which some threads report long after they began, the same numbers as a trace. One that was
 * created but has not begun is not known here: it comes after later ones that have reported.
 */
static int start_thread(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    struct rsc_slot *older;
    for (uint32_t i = 0; i < RSC_RING_SLOTS && (older = oldest_unnumbered(drain, slot)); i++) {
        int status = name_thread(drain, &drain->cursors[older - drain->ring->slots], older);
        if (status < 0) return status;
    }
    return name_thread(drain, cursor, slot);
}

int rsc_drain_start_sampled(struct rsc_drain *drain, const struct rsc_slot *of_process, uint64_t identity) {
    uint32_t used = __atomic_load_n(&drain->ring->slots_used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < used && i < RSC_RING_SLOTS; i++) {
        struct rsc_slot *slot = &drain->ring->slots[i];
        if (slot->sampled_as != identity + 1 || slot->pid != of_process->pid || slot->image != of_process->image)
            continue;
        if (is_unnumbered(drain, i)) return start_thread(drain, &drain->cursors[i], slot);
    }
    return 0;
}

unsigned rsc_drain_living(struct rsc_drain *drain) {
    uint32_t used = __atomic_load_n(&drain->ring->slots_used, __ATOMIC_ACQUIRE);
    unsigned living = 0;
    for (uint32_t i = 0; i < used && i < RSC_RING_SLOTS; i++) {
        struct rsc_slot *slot = &drain->ring->slots[i];
        struct rsc_drain_cursor *cursor = &drain->cursors[i];
        uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
        if (state != RSC_SLOT_LIVE && state != RSC_SLOT_LEAVING) continue;
        const uint32_t generation = __atomic_load_n(&slot->generation, __ATOMIC_ACQUIRE);
        const int wrote = has_written(drain, i) || cursor->generation == generation;
        const enum rsc_running running = rsc_thread_running(&drain->ancestors, slot->pid, slot->tid);
        const int silent = !wrote && running == RSC_THREAD_GONE; /* its ids may not be set yet */
        if (!silent) cursor->silent_ns = 0;
        if (silent) {
            if (!cursor->silent_ns) cursor->silent_ns = rsc_ring_now_ns();
            living += rsc_ring_now_ns() - cursor->silent_ns < SILENT_NS;
        } else if (running == RSC_THREAD_GONE) {
            cursor->dead_generation = generation;
        } else if (running == RSC_THREAD_LEFT) {
            if (wrote) cursor->left_generation = generation;
        } else {
            living += running == RSC_THREAD_RUNS;
        }
    }
    return living;
}

void rsc_drain_tell_freed(struct rsc_ring *ring, const struct rsc_slot *slot) {
    __atomic_store_n(&ring->freed_last, (uint32_t)(slot - ring->slots), __ATOMIC_RELAXED);
    __atomic_fetch_add(&ring->freed, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &ring->freed, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/*
 * Counts the words of a block that was never published: up to the last nonzero one, plus one, which may be a record's
 * address 0.
 */
uint32_t rsc_drain_count_unpublished(const uint64_t *words, uint32_t count) {
    uint32_t written = count;
    while (written && !words[written - 1]) written--;
    return written && written < count ? written + 1 : written;
}

int rsc_drain_ready(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    if (!cursor->generation ||
        cursor->generation != slot->generation) { /* no thread has generation 0: it was overwritten */
        int status = start_thread(drain, cursor, slot);
        if (status < 0) return status;
    }
    if (!cursor->records) cursor->records = malloc(RSC_DRAIN_RECORDS_MAX * sizeof *cursor->records);
    return cursor->records ? 0 : RSC_ENOMEM;
}

static void start_batch(struct rsc_drain *drain) {
    drain->count = drain->event_count = 0;
    drain->sample_count = drain->step_count = 0;
    drain->instructions = 0;
    drain->handed_out = 0;
    rsc_arena_free(&drain->event_data);
    rsc_arena_init(&drain->event_data);
}

int rsc_drain_batch_is_full(const struct rsc_drain *drain) {
    return drain->count >= RSC_BATCH_ACCESSES - drain->mode->spare || drain->sample_count >= SAMPLES_BATCH ||
           drain->event_count >= RSC_BATCH_ACCESSES;
}

/*
 * A batch is returned when it is full, or at the end: batch boundaries must not depend
 * on timing.
 */
int rsc_drain_next(struct rsc_drain *drain, int ended, struct rsc_batch *batch, struct rsc_error *error) {
    drain->signal_seen = __atomic_load_n(&drain->ring->published_signal, __ATOMIC_ACQUIRE);
    if (drain->handed_out) start_batch(drain);
    while (!rsc_drain_batch_is_full(drain)) {
        int status = rsc_drain_take_some(drain, ended);
        if (!status) break;
        if (status == RSC_ELIMIT) return rsc_fail(error, RSC_ELIMIT, "more than %u threads", RSC_THREADS_MAX);
        if (status < 0) return rsc_fail_memory(error, "collector");
    }
    if (!rsc_drain_batch_is_full(drain)) {
        if (!ended) return 0;
        if (rsc_drain_read_notes(drain, UINT64_MAX) < 0) return rsc_fail_memory(error, "collector");
        if (!drain->count && !drain->event_count && !drain->sample_count) return 0;
    }
    drain->handed_out = 1;
    *batch = (struct rsc_batch){.count = drain->count,
                                .event_count = drain->event_count,
                                .addr = drain->addr,
                                .meta = drain->meta,
                                .pc = drain->pc,
                                .events = drain->events,
                                .threads = drain->threads.threads,
                                .thread_count = drain->threads.count,
                                .instructions = drain->instructions};
    return 1;
}

/* Under an emulator threads are too slow to wait for the parent too. */
int rsc_drain_wants_turns(const struct rsc_drain *drain) {
    return drain->mode == &rsc_drain_rebuilt && drain->at_work > 1 && drain->at_work >= drain->cores;
}

/* The parent's turn is over (rsc_ring_goes_on_at()): threads that found their ring full go on if half of it is free. */
static void let_threads_run(struct rsc_drain *drain) {
    struct rsc_ring *ring = drain->ring;
    uint32_t used = __atomic_load_n(&ring->slots_used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < used && i < RSC_RING_SLOTS; i++) {
        struct rsc_slot *slot = &ring->slots[i];
        if (!__atomic_load_n(&slot->waits_now, __ATOMIC_ACQUIRE)) continue;
        if (__atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) - drain->cursors[i].consumed > RSC_RING_SOME) continue;
        __atomic_fetch_add(&slot->consumed_signal, 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &slot->consumed_signal, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    __atomic_store_n(&ring->takes_turns, (uint32_t)rsc_drain_wants_turns(drain), __ATOMIC_RELAXED);
    drain->at_work = 0;
}

void rsc_drain_wait(struct rsc_drain *drain, unsigned milliseconds) {
    struct rsc_ring *ring = drain->ring;
    struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    /*
     * Held back for one thread: wait for whatever it publishes, as others may be waiting for us; and not for long, as it
     * may have made a mark just before.
     */
    if (drain->held_since_ns) limit = (struct timespec){0, HELD_WAIT_NS};
    uint32_t sleeps = drain->held_since_ns ? RSC_PARENT_WAITS_FOR_ANY : RSC_PARENT_WAITS_FOR_SOME;
    __atomic_store_n(&ring->parent_sleeps, sleeps, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring->takes_turns, __ATOMIC_RELAXED)) let_threads_run(drain);
    if (drain->signal_seen == __atomic_load_n(&ring->published_signal, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &ring->published_signal, FUTEX_WAIT, drain->signal_seen, &limit, NULL, 0);
    __atomic_store_n(&ring->parent_sleeps, RSC_PARENT_AWAKE, __ATOMIC_RELAXED);
}

void rsc_drain_get_stats(const struct rsc_drain *drain, struct rsc_drain_stats *stats) {
    *stats = drain->stats;
    stats->maps_lost = drain->ring->notes_lost + rsc_guest_maps_lost(drain->maps);
    for (uint32_t i = 0; i < RSC_RING_SLOTS; i++)
        stats->left +=
            drain->cursors[i].left_generation && drain->cursors[i].left_generation == drain->ring->slots[i].generation;
    for (uint32_t i = 0; i < drain->ring->slots_used && i < RSC_RING_SLOTS; i++) {
        stats->waits += drain->ring->slots[i].waits;
        stats->waited_ns += drain->ring->slots[i].waited_ns;
        stats->unrecorded_instructions += drain->ring->slots[i].unrecorded_instructions;
    }
}

void rsc_drain_columns(const struct rsc_drain *drain, struct rsc_batch_columns *columns) {
    *columns = (struct rsc_batch_columns){.skipped = drain->skipped,
                                          .passed = drain->passed,
                                          .samples = drain->samples,
                                          .sample_count = drain->sample_count,
                                          .steps = drain->steps,
                                          .step_count = drain->step_count};
}

void rsc_drain_get_whole(const struct rsc_drain *drain, struct rsc_whole_run *whole) {
    *whole = (struct rsc_whole_run){.order = drain->mode == &rsc_drain_samples ? NULL : &drain->stats.order,
                                    .accesses = drain->stats.accesses,
                                    .references = drain->stats.references,
                                    .thread_references = drain->thread_references,
                                    .thread_count = drain->thread_room,
                                    .pids = drain->pids,
                                    .process_count = (uint32_t)drain->pid_count,
                                    .analysed = drain->stats.analysed,
                                    .begun = drain->stats.begun,
                                    .begun_weight = drain->stats.begun_weight};
}
