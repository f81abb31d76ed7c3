/*
 * asm_tables.h - the static tables of rebuilt programs (runtime/pieces/asm_abi.h) in the
 * parent: copied out of the ring, checked, and put into the form in which expanding
 * is quick.
 */
#ifndef RSC_COLLECT_DRAIN_ASM_TABLES_H
#define RSC_COLLECT_DRAIN_ASM_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/pieces/asm_abi.h"
#include "runtime/ring/ring.h"

/* One access, or for other kinds than PLAIN the accesses of an entry. */
struct rsc_rebuilt_entry {
    uint64_t word; /* of its record: direction, size, pc */
    int64_t disp;  /* absolute for operands relative to the instruction */
    uint8_t base, index, scale, kind; /* base 0: no word is looked at */
    uint8_t count, flags;
    uint16_t size;
    int64_t step;                     /* of a run: added each turn */
    uint16_t base_moves, index_moves; /* of a run: words that base and index are further on each turn */
};

struct rsc_rebuilt_block {
    uint64_t pc, last_pc;
    const struct rsc_rebuilt_entry *entries;
    uint32_t count;
    uint32_t records; /* that an execution makes at most, strings aside */
    uint16_t words, reserved, instructions;
    uint8_t is_run;
    uint16_t turn_words; /* of a run */
    uint8_t ends;  /* enum rsc_plan_end */
    uint8_t plain; /* all its entries are */
    uint8_t tells_stack; /* its call or return is its last entry: where the stack is */
};

struct rsc_asm_tables;
struct rsc_asm_tables *rsc_asm_tables_new(void);
void rsc_asm_tables_free(struct rsc_asm_tables *tables);

/* Takes in a module of a process. Tables that make no sense are left out. Returns 0 or RSC_ENOMEM. */
int rsc_asm_tables_add(struct rsc_asm_tables *tables, uint64_t process, const struct rsc_asm_module *module,
                       const struct rsc_ring *ring);

/* A module as its pieces are looked for; zeros: none yet. The newest one at an address counts. */
struct rsc_asm_place {
    uint64_t start, stop, process;
    const struct rsc_rebuilt_block *blocks;
    const uint32_t *numbers; /* of the block that begins there, plus 1, by address / 8; 0: none */
    uint64_t added;          /* modules known when it was looked for */
};

/* The piece whose table is at an address of the process; NULL: none is known. `place` remembers between calls. */
const struct rsc_rebuilt_block *rsc_asm_tables_find(const struct rsc_asm_tables *tables, struct rsc_asm_place *place,
                                                    uint64_t process, uint64_t address);

#endif
