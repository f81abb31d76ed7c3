/*
 * ring.h - the shared memory between a watched program and its parent.
 *
 * One mapping, made by the parent and inherited by the program and its children:
 *
 *   header   who the parent is, modes, and what is going on
 *   notes    a byte ring for rare texts (memory maps)
 *   slots    one per running thread: a ring of blocks of records
 *
 * A thread fills its open block and *publishes* it when full, or before a system
 * call that may block. The parent consumes blocks and clears them; a record is
 * never all zeros, so that after a killed program the parent also finds the
 * records of blocks that were never published. A full ring makes the thread wait
 * (counted in the slot), never lose; a dead parent makes it stop recording.
 *
 * No libc beyond memory and atomics is needed on the writing side.
 */
#ifndef RSC_RUNTIME_RING_H
#define RSC_RUNTIME_RING_H

#include <stddef.h>
#include <stdint.h>

#define RSC_RING_MAGIC 0x315247525f435352ull /* "RSC_RGR1" */
#define RSC_RING_SLOTS 1024u
#define RSC_RING_BLOCKS 16u /* a slot's ring: 1 MiB, touched as used */
#define RSC_BLOCK_RECORDS 4092u
#define RSC_NOTES_BYTES (4u << 20)

/*
 * A record. word: bits 0-47 pc (or payload), 48-55 size in bytes, 56-63 type.
 */
struct rsc_record {
    uint64_t addr;
    uint64_t word;
};

enum rsc_record_type {
    RSC_RECORD_READ = 1,
    RSC_RECORD_WRITE = 2,
    RSC_RECORD_CALL = 3,   /* addr: called, pc: of the call */
    RSC_RECORD_RETURN = 4, /* addr: returned to */
    RSC_RECORD_ALLOC = 5,  /* addr: block, payload: bytes */
    RSC_RECORD_FREE = 6,   /* addr: block */
    RSC_RECORD_MARKER = 7, /* payload: the program's number */
    RSC_RECORD_NOTE = 8,   /* payload: end of the note that was left here, as rsc_ring_note() returned it */
};

static inline uint64_t rsc_record_word(enum rsc_record_type type, uint32_t size, uint64_t pc) {
    return (pc & 0xffffffffffffull) | (uint64_t)(size & 0xff) << 48 | (uint64_t)type << 56;
}
static inline uint64_t rsc_record_pc(uint64_t word) { return word & 0xffffffffffffull; }
static inline uint32_t rsc_record_size(uint64_t word) { return (uint32_t)(word >> 48 & 0xff); }
static inline uint32_t rsc_record_type(uint64_t word) { return (uint32_t)(word >> 56); }

struct rsc_block {
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC of its first and last record */
    uint64_t instructions;     /* executed while it was open */
    uint32_t count;            /* records; 0 until published */
    uint32_t zero[9];
    struct rsc_record records[RSC_BLOCK_RECORDS];
};
_Static_assert(sizeof(struct rsc_block) == 64 + 16 * RSC_BLOCK_RECORDS, "blocks are 64 KiB");

enum rsc_slot_state { RSC_SLOT_FREE = 0, RSC_SLOT_LIVE = 1, RSC_SLOT_ENDED = 2 };

struct rsc_slot {
    /* Written by the thread: */
    uint32_t state; /* LIVE when taken, ENDED when the thread is done; the parent sets FREE again */
    uint32_t pid, tid;
    uint32_t generation;     /* how often the slot was taken */
    uint64_t published;      /* blocks; the next goes to blocks[published % RSC_RING_BLOCKS] */
    uint64_t open_since_ns;  /* first record of the open block; 0: it is empty */
    uint64_t waited_ns, waits;
    uint64_t unrecorded_instructions; /* executed while not recording */
    uint32_t image;                   /* which address space: a fork or exec starts another */
    uint8_t pad1[64 - 60];
    /* Written by the parent: */
    uint64_t consumed; /* blocks */
    uint32_t consumed_signal;
    uint8_t pad2[64 - 12];
    uint8_t pad3[4096 - 128];
    struct rsc_block blocks[RSC_RING_BLOCKS];
};
_Static_assert(sizeof(struct rsc_slot) == 4096 + 65536 * RSC_RING_BLOCKS, "a page, then blocks");

enum rsc_note_type { RSC_NOTE_MAPS = 1 };

/* A process's memory: the system reuses pids, and exec keeps them. */
static inline uint64_t rsc_process_id(uint32_t image, uint32_t pid) { return (uint64_t)image << 32 | pid; }

/* In the notes ring: u32 bytes of data, u32 type, u64 process, data, padded to 8. */
struct rsc_note {
    uint32_t bytes, type;
    uint64_t process; /* rsc_process_id() */
};

struct rsc_ring {
    uint64_t magic;
    uint32_t parent_pid;
    uint32_t published_signal; /* futex: something is there for the parent */
    uint32_t parent_sleeps;    /* the parent waits on it */
    uint32_t slots_used;       /* slots below this have been taken at some time */
    uint32_t detached;         /* the parent is gone: nobody records any more */
    uint32_t notes_lock;
    uint64_t notes_head, notes_tail; /* bytes written and read */
    uint64_t notes_lost;
    uint64_t forks, execs; /* children seen, programs started that are not watched */
    uint32_t images;       /* address spaces numbered so far */
    uint32_t crowded_out;  /* threads that found all slots taken */
    uint8_t pad[4096 - 80];
    uint8_t notes[RSC_NOTES_BYTES];
    struct rsc_slot slots[RSC_RING_SLOTS];
};
_Static_assert(offsetof(struct rsc_ring, notes) == 4096, "slots begin at a page");

/* ---- the writing side (inside the program); writer.c ---- */

/*
 * A thread's place in the ring. All zeros: not attached. A fresh block has next ==
 * end too: its first record takes the slow path, which notes the time.
 */
struct rsc_ring_writer {
    struct rsc_record *next, *end; /* next == end: rsc_ring_make_room() before the next record */
    struct rsc_block *block;
    struct rsc_slot *slot;
    struct rsc_ring *ring;
    uint64_t instructions; /* since the open block began */
};

uint64_t rsc_ring_now_ns(void);

/* Takes a slot. Returns 0, or -1 when all are taken or the parent is gone. */
int rsc_ring_attach(struct rsc_ring_writer *writer, struct rsc_ring *ring, uint32_t pid, uint32_t tid);

/* Publishes what is there, if anything, and takes the next block, waiting for one. -1: the parent is gone. */
int rsc_ring_publish(struct rsc_ring_writer *writer);

/* The slow path of writing: starts a fresh block or publishes a full one. -1: nobody listens. */
int rsc_ring_make_room(struct rsc_ring_writer *writer);

/* Publishes and gives the slot up. */
void rsc_ring_detach(struct rsc_ring_writer *writer);

/* Appends a record; -1 when nobody listens any more. */
static inline int rsc_ring_put(struct rsc_ring_writer *writer, uint64_t addr, uint64_t word) {
    if (__builtin_expect(writer->next == writer->end, 0) && rsc_ring_make_room(writer) < 0) return -1;
    *writer->next++ = (struct rsc_record){addr, word};
    return 0;
}

/*
 * Leaves a text for the parent; dropped and counted when there is no room. A
 * record with the number returned (0: dropped) says where among the thread's
 * records it belongs.
 */
uint64_t rsc_ring_note(struct rsc_ring *ring, enum rsc_note_type type, uint64_t process, const void *data, uint32_t bytes);

#endif
