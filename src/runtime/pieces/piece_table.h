/*
 * piece_table.h - the one decoder of the tables of rebuilt code (asm_abi.h): which accesses a
 * piece makes, and from which of its words their addresses come. The parent uses it on what a
 * program wrote, a thread of the program on its own words; what they touch is in piece_expand.h.
 *
 * Nothing in a table is trusted: a piece that makes no sense is left out. The caller gives the
 * memory, which never changes afterwards, so that any thread may read it at any time.
 */
#ifndef RSC_RUNTIME_PIECES_PIECE_TABLE_H
#define RSC_RUNTIME_PIECES_PIECE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/pieces/asm_abi.h"
#include "runtime/ring/ring.h"

#define RSC_PIECES_HIDDEN __attribute__((visibility("hidden")))
#define RSC_PIECE_ADDRESS 0xffffffffffffull /* bits that an address has */
#define RSC_PIECE_LINE 64u                  /* strings are expanded line by line */

/* One access, or for other kinds than PLAIN those of an entry in one direction. */
struct rsc_piece_access {
    uint64_t word; /* of its record: direction, size, pc */
    int64_t disp;  /* absolute for operands relative to the instruction */
    int32_t step;  /* of a run: what each turn adds to the address */
    uint16_t base_moves, index_moves; /* of a run: words that base and index are further on each turn */
    uint16_t size;    /* bytes; of an element where there are several */
    uint16_t ordinal; /* which of the accesses that the countdown counts; parts of a long one share it */
    uint8_t base, index, scale; /* words; base, index 0: none, scale then 0 */
    uint8_t kind; /* enum rsc_asm_kind, but for RIP, which is PLAIN here */
    uint8_t count, flags;
    uint8_t form; /* of a piece with forms: which of them the address is made from, by adding disp */
};

/* Registers that addresses are made from: several accesses often share them. */
struct rsc_piece_form {
    int32_t step;                     /* added from turn to turn */
    uint16_t base_moves, index_moves; /* words from one execution, or turn, to the next */
    uint8_t base, index, scale;
};
#define RSC_PIECE_FORMS_MAX 16u

struct rsc_piece {
    uint64_t pc, last_pc; /* of its first and its last instruction */
    const struct rsc_piece_access *accesses;
    const struct rsc_piece_form *forms;
    uint16_t count;      /* accesses */
    uint16_t words;      /* of an execution; of a run, those written once */
    uint16_t reserved;   /* words from one execution to the next; of a run, with one turn */
    uint16_t turn_words; /* of a run: words of each turn, behind `words` */
    uint16_t instructions;
    uint16_t weight; /* accesses as the countdown counts them */
    uint8_t is_run;
    uint8_t ends;             /* enum rsc_plan_end */
    uint8_t plain;            /* all its accesses are */
    uint8_t narrow;           /* plain, and none is longer than RSC_PIECE_LINE */
    uint8_t form_count;       /* 0: more than RSC_PIECE_FORMS_MAX, or not narrow */
    uint8_t tells_stack;      /* its call or return is its last access: where the stack is */
    uint8_t counter_register; /* that holds the countdown in its fast copy, plus 1; 0: memory does */
};

/* ---- one piece ---- */

/* Goes through the accesses of a piece without memory for them. */
struct rsc_piece_cursor {
    const struct rsc_asm_entry *entries;
    const int32_t *steps; /* of a run */
    uint32_t entry, entry_count;
    uint32_t ordinal; /* of the entry's first access */
    uint32_t done;    /* directions of the entry: RSC_ASM_READS, RSC_ASM_WRITES */
    uint32_t part;    /* bytes of the access that earlier parts have */
};

/*
 * Begins with a piece whose table lies at `address` in the program and has `bytes` here, at `block`, aligned to 8.
 * Fills all of `piece` but what its accesses tell (accesses, count, forms). Returns 0 when the table makes no sense.
 */
int rsc_piece_open(struct rsc_piece_cursor *cursor, struct rsc_piece *piece, uint64_t address,
                   const struct rsc_asm_block *block, size_t bytes) RSC_PIECES_HIDDEN;

/* The next access. Returns 1, 0 when there is none left, -1 when it makes no sense. */
int rsc_piece_next(struct rsc_piece_cursor *cursor, const struct rsc_piece *piece,
                   struct rsc_piece_access *access) RSC_PIECES_HIDDEN;

/* ---- the pieces of a module ---- */

struct rsc_piece_table {
    uint64_t start, stop; /* of the tables in the program; both 0: none */
    const struct rsc_piece *pieces;
    const uint32_t *numbers; /* by (address - start) / 8: the piece whose table begins there, plus 1; 0: none */
    uint32_t count;
};

/* What the pieces of some tables come to. */
struct rsc_piece_counts {
    size_t pieces, accesses, forms;
    size_t bytes; /* of memory for them */
};

/* Of the tables from `start` to `stop`, a copy of which, with RIP entries completed, is at `copy`. */
void rsc_piece_table_count(struct rsc_piece_counts *counts, uint64_t start, uint64_t stop,
                           const void *copy) RSC_PIECES_HIDDEN;

/* Makes them in memory of counts->bytes, aligned to 8, that is all zeros. `copy` is as it was, and not needed later. */
void rsc_piece_table_make(struct rsc_piece_table *table, const struct rsc_piece_counts *counts, uint64_t start,
                          uint64_t stop, const void *copy, void *memory) RSC_PIECES_HIDDEN;

static inline int rsc_piece_table_spans(const struct rsc_piece_table *table, uint64_t address) {
    return address - table->start < table->stop - table->start;
}

/* The piece whose table begins at an address that the table spans; NULL: none does. */
static inline const struct rsc_piece *rsc_piece_at(const struct rsc_piece_table *table, uint64_t address) {
    uint32_t number = address % 8 ? 0 : table->numbers[(address - table->start) / 8];
    return number ? &table->pieces[number - 1] : NULL;
}

#endif
