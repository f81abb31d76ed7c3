/*
 * rank_bitmap.h - a bitmap with rank: bits are set at the end, cleared anywhere,
 * and the number of set bits before any position is known.
 *
 * This is the core of exact reuse distance. A reference sets a bit after all
 * others (its *slot*: its place in time) and clears the bit of the line's
 * previous use, so one bit is set per distinct line, in order of last use.
 * Lines used since slot s = set bits after s = total - before(s) - 1. Places may
 * be skipped: the next bit may be set any distance ahead.
 *
 * Layout, from the bottom:
 *   line   64 bytes: 7 words of bits and 1 word with seven 9-bit counts, count w
 *          = bits set in words 0..w-1 of this line. A slot is line * 512 + place,
 *          place < 448; places 448..511 do not exist.
 *   group  32 lines; per line a u16: bits set in earlier lines of its group.
 *   level  16 children per node; per child a u32: bits set in earlier siblings.
 *
 * All counts look backwards, so setting a bit after all others changes none: a
 * count is written when filling first reaches its word ("entering") and only
 * decreases after that. Counts of places not yet entered hold garbage, and
 * decrementing them with their neighbours is harmless: a borrow between the packed
 * 9-bit counts moves upwards, into places not entered either. Clearing a bit updates
 * all later siblings at each level, entered or not: testing for that would be an
 * unpredictable branch (1.04 to 1.1 times as long on uniform and zipf traces).
 *
 * An update subtracts a row of a 0/1 table from 64 bytes of counts: one or a few
 * vector operations, depending on the width the including file is compiled for (see
 * cpu.h).
 */
#ifndef RSC_BASE_RANK_BITMAP_H
#define RSC_BASE_RANK_BITMAP_H

#include <stdint.h>

#define RSC_RANK_LINE_SLOTS 448u
#define RSC_RANK_LEVELS_MAX 6

/* The 32 counts of a group, the 16 of a node. */
typedef uint16_t rsc_rank_lines_counts __attribute__((vector_size(64), may_alias));
typedef uint32_t rsc_rank_nodes_counts __attribute__((vector_size(64), may_alias));

struct rsc_rank_bitmap {
    uint64_t *lines;                        /* 8 words per line */
    uint16_t *group;                        /* one per line */
    uint32_t *level[RSC_RANK_LEVELS_MAX];   /* level[0]: one per group, level[k+1]: one per node of level k */
    uint32_t level_count;
    uint32_t line_count; /* a multiple of 32; the last lines have no places: see rsc_rank_nowhere() */
    uint32_t word;       /* the last word entered: slot >> 6 */
    uint64_t set;        /* bits set */
};

/*
 * Room for at least `places`, none of them set. Returns 0, RSC_ENOMEM, or
 * RSC_ELIMIT above RSC_RANK_PLACES_MAX, which keeps slots below 2^31 - 1. A zeroed
 * struct may always be freed.
 */
#define RSC_RANK_PLACES_MAX 1870000000ull
int rsc_rank_init(struct rsc_rank_bitmap *rank, uint64_t places);
void rsc_rank_free(struct rsc_rank_bitmap *rank);

/* Clears all bits, then sets the first `set` places. */
void rsc_rank_fill(struct rsc_rank_bitmap *rank, uint64_t set);

/*
 * Declares the first `lines` lines entered: the caller has written their words and their counts
 * (rsc_rank_count_line()). Further bits go after them, where words must be 0.
 */
void rsc_rank_take_over(struct rsc_rank_bitmap *rank, uint32_t lines);

/* Bytes held. */
uint64_t rsc_rank_bytes(const struct rsc_rank_bitmap *rank);

/* Enters every word up to and including `word`, which is after the last one entered. */
void rsc_rank_enter(struct rsc_rank_bitmap *rank, uint32_t word);

extern const uint16_t rsc_rank_later_lines[32][32];  /* [k][j]: j > k */
extern const uint32_t rsc_rank_later_nodes[16][16];  /* [k][j]: j > k */
extern const uint64_t rsc_rank_later_words[8];       /* 1 in each 9-bit count after k */

/* Slots skip the 64 bits of counts at the end of each line; places do not. */
static inline uint32_t rsc_rank_place(uint32_t slot) { return slot - (slot >> 9) * (512 - RSC_RANK_LINE_SLOTS); }
static inline uint32_t rsc_rank_slot(uint32_t place) {
    return place + place / RSC_RANK_LINE_SLOTS * (512 - RSC_RANK_LINE_SLOTS);
}

/* The total number of places. */
static inline uint64_t rsc_rank_places(const struct rsc_rank_bitmap *rank) {
    return (uint64_t)(rank->line_count - 32) * RSC_RANK_LINE_SLOTS;
}

/* Bits set in the whole line. */
static inline uint32_t rsc_rank_line_total(const uint64_t *line) {
    return (uint32_t)(line[7] >> 54 & 511) + (uint32_t)__builtin_popcountll(line[6]);
}

/* Computes a line's counts from its words. */
static inline void rsc_rank_count_line(uint64_t *line) {
    uint64_t counts = 0, before = 0;
    for (uint32_t word = 0; word < 7; word++) {
        counts |= before << 9 * word;
        before += (uint64_t)__builtin_popcountll(line[word]);
    }
    line[7] = counts;
}

/* Sets the bit at `slot`, which is after every slot set so far. */
static inline void rsc_rank_set(struct rsc_rank_bitmap *rank, uint32_t slot) {
    if (slot >> 6 != rank->word) rsc_rank_enter(rank, slot >> 6);
    rank->lines[slot >> 6] |= 1ull << (slot & 63);
    rank->set++;
}

/* Sets `count` places starting at `place`, which is after every one set so far. */
void rsc_rank_set_range(struct rsc_rank_bitmap *rank, uint32_t place, uint32_t count);

/* Bits set before `slot`. */
static inline uint32_t rsc_rank_before(const struct rsc_rank_bitmap *rank, uint32_t slot) {
    uint32_t line_index = slot >> 9, word = slot >> 6 & 7, node = line_index >> 5;
    const uint64_t *line = rank->lines + (uint64_t)line_index * 8;
    uint64_t below = line[word] & ((1ull << (slot & 63)) - 1);
    uint32_t before =
        (uint32_t)(line[7] >> 9 * word & 511) + (uint32_t)__builtin_popcountll(below) + rank->group[line_index];
    for (uint32_t k = 0; k < rank->level_count; k++, node >>= 4) before += rank->level[k][node];
    return before;
}

/*
 * A slot that is never set. Clearing it is harmless, so a caller need not test for it. It is after all places, last in
 * its line, group and nodes.
 */
static inline uint32_t rsc_rank_nowhere(const struct rsc_rank_bitmap *rank) {
    return (rank->line_count - 1) << 9 | (RSC_RANK_LINE_SLOTS - 1);
}

/* rsc_rank_take() for a caller that knows the number of levels and counts the set bits itself. */
static inline __attribute__((always_inline)) uint32_t rsc_rank_take_uncounted(const struct rsc_rank_bitmap *rank,
                                                                              uint32_t slot, uint32_t levels) {
    uint32_t line_index = slot >> 9, word = slot >> 6 & 7, node = line_index >> 5;
    uint64_t *line = rank->lines + (uint64_t)line_index * 8;
    uint64_t bits = line[word], counts = line[7], bit = 1ull << (slot & 63);
    uint32_t before = (uint32_t)(counts >> 9 * word & 511) + (uint32_t)__builtin_popcountll(bits & (bit - 1)) +
                      rank->group[line_index];
    line[word] = bits & ~bit;
    line[7] = counts - rsc_rank_later_words[word];
    *(rsc_rank_lines_counts *)(rank->group + (line_index & ~31u)) -=
        *(const rsc_rank_lines_counts *)rsc_rank_later_lines[line_index & 31];
    for (uint32_t k = 0; k < levels; k++, node >>= 4) {
        uint32_t *level = rank->level[k];
        before += level[node];
        *(rsc_rank_nodes_counts *)(level + (node & ~15u)) -=
            *(const rsc_rank_nodes_counts *)rsc_rank_later_nodes[node & 15];
    }
    return before;
}

/* Clears the set bit at `slot` and returns the number of bits set before it. */
static inline uint32_t rsc_rank_take(struct rsc_rank_bitmap *rank, uint32_t slot) {
    rank->set--;
    return rsc_rank_take_uncounted(rank, slot, rank->level_count);
}

/* Clears the last bit: no count includes it yet. */
static inline void rsc_rank_take_last(struct rsc_rank_bitmap *rank, uint32_t slot) {
    rank->lines[slot >> 6] &= ~(1ull << (slot & 63));
    rank->set--;
}

/* always_inline: gcc considers a function that only prefetches empty and drops calls to it. */
static inline __attribute__((always_inline)) void rsc_rank_prefetch(const struct rsc_rank_bitmap *rank, uint32_t slot) {
    __builtin_prefetch(rank->lines + (uint64_t)(slot >> 9) * 8, 1);
    __builtin_prefetch(rank->group + (slot >> 9), 1);
}

#endif
