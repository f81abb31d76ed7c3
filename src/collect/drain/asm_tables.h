/*
 * asm_tables.h - the static tables of rebuilt programs (runtime/pieces/asm_abi.h), in
 * the parent: which process loaded which module, with its tables copied from the ring
 * and decoded.
 */
#ifndef RSC_COLLECT_DRAIN_ASM_TABLES_H
#define RSC_COLLECT_DRAIN_ASM_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/pieces/piece_table.h"
#include "runtime/ring/ring.h"

/*
 * Decodes a module's tables into memory that the caller frees. The program can overwrite its tables at any time,
 * so they are copied first. *words_left: at first RSC_PLAN_WORDS, as tables do not overlap in the ring; read each once.
 * Returns 0 or RSC_ENOMEM. *memory NULL: its bounds are invalid.
 */
int rsc_asm_table_read(struct rsc_piece_table *table, void **memory, const struct rsc_asm_module *module,
                       const struct rsc_ring *ring, uint64_t *words_left);

struct rsc_asm_tables;
struct rsc_asm_tables *rsc_asm_tables_new(void);
void rsc_asm_tables_free(struct rsc_asm_tables *tables);

/* Adds a module of a process. Invalid tables are ignored. Returns 0 or RSC_ENOMEM. */
int rsc_asm_tables_add(struct rsc_asm_tables *tables, uint64_t process, const struct rsc_asm_module *module,
                       const struct rsc_ring *ring);

/* Lookup cache for a module; zeros: empty. The newest module at an address counts. */
struct rsc_asm_place {
    struct rsc_piece_table table;
    uint64_t process;
    uint64_t added; /* number of modules at the last lookup */
};

/* The piece whose table is at an address of the process; NULL: unknown. `place` is a cache between calls. */
const struct rsc_piece *rsc_asm_tables_find(const struct rsc_asm_tables *tables, struct rsc_asm_place *place,
                                            uint64_t process, uint64_t address);

#endif
