/*
 * drain_events.c - a thread's records other than accesses: calls and returns, heap blocks,
 * locks, and mappings; see drain_state.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "collect/drain/drain_state.h"
#include "collect/drain/ring_notes.h"

#define PROCESSES_MAX 65535u /* limited by the 16 address bits that distinguish processes */

int rsc_drain_add_event(struct rsc_drain *drain, uint16_t type, uint32_t thread, uint64_t a, uint64_t b,
                        const void *data, uint32_t data_bytes) {
    if (drain->event_count == drain->event_room) {
        uint32_t room = drain->event_room ? drain->event_room * 2 : 1024;
        struct rsc_event *events = realloc(drain->events, room * sizeof *events);
        if (!events) return RSC_ENOMEM;
        drain->events = events;
        drain->event_room = room;
    }
    void *copy = NULL;
    if (data_bytes) {
        copy = rsc_arena_alloc(&drain->event_data, data_bytes);
        if (!copy) return RSC_ENOMEM;
        memcpy(copy, data, data_bytes);
    }
    drain->events[drain->event_count++] = (struct rsc_event){.at = drain->count,
                                                             .type = type,
                                                             .data_bytes = (uint16_t)data_bytes,
                                                             .thread = thread,
                                                             .a = a,
                                                             .b = b,
                                                             .data = copy};
    return 0;
}

/* For names of the code that the process makes: without memory it has none. */
static uint32_t keep_pid(struct rsc_drain *drain, uint32_t number, uint64_t process) {
    if (number > drain->pid_count && !rsc_grow(&drain->pids, &drain->pid_room, number, sizeof *drain->pids)) {
        memset(drain->pids + drain->pid_count, 0, (number - drain->pid_count) * sizeof *drain->pids);
        drain->pid_count = number;
    }
    if (number <= drain->pid_count && !drain->pids[number - 1]) drain->pids[number - 1] = (uint32_t)process;
    return number;
}

/*
 * Processes are numbered from 1 as they appear; beyond PROCESSES_MAX, or when out of memory, all share the last
 * number. Valgrind's tool, which chooses lines by their numbers, knows only how many programs it has run.
 */
uint32_t rsc_drain_process_number(struct rsc_drain *drain, uint64_t process) {
    struct rsc_u64_table *table = &drain->processes;
    const uint64_t image = process >> 32;
    if (drain->mode == &rsc_drain_valgrind_lines && image && image <= PROCESSES_MAX)
        return keep_pid(drain, (uint32_t)image, process);
    struct rsc_u64_entry *entry = rsc_u64_table_find(table, process);
    if (entry->value) return (uint32_t)entry->value;
    if (table->used >= PROCESSES_MAX || (rsc_u64_table_needs_rebuild(table) && rsc_u64_table_rebuild(table) < 0)) {
        drain->stats.processes_mixed = 1;
        return table->used ? (uint32_t)table->used : 1;
    }
    entry = rsc_u64_table_find(table, process);
    *entry = (struct rsc_u64_entry){process, ++table->used};
    return keep_pid(drain, (uint32_t)table->used, process);
}

/* Each process has its own address space: all but the first get their number in the top 16 bits. */
static uint64_t space_of(struct rsc_drain *drain, uint64_t process) {
    return (uint64_t)(rsc_drain_process_number(drain, process) - 1) << 48;
}

/* Where the process's program is mapped, from the data of a MAP event. */
static void note_place(struct rsc_drain *drain, const struct rsc_guest_map *map) {
    const uint32_t process = rsc_drain_process_number(drain, map->process) - 1;
    uint64_t file_offset;
    size_t name = 9u + map->data[8];
    memcpy(&file_offset, map->data, sizeof file_offset);
    if (name <= map->data_bytes)
        rsc_roi_mapped(drain->roi, process, (const char *)map->data + name, map->data_bytes - name, file_offset,
                       map->start);
}

/* Not before the first thread is known: each event belongs to a thread. */
int rsc_drain_add_maps(struct rsc_drain *drain) {
    const struct rsc_guest_map *map;
    if (!drain->threads.count) return 0;
    while ((map = rsc_guest_maps_next(drain->maps))) {
        if (drain->roi) note_place(drain, map);
        if (rsc_drain_add_event(drain, RSC_EVENT_MAP, 0, map->start | space_of(drain, map->process), map->bytes,
                                map->data, map->data_bytes) < 0)
            return RSC_ENOMEM;
    }
    return 0;
}

static int take_note(struct rsc_drain *drain, const struct rsc_note *note) {
    struct rsc_asm_module module;
    if (note->type == RSC_NOTE_MAPS || note->type == RSC_NOTE_NATIVE_MAPS)
        return rsc_guest_maps_text(drain->maps, note->process, note->type == RSC_NOTE_NATIVE_MAPS, drain->note_text,
                                   note->bytes);
    if (note->type == RSC_NOTE_PROGRAM && drain->roi)
        return rsc_roi_runs(drain->roi, rsc_drain_process_number(drain, note->process) - 1, drain->note_text,
                            note->bytes);
    if (note->type != RSC_NOTE_MODULE || note->bytes != sizeof module) return 0;
    memcpy(&module, drain->note_text, sizeof module);
    return rsc_asm_tables_add(drain->tables, note->process, &module, drain->ring);
}

/* Takes the text in the notes ring up to `end`. */
int rsc_drain_read_notes(struct rsc_drain *drain, uint64_t end) {
    struct rsc_note note;
    while (rsc_ring_notes_next(drain->ring, &drain->notes_tail, end, &note, drain->note_text))
        if (take_note(drain, &note) < 0) return RSC_ENOMEM;
    rsc_ring_notes_taken(drain->ring, drain->notes_tail);
    return rsc_drain_add_maps(drain);
}

/* ---- records ---- */

static uint32_t process_of(const struct rsc_drain_cursor *cursor) { return (uint32_t)(cursor->space >> 48); }

static void set_root(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, enum rsc_region_root root) {
    if (cursor->root >= RSC_ROOT_INSIDE) drain->in_region[cursor->number]--;
    if (root >= RSC_ROOT_INSIDE) drain->in_region[cursor->number]++;
    cursor->root = root;
}

/* Before its first record. By then all is taken that was recorded before its process was forked. */
static void begin_root(struct rsc_drain *drain, struct rsc_drain_cursor *cursor) {
    const int is_first = cursor->ids >> 32 == (uint32_t)cursor->ids && !cursor->is_part;
    const uint64_t image = cursor->rebuilt.process >> 32;
    const int inside = is_first && rsc_u64_table_find(&drain->forked_inside, image)->value;
    set_root(drain, cursor, inside ? RSC_ROOT_INHERITED : RSC_ROOT_OUTSIDE);
}

void rsc_drain_enter_region(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint64_t pc) {
    if (cursor->root == RSC_ROOT_UNKNOWN) begin_root(drain, cursor);
    if (cursor->region_depth || (cursor->depth && cursor->root >= RSC_ROOT_INSIDE)) return;
    const int holds = rsc_roi_holds(drain->roi, process_of(cursor), pc);
    if (!cursor->depth) {
        if (holds) set_root(drain, cursor, RSC_ROOT_INSIDE);
        else if (cursor->root == RSC_ROOT_INSIDE) set_root(drain, cursor, RSC_ROOT_OUTSIDE);
    } else if (holds) {
        cursor->region_depth = cursor->depth;
        drain->in_region[cursor->number]++;
    }
}

/* The call that entered it has returned. */
static void leave_call(struct rsc_drain *drain, struct rsc_drain_cursor *cursor) {
    if (!cursor->region_depth) return;
    cursor->region_depth = 0;
    drain->in_region[cursor->number]--;
}

void rsc_drain_leave_region(struct rsc_drain *drain, struct rsc_drain_cursor *cursor) {
    leave_call(drain, cursor);
    set_root(drain, cursor, RSC_ROOT_OUTSIDE);
}

/* The thread is about to fork a process of that image. */
static int note_fork(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor, uint64_t image) {
    struct rsc_u64_table *table = &drain->forked_inside;
    if (!drain->in_region[cursor->number]) return 0;
    if (rsc_u64_table_needs_rebuild(table) && rsc_u64_table_rebuild(table) < 0) return RSC_ENOMEM;
    struct rsc_u64_entry *entry = rsc_u64_table_find(table, image);
    table->used += !entry->value;
    *entry = (struct rsc_u64_entry){image, 1};
    return 0;
}

/* Follows the region through one thread's calls and returns. */
void rsc_drain_follow_region(struct rsc_drain *drain, struct rsc_drain_cursor *cursor,
                             const struct rsc_record *record) {
    uint32_t type = rsc_record_type(record->word);
    if (type == RSC_RECORD_CALL) {
        cursor->depth++;
        rsc_drain_enter_region(drain, cursor, record->addr);
    }
    if (type != RSC_RECORD_RETURN) return;
    cursor->depth = (uint32_t)rsc_record_pc(record->word);
    if (cursor->depth < cursor->region_depth) leave_call(drain, cursor);
}

/* The call of an allocator that is not rebuilt is known only from the CALLER record before: it has just returned. */
static int add_allocation(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint64_t block, uint64_t bytes) {
    const uint64_t caller = cursor->caller;
    cursor->caller = 0;
    if (caller && rsc_drain_add_event(drain, RSC_EVENT_CALL, cursor->number, caller, 0, NULL, 0) < 0) return RSC_ENOMEM;
    if (rsc_drain_add_event(drain, RSC_EVENT_ALLOC, cursor->number, block, bytes, NULL, 0) < 0) return RSC_ENOMEM;
    return caller ? rsc_drain_add_event(drain, RSC_EVENT_RETURN, cursor->number, caller + 1, 0, NULL, 0) : 0;
}

/* Handles all records but reads and writes. */
int rsc_drain_take_event(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                         const struct rsc_record *record) {
    uint64_t pc = rsc_record_pc(record->word), space = cursor->space, addr = record->addr | space;
    const uint64_t process = rsc_process_id(slot->image, slot->pid);
    int status = 0;
    switch (rsc_record_type(record->word)) {
    case RSC_RECORD_CALL:
        drain->stats.calls++;
        /* On x86-64 the call has just pushed its return address, at the top of the stack. */
        if (!cursor->stack_known && rsc_record_pc(cursor->last_word) == pc &&
            rsc_record_type(cursor->last_word) == RSC_RECORD_WRITE) {
            cursor->stack_known = 1;
            if (rsc_guest_maps_stack(drain->maps, process, cursor->tid, cursor->last_addr) < 0 ||
                rsc_drain_add_maps(drain) < 0)
                return RSC_ENOMEM;
        }
        return rsc_drain_add_event(drain, RSC_EVENT_CALL, cursor->number, pc | space, addr, NULL, 0);
    case RSC_RECORD_RETURN: return rsc_drain_add_event(drain, RSC_EVENT_RETURN, cursor->number, addr, 0, NULL, 0);
    case RSC_RECORD_CALLER: cursor->caller = addr; return 0;
    case RSC_RECORD_ALLOC: return add_allocation(drain, cursor, addr, pc);
    case RSC_RECORD_FREE: return rsc_drain_add_event(drain, RSC_EVENT_FREE, cursor->number, addr, 0, NULL, 0);
    case RSC_RECORD_MARKER:
        return rsc_drain_add_event(drain, RSC_EVENT_MARKER, cursor->number, pc, 0, pc ? "begin" : "end", pc ? 5 : 3);
    case RSC_RECORD_NOTE: return rsc_drain_read_notes(drain, pc);
    case RSC_RECORD_LOCK: return rsc_drain_add_event(drain, RSC_EVENT_LOCK, cursor->number, addr, pc != 0, NULL, 0);
    case RSC_RECORD_STACK:
        if (cursor->stack_known) return 0;
        cursor->stack_known = 1;
        status = pc ? rsc_guest_maps_stack_at(drain->maps, process, cursor->tid, record->addr, pc)
                    : rsc_guest_maps_stack(drain->maps, process, cursor->tid, record->addr);
        return status < 0 ? status : rsc_drain_add_maps(drain);
    case RSC_RECORD_FORK: return drain->roi ? note_fork(drain, cursor, record->addr) : 0;
    case RSC_RECORD_BARRIER: return rsc_drain_add_event(drain, RSC_EVENT_BARRIER, cursor->number, addr, 0, NULL, 0);
    default: return 0; /* not written by our code: skipped */
    }
}
