/*
 * code_loops.h - the loops of a function, recovered from its machine code.
 *
 * The code is decoded from end to end (Zydis; x86-64 only) and cut into basic blocks at
 * jumps and their targets; the loops are those of the block graph (flow_loops.h). A
 * jump through a table (switch) leads to the table's targets, if the code before it is
 * one of the forms that gcc and clang generate; a jump through a register without a
 * known table is assumed to lead to every block without another predecessor. Calls
 * return, except to functions known not to. Jumps out of the function leave it, except
 * jumps to its parts elsewhere: cold code of the compiler, and what `reusescope cc`
 * inserts between two blocks.
 */
#ifndef RSC_COLLECT_SYMBOLS_CODE_LOOPS_H
#define RSC_COLLECT_SYMBOLS_CODE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "collect/symbols/flow_loops.h"

/* A function's code, and how to read the data of its jump tables. */
struct rsc_code_bytes {
    const uint8_t *code; /* the machine code at `address` */
    uint64_t address;
    size_t bytes;
    /* Returns `bytes` at `address` of the module's memory, from its file; NULL: not in the file. */
    const uint8_t *(*read)(void *module, uint64_t address, size_t bytes);
    /* Whether the function at `address`, or whose address is stored there (`is_slot`), never returns. May be NULL. */
    int (*never_returns)(void *module, uint64_t address, int is_slot);
    /*
     * The code at `address`, *room bytes, if it is a part of this function; otherwise NULL. *only_straight: followed
     * only if it leads back without a branch or a call. May be NULL.
     */
    const uint8_t *(*elsewhere)(void *module, uint64_t address, size_t *room, int *only_straight);
    void *module;
};

struct rsc_code_loop {
    uint64_t header; /* address of its first instruction */
    uint64_t latch; /* last instruction of a block that leads back to the header */
    uint32_t first_test, test_count; /* in rsc_code_loops.tests */
    uint32_t parent; /* index of the enclosing loop, lower than its own, or RSC_NO_LOOP */
    uint32_t depth; /* from 1 */
    uint32_t entries; /* 1; more if it is entered in several places */
};

struct rsc_code_block {
    uint64_t start;
    uint32_t loop; /* innermost, or RSC_NO_LOOP */
};

struct rsc_code_loops {
    struct rsc_code_loop *loops; /* owned */
    size_t count;
    /* The jumps that decide whether a loop goes on: out of its own code, back to its header, or both. Owned. */
    uint64_t *tests;
    size_t test_count;
    struct rsc_code_block *blocks; /* owned; by start, contiguous up to `end`: without parts elsewhere */
    size_t block_count;
    uint64_t end;
};

/* Whether this build can decode code. */
int rsc_code_loops_known(void);

/* Larger functions are not examined. */
#define RSC_CODE_BYTES_MAX (1u << 20)

/*
 * For any bytes, this terminates and reads nothing outside them. Returns 0, RSC_ENOMEM,
 * RSC_ELIMIT (a function too large, or loops too deep) or RSC_EUNSUPPORTED; *loops is
 * then empty. A zeroed struct may be freed.
 */
int rsc_code_loops_find(struct rsc_code_loops *loops, const struct rsc_code_bytes *code);
void rsc_code_loops_free(struct rsc_code_loops *loops);

/* The innermost loop of the instruction at an address, or RSC_NO_LOOP. */
uint32_t rsc_code_loops_at(const struct rsc_code_loops *loops, uint64_t address);

#endif
