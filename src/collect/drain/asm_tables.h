/*
 * asm_tables.h - the static tables of rebuilt programs (runtime/pieces/asm_abi.h) in the
 * parent: which process has loaded which, copied out of the ring and decoded.
 */
#ifndef RSC_COLLECT_DRAIN_ASM_TABLES_H
#define RSC_COLLECT_DRAIN_ASM_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/pieces/piece_table.h"
#include "runtime/ring/ring.h"

/*
 * A module's tables, decoded into memory that the caller frees. The program can write over its own at any time, so
 * they are copied first. Returns 0 or RSC_ENOMEM. *memory NULL: the module lies nowhere.
 */
int rsc_asm_table_read(struct rsc_piece_table *table, void **memory, const struct rsc_asm_module *module,
                       const struct rsc_ring *ring);

struct rsc_asm_tables;
struct rsc_asm_tables *rsc_asm_tables_new(void);
void rsc_asm_tables_free(struct rsc_asm_tables *tables);

/* Takes in a module of a process. Tables that make no sense are left out. Returns 0 or RSC_ENOMEM. */
int rsc_asm_tables_add(struct rsc_asm_tables *tables, uint64_t process, const struct rsc_asm_module *module,
                       const struct rsc_ring *ring);

/* A module as its pieces are looked for; zeros: none yet. The newest one at an address counts. */
struct rsc_asm_place {
    struct rsc_piece_table table;
    uint64_t process;
    uint64_t added; /* modules known when it was looked for */
};

/* The piece whose table is at an address of the process; NULL: none is known. `place` remembers between calls. */
const struct rsc_piece *rsc_asm_tables_find(const struct rsc_asm_tables *tables, struct rsc_asm_place *place,
                                            uint64_t process, uint64_t address);

#endif
