/* drain.c - see drain.h for the order in which blocks are taken. */
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

#define LATE_AFTER_NS 20000000ull
#define NEVER UINT64_MAX
#define LEAVING_LOOK_NS 4000000ull
#define RECORDS_MAX (2 * RSC_BLOCK_WORDS + RSC_EXPANSION_HELD) /* of a block */
#define SAMPLES_BATCH 16384u
#define BY_PART (1ull << 63) /* in thread_of: only handlers of that thread have been seen */

int rsc_drain_new(struct rsc_drain **out, struct rsc_ring *ring, struct rsc_error *error) {
    struct rsc_drain *drain = calloc(1, sizeof *drain);
    *out = NULL;
    if (!drain) return rsc_fail_memory(error, "collector");
    drain->ring = ring;
    drain->addr = malloc(RSC_BATCH_ACCESSES * sizeof *drain->addr);
    drain->meta = malloc(RSC_BATCH_ACCESSES * sizeof *drain->meta);
    drain->pc = malloc(RSC_BATCH_ACCESSES * sizeof *drain->pc);
    drain->note_text = malloc(RSC_NOTES_BYTES);
    if (ring->keep_lines) drain->skipped = malloc(RSC_BATCH_ACCESSES * sizeof *drain->skipped);
    drain->maps = rsc_guest_maps_new();
    drain->tables = rsc_asm_tables_new();
    rsc_arena_init(&drain->event_data);
    if (!drain->addr || !drain->meta || !drain->pc || (ring->keep_lines && !drain->skipped) || !drain->maps ||
        !drain->tables || !drain->note_text || rsc_u64_table_init(&drain->processes, 64) < 0 ||
        rsc_u64_table_init(&drain->thread_of, 64) < 0 || rsc_u64_table_init(&drain->sampled_threads, 64) < 0) {
        rsc_drain_free(drain);
        return rsc_fail_memory(error, "collector");
    }
    *out = drain;
    return 0;
}

void rsc_drain_free(struct rsc_drain *drain) {
    if (!drain) return;
    for (uint32_t i = 0; i < RSC_RING_SLOTS; i++) {
        free(drain->cursors[i].records);
        rsc_rebuilt_reset(&drain->cursors[i].rebuilt);
    }
    rsc_asm_tables_free(drain->tables);
    rsc_u64_table_free(&drain->thread_of);
    rsc_u64_table_free(&drain->sampled_threads);
    free(drain->samples);
    rsc_guest_maps_free(drain->maps);
    rsc_thread_table_free(&drain->threads);
    rsc_u64_table_free(&drain->processes);
    rsc_arena_free(&drain->event_data);
    free(drain->addr);
    free(drain->meta);
    free(drain->pc);
    free(drain->skipped);
    free(drain->thread_references);
    free(drain->events);
    free(drain->note_text);
    free(drain);
}

void rsc_drain_set_region(struct rsc_drain *drain, struct rsc_roi *roi) { drain->roi = roi; }
void rsc_drain_set_most(struct rsc_drain *drain, uint64_t accesses) { drain->most = accesses; }

/* Up to `most` records of the block being taken into the batch. */
static int take_records(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                        uint32_t most) {
    if (drain->ring->sampled) return rsc_drain_take_samples(drain, cursor, slot, most);
    uint32_t end = cursor->count - cursor->at < most ? cursor->count : cursor->at + most;
    const uint64_t thread_bits = (uint64_t)cursor->number << 40, space = cursor->space;
    const uint32_t filled_before = drain->count;
    uint32_t at = cursor->at, filled = filled_before;
    for (; at < end && filled < RSC_BATCH_ACCESSES; at++) {
        struct rsc_record record = cursor->records[at];
        uint32_t type = rsc_record_type(record.word);
        if (__builtin_expect(type == RSC_RECORD_READ || type == RSC_RECORD_WRITE, 1)) {
            if (drain->roi) {
                rsc_roi_enter(drain->roi, cursor->number, cursor->depth, rsc_record_pc(record.word) | space);
                if (!drain->roi->inside) continue;
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
    cursor->at = at;
    return 0;
}

/* Gives a taken block back. */
static void free_block(struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    slot->blocks[cursor->consumed % RSC_RING_BLOCKS].count = 0; /* taken once, whatever `published` says */
    __atomic_store_n(&slot->consumed, ++cursor->consumed, __ATOMIC_RELEASE);
    __atomic_fetch_add(&slot->consumed_signal, 1, __ATOMIC_RELEASE);
    /* A thread that found its ring full goes on when half of it is free, and not for one block at a time; and with it all that wait for it. */
    if (__atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) - cursor->consumed == RSC_RING_SOME)
        syscall(SYS_futex, &slot->consumed_signal, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- which block next ---- */

/* The number by which a thread's other slots find it. NULL when memory is out. */
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

/*
 * Threads and processes go by ordinals, not by the system's ids: two runs of the
 * same program then give the same trace.
 */
static int start_thread(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    const uint64_t process = rsc_process_id(slot->image, slot->pid);
    uint64_t pid = rsc_drain_process_number(drain, process), tid = 0;
    struct rsc_u64_entry *entry = drain->ring->rebuilt ? thread_entry(drain, slot) : NULL;
    if (drain->ring->rebuilt && !entry) return RSC_ENOMEM;
    /* A handler's first block may be taken before the first of the thread that it interrupted: that one joins it then. */
    int by_part = entry && slot->part && (!entry->value || entry->value & BY_PART);
    int joins = entry && entry->value && (slot->part || entry->value & BY_PART);
    int64_t number = joins ? (int64_t)(entry->value & 0xffffffffu) - 1 : 0;
    if (joins) {
        tid = (entry->value & ~BY_PART) >> 32;
    } else {
        tid = ++drain->stats.threads;
        number = rsc_thread_number(&drain->threads, pid, tid);
        if (number < 0) return (int)number;
    }
    if (entry) entry->value = (by_part ? BY_PART : 0) | tid << 32 | (uint64_t)(number + 1);
    if ((drain->skipped || drain->ring->sampled) && rsc_drain_make_thread_room(drain, (uint32_t)number) < 0)
        return RSC_ENOMEM;
    rsc_rebuilt_reset(&cursor->rebuilt);
    *cursor = (struct rsc_drain_cursor){.generation = slot->generation,
                                        .dead_generation = cursor->dead_generation,
                                        .left_generation = cursor->left_generation,
                                        .number = (uint32_t)number,
                                        .tid = tid,
                                        .space = (pid - 1) << 48,
                                        .consumed = cursor->consumed,
                                        .records = cursor->records,
                                        .rebuilt = {.tables = drain->tables, .process = process},
                                        .is_part = entry && slot->part};
    if (rsc_drain_add_maps(drain) < 0) return RSC_ENOMEM;
    return joins ? 0 : rsc_drain_add_event(drain, RSC_EVENT_THREAD_START, cursor->number, tid, pid, NULL, 0);
}

/*
 * The first thread's stack lies where the process said when it began. To look for it when a call tells of it
 * would be too late for what was done before, and for a program that is over by then.
 */
static int know_first_stack(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_slot *slot) {
    if (cursor->stack_known || slot->tid != slot->pid) return 0;
    int known = rsc_guest_maps_first_stack(drain->maps, rsc_process_id(slot->image, slot->pid), cursor->tid);
    if (known <= 0) return known;
    cursor->stack_known = 1;
    return rsc_drain_add_maps(drain);
}

static int is_dead(const struct rsc_drain_cursor *cursor, const struct rsc_slot *slot) {
    return cursor->dead_generation && cursor->dead_generation == slot->generation;
}

/* Does the thread still run? One that was killed, or whose process ended or became another program, does not. */
static int thread_lives(const struct rsc_slot *slot) {
    char name[64], text[512];
    snprintf(name, sizeof name, "/proc/%u/task/%u/stat", slot->pid, slot->tid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *state = strrchr(text, ')');
    return state && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

unsigned rsc_drain_living(struct rsc_drain *drain) {
    uint32_t used = __atomic_load_n(&drain->ring->slots_used, __ATOMIC_ACQUIRE);
    unsigned living = 0;
    for (uint32_t i = 0; i < used && i < RSC_RING_SLOTS; i++) {
        struct rsc_slot *slot = &drain->ring->slots[i];
        uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
        if (state != RSC_SLOT_LIVE && state != RSC_SLOT_LEAVING) continue;
        /* Its ids are there once it has written something. */
        int wrote =
            __atomic_load_n(&slot->open_since_ns, __ATOMIC_ACQUIRE) || drain->cursors[i].generation == slot->generation;
        if (drain->skipped) wrote |= slot->raw[0] || slot->skipped; /* to itself, so far */
        if (wrote && !thread_lives(slot)) drain->cursors[i].dead_generation = slot->generation;
        else if (wrote && getsid((pid_t)slot->pid) != getsid(0)) drain->cursors[i].left_generation = slot->generation;
        else living++;
    }
    return living;
}

/* Words that were never published: up to the last that is not zero, and one more, which may be a record's address 0. */
static uint32_t count_unpublished(const uint64_t *words, uint32_t count) {
    uint32_t written = count;
    while (written && !words[written - 1]) written--;
    return written && written < count ? written + 1 : written;
}

/* As many records of a rebuilt program's block as there is room for. */
static void expand_some(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    uint64_t *words = cursor->words_raw ? slot->raw : slot->blocks[cursor->consumed % RSC_RING_BLOCKS].words;
    uint64_t instructions = 0, unknown = cursor->rebuilt.unknown;
    const uint64_t time_ns =
        cursor->words_to_ns > cursor->words_from_ns ? cursor->words_to_ns - cursor->words_from_ns : 0;
    cursor->at = 0;
    cursor->count =
        rsc_expand_rebuilt(&cursor->rebuilt, words, cursor->words, cursor->records, RECORDS_MAX, &instructions);
    /* Time passes with records, or with references where only some are records: words may stand for any number of them. */
    uint64_t done = cursor->words_done,
             steps = drain->skipped ? rsc_drain_references_in(cursor->records, cursor->count) : cursor->count;
    uint64_t whole = done + steps;
    if (whole < cursor->words_weight) whole = cursor->words_weight;
    if (!whole) whole = 1;
    cursor->start_ns = cursor->words_from_ns + (uint64_t)((double)time_ns * (double)done / (double)whole);
    cursor->step_ns_256 = time_ns * 256 / whole;
    cursor->words_done = done + steps;
    cursor->passed = 0;
    drain->instructions += instructions;
    drain->stats.instructions += instructions;
    drain->stats.unknown += cursor->rebuilt.unknown - unknown;
    if (cursor->rebuilt.under_way) return;
    memset(words, 0, cursor->words * sizeof *words);
    if (cursor->words_published) free_block(cursor, slot);
}

/* The calls that a thread was in when it last looked at its words: what it wrote since goes on from there. */
static int resume_calls(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    uint32_t count = rsc_rebuilt_resume(&cursor->rebuilt, (const struct rsc_own_calls *)slot->own, cursor->records);
    int status = 0;
    for (uint32_t i = 0; i < count && !status; i++)
        status = rsc_drain_take_event(drain, cursor, slot, &cursor->records[i]);
    return status;
}

/*
 * Begins the slot's next block, if there is one: it is expanded and given back. `ended`: one
 * that was never published counts too. Returns 1 when there was one, even if nothing was in it, 0, or negative.
 */
static int begin_block(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int ended) {
    /* In this order: what is published before it ends is found. */
    int thread_ended = ended || __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == RSC_SLOT_ENDED;
    uint64_t published = __atomic_load_n(&slot->published, __ATOMIC_ACQUIRE), instructions = 0;
    struct rsc_block *block = &slot->blocks[cursor->consumed % RSC_RING_BLOCKS];
    uint32_t words = 0;
    int raw = 0;
    uint64_t start_ns = 0, end_ns = 0;
    if (cursor->rebuilt.under_way) {
        expand_some(drain, cursor, slot);
        return 1;
    }
    if (published > cursor->consumed) {
        words = __atomic_load_n(&block->count, __ATOMIC_ACQUIRE);
        start_ns = block->start_ns;
        end_ns = block->end_ns;
        instructions = block->instructions;
        if (!words) { /* nothing of ours publishes that */
            free_block(cursor, slot);
            return 1;
        }
    } else if (ended) {
        words = count_unpublished(block->words, RSC_BLOCK_WORDS);
        start_ns = end_ns = slot->open_since_ns;
        if (!words && drain->skipped) { /* what it told is taken: what it had not looked at is left */
            if (__atomic_load_n(&slot->raw_busy, __ATOMIC_ACQUIRE)) memset(slot->raw, 0, sizeof slot->raw);
            words = count_unpublished(slot->raw, RSC_RAW_WORDS);
            raw = words != 0;
            start_ns = end_ns = drain->taken_until_ns;
        }
    }
    if (!words && thread_ended && cursor->generation == slot->generation && cursor->expansion.held_count) {
        cursor->at = 0;
        cursor->count = rsc_expand_held(&cursor->expansion, cursor->records);
        cursor->start_ns = drain->taken_until_ns;
        cursor->step_ns_256 = 0;
        return 1;
    }
    if (!words) return 0;
    if (words > RSC_BLOCK_WORDS) words = RSC_BLOCK_WORDS;
    if (!cursor->generation ||
        cursor->generation != slot->generation) { /* no thread has generation 0: it was scribbled over */
        int status = start_thread(drain, cursor, slot);
        if (status < 0) return status;
    }
    if (!cursor->records && !(cursor->records = malloc(RECORDS_MAX * sizeof *cursor->records))) return RSC_ENOMEM;
    if (drain->ring->rebuilt) {
        if (rsc_drain_read_notes(drain, UINT64_MAX) < 0 || know_first_stack(drain, cursor, slot) < 0)
            return RSC_ENOMEM; /* tables of what ran */
        cursor->words = words;
        cursor->words_raw = raw;
        if (raw) {
            rsc_drain_take_untold(drain, cursor, slot);
            if (resume_calls(drain, cursor, slot) < 0) return RSC_ENOMEM;
        }
        if (drain->skipped) {
            drain->instructions += instructions;
            drain->stats.instructions += instructions;
        }
        cursor->words_from_ns = start_ns;
        cursor->words_to_ns = end_ns;
        cursor->words_published = published > cursor->consumed;
        cursor->words_done = 0;
        /* Of one thread alone any times will do; kept lines are all expanded at once. */
        cursor->words_weight = drain->ring->slots_used > 1 && !drain->skipped
                                   ? rsc_rebuilt_weigh(&cursor->rebuilt, block->words, words)
                                   : 0;
        drain->stats.blocks++;
        if (start_ns < drain->taken_until_ns) drain->stats.late++;
        expand_some(drain, cursor, slot);
        return 1;
    }
    cursor->at = 0;
    cursor->count =
        rsc_expand(&cursor->expansion, block->words, words, drain->ring->plans, cursor->records, &instructions);
    memset(block->words, 0, words * sizeof *block->words); /* as a block must be found */
    if (published > cursor->consumed) free_block(cursor, slot);
    drain->instructions += instructions;
    drain->stats.instructions += instructions;
    drain->stats.blocks++;
    if (!cursor->count) return 1;
    if (start_ns < drain->taken_until_ns) drain->stats.late++;
    cursor->start_ns = start_ns;
    cursor->step_ns_256 = (end_ns > start_ns ? end_ns - start_ns : 0) * 256 / cursor->count;
    return 1;
}

/* Begins blocks up to one that has records. As many as a ring can hold: no program can keep us here. */
static int begin_some_block(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                            int ended) {
    int status = 1;
    for (uint32_t i = 0; i <= RSC_RING_BLOCKS && !cursor->count && status > 0; i++)
        status = begin_block(drain, cursor, slot, ended);
    return status < 0 ? status : 0;
}

/* A thread that ended and whose blocks are all taken: its slot is free again. */
static int retire(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    int dead = is_dead(cursor, slot);
    if ((__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != RSC_SLOT_ENDED && !dead) || cursor->count ||
        cursor->rebuilt.under_way || __atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) > cursor->consumed)
        return 0;
    int status = 0;
    rsc_drain_take_untold(drain, cursor, slot);
    rsc_drain_take_sampled_counts(drain, cursor, slot);
    if (dead) { /* what it never published was taken all the same: the next one starts from there */
        slot->published = cursor->consumed;
        slot->open_since_ns = 0;
    }
    if (cursor->generation == slot->generation && cursor->generation && !cursor->is_part)
        status = rsc_drain_add_event(drain, RSC_EVENT_THREAD_END, cursor->number, 0, 0, NULL, 0);
    drain->stats.waits += slot->waits;
    drain->stats.waited_ns += slot->waited_ns;
    drain->stats.unrecorded_instructions += slot->unrecorded_instructions;
    slot->waits = slot->waited_ns = slot->unrecorded_instructions = 0;
    __atomic_store_n(&slot->state, RSC_SLOT_FREE, __ATOMIC_RELEASE);
    return status;
}

/* A thread that is about to end: is it gone? Looked at every few milliseconds, when there is nothing else of it. */
static void look_after(struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    if (cursor->count || is_dead(cursor, slot) ||
        __atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) > cursor->consumed)
        return;
    uint64_t now = rsc_ring_now_ns();
    if (now - cursor->looked_ns < LEAVING_LOOK_NS) return;
    cursor->looked_ns = now;
    if (!thread_lives(slot)) cursor->dead_generation = slot->generation;
}

struct choice {
    uint32_t slot; /* with the oldest record; RSC_RING_SLOTS: none */
    uint64_t time_ns; /* of that record */
    uint64_t until_ns; /* oldest record of any other, published or not */
    uint64_t guard_ns; /* oldest of those not published */
};

static int choose(struct rsc_drain *drain, int ended, struct choice *choice) {
    *choice = (struct choice){RSC_RING_SLOTS, NEVER, NEVER, NEVER};
    uint32_t used = __atomic_load_n(&drain->ring->slots_used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < used && i < RSC_RING_SLOTS; i++) {
        struct rsc_slot *slot = &drain->ring->slots[i];
        struct rsc_drain_cursor *cursor = &drain->cursors[i];
        uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
        if (state == RSC_SLOT_FREE) continue;
        /* Read before looking for a block: a block published in between is found. */
        uint64_t open_ns = __atomic_load_n(&slot->open_since_ns, __ATOMIC_ACQUIRE);
        int left = cursor->left_generation && cursor->left_generation == slot->generation; /* it may still write */
        if (state == RSC_SLOT_LEAVING) look_after(cursor, slot);
        /* Rebuilt programs say nothing when they end. */
        if (ended && !left && drain->ring->rebuilt) cursor->dead_generation = slot->generation;
        int gone = (ended && !left) || is_dead(cursor, slot);
        int status = begin_some_block(drain, cursor, slot, gone);
        if (status < 0 || (status = retire(drain, cursor, slot)) < 0) return status;
        if (!cursor->count) {
            if (open_ns && open_ns < choice->guard_ns && !ended && !gone) choice->guard_ns = open_ns;
            continue;
        }
        uint64_t time_ns =
            cursor->start_ns + (drain->skipped ? cursor->passed : cursor->at) * cursor->step_ns_256 / 256;
        if (time_ns < choice->time_ns) {
            choice->until_ns = choice->time_ns;
            choice->time_ns = time_ns;
            choice->slot = i;
        } else if (time_ns < choice->until_ns) {
            choice->until_ns = time_ns;
        }
    }
    if (choice->guard_ns < choice->until_ns) choice->until_ns = choice->guard_ns;
    return 0;
}

/* May the oldest record be taken though a running thread could still publish an older one? */
static int held_back(struct rsc_drain *drain, const struct choice *choice) {
    if (choice->time_ns <= choice->guard_ns) {
        drain->held_since_ns = 0;
        return 0;
    }
    uint64_t now = rsc_ring_now_ns();
    if (!drain->held_since_ns) drain->held_since_ns = now;
    if (now - drain->held_since_ns < LATE_AFTER_NS) return 1;
    /* Whoever we wait for may be dead: then there is no need to. */
    if (now - drain->looked_ns > LATE_AFTER_NS) {
        drain->looked_ns = now;
        rsc_drain_living(drain);
    }
    return 0;
}

static int take_some(struct rsc_drain *drain, const struct choice *choice) {
    struct rsc_drain_cursor *cursor = &drain->cursors[choice->slot];
    struct rsc_slot *slot = &drain->ring->slots[choice->slot];
    uint64_t most = RSC_RING_TURN; /* records, or references where only some are kept */
    if (choice->until_ns == NEVER || !cursor->step_ns_256) most = UINT64_MAX;
    else if (choice->until_ns > choice->time_ns)
        most += (choice->until_ns - choice->time_ns) * 256 / cursor->step_ns_256;
    int status = drain->skipped
                     ? rsc_drain_take_kept(drain, cursor, slot, most)
                     : take_records(drain, cursor, slot, most < cursor->count ? (uint32_t)most : cursor->count);
    if (status < 0) return status;
    drain->taken_until_ns = choice->time_ns;
    if (cursor->at >= cursor->count) cursor->count = 0;
    return 0;
}

static void start_batch(struct rsc_drain *drain) {
    drain->count = drain->event_count = 0;
    drain->sample_count = 0;
    drain->instructions = 0;
    drain->handed_out = 0;
    rsc_arena_free(&drain->event_data);
    rsc_arena_init(&drain->event_data);
}

static int batch_is_full(const struct rsc_drain *drain) {
    uint32_t room = drain->skipped ? RSC_BATCH_ACCESSES - RSC_DRAIN_LINES_OF_ONE : RSC_BATCH_ACCESSES;
    return drain->count >= room || drain->sample_count >= SAMPLES_BATCH || drain->event_count >= RSC_BATCH_ACCESSES;
}

/*
 * A batch is handed out when it is full, or at the end: where batches are cut must
 * not depend on how fast anybody was.
 */
int rsc_drain_next(struct rsc_drain *drain, int ended, struct rsc_batch *batch, struct rsc_error *error) {
    drain->signal_seen = __atomic_load_n(&drain->ring->published_signal, __ATOMIC_ACQUIRE);
    if (drain->handed_out) start_batch(drain);
    while (!batch_is_full(drain)) {
        struct choice choice;
        int status = choose(drain, ended, &choice);
        if (!status && (choice.slot == RSC_RING_SLOTS || (!ended && held_back(drain, &choice)))) break;
        if (!status) status = take_some(drain, &choice);
        if (status == RSC_ELIMIT) return rsc_fail(error, RSC_ELIMIT, "more than %u threads", RSC_THREADS_MAX);
        if (status < 0) return rsc_fail_memory(error, "collector");
    }
    if (!batch_is_full(drain)) {
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

void rsc_drain_wait(struct rsc_drain *drain, unsigned milliseconds) {
    struct rsc_ring *ring = drain->ring;
    struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    /* Held back for one thread: whatever that publishes is waited for, while others may be waiting for us. */
    uint32_t sleeps = drain->held_since_ns ? RSC_PARENT_WAITS_FOR_ANY : RSC_PARENT_WAITS_FOR_SOME;
    __atomic_store_n(&ring->parent_sleeps, sleeps, __ATOMIC_SEQ_CST);
    if (drain->signal_seen == __atomic_load_n(&ring->published_signal, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &ring->published_signal, FUTEX_WAIT, drain->signal_seen, &limit, NULL, 0);
    __atomic_store_n(&ring->parent_sleeps, RSC_PARENT_AWAKE, __ATOMIC_RELAXED);
}

void rsc_drain_get_stats(const struct rsc_drain *drain, struct rsc_drain_stats *stats) {
    *stats = drain->stats;
    stats->notes_lost = drain->ring->notes_lost;
    for (uint32_t i = 0; i < RSC_RING_SLOTS; i++)
        stats->left +=
            drain->cursors[i].left_generation && drain->cursors[i].left_generation == drain->ring->slots[i].generation;
    for (uint32_t i = 0; i < drain->ring->slots_used && i < RSC_RING_SLOTS; i++) {
        stats->waits += drain->ring->slots[i].waits;
        stats->waited_ns += drain->ring->slots[i].waited_ns;
        stats->unrecorded_instructions += drain->ring->slots[i].unrecorded_instructions;
    }
}
