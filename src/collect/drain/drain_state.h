/*
 * drain_state.h - what the parts of the drain share. drain.c takes blocks in order and makes
 * batches of them; drain_events.c keeps what is no access (threads' calls, blocks of
 * memory, places of files). What blocks are made of depends on who writes them, struct rsc_drain_mode:
 * drain_qemu.c, drain_rebuilt.c, and of rebuilt programs that choose themselves drain_lines.c and drain_samples.c.
 */
#ifndef RSC_COLLECT_DRAIN_DRAIN_STATE_H
#define RSC_COLLECT_DRAIN_DRAIN_STATE_H

#include "base/arena.h"
#include "base/u64_table.h"
#include "collect/drain/drain.h"
#include "collect/drain/expand.h"
#include "collect/drain/expand_rebuilt.h"
#include "collect/drain/guest_maps.h"
#include "trace/source.h"

#define RSC_DRAIN_LINES_OF_ONE 256u /* a record says at most 255 bytes: no access has more lines */
#define RSC_DRAIN_RECORDS_MAX (2 * RSC_BLOCK_WORDS + RSC_EXPANSION_HELD) /* of a block */

struct rsc_drain;
struct rsc_drain_cursor;

/* A block that a thread published, or left unpublished. */
struct rsc_found_block {
    uint64_t *words;
    uint32_t count;
    int published; /* it is to be given back */
    uint64_t start_ns, end_ns, instructions;
};

/* What blocks of a kind of program are, and what becomes of them. Functions return 0 or a negative code. */
struct rsc_drain_mode {
    int rebuilt; /* threads end without a word, and may have several slots */
    int looks_itself; /* threads keep words for themselves first */
    uint32_t spare; /* accesses that must fit into a batch for another record to be taken */

    /* Expands a block into cursor->records, all of it or as far as there is room. The thread is known. */
    int (*begin)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                 const struct rsc_found_block *found);
    /* Goes on with a block that was expanded in part. */
    void (*go_on)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);
    /* A thread has no blocks any more. `dead`: nor will it write any. Returns 1 when it had left something else. */
    int (*begin_left)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead);
    /* Puts records that stand for up to `most` steps of time into the batch; at least one. */
    int (*take)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, uint64_t most);
    /* Steps of time that records stand for. */
    uint64_t (*steps)(const struct rsc_record *records, uint32_t count);
    /* The thread is gone: what it counted and did not put into a block. NULL: nothing. */
    void (*gone)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);
};

extern const struct rsc_drain_mode rsc_drain_qemu, rsc_drain_rebuilt, rsc_drain_lines, rsc_drain_samples;

/* What the parent knows of a slot. */
struct rsc_drain_cursor {
    uint32_t generation; /* of the thread whose number this is; 0: none yet */
    uint32_t dead_generation; /* of a thread that ended without a word */
    uint32_t left_generation; /* of one that lives on in a session of its own */
    uint32_t number; /* thread number */
    uint64_t tid; /* the ordinal it goes by */
    uint64_t space; /* set in its addresses: which process they are of */
    uint64_t consumed; /* blocks; what the ring says of it can be anything */
    struct rsc_record *records; /* of the block being taken; kept for the slot's next thread */
    struct rsc_expansion expansion;
    struct rsc_rebuilt rebuilt;
    struct rsc_found_block block; /* that is expanded bit by bit */
    uint64_t block_steps, block_done; /* that it makes, about, and has made */
    uint64_t skipped; /* references left out since the last one taken */
    struct rsc_sample_record sample; /* as far as its records have come */
    uint32_t at; /* record in the block being taken */
    uint32_t count; /* its records; 0: no block is being taken */
    uint64_t looked_ns; /* when it was last seen to live, while leaving */
    int stack_known;
    uint32_t depth; /* calls open, of a rebuilt program's thread */
    int is_part; /* of a thread that has another slot */
    uint64_t start_ns, step_ns_256; /* of step i the time is start + i * step / 256 */
    uint64_t passed; /* steps of the records before `at`: records, or references where only some are kept */
    uint64_t last_addr, last_word; /* the record before */
};

struct rsc_drain {
    struct rsc_ring *ring;
    const struct rsc_drain_mode *mode; /* as the ring said at the beginning */
    struct rsc_drain_cursor cursors[RSC_RING_SLOTS];
    struct rsc_thread_table threads;
    struct rsc_u64_table processes; /* numbers by rsc_process_id() */
    struct rsc_u64_table thread_of; /* the last thread number, plus 1, by ids: for other slots of the same thread */
    struct rsc_guest_maps *maps;
    struct rsc_asm_tables *tables;
    struct rsc_roi *roi; /* NULL: everything */
    uint64_t most; /* accesses wanted; 0: all */
    struct rsc_drain_stats stats;
    uint64_t held_since_ns; /* waiting for a slower thread; 0: not */
    uint64_t looked_ns; /* when it was last seen who still lives */
    uint64_t taken_until_ns;
    uint32_t signal_seen; /* when looking for blocks began: what was published since wakes the parent */
    /* The batch being filled: */
    uint64_t *addr, *meta, *pc;
    uint64_t *skipped; /* NULL: everything is taken */
    uint64_t *thread_references; /* by number; owned */
    uint32_t thread_room;
    struct rsc_sample_record *samples; /* finished ones; owned */
    size_t sample_count, sample_room;
    struct rsc_u64_table sampled_threads; /* numbers, plus 1, by what samples call threads */
    uint32_t count;
    struct rsc_event *events;
    uint32_t event_count, event_room;
    struct rsc_arena event_data;
    uint64_t instructions;
    uint64_t notes_tail; /* bytes of notes read */
    int handed_out; /* it was: the next call starts another */
    char *note_text;
};

/* ---- drain_events.c; RSC_ENOMEM or 0 ---- */
int rsc_drain_add_event(struct rsc_drain *drain, uint16_t type, uint32_t thread, uint64_t a, uint64_t b,
                        const void *data, uint32_t data_bytes);
uint32_t rsc_drain_process_number(struct rsc_drain *drain, uint64_t process);
int rsc_drain_add_maps(struct rsc_drain *drain);
int rsc_drain_read_notes(struct rsc_drain *drain, uint64_t end);
void rsc_drain_follow_region(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_record *record);
int rsc_drain_take_event(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                         const struct rsc_record *record);

/* ---- drain.c ---- */
/* Knows the slot's thread and has room for its records: before a mode expands anything of it. */
int rsc_drain_ready(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);
void rsc_drain_free_block(struct rsc_drain_cursor *cursor, struct rsc_slot *slot);
uint32_t rsc_drain_count_unpublished(const uint64_t *words, uint32_t count);
/* The `take` of modes whose records are accesses and events; `steps` are records then. */
int rsc_drain_take_records(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                           uint64_t most);
uint64_t rsc_drain_count_records(const struct rsc_record *records, uint32_t count);
/* References of a thread, and references more than accesses: perhaps those counted before. */
void rsc_drain_count_references(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor, uint64_t references,
                                uint64_t crossings);

/* ---- drain_rebuilt.c: `begin` and `go_on` of all rebuilt programs ---- */
/* `weighed`: it is found out first how many steps the block makes, for blocks that are expanded in parts. */
int rsc_drain_begin_rebuilt(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                            const struct rsc_found_block *found, int weighed);
int rsc_drain_begin_weighed(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                            const struct rsc_found_block *found);
void rsc_drain_go_on_rebuilt(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);
int rsc_drain_none_left(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead);

#endif
