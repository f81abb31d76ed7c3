/*
 * code_loops.h - the loops of a function, recovered from its machine code.
 *
 * The code is decoded from end to end (Zydis; x86-64 only), cut into basic blocks at
 * jumps and where they lead, and the graph of the blocks has the loops
 * (flow_loops.h). A jump by a table (switch) leads where the table says, if the code
 * before it is one of the forms that gcc and clang make; where a jump goes to what is
 * in a register and no table is found, it is taken to lead to every block that
 * nothing else leads to. Calls come back, but for those of functions that are known
 * not to; jumps out of the function leave it, but for jumps to parts of it that lie
 * elsewhere: what the compiler takes for cold, and what `reusescope cc` puts beside
 * a program's own code to record from.
 */
#ifndef RSC_COLLECT_SYMBOLS_CODE_LOOPS_H
#define RSC_COLLECT_SYMBOLS_CODE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "collect/symbols/flow_loops.h"

/* A function's code, and how to read the data that its jump tables are in. */
struct rsc_code_bytes {
    const uint8_t *code; /* the machine code at `address` */
    uint64_t address;
    size_t bytes;
    /* `bytes` at `address` of the module's memory, as its file has them; NULL: not in the file. */
    const uint8_t *(*read)(void *module, uint64_t address, size_t bytes);
    /* Does the function at `address`, or the one whose address is in memory there (`is_slot`), never return? May be NULL. */
    int (*never_returns)(void *module, uint64_t address, int is_slot);
    /* The code at `address` if it is a part of this function, *room bytes of it; NULL: it is not. May be NULL. */
    const uint8_t *(*elsewhere)(void *module, uint64_t address, size_t *room);
    void *module;
};

struct rsc_code_loop {
    uint64_t header; /* address of its first instruction */
    uint64_t latch_start, latch; /* of the first and last instruction of a block that goes back to the header */
    uint32_t parent; /* index of the loop around it, lower than its own, or RSC_NO_LOOP */
    uint32_t depth; /* from 1 */
    uint32_t entries; /* 1; more where it is entered in several places */
};

struct rsc_code_block {
    uint64_t start;
    uint32_t loop; /* innermost, or RSC_NO_LOOP */
};

struct rsc_code_loops {
    struct rsc_code_loop *loops; /* owned */
    size_t count;
    struct rsc_code_block *blocks; /* owned; by start, without a gap up to `end`: not those of parts elsewhere */
    size_t block_count;
    uint64_t end;
};

/* Whether this build can decode code at all. */
int rsc_code_loops_known(void);

/* More code than this in one function is not looked at. */
#define RSC_CODE_BYTES_MAX (1u << 20)

/*
 * Whatever the bytes are, this ends and reads nothing outside them. Returns 0,
 * RSC_ENOMEM, RSC_ELIMIT (a function too large, or loops too deep) or
 * RSC_EUNSUPPORTED; *loops is empty in these cases. A zeroed struct may be freed.
 */
int rsc_code_loops_find(struct rsc_code_loops *loops, const struct rsc_code_bytes *code);
void rsc_code_loops_free(struct rsc_code_loops *loops);

/* The innermost loop of the instruction at an address, or RSC_NO_LOOP. */
uint32_t rsc_code_loops_at(const struct rsc_code_loops *loops, uint64_t address);

#endif
