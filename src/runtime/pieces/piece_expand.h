/*
 * piece_expand.h - which addresses an execution of a piece touched: the one place that makes them
 * of the words it wrote (asm_abi.h), for the parent and for the program itself.
 *
 * An execution becomes records, as many at a time as there is room for. Accesses of repeated
 * strings are joined line by line. An access whose words are zero was not made: an instruction
 * before it faulted, or the program was killed.
 */
#ifndef RSC_RUNTIME_PIECES_PIECE_EXPAND_H
#define RSC_RUNTIME_PIECES_PIECE_EXPAND_H

#include "runtime/pieces/piece_table.h"

/* Turns of a run that began. Nothing in the words is trusted: they are at most RSC_ASM_LEAST_ROOM in all. */
static inline uint32_t rsc_piece_turns(const struct rsc_piece *piece, const uint64_t *words) {
    uint64_t counted = words[1] - (uint64_t)RSC_ASM_RECORD;
    if (counted > RSC_ASM_RUN_MOST + piece->turn_words) return 0; /* it was left before its first turn */
    return piece->turn_words ? (uint32_t)counted / piece->turn_words : (uint32_t)counted;
}

/* Those of which all words are among the `count` that there are. */
static inline uint32_t rsc_piece_whole_turns(const struct rsc_piece *piece, const uint64_t *words, uint32_t count) {
    uint32_t turns = count < piece->words ? 0 : rsc_piece_turns(piece, words);
    if (turns && piece->words + turns * piece->turn_words > count) turns = (count - piece->words) / piece->turn_words;
    return turns;
}

/* The address of a plain access, of its words in a turn (0 where there are none). */
static inline uint64_t rsc_piece_sum(const struct rsc_piece_access *access, uint64_t base, uint64_t index,
                                     uint64_t turn) {
    return (base + index * access->scale + (uint64_t)access->disp + turn * (uint64_t)(int64_t)access->step) &
           RSC_PIECE_ADDRESS;
}

/* Was it made? Else an instruction before it faulted, and its words were not written. */
static inline int rsc_piece_reached(const struct rsc_piece_access *access, uint64_t base, uint64_t index) {
    return !access->base || (base | index) != 0;
}

/* The same from all words, of which words[0] is zero, so that "none" needs no question. */
static inline uint64_t rsc_piece_address(const struct rsc_piece_access *access, const uint64_t *words, uint64_t turn) {
    return rsc_piece_sum(access, words[access->base + turn * access->base_moves],
                         words[access->index + turn * access->index_moves], turn);
}

/* Writes the record of a plain access, if it was made. Returns where the next is written. */
static inline struct rsc_record *rsc_piece_put(const struct rsc_piece_access *access, const uint64_t *words,
                                               uint64_t turn, struct rsc_record *record) {
    uint64_t base = words[access->base + turn * access->base_moves],
             index = words[access->index + turn * access->index_moves];
    record->addr = rsc_piece_sum(access, base, index, turn);
    record->word = access->word;
    return record + rsc_piece_reached(access, base, index);
}

/* All records of a piece that is plain, at most piece->count; of a run those of one turn. */
static inline struct rsc_record *rsc_piece_put_plain(const struct rsc_piece *piece, const uint64_t *words,
                                                     uint64_t turn, struct rsc_record *record) {
    for (uint32_t i = 0; i < piece->count; i++) record = rsc_piece_put(&piece->accesses[i], words, turn, record);
    return record;
}

/* How far an execution has been expanded; zeros: it begins. */
struct rsc_piece_progress {
    uint32_t turn;
    uint32_t access;
    uint64_t element; /* of a string */
};

#define RSC_PIECE_ROOM 32u /* records: as many as one access makes at most, strings aside */

/*
 * Goes on with an execution of `turns` turns (1 of what is no run), in order. words[0] is zero. Writes at most `room`
 * records, RSC_PIECE_ROOM at least; returns how many. All are there when progress->turn is `turns`.
 */
uint32_t rsc_piece_expand(const struct rsc_piece *piece, const uint64_t *words, uint32_t turns,
                          struct rsc_piece_progress *progress, struct rsc_record *records,
                          uint32_t room) RSC_PIECES_HIDDEN;

/* Where a piece that ends with a call or return has the return address; 0: it does not tell. */
static inline uint64_t rsc_piece_stack(const struct rsc_piece *piece, const uint64_t *words) {
    if (!piece->tells_stack) return 0;
    const struct rsc_piece_access *last = &piece->accesses[piece->count - 1];
    uint64_t base = last->base ? words[last->base] : 0, index = last->index ? words[last->index] : 0;
    return rsc_piece_reached(last, base, index) ? rsc_piece_sum(last, base, index, 0) : 0;
}

/*
 * Where an access went, from which byte on, and how many bytes up to its last; 0: it was not made. Those of masked
 * elements span what lies between. Of gathered ones, the element is told that `pick` chooses. Any words[0].
 */
uint64_t rsc_piece_span(const struct rsc_piece_access *access, const uint64_t *words, uint64_t pick,
                        uint64_t *address) RSC_PIECES_HIDDEN;

/* Did the access touch any of the bytes from `first` to `last`? Of masked elements: or what lies between. Any words[0]. */
int rsc_piece_touches(const struct rsc_piece_access *access, const uint64_t *words, uint64_t first,
                      uint64_t last) RSC_PIECES_HIDDEN;

#endif
