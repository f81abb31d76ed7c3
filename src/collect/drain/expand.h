/*
 * expand.h - a thread's words (runtime/ring/ring.h) become records again: reads and
 * writes with pc and size, calls, returns, and the records of other types as they
 * are.
 *
 * What QEMU reports in pieces is joined: pieces of one execution of one instruction
 * that lie end to end; strings with a repeat prefix, one start an iteration, within
 * lines of 64 bytes. Calls and returns are told from the last instruction of the
 * code before and where the next begins.
 *
 * Words and plans lie in memory that the program can write at any time: each is
 * read once, and nothing in them is trusted.
 */
#ifndef RSC_COLLECT_DRAIN_EXPAND_H
#define RSC_COLLECT_DRAIN_EXPAND_H

#include "runtime/ring/ring.h"

#define RSC_EXPANSION_HELD 16u

/* What goes on from block to block of a thread. All zeros: nothing yet. */
struct rsc_expansion {
    uint64_t start, end_pc; /* of the code that runs */
    uint32_t ends;          /* enum rsc_plan_end */
    uint64_t sequence;      /* executions */
    /* The string instruction under way: */
    uint64_t rep_pc, rep_sequence;
    struct rsc_record *rep[3]; /* its records that may still grow: reads (cmps has two) and write */
    struct rsc_record held[RSC_EXPANSION_HELD]; /* between blocks: those, and what came between them */
    uint32_t held_count;
};

/*
 * Expands `count` words into `records`, which has room for twice as many and
 * RSC_EXPANSION_HELD. Returns how many there are, and adds the instructions that
 * began to *instructions. Records that the next block may make larger are held
 * back until then.
 */
uint32_t rsc_expand(struct rsc_expansion *expansion, const uint64_t *words, uint32_t count, const uint64_t *plans,
                    struct rsc_record *records, uint64_t *instructions);

/* What was held back, when no other block comes. */
uint32_t rsc_expand_held(struct rsc_expansion *expansion, struct rsc_record *records);

#endif
