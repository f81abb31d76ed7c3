/*
 * ring.h - the shared memory between a watched program and its parent.
 *
 * One mapping, created by the parent and inherited by the program and its children:
 *
 *   header   the parent, modes, and current state
 *   notes    a byte ring for rare texts (memory maps)
 *   slots    one per running thread: a ring of blocks of words
 *   plans    facts about a piece of code, from its translation
 *
 * A thread fills its open block and *publishes* it when full. Unwritten words of a block
 * are zero: the parent clears a block before it returns it. After a program was killed, the
 * open block holds its unpublished words.
 *
 * A block has *marks*, in order: words before a mark were written by its first time, words
 * after it not before its second. A thread makes one whenever it synchronises with others,
 * and every few microseconds. The parent may take the words before the last mark at once,
 * so no thread that waits holds back what others must come after.
 *
 * If the ring is full, the thread waits (counted in the slot) and loses nothing; if the
 * parent is dead, it stops recording. While one thread waits, all others wait when they
 * next publish: otherwise they would seem to have run alone.
 *
 * Words. Little is written while the program runs; the parent reconstructs the rest with
 * the plans (collect/drain/expand.h). A block contains
 *
 *   starts       an execution of a piece of straight code: its plan, followed by
 *                the fixed words, one per access in the plan. Zero: the access
 *                was not made (an earlier instruction faulted);
 *   loose words  accesses of the previous execution that no plan could predict;
 *   records      two words each, for anything else.
 *
 * The writing side needs only memory functions and atomics.
 */
#ifndef RSC_RUNTIME_RING_RING_H
#define RSC_RUNTIME_RING_RING_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/sampler/sampler.h"
#include "runtime/ring/watch_ring.h"

/* "RSC_RGR8", and the layout: who was built with another finds it wrong. */
#define RSC_RING_MAGIC (0x385247525f435352ull + sizeof(struct rsc_ring))
#define RSC_RING_SLOTS 4096u
#define RSC_RING_BLOCKS 32u /* a slot's ring: 2 MiB, touched as used */
#define RSC_BLOCK_WORDS 7548u
#define RSC_BLOCK_MARKS 212u
#define RSC_BLOCK_SPARE 1024u /* words at its end that an execution that began before them may still need */
#define RSC_NOTES_BYTES (4u << 20)
#define RSC_RAW_WORDS \
    5120u /* for a thread that filters its own words; RSC_BLOCK_SPARE of them are after the last allowed start */
#define RSC_OWN_WORDS 8192u
#define RSC_PLAN_WORDS (32u << 20) /* 256 MiB, touched as used: some five million pieces of code */

/*
 * How a program built with `reusescope cc` finds the ring:
 * "ring=FD,follow=0,skip=0,marked=0,samples=1,watch=0,plain=0"
 */
#define RSC_ASM_ENVIRONMENT "REUSESCOPE_RING"

/*
 * How the library preloaded into programs that were not rebuilt finds it: "ring=FD,follow=0,type=..."
 * (perf_preload.c).
 */
#define RSC_PERF_ENVIRONMENT "REUSESCOPE_PERF"

/* A record: two words, this and an address. Bits 0-47 pc (or payload), 48-55 size in bytes, 56-61 type, 62-63 zero. */
struct rsc_record {
    uint64_t addr;
    uint64_t word;
};

enum rsc_record_type {
    RSC_RECORD_READ = 1,
    RSC_RECORD_WRITE = 2,
    RSC_RECORD_CALL = 3, /* addr: called, pc: of the call */
    RSC_RECORD_RETURN = 4, /* addr: returned to; rebuilt programs: payload: calls still open */
    RSC_RECORD_ALLOC = 5, /* addr: block, payload: bytes */
    RSC_RECORD_FREE = 6, /* addr: block */
    RSC_RECORD_MARKER = 7, /* payload: the program's number */
    RSC_RECORD_NOTE = 8, /* payload: end of the note that belongs here, as rsc_ring_note() returned it */
    RSC_RECORD_LOCK = 9, /* addr: the lock, payload: 0 acquired, 1 released */
    RSC_RECORD_BARRIER = 10, /* addr: the barrier */
    /* For programs that keep only sampled lines (asm_lines.c): */
    RSC_RECORD_KEPT_READ = 11, /* a reference to a sampled line; bits 48-63 of addr: references skipped before it */
    RSC_RECORD_KEPT_WRITE = 12,
    RSC_RECORD_SKIPPED = 13, /* payload: references skipped; addr: references beyond accesses */
    RSC_RECORD_STACK = 14, /* addr: somewhere on the thread's stack; or payload: its bytes, from addr on */
    /* For programs that sample references themselves (asm_sampled.c): */
    RSC_RECORD_SAMPLE = 15, /* a struct rsc_sample_record in five; `size` counts them. Payload and addr: model, outcome
                               << 8, kept << 16 and burst << 24, line; pc of the use, distance; of the reuse, interval; thread of the use with its
                               bytes (<< 32 and << 40), weight (bits of a double); thread of the reuse, variance (of a
                               float). If the line was taken, before the last one, as number 6: pc of the write, its
                               thread and bytes */
    RSC_RECORD_THREAD = 16, /* addr: the samples' number for the thread of this block */
    RSC_RECORD_SWITCH = 17, /* of Valgrind's tool; addr: the thread that runs from here on; payload 1: it has ended */
    RSC_RECORD_UNWIND = 18, /* of rebuilt programs; addr: the stack pointer that longjmp() sets */
    RSC_RECORD_CALLED = 20, /* of Valgrind's tool: the thread calls the system, and there are others */
    RSC_RECORD_CALLER = 21, /* of rebuilt programs; addr: the code that the next ALLOC is for */
    RSC_RECORD_FORK = 22, /* of rebuilt programs; addr: image of the process that is forked next */
    RSC_RECORD_STEP = 19, /* an access, beside samples; a second one follows: the same instruction, executed next */
};

static inline uint64_t rsc_record_word(enum rsc_record_type type, uint32_t size, uint64_t pc) {
    return (pc & 0xffffffffffffull) | (uint64_t)(size & 0xff) << 48 | (uint64_t)type << 56;
}
static inline uint64_t rsc_record_pc(uint64_t word) { return word & 0xffffffffffffull; }
static inline uint32_t rsc_record_size(uint64_t word) { return (uint32_t)(word >> 48 & 0xff); }
static inline uint32_t rsc_record_type(uint64_t word) { return (uint32_t)(word >> 56); }

/*
 * A start: bit 62, not 63. Bits 0-31 where the plan begins in ring.plans, 32-41 its own
 * length in words: itself and the fixed words. With RSC_START_INLINE the plan itself
 * follows it, and no fixed words.
 */
#define RSC_START (1ull << 62)
#define RSC_START_COUNTED (1ull << 61) /* count its instructions */
#define RSC_START_CALLS (1ull << 60) /* derive calls and returns from it and the previous start */
#define RSC_START_RESUMED (1ull << 59) /* not a new execution: the previous one continues in another block */
#define RSC_START_INLINE (1ull << 58)
#define RSC_START_LOOK (1ull << 57) /* of Valgrind's tool, for itself: its words are more than one reference each */
#define RSC_START_FIXED_MAX 127u
static inline uint32_t rsc_start_length(uint64_t word) { return (uint32_t)(word >> 32 & 0x3ff); }

/*
 * An access. Bits 0-47 address, 48-50 log2 of the size. Loose: bit 63, 51-52 read and
 * write, 53-62 its entry in the plan. Fixed: 60-61 read and write, of which one is set,
 * 62-63 zero, the others are unused.
 */
#define RSC_LOOSE (1ull << 63)
static inline uint64_t rsc_loose_user(uint32_t entry) { return RSC_LOOSE | (uint64_t)entry << 53; }

/*
 * A plan: two words and its entries, those of the fixed words first. Word 0: bits
 * 0-47 pc of the first instruction, 48-57 instructions, 58-61 what the last one is
 * (enum rsc_plan_end). Word 1: bits 0-47 pc of the last instruction, 48-57 entries.
 */
enum rsc_plan_end { RSC_PLAN_ENDS = 0, RSC_PLAN_ENDS_CALL, RSC_PLAN_ENDS_RETURN, RSC_PLAN_ENDS_REP };
#define RSC_PLAN_ENTRIES_MAX 640u
#define RSC_PLAN_MAX (2u + RSC_PLAN_ENTRIES_MAX) /* words */
static inline uint32_t rsc_plan_entries(uint64_t word1) { return (uint32_t)(word1 >> 48 & 0x3ff); }

/*
 * An entry: bits 0-47 pc, 48-57 index of the instruction in the piece, 58-59 pieces of an access minus one, then
 * flags.
 */
#define RSC_ENTRY_REP (1ull << 60)
#define RSC_ENTRY_ONLY_WRITES (1ull << 61) /* reported reads are not the guest's */
static inline uint64_t rsc_entry(uint64_t pc, uint32_t order, uint32_t pieces) {
    return (pc & 0xffffffffffffull) | (uint64_t)order << 48 | (uint64_t)(pieces - 1) << 58;
}
static inline uint32_t rsc_entry_order(uint64_t entry) { return (uint32_t)(entry >> 48 & 0x3ff); }
static inline uint32_t rsc_entry_pieces(uint64_t entry) { return (uint32_t)(entry >> 58 & 3) + 1; }

/*
 * Words of Valgrind's tool (collect/valgrind/). After a start, whose length is 0, come addresses without anything
 * else, one per entry of the plan; 0: not accessed. There are fewer words than entries if the block was left early. A
 * record may be among them. Word 1 of the plan also has, in bits 58-63, a number of exits, which follow the entries:
 * bits 0-15 entries made there, 16-31 instructions. An entry: bits 0-47 pc, 48-55 size, then flags; none of reads and
 * writes: an empty word, not an access.
 *
 * Where the tool keeps only references to sampled lines (ring.keep_lines) such words are in slot.raw, with the size
 * minus 1 in bits 48-55, until the tool has looked at them; the blocks have records, of two words each.
 */
#define RSC_PLAN_RECORDS (1ull << 62) /* in word 0 of the plan: there are records among its words */
#define RSC_PLAN_IN_REGION (1ull << 63) /* in word 0: it begins in the function of the region */
#define RSC_BLOCK_READS (1ull << 56)
#define RSC_BLOCK_WRITES (1ull << 57) /* with READS: first a read, then a write */
#define RSC_BLOCK_REP (1ull << 58)
#define RSC_BLOCK_PIECE (1ull << 59) /* with the pieces next to it, one access */
#define RSC_BLOCK_STACK (1ull << 60) /* alone: the stack pointer, as the first word of a block, if there is a region */
#define RSC_BLOCK_EXITS_MAX 63u
static inline uint32_t rsc_plan_exits(uint64_t word1) { return (uint32_t)(word1 >> 58); }

struct rsc_mark {
    uint64_t before_ns, after_ns; /* CLOCK_MONOTONIC; after_ns may change until the next word is written */
    uint32_t words; /* of the block, before it */
    uint32_t zero;
};

struct rsc_block {
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC of its first and last word */
    uint64_t instructions; /* executed while it was open, not including counted starts */
    uint32_t count; /* words; 0 until published */
    uint32_t mark_count; /* grows while it is open */
    uint32_t zero[8];
    struct rsc_mark marks[RSC_BLOCK_MARKS];
    uint64_t words[RSC_BLOCK_WORDS];
};
_Static_assert(sizeof(struct rsc_block) == 65536, "blocks are 64 KiB");

enum rsc_slot_state {
    RSC_SLOT_FREE = 0,
    RSC_SLOT_LIVE = 1,
    RSC_SLOT_ENDED = 2,
    RSC_SLOT_LEAVING = 3,
    RSC_SLOT_STARTING = 4
};

struct rsc_slot {
    /* Written by the thread: */
    uint32_t state; /* LIVE when taken, LEAVING when the thread may end, ENDED at its end; the parent sets FREE */
    uint32_t pid, tid;
    uint32_t generation; /* how often the slot was taken */
    uint64_t published; /* blocks; the open one is blocks[published % RSC_RING_BLOCKS] */
    uint64_t
        open_since_ns; /* words after the last mark are not older; 0: there are none, the next one takes its time */
    uint64_t waited_ns, waits;
    uint64_t unrecorded_instructions; /* executed while not recording */
    uint32_t image; /* address space number: a fork or exec starts another */
    uint32_t part; /* not 0: another slot of the thread with these ids, such as for its signal handler */
    /* For a thread that filters its own words: */
    uint64_t skipped, crossings, own_instructions; /* not yet reported in a block */
    uint32_t raw_busy; /* it is filtering them now: the parent must not use them */
    uint32_t waits_now; /* it found its ring full */
    uint64_t opened_ns; /* when it took the open block: its words are not older */
    uint8_t pad0[128 - 104];
    /* Written by the parent: */
    uint64_t consumed; /* blocks */
    uint32_t consumed_signal;
    uint8_t pad1[64 - 12];
    /* For a thread that samples: totals so far. */
    uint64_t sampled_references, sampled_analysed, sampled_begun, sampled_weight; /* weight: bits of a double */
    uint64_t sampled_as; /* the samples' number for it, as in RSC_RECORD_THREAD, plus 1 */
    uint8_t pad2[4096 - 232];
    struct rsc_block blocks[RSC_RING_BLOCKS];
    uint64_t raw[RSC_RAW_WORDS]; /* its words; zero where not written */
    uint64_t own[RSC_OWN_WORDS]; /* its private state */
};
_Static_assert(offsetof(struct rsc_slot, blocks) == 4096, "a page, then blocks");
_Static_assert(sizeof(struct rsc_slot) % 4096 == 0, "slots begin at a page");

/*
 * NATIVE_MAPS: for a process without QEMU. MODULE: a struct rsc_asm_module (asm_abi.h). PROGRAM: the path of the
 * program that a rebuilt process runs, before its maps.
 */
enum rsc_note_type { RSC_NOTE_MAPS = 1, RSC_NOTE_NATIVE_MAPS = 2, RSC_NOTE_MODULE = 3, RSC_NOTE_PROGRAM = 4 };

/* Identifies a process's memory: the system reuses pids, and exec keeps them. */
static inline uint64_t rsc_process_id(uint32_t image, uint32_t pid) { return (uint64_t)image << 32 | pid; }

/* In the notes ring: u32 bytes of data, u32 type, u64 process, data, padded to 8. */
struct rsc_note {
    uint32_t bytes, type;
    uint64_t process; /* rsc_process_id() */
};

/* How much must be available before a sleeping parent is woken: each wake-up costs the program a system call. */
enum rsc_parent_sleeps { RSC_PARENT_AWAKE = 0, RSC_PARENT_WAITS_FOR_SOME = 1, RSC_PARENT_WAITS_FOR_ANY = 2 };
#define RSC_RING_SOME (RSC_RING_BLOCKS / 2) /* blocks of one thread */

struct rsc_ring {
    uint64_t magic;
    uint32_t parent_pid;
    uint32_t published_signal; /* futex: there is something for the parent */
    uint32_t parent_sleeps; /* enum rsc_parent_sleeps: the parent waits on it */
    uint32_t slots_used; /* slots below this have been used */
    uint32_t detached; /* the parent is gone: no thread records any more */
    uint32_t notes_lock;
    uint64_t notes_head, notes_tail; /* bytes written and read */
    uint64_t notes_lost;
    uint64_t forks, execs; /* forked children and started programs that are not watched */
    uint32_t images; /* address spaces numbered so far */
    uint32_t crowded_out; /* threads that found all slots taken */
    uint64_t plan_words; /* words allocated; may grow beyond RSC_PLAN_WORDS, where there are no plans */
    /* For rebuilt programs: */
    uint64_t enough; /* recording is over: run on in fast mode */
    uint64_t rebuilt; /* the program is rebuilt: words are as in asm_abi.h */
    uint64_t lag_ns; /* longest time a thread took to start recording after a region began */
    uint64_t samples, samples_unseen; /* samples of processor time; those outside of rebuilt code */
    uint64_t modules_lost; /* modules whose tables found no room: their code is not recorded */
    /* Which references a rebuilt program, or Valgrind's tool, keeps: */
    uint64_t keep_lines; /* 0: all, and the parent makes references from words; 1: those to sampled lines */
    uint64_t keep_limit; /* lines with a hash (base/line_hash.h) up to this */
    uint64_t keep_offset; /* of that hash */
    uint64_t keep_shift; /* log2 of the line size */
    uint64_t sampled; /* 1: it samples its references itself, with the next two settings; lines by keep_shift */
    uint64_t sampler_planned; /* samples after which the period doubles; 0: never */
    struct rsc_sampler_options sampler;
    uint64_t some_wait; /* a thread may be waiting for the parent */
    uint64_t valgrind; /* words are those of Valgrind's tool */
    uint32_t freed; /* futex: slots freed so far */
    uint32_t freed_last; /* one of them: the search for a free one begins there */
    uint64_t unread; /* blocks are overwritten without being read: measures the cost of recording alone (bench_asm.c) */
    uint64_t slots_most; /* slots that may be taken; 0: all */
    uint64_t calls_lost; /* too deep to follow where a region is given by function */
    uint32_t cores; /* that program and parent may use; 0: not known */
    uint32_t takes_turns; /* they are too few for all threads and the parent: rsc_ring_goes_on_at() */
    uint8_t pad[4096 - 240 - sizeof(struct rsc_sampler_options)];
    uint8_t notes[RSC_NOTES_BYTES];
    struct rsc_slot slots[RSC_RING_SLOTS];
    uint64_t plans[RSC_PLAN_WORDS];
    struct rsc_watch_area watch; /* only for programs that watch their own reuses */
};
_Static_assert(offsetof(struct rsc_ring, notes) == 4096, "slots begin at a page");

/*
 * Blocks that a thread which found its ring full has left when it goes on. Where cores are too few for all threads and
 * the parent, these take turns: while the parent works, threads that found their ring full wait until it is empty, or
 * the parent has nothing left to do, and that sleeps until one is full. Otherwise it takes a core from one of them, which comes behind: threads that run
 * side by side would be recorded one after the other, a ring at a time.
 */
static inline uint32_t rsc_ring_goes_on_at(const struct rsc_ring *ring) {
    const int is_awake = __atomic_load_n(&ring->parent_sleeps, __ATOMIC_SEQ_CST) == RSC_PARENT_AWAKE;
    return is_awake && __atomic_load_n(&ring->takes_turns, __ATOMIC_RELAXED) ? 0 : RSC_RING_SOME;
}

static inline uint32_t rsc_ring_slots(const struct rsc_ring *ring) {
    return ring->slots_most && ring->slots_most < RSC_RING_SLOTS ? (uint32_t)ring->slots_most : RSC_RING_SLOTS;
}

/* ---- the writing side (inside the program); ring_writer.c ---- */

/*
 * A thread's place in the ring. All zeros: not attached. A fresh block has next == end
 * too: its first word takes the slow path, which notes the time. After `end` there is
 * room for RSC_BLOCK_SPARE more words, so an execution that began before it need not
 * check again.
 */
struct rsc_ring_writer {
    uint64_t *next, *end; /* next >= end: call rsc_ring_make_room() before anything new */
    uint64_t *first; /* first word of the open block */
    struct rsc_slot *slot;
    struct rsc_ring *ring;
    uint64_t instructions; /* since the open block began */
    uint32_t room; /* words after which a mark is made, fitted to the time they take; 0: only when asked for */
};

uint64_t rsc_ring_now_ns(void);

/* Takes a slot. Returns 0, or -1 when all are taken or the parent is gone. */
int rsc_ring_attach(struct rsc_ring_writer *writer, struct rsc_ring *ring, uint32_t pid, uint32_t tid);

/* The same, but if all slots are taken and some belong to threads that are ending, it waits for those,
 * until none was freed for 2 s. */
int rsc_ring_attach_patiently(struct rsc_ring_writer *writer, struct rsc_ring *ring, uint32_t pid, uint32_t tid);

/*
 * Reports that the thread is about to end, but may still write: when it is gone, the parent takes its remaining
 * words.
 */
void rsc_ring_leave(struct rsc_ring_writer *writer);

/* Publishes the open block, unless it is empty, and takes the next one, waiting if needed. -1: the parent is gone. */
int rsc_ring_publish(struct rsc_ring_writer *writer);

/* The slow path of writing: starts a fresh block, marks the open one or publishes a full one. -1: the parent is gone. */
int rsc_ring_make_room(struct rsc_ring_writer *writer);

/*
 * The thread synchronises with others: marks the words written so far. `rests`: it may wait now, and the next word
 * takes the slow path and the time. -1: the parent is gone.
 */
int rsc_ring_mark(struct rsc_ring_writer *writer, int rests);

enum rsc_mark_how {
    RSC_MARK_PASSES, /* the next words are not older than the return */
    RSC_MARK_RESTS, /* as above */
    RSC_MARK_GOES_ON /* the next words come at once, but for the time that recording takes: they begin at before_ns */
};

/* The same at a given time, up to which the words were written. */
int rsc_ring_mark_at(struct rsc_ring_writer *writer, uint64_t before_ns, enum rsc_mark_how how);

/* Publishes and gives the slot up. */
void rsc_ring_detach(struct rsc_ring_writer *writer);

/* Appends a record; -1 if the parent is gone. */
static inline int rsc_ring_put(struct rsc_ring_writer *writer, uint64_t addr, uint64_t word) {
    if (__builtin_expect(writer->next >= writer->end, 0) && rsc_ring_make_room(writer) < 0) return -1;
    writer->next[0] = word;
    writer->next[1] = addr;
    writer->next += 2;
    return 0;
}

/* Room for a plan of this many words in ring.plans; NULL when it is full. */
uint64_t *rsc_ring_plan(struct rsc_ring *ring, uint32_t words);

/*
 * Leaves a text for the parent; dropped and counted if there is no room. A record with
 * the returned number (0: dropped) marks its place among the thread's records.
 */
uint64_t rsc_ring_note(struct rsc_ring *ring, enum rsc_note_type type, uint64_t process, const void *data,
                       uint32_t bytes);

/*
 * Leaves notes of all that this process has mapped. `text`: room for a part of it, more than two lines. Returns what
 * rsc_ring_note() does for the last one that was not dropped. ring_maps.c
 */
uint64_t rsc_ring_note_maps(struct rsc_ring *ring, enum rsc_note_type type, uint64_t process, char *text, size_t room);

#endif
