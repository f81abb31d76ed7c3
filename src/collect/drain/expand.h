/*
 * expand.h - expands a thread's words (runtime/ring/ring.h) into records: reads and
 * writes with pc and size, calls, returns, and the other record types unchanged.
 *
 * Accesses that QEMU reports in pieces are joined: adjacent pieces of one execution of
 * one instruction; strings with a repeat prefix, which have one start per iteration,
 * within lines of 64 bytes. Calls and returns are recognised from the last instruction
 * of the previous code and the address of the next.
 *
 * Words and plans are in memory that the program can write at any time: each is read
 * once and validated.
 */
#ifndef RSC_COLLECT_DRAIN_EXPAND_H
#define RSC_COLLECT_DRAIN_EXPAND_H

#include "runtime/ring/ring.h"

#define RSC_EXPANSION_HELD 16u

/* A thread's state from block to block. All zeros: initial. */
struct rsc_expansion {
    uint64_t start, end_pc; /* of the running code */
    uint32_t ends;          /* enum rsc_plan_end */
    uint64_t sequence;      /* executions */
    /* The current string instruction: */
    uint64_t rep_pc, rep_sequence;
    struct rsc_record *rep[3]; /* its growable records: reads (cmps has two) and write */
    struct rsc_record held[RSC_EXPANSION_HELD]; /* between blocks: the growable records and those between them */
    uint32_t held_count;
    const uint64_t *plan; /* entries of the running code: a block may be expanded in parts */
    uint32_t plan_count;
};

/*
 * Expands `count` words into `records`, which has room for twice as many plus
 * RSC_EXPANSION_HELD. Returns the number of records, and adds the instructions that
 * began to *instructions. Records that the next block may extend are held back.
 */
uint32_t rsc_expand(struct rsc_expansion *expansion, const uint64_t *words, uint32_t count, const uint64_t *plans,
                    struct rsc_record *records, uint64_t *instructions);

/* Returns the held-back records when no other block follows. */
uint32_t rsc_expand_held(struct rsc_expansion *expansion, struct rsc_record *records);

#endif
