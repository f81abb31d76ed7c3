/*
 * expand_rebuilt.h - expands the words of a rebuilt program's thread
 * (runtime/pieces/asm_abi.h) into records: reads and writes with pc and size, calls,
 * returns, and the other record types unchanged.
 *
 * Calls and returns. A piece that ends with a call holds the address where the return
 * address was pushed; one that ends with a return, where it was read. Frames are kept
 * here, keyed by those addresses: every frame below the current stack pointer has ended,
 * in whatever way (an unseen return, an exception, longjmp). A call followed by the
 * piece right after it called code that was not rebuilt.
 *
 * longjmp is a record. An exception looks like a call of where it goes, until the next call or return shows that the
 * stack is above: with `knows_jumps`, that one is looked for in the rest of the words, so that the frames end at once.
 *
 * One block may make any number of records (a repeated string, a run), so it is expanded
 * in parts.
 */
#ifndef RSC_COLLECT_DRAIN_EXPAND_REBUILT_H
#define RSC_COLLECT_DRAIN_EXPAND_REBUILT_H

#include "collect/drain/asm_tables.h"
#include "runtime/pieces/own_calls.h"
#include "runtime/pieces/piece_expand.h"

struct rsc_rebuilt_frame {
    uint64_t pc;    /* of the call */
    uint64_t stack; /* address of its return address */
};

/* A thread's state from block to block. All zeros: initial. */
struct rsc_rebuilt {
    const struct rsc_asm_tables *tables;
    uint64_t process; /* rsc_process_id() */
    int knows_jumps;
    struct rsc_asm_place place;
    /* The last piece: */
    uint32_t ends; /* enum rsc_plan_end */
    uint64_t end_pc, stack;
    struct rsc_rebuilt_frame *frames;
    uint32_t frame_count, frame_room;
    /* Position in the current block: */
    int under_way;
    uint32_t at;                        /* word */
    struct rsc_piece_progress progress; /* for that piece; zeros: not begun */
    uint64_t unknown;                   /* words that match no known piece */
    uint64_t calls_lost;                /* deeper than are followed */
};

#define RSC_REBUILT_ROOM 16384u /* minimum room for records, twice what any one piece makes */

/*
 * Expands a block, or continues it while rebuilt->under_way, into at most `room`
 * records. Returns the number of records. Call again while rebuilt->under_way is set.
 */
uint32_t rsc_expand_rebuilt(struct rsc_rebuilt *rebuilt, uint64_t *words, uint32_t count, struct rsc_record *records,
                            uint32_t room, uint64_t *instructions);

/*
 * A thread that counted its own calls is gone: its last words are expanded from its last state. Returns the number of
 * records that restore the call stack, at most RSC_OWN_FRAMES + 1.
 */
uint32_t rsc_rebuilt_resume(struct rsc_rebuilt *rebuilt, const struct rsc_own_calls *calls, struct rsc_record *records);

/*
 * Estimates how many records a block makes; strings count as one. This is the time weight of its words. *last, unless
 * NULL: where its last piece or record begins.
 */
uint64_t rsc_rebuilt_weigh(struct rsc_rebuilt *rebuilt, const uint64_t *words, uint32_t count, uint32_t *last);

/* Frees a thread's state. */
void rsc_rebuilt_reset(struct rsc_rebuilt *rebuilt);

#endif
