/*
 * own_pieces.h - the static tables of rebuilt code (asm_abi.h) as a thread needs them
 * that looks at its own words, instead of leaving that to the parent.
 *
 * Made when a module is registered, from the copy in the ring, in memory of their
 * own; never changed or given back afterwards, so that any thread may read them at
 * any time.
 */
#ifndef RSC_RUNTIME_PIECES_OWN_PIECES_H
#define RSC_RUNTIME_PIECES_OWN_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/pieces/asm_abi.h"
#include "runtime/ring/ring.h"

/* One access, or for other kinds than PLAIN those of an entry in one direction. */
struct rsc_own_entry {
    uint64_t word; /* of its record: direction, size, pc */
    int64_t disp;  /* absolute for operands relative to the instruction */
    uint16_t size;
    uint8_t base, index, scale, kind, count, flags; /* base, index 0: none */
    uint64_t tag;  /* size less 1, in bits 48 to 63 */
    uint32_t form; /* of a piece that is `plain`: which of its forms the address is made from, by adding disp */
    int32_t step;  /* of a run: what each turn adds to the address */
    uint16_t base_moves, index_moves; /* of a run: words that base and index are further on each turn */
};

/* Registers that addresses are made from: several accesses often share them. */
struct rsc_own_form {
    uint8_t base, index, scale;
    uint16_t base_moves, index_moves; /* words from one execution, or turn, to the next */
    int32_t step;                     /* added from turn to turn */
};
#define RSC_OWN_FORMS_MAX 16u

struct rsc_own_piece {
    uint64_t pc, last_pc;
    const struct rsc_own_entry *entries;
    uint16_t count, words, reserved, instructions; /* reserved: of a run, with one turn */
    uint16_t turn_words; /* of a run: words of each turn, behind `words` */
    uint8_t is_run;
    uint16_t weight;     /* accesses as the countdown counts them */
    uint8_t ends;        /* enum rsc_plan_end */
    uint8_t plain;       /* all its entries are, and none is longer than a line of 64 bytes */
    uint8_t form_count;  /* 0: more than RSC_OWN_FORMS_MAX, or not plain */
    struct rsc_own_form forms[RSC_OWN_FORMS_MAX];
    uint8_t tells_stack; /* its call or return is its last entry: where the stack is */
};

/* Where pieces are looked for first; zeros: nowhere yet. */
struct rsc_own_place {
    uint64_t start, stop;
    const struct rsc_own_piece *pieces;
    const uint32_t *numbers; /* by address / 8: piece, plus 1 */
};

/* Takes in a module whose tables were copied to `plan`. Returns 0, or -1: no memory, or too many modules. */
int rsc_own_pieces_add(uint64_t start, uint64_t stop, const void *plan) __attribute__((visibility("hidden")));

/* The piece whose table is at the address; NULL: none is. */
const struct rsc_own_piece *rsc_own_piece_search(struct rsc_own_place *place, uint64_t address)
    __attribute__((visibility("hidden")));

static inline const struct rsc_own_piece *rsc_own_piece_find(struct rsc_own_place *place, uint64_t address) {
    if (__builtin_expect(address - place->start >= place->stop - place->start, 0))
        return rsc_own_piece_search(place, address);
    uint32_t number = address % 8 ? 0 : place->numbers[(address - place->start) / 8];
    return number ? &place->pieces[number - 1] : NULL;
}

/* Turns of a run that began. */
static inline uint32_t rsc_own_turns(const struct rsc_own_piece *piece, const uint64_t *words) {
    uint64_t counted = words[1] - (uint64_t)RSC_ASM_RECORD;
    if (counted > RSC_ASM_RUN_MOST + piece->turn_words) return 0; /* it was left before its first turn */
    return piece->turn_words ? (uint32_t)counted / piece->turn_words : (uint32_t)counted;
}

/*
 * Every access of an execution, in order: `put` is called with the address and the
 * word of its record. `words` are the piece's, words[0] being zero. Of a run: of one turn, from 0 on.
 */
typedef void rsc_own_put(void *context, uint64_t addr, uint64_t word);
void rsc_own_expand(const struct rsc_own_piece *piece, const uint64_t *words, uint32_t turn, rsc_own_put *put,
                    void *context) __attribute__((visibility("hidden")));

#endif
