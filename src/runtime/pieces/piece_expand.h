/*
 * piece_expand.h - computes the addresses that an execution of a piece touched from the words it
 * wrote (asm_abi.h). Used by both the parent and the program itself.
 *
 * An execution is expanded into records, as many at a time as fit. Accesses of repeated strings
 * are joined line by line. An access whose words are zero was not made: an earlier instruction
 * faulted, or the program was killed.
 */
#ifndef RSC_RUNTIME_PIECES_PIECE_EXPAND_H
#define RSC_RUNTIME_PIECES_PIECE_EXPAND_H

#include "runtime/pieces/piece_table.h"

/* Iterations of a run that began. The words are not trusted: the result is at most RSC_ASM_LEAST_ROOM. */
static inline uint32_t rsc_piece_turns(const struct rsc_piece *piece, const uint64_t *words) {
    uint64_t counted = words[1] - (uint64_t)RSC_ASM_RECORD;
    if (counted > RSC_ASM_RUN_MOST + piece->turn_words) return 0; /* it was left before its first iteration */
    return piece->turn_words ? (uint32_t)counted / piece->turn_words : (uint32_t)counted;
}

/* Those whose words are all among the `count` available. */
static inline uint32_t rsc_piece_whole_turns(const struct rsc_piece *piece, const uint64_t *words, uint32_t count) {
    uint32_t turns = count < piece->words ? 0 : rsc_piece_turns(piece, words);
    if (turns && piece->words + turns * piece->turn_words > count) turns = (count - piece->words) / piece->turn_words;
    return turns;
}

/* The address of a plain access, from its words in an iteration (0 if there are none). */
static inline uint64_t rsc_piece_sum(const struct rsc_piece_access *access, uint64_t base, uint64_t index,
                                     uint64_t turn) {
    return (base + index * access->scale + (uint64_t)access->disp + turn * (uint64_t)(int64_t)access->step) &
           RSC_PIECE_ADDRESS;
}

/* Whether it was made. If not, an earlier instruction faulted, and its words were not written. */
static inline int rsc_piece_reached(const struct rsc_piece_access *access, uint64_t base, uint64_t index) {
    return !access->base || (base | index) != 0;
}

/* The same from all words; words[0] is zero, so that "none" needs no branch. */
static inline uint64_t rsc_piece_address(const struct rsc_piece_access *access, const uint64_t *words, uint64_t turn) {
    return rsc_piece_sum(access, words[access->base + turn * access->base_moves],
                         words[access->index + turn * access->index_moves], turn);
}

/* Writes the record of a plain access, if it was made. Returns the next place to write. */
static inline struct rsc_record *rsc_piece_put(const struct rsc_piece_access *access, const uint64_t *words,
                                               uint64_t turn, struct rsc_record *record) {
    uint64_t base = words[access->base + turn * access->base_moves],
             index = words[access->index + turn * access->index_moves];
    record->addr = rsc_piece_sum(access, base, index, turn);
    record->word = access->word;
    return record + rsc_piece_reached(access, base, index);
}

/* All records of a plain piece, at most piece->count; for a run, those of one iteration. */
static inline struct rsc_record *rsc_piece_put_plain(const struct rsc_piece *piece, const uint64_t *words,
                                                     uint64_t turn, struct rsc_record *record) {
    for (uint32_t i = 0; i < piece->count; i++) record = rsc_piece_put(&piece->accesses[i], words, turn, record);
    return record;
}

/* How far an execution has been expanded; zeros: at its start. */
struct rsc_piece_progress {
    uint32_t turn;
    uint32_t access;
    uint64_t element; /* of a string */
};

#define RSC_PIECE_ROOM 32u /* records that one access makes at most, except strings */

/*
 * Continues an execution of `turns` iterations (1 if it is not a run), in order. words[0] is zero. Writes at most
 * `room` records, which must be at least RSC_PIECE_ROOM; returns how many. It is complete when progress->turn is
 * `turns`.
 */
uint32_t rsc_piece_expand(const struct rsc_piece *piece, const uint64_t *words, uint32_t turns,
                          struct rsc_piece_progress *progress, struct rsc_record *records,
                          uint32_t room) RSC_PIECES_HIDDEN;

/* Address of the return address, for a piece that ends with a call or return; 0: not known. */
static inline uint64_t rsc_piece_stack(const struct rsc_piece *piece, const uint64_t *words) {
    if (!piece->tells_stack) return 0;
    const struct rsc_piece_access *last = &piece->accesses[piece->count - 1];
    uint64_t base = last->base ? words[last->base] : 0, index = last->index ? words[last->index] : 0;
    return rsc_piece_reached(last, base, index) ? rsc_piece_sum(last, base, index, 0) : 0;
}

/*
 * The first byte of an access, and how many bytes it spans; 0: it was not made. Masked elements include the gaps
 * between them. For gathered ones, `pick` chooses the element. Any words[0].
 */
uint64_t rsc_piece_span(const struct rsc_piece_access *access, const uint64_t *words, uint64_t pick,
                        uint64_t *address) RSC_PIECES_HIDDEN;

/*
 * Whether the access touched any of the bytes from `first` to `last`. Masked elements include the gaps between them.
 * Any words[0].
 */
int rsc_piece_touches(const struct rsc_piece_access *access, const uint64_t *words, uint64_t first,
                      uint64_t last) RSC_PIECES_HIDDEN;

#endif
