/*
 * drain_state.h - shared by the parts of the drain. drain_order.c takes segments of blocks in order,
 * drain.c makes batches of them; drain_events.c handles records other than accesses (calls, heap blocks, mappings). The
 * contents of blocks depend on their writer, described by struct rsc_drain_mode: drain_qemu.c, drain_valgrind.c,
 * drain_rebuilt.c, and for rebuilt programs that sample, drain_lines.c and drain_samples.c.
 */
#ifndef RSC_COLLECT_DRAIN_DRAIN_STATE_H
#define RSC_COLLECT_DRAIN_DRAIN_STATE_H

#include "base/arena.h"
#include "base/u64_table.h"
#include "collect/drain/block_pieces.h"
#include "collect/drain/drain.h"
#include "collect/drain/expand.h"
#include "collect/drain/expand_rebuilt.h"
#include "collect/drain/guest_maps.h"
#include "collect/drain/running_thread.h"
#include "collect/drain/simple_pieces.h"
#include "trace/source.h"

#define RSC_DRAIN_LINES_OF_ONE 256u /* a record's size is at most 255 bytes: no access has more lines */
#define RSC_DRAIN_RECORDS_MAX (2 * RSC_BLOCK_WORDS + RSC_EXPANSION_HELD) /* of a block */

struct rsc_drain;
struct rsc_drain_cursor;

/*
 * A segment: words of a block between two marks, or before the first or after the last. No synchronisation is within
 * one, so that how the segments of threads are interleaved respects the program's order if each begins only when all
 * that is older is taken.
 */
struct rsc_found_block {
    uint64_t *words;
    uint32_t count;
    int is_last; /* of a published block, which must be returned to the ring then */
    int is_left; /* words that a thread left behind: cleared when taken */
    uint64_t start_ns, end_ns, instructions;
};

/* How to handle the blocks of one kind of program. Functions return 0 or a negative code. */
struct rsc_drain_mode {
    int rebuilt; /* threads do not report their end, and may have several slots */
    int looks_itself; /* threads keep words private first */
    uint32_t spare; /* free accesses that a batch needs to take another record */

    /* Expands a block into cursor->records, all of it or as much as fits. The thread is known. */
    int (*begin)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                 const struct rsc_found_block *found);
    /* Continues with a partly expanded block. */
    void (*go_on)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);
    /* A thread has no more blocks. `dead`: and will not write any. Returns 1 if it had left other data. */
    int (*begin_left)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead);
    /* Puts records worth up to `most` time steps into the batch; at least one. */
    int (*take)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, uint64_t most);
    /* Time steps that records stand for. */
    uint64_t (*steps)(const struct rsc_record *records, uint32_t count);
    /* How many words are there before the last piece of code, which may be incomplete. NULL: not known. */
    uint32_t (*whole)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const uint64_t *words, uint32_t count);
    /* The thread is gone: takes what it counted but did not put into a block. NULL: nothing. */
    void (*gone)(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);
};

extern const struct rsc_drain_mode rsc_drain_qemu, rsc_drain_rebuilt, rsc_drain_lines, rsc_drain_samples,
    rsc_drain_valgrind, rsc_drain_valgrind_lines;

/*
 * Whether the thread is in the region outside of all calls that were seen: in main(), in the first function of a
 * thread, or in what ran when its process was forked. The code that runs there shows it.
 */
enum rsc_region_root {
    RSC_ROOT_UNKNOWN = 0, /* nothing of the thread was taken */
    RSC_ROOT_OUTSIDE,
    RSC_ROOT_INSIDE,
    RSC_ROOT_INHERITED /* forked in a function that the region called: inside until that has returned and all is left */
};

/* The parent's view of a slot. */
struct rsc_drain_cursor {
    uint32_t generation; /* generation of the thread with this number; 0: none yet */
    uint32_t dead_generation; /* a thread that ended without a report */
    uint32_t left_generation; /* a thread that still runs, in its own session */
    uint64_t silent_ns; /* since when its thread has written nothing and is not to be found; 0: it has, or is */
    uint64_t ids; /* of the thread, as in its slot */
    uint32_t number; /* thread number */
    uint64_t tid; /* its ordinal */
    uint64_t space; /* set in its addresses: identifies their process */
    uint64_t consumed; /* number of blocks; kept here, as the program can overwrite the ring */
    uint32_t words_taken, marks_taken; /* of the next block */
    uint64_t taken_ns; /* end of the last segment that was found */
    uint64_t asleep_ns; /* when it was last seen asleep with words that are not marked; 0: it is not */
    uint32_t asleep_words; /* complete ones of the open block, then */
    uint64_t begin_ns, end_ns, segment_steps; /* of the segment being taken */
    uint64_t segment; /* its number */
    int is_new; /* overlaps with it are not counted yet */
    uint64_t others; /* steps of other threads' segments that overlap with it */
    struct rsc_slot *slot;
    struct rsc_record *records; /* of the block being taken; kept for the slot's next thread */
    struct rsc_expansion expansion;
    struct rsc_rebuilt rebuilt;
    struct rsc_block_reader *reader; /* of Valgrind's tool; owned */
    struct rsc_found_block block; /* a block that is expanded in parts */
    uint64_t block_steps, block_done; /* estimated, and made so far */
    uint64_t skipped; /* references skipped since the last one taken */
    struct rsc_sample_record sample; /* filled in as its records arrive */
    struct rsc_record step; /* the first record of a step; zeros: none */
    uint64_t caller; /* of the next allocation; 0: not known */
    uint32_t at; /* record in the block being taken */
    uint32_t count; /* number of its records; 0: no block is being taken */
    uint64_t looked_ns; /* when it was last seen alive, while leaving */
    int stack_known;
    uint32_t depth; /* open calls, for a rebuilt program's thread */
    uint32_t region_depth; /* in the region's function while it has as many; 0: not in it */
    enum rsc_region_root root;
    int is_part; /* the thread has another slot */
    uint64_t start_ns, step_ns_256; /* step i has the time start + i * step / 256 */
    uint64_t passed; /* steps of the records before `at`: records, or references if only some are kept */
    uint64_t last_addr, last_word; /* the record before */
};

/* A line used lately, and the two threads that used it last (drain_conflicts.c). */
struct rsc_drain_user {
    uint64_t segment, end_ns; /* of the thread */
    uint32_t thread; /* + 1; 0: none */
    uint32_t uses, writes; /* in that segment; those that no other was counted for */
};
struct rsc_drain_line {
    uint64_t line; /* + 1; 0: none */
    struct rsc_drain_user users[2];
};
#define RSC_DRAIN_LINE_BITS 12u

struct rsc_drain {
    struct rsc_ring *ring;
    const struct rsc_drain_mode *mode; /* as the ring had it at the start, like the next three */
    uint64_t keep_shift, keep_limit, keep_offset;
    struct rsc_ancestors ancestors;
    struct rsc_drain_cursor cursors[RSC_RING_SLOTS];
    struct rsc_thread_table threads;
    struct rsc_u64_table processes; /* numbers by rsc_process_id() */
    uint32_t *pids; /* by process number - 1; owned */
    size_t pid_count, pid_room;
    int one_process;
    uint32_t first_pid, first_number; /* of the process's first thread, whose tid is the pid; pid 0: none yet */
    uint64_t first_tid;
    struct rsc_u64_table thread_of; /* the last thread number, plus 1, by ids: for a thread's other slots */
    struct rsc_guest_maps *maps;
    struct rsc_asm_tables *tables;
    struct rsc_roi *roi; /* NULL: everything */
    struct rsc_u64_table forked_inside; /* by image: 1 if its process was forked in the region */
    uint64_t most; /* accesses wanted; 0: all */
    struct rsc_drain_window window; /* for Valgrind's tool */
    struct rsc_block_pieces pieces; /* of Valgrind's tool */
    rsc_simple_pieces_take *take_simple;
    struct rsc_drain_stats stats;
    struct rsc_drain_cursor *ready[RSC_RING_SLOTS]; /* cursors with records, of ready_count threads */
    uint32_t ready_count;
    uint32_t slots_seen; /* the most that were in use */
    uint32_t cores; /* that program and parent may use */
    uint32_t at_work; /* the most threads that recorded at once in this turn of the parent */
    uint64_t segments; /* begun */
    struct rsc_drain_line lines[1u << RSC_DRAIN_LINE_BITS];
    uint64_t held_since_ns; /* since when a slower thread is waited for; 0: not waiting */
    uint64_t looked_ns; /* when threads were last checked for being alive */
    uint64_t taken_until_ns;
    uint32_t signal_seen; /* when the search for blocks began: later publications wake the parent */
    /* The batch being filled: */
    uint64_t *addr, *meta, *pc;
    uint64_t *skipped; /* NULL: everything is taken */
    uint64_t *passed; /* beside it: references of all threads before each; NULL: not known */
    uint64_t *thread_references; /* by number; owned */
    uint32_t *in_region; /* by number: slots of the thread that are in the region; owned */
    uint32_t thread_room;
    struct rsc_sample_record *samples; /* finished samples; owned */
    size_t sample_count, sample_room;
    struct rsc_step *steps; /* owned */
    size_t step_count, step_room;
    struct rsc_u64_table sampled_threads; /* numbers, plus 1, by the samples' thread ids */
    uint32_t count;
    struct rsc_event *events;
    uint32_t event_count, event_room;
    struct rsc_arena event_data;
    uint64_t instructions;
    uint64_t notes_tail; /* bytes of notes read */
    int handed_out; /* the batch was returned: the next call starts another */
    char *note_text;
};

/* ---- drain_events.c; RSC_ENOMEM or 0 ---- */
int rsc_drain_add_event(struct rsc_drain *drain, uint16_t type, uint32_t thread, uint64_t a, uint64_t b,
                        const void *data, uint32_t data_bytes);
uint32_t rsc_drain_process_number(struct rsc_drain *drain, uint64_t process);
int rsc_drain_add_maps(struct rsc_drain *drain);
int rsc_drain_read_notes(struct rsc_drain *drain, uint64_t end);
/* Its thread runs code at that pc. */
void rsc_drain_enter_region(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint64_t pc);
void rsc_drain_leave_region(struct rsc_drain *drain, struct rsc_drain_cursor *cursor);
void rsc_drain_follow_region(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_record *record);
int rsc_drain_take_event(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                         const struct rsc_record *record);

/* ---- drain_order.c ---- */
/* Takes the oldest records into the batch. Returns 1, 0 if there are none or they must wait, or negative. */
int rsc_drain_take_some(struct rsc_drain *drain, int ended);

/* ---- drain_conflicts.c ---- */
/* Accesses of the cursor's segment are in the batch, from that one on. */
void rsc_drain_note_conflicts(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor, uint32_t from);

/* ---- drain.c ---- */
static inline uint64_t rsc_drain_ids(const struct rsc_slot *slot) { return (uint64_t)slot->pid << 32 | slot->tid; }
int rsc_drain_batch_is_full(const struct rsc_drain *drain);
/* Identifies the slot's thread and makes room for its records; called before a mode expands anything. */
int rsc_drain_ready(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);
/* Whether threads and the parent take turns, as there are too few cores for all. */
int rsc_drain_wants_turns(const struct rsc_drain *drain);
void rsc_drain_free_block(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);
/* Wakes a thread that waits for a slot: this one is free. */
void rsc_drain_tell_freed(struct rsc_ring *ring, const struct rsc_slot *slot);
/* A new thread of the process with that number. */
int rsc_drain_number_thread(struct rsc_drain *drain, uint64_t pid, uint64_t *tid, uint32_t *number);
/* Numbers the thread that samples of the slot's process call that, and those created before it, if it has no number yet. */
int rsc_drain_start_sampled(struct rsc_drain *drain, const struct rsc_slot *of_process, uint64_t identity);
uint32_t rsc_drain_count_unpublished(const uint64_t *words, uint32_t count);
/* The `take` of modes whose records are accesses and events; a step is a record. */
int rsc_drain_take_records(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                           uint64_t most);
uint64_t rsc_drain_count_records(const struct rsc_record *records, uint32_t count);
/*
 * References of a thread, by number, and references beyond its accesses; may include those counted before. Returns the first, or
 * 0 if no program can have made as many: something wrote over the ring.
 */
uint64_t rsc_drain_count_references(struct rsc_drain *drain, uint32_t thread, uint64_t references, uint64_t crossings);

/* ---- drain_valgrind.c ---- */
struct rsc_block_reader;
void rsc_block_reader_free(struct rsc_block_reader *reader);
/* Another thread of the slot's process runs, or one has ended. Returns 1 if the rest must be taken in turns, 0 or RSC_ENOMEM. */
int rsc_drain_take_switch(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_slot *slot,
                          const struct rsc_record *record);

/* ---- drain_lines.c: of programs that keep only references to sampled lines ---- */
int rsc_drain_take_lines(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                         uint64_t most);
uint64_t rsc_drain_count_lines(const struct rsc_record *records, uint32_t count);
/* A record of a kept reference goes into the batch: `passed` of all threads came before. It is counted elsewhere. */
void rsc_drain_take_kept(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_record *record,
                         uint64_t passed);
/* Its bytes: one line has all of them, unless the program wrote over the record. */
uint32_t rsc_drain_bytes_in_line(const struct rsc_drain *drain, const struct rsc_record *record);
/* An access that the program itself did not filter. */
void rsc_drain_filter(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, uint64_t addr, uint32_t size,
                      int is_write, uint64_t pc);
/* References that a thread that is gone had counted but not reported. */
void rsc_drain_take_untold(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);

/* ---- drain_samples.c ---- */
/* The cursor's thread has a number, and samples call it slot->sampled_as - 1. Returns 0 or RSC_ENOMEM. */
int rsc_drain_know_sampled(struct rsc_drain *drain, const struct rsc_drain_cursor *cursor, const struct rsc_slot *slot);

/* ---- drain_rebuilt.c: `begin` and `go_on` of all rebuilt programs ---- */
/* `weighed`: first count the block's time steps, for blocks that are expanded in parts. */
int rsc_drain_begin_rebuilt(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                            const struct rsc_found_block *found, int weighed);
int rsc_drain_begin_weighed(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                            const struct rsc_found_block *found);
void rsc_drain_go_on_rebuilt(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);
int rsc_drain_none_left(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead);

#endif
