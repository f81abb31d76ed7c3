/*
 * piece_table.h - decodes the tables of rebuilt code (asm_abi.h): which accesses a piece makes,
 * and which of its words their addresses come from. The parent uses it for a program's words, a
 * thread of the program for its own; piece_expand.h computes the addresses.
 *
 * Nothing in a table is trusted: an invalid piece is left out. The caller provides the memory,
 * which never changes afterwards, so any thread may read it at any time.
 */
#ifndef RSC_RUNTIME_PIECES_PIECE_TABLE_H
#define RSC_RUNTIME_PIECES_PIECE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/pieces/asm_abi.h"
#include "runtime/ring/ring.h"

#define RSC_PIECES_HIDDEN __attribute__((visibility("hidden")))
#define RSC_PIECE_ADDRESS 0xffffffffffffull /* bits in an address */
#define RSC_PIECE_LINE 64u                  /* strings are expanded line by line */

/* One access; for kinds other than PLAIN, those of an entry in one direction. */
struct rsc_piece_access {
    uint64_t word; /* of its record: direction, size, pc */
    int64_t disp;  /* absolute for instruction-relative operands */
    int32_t step;  /* in a run: increment of the address per iteration */
    uint16_t base_moves, index_moves; /* in a run: by how many words base and index advance per iteration */
    uint16_t size;    /* bytes; per element if there are several */
    uint16_t ordinal; /* index as the countdown counts accesses; parts of a long one share it */
    uint8_t base, index, scale; /* words; base, index 0: none, scale then 0 */
    uint8_t kind; /* enum rsc_asm_kind; RIP is PLAIN here */
    uint8_t count, flags;
    uint8_t form; /* in a piece with forms: the form to which disp is added to make the address */
};

/* Registers that addresses are computed from: several accesses often share them. */
struct rsc_piece_form {
    int32_t step;                     /* increment per iteration */
    uint16_t base_moves, index_moves; /* words from one execution, or iteration, to the next */
    uint8_t base, index, scale;
};
#define RSC_PIECE_FORMS_MAX 16u

struct rsc_piece {
    uint64_t pc, last_pc; /* of its first and its last instruction */
    const struct rsc_piece_access *accesses;
    const struct rsc_piece_form *forms;
    uint16_t count;      /* accesses */
    uint16_t words;      /* in an execution; in a run, those written once */
    uint16_t reserved;   /* words from one execution to the next; in a run, with one iteration */
    uint16_t turn_words; /* in a run: words of each iteration, after `words` */
    uint16_t instructions;
    uint16_t weight; /* accesses as the countdown counts them */
    uint8_t is_run;
    uint8_t ends;             /* enum rsc_plan_end */
    uint8_t plain;            /* all its accesses are plain */
    uint8_t narrow;           /* plain, and none is longer than RSC_PIECE_LINE */
    uint8_t form_count;       /* 0: more than RSC_PIECE_FORMS_MAX, or not narrow */
    uint8_t tells_stack;      /* its call or return is its last access, and shows where the stack is */
    uint8_t counter_register; /* register that holds the countdown in its fast copy, plus 1; 0: in memory */
};

/* ---- one piece ---- */

/* Iterates over the accesses of a piece without allocating them. */
struct rsc_piece_cursor {
    const struct rsc_asm_entry *entries;
    const int32_t *steps; /* of a run */
    uint32_t entry, entry_count;
    uint32_t ordinal; /* of the entry's first access */
    uint32_t done;    /* directions of the entry: RSC_ASM_READS, RSC_ASM_WRITES */
    uint32_t part;    /* bytes of the access in earlier parts */
};

/*
 * Starts with a piece whose table is at `address` in the program and has `bytes` here, at `block`, aligned to 8.
 * Fills all of `piece` except what depends on its accesses (accesses, count, forms). Returns 0 if the table is
 * invalid.
 */
int rsc_piece_open(struct rsc_piece_cursor *cursor, struct rsc_piece *piece, uint64_t address,
                   const struct rsc_asm_block *block, size_t bytes) RSC_PIECES_HIDDEN;

/* The next access. Returns 1, 0 if there is none left, -1 if it is invalid. */
int rsc_piece_next(struct rsc_piece_cursor *cursor, const struct rsc_piece *piece,
                   struct rsc_piece_access *access) RSC_PIECES_HIDDEN;

/* ---- the pieces of a module ---- */

struct rsc_piece_table {
    uint64_t start, stop; /* of the tables in the program; both 0: none */
    const struct rsc_piece *pieces;
    const uint32_t *numbers; /* by (address - start) / 8: the piece whose table begins there, plus 1; 0: none */
    uint32_t count;
};

/* Sizes for the pieces of some tables. */
struct rsc_piece_counts {
    size_t pieces, accesses, forms;
    size_t bytes; /* bytes of memory for them */
};

/* Counts the tables from `start` to `stop`; their copy, with RIP entries completed, is at `copy`. */
void rsc_piece_table_count(struct rsc_piece_counts *counts, uint64_t start, uint64_t stop,
                           const void *copy) RSC_PIECES_HIDDEN;

/* Makes them in zeroed memory of counts->bytes, aligned to 8. `copy` must be unchanged, and is not needed later. */
void rsc_piece_table_make(struct rsc_piece_table *table, const struct rsc_piece_counts *counts, uint64_t start,
                          uint64_t stop, const void *copy, void *memory) RSC_PIECES_HIDDEN;

static inline int rsc_piece_table_spans(const struct rsc_piece_table *table, uint64_t address) {
    return address - table->start < table->stop - table->start;
}

/* The piece whose table begins at an address within the table's range; NULL: none. */
static inline const struct rsc_piece *rsc_piece_at(const struct rsc_piece_table *table, uint64_t address) {
    uint32_t number = address % 8 ? 0 : table->numbers[(address - table->start) / 8];
    return number ? &table->pieces[number - 1] : NULL;
}

#endif
