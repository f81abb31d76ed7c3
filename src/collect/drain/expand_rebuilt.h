/*
 * expand_rebuilt.h - what a thread of a rebuilt program wrote (runtime/pieces/asm_abi.h)
 * becomes records: reads and writes with pc and size, calls, returns, and the records
 * of other types as they are.
 *
 * Calls and returns. A piece that ends with a call says where the return address was
 * pushed, one that ends with a return where it was read. Frames are kept here, by
 * those places: whatever lies below where the stack now ends is over, however it
 * ended (a return that was not seen, an exception, longjmp). A call whose next piece
 * is right behind it was one of code that was not rebuilt.
 *
 * One block may make any number of records (a repeated string, a run): it is expanded
 * bit by bit.
 */
#ifndef RSC_COLLECT_DRAIN_EXPAND_REBUILT_H
#define RSC_COLLECT_DRAIN_EXPAND_REBUILT_H

#include "collect/drain/asm_tables.h"
#include "runtime/pieces/own_calls.h"
#include "runtime/pieces/piece_expand.h"

struct rsc_rebuilt_frame {
    uint64_t pc;    /* of the call */
    uint64_t stack; /* where its return address lies */
};

/* A thread's state from block to block. All zeros: nothing yet. */
struct rsc_rebuilt {
    const struct rsc_asm_tables *tables;
    uint64_t process; /* rsc_process_id() */
    struct rsc_asm_place place;
    /* The last piece: */
    uint32_t ends; /* enum rsc_plan_end */
    uint64_t end_pc, stack;
    struct rsc_rebuilt_frame *frames;
    uint32_t frame_count, frame_room;
    /* Where the block under way is expanded to: */
    int under_way;
    uint32_t at;                        /* word */
    struct rsc_piece_progress progress; /* of that piece; zeros: it has not begun */
    uint64_t unknown;                   /* words that belong to no known piece */
};

#define RSC_REBUILT_ROOM 16384u /* least room for records, twice what any one piece makes */

/*
 * Expands a block, or goes on with it while rebuilt->under_way, into at most `room`
 * records. Returns how many. To be called again while rebuilt->under_way is set.
 */
uint32_t rsc_expand_rebuilt(struct rsc_rebuilt *rebuilt, uint64_t *words, uint32_t count, struct rsc_record *records,
                            uint32_t room, uint64_t *instructions);

/*
 * A thread that kept count of its calls itself is gone: what it wrote last is expanded from where it was. Returns how
 * many records tell those who follow its records of calls, at most RSC_OWN_FRAMES + 1.
 */
uint32_t rsc_rebuilt_resume(struct rsc_rebuilt *rebuilt, const struct rsc_own_calls *calls, struct rsc_record *records);

/* About how many records a block will make; strings count as one. What its words are worth in time. */
uint64_t rsc_rebuilt_weigh(struct rsc_rebuilt *rebuilt, const uint64_t *words, uint32_t count);

/* Ends a thread's use of it. */
void rsc_rebuilt_reset(struct rsc_rebuilt *rebuilt);

#endif
