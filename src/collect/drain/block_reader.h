/*
 * block_reader.h - the parent's state of a process under Valgrind, shared by drain_valgrind.c, which reads its words, and
 * drain_turns.c, which interleaves its threads.
 */
#ifndef RSC_COLLECT_DRAIN_BLOCK_READER_H
#define RSC_COLLECT_DRAIN_BLOCK_READER_H

#include "collect/drain/drain_state.h"
#include "runtime/pieces/block_accesses.h"

#define RSC_BLOCK_KINDS (RSC_BLOCK_READS | RSC_BLOCK_WRITES)
#define RSC_NO_PIECE (~0u)
#define RSC_READER_ENTRIES 1023u /* as many as a plan's head can claim */
#define RSC_READER_EVENTS RSC_BATCH_ACCESSES
#define RSC_READER_SPARE (2 * RSC_READER_ENTRIES + RSC_STRING_PARTS)

/* One of the program's threads. */
struct rsc_block_thread {
    int known;
    uint32_t number;
    uint64_t tid;
    int stack_known;
    uint64_t skipped; /* of a sample of lines: references since its last kept one */
    uint32_t ends; /* how its last block ended, and where */
    uint64_t end_pc;
    /* For a region, stack pointers: */
    uint64_t top;     /* of its first block; more is another stack, such as a signal handler's */
    uint64_t entered; /* where it called the region's function; 0: it is not in it */
};

struct rsc_block_reader {
    struct rsc_block_thread *threads;
    uint32_t thread_count;
    struct rsc_block_thread *now; /* NULL: none yet */
    uint64_t process;
    /* The piece of code that is running: */
    uint32_t piece; /* RSC_NO_PIECE: none */
    uint32_t entry; /* words so far */
    uint32_t continued; /* instructions that began before: 1 for a string's next iteration */
    struct rsc_block_joins joins;
    int recording;
    int marked; /* between the marks */
    uint64_t passed; /* instructions so far, towards the window */
    /* Of several threads: */
    struct rsc_turns *turns; /* NULL: there has been one so far */
    uint32_t filling;        /* the thread whose words come now */
    uint32_t living;         /* threads that have not ended */
    int taking;              /* the round is complete and being taken */
    uint32_t gathered;       /* words of the ring block in rounds; of a sample of lines, records */
    uint64_t before_round;   /* references, of a sample of lines */
};

/* Read once: the program may change it between a check and its use. */
static inline uint64_t rsc_reader_look(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

/* ---- drain_valgrind.c ---- */

/* The piece of the start at words[*at], which is moved past it; RSC_NO_PIECE: it is invalid. */
uint32_t rsc_reader_find_piece(struct rsc_drain *drain, const uint64_t *words, uint32_t *at, uint32_t count,
                               uint64_t start);

/* Takes a start or a record, and the words after it, into the batch. */
int rsc_reader_take_next(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                         const uint64_t *words, uint32_t count, uint32_t *at);

/* Whether simple pieces may follow, from this word on; then takes them. Returns where it stops, maybe at once. */
int rsc_reader_is_usual(const struct rsc_drain *drain, const struct rsc_block_reader *reader, uint64_t word);
uint32_t rsc_reader_take_simple(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const uint64_t *words,
                                uint32_t at, uint32_t end, uint32_t count);

/* The running piece is over: its instructions are known. */
void rsc_reader_end_code(struct rsc_drain *drain, struct rsc_block_reader *reader);

/* Strings that are being joined; they are complete. */
void rsc_reader_put_strings(struct rsc_drain *drain, struct rsc_drain_cursor *cursor);

/* Another thread runs, or one has ended. */
int rsc_reader_take_switch(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, const struct rsc_record *record);

/* ---- drain_turns.c ---- */

/* What is taken from now on is the thread's. */
void rsc_reader_run_thread(struct rsc_drain_cursor *cursor, struct rsc_block_thread *thread);

/* `take` of struct rsc_drain_mode while there are turns. The block's is_left: nothing but the round that was begun. */
int rsc_reader_take_turns(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot);

#endif
