/*
 * rank_bitmap.h - a bitmap that is filled from the front, whose bits are taken
 * away anywhere, and that knows how many set bits stand before any of them.
 *
 * This is the heart of exact reuse distance. Each reference appends a set bit (a
 * *slot*: its place in time) and takes away the bit of the line's previous use,
 * so that one bit is set per distinct line, in order of last use. Lines used
 * since slot s = set bits after s = total - before(s) - 1.
 *
 * Layout, from the bottom:
 *   line   64 bytes: 7 words of bits and 1 word with seven 9-bit counts, count w
 *          = bits set in words 0..w-1 of this line. A slot is line * 512 + place,
 *          place < 448; places 448..511 do not exist.
 *   group  32 lines; per line a u16: bits set in earlier lines of its group.
 *   level  16 children a node; per child a u32: bits set in earlier siblings.
 *
 * All counts look backwards, so appending changes none: a count is written when
 * filling first reaches its place ("entering") and only ever goes down after
 * that. Counts of places not yet entered hold rubbish, and decrementing them
 * with their neighbours does no harm: a borrow between the packed 9-bit counts
 * moves upwards, into places not entered either. Taking a bit away updates later
 * siblings at each level up to the first node that filling has not left yet.
 *
 * The update loops have constant trip counts and subtract a row of a 0/1 table:
 * every compiler turns them into one or two vector operations, for whatever
 * machine the including file is compiled (see cpu.h).
 */
#ifndef RSC_BASE_RANK_BITMAP_H
#define RSC_BASE_RANK_BITMAP_H

#include <stdint.h>

#define RSC_RANK_LINE_SLOTS 448u
#define RSC_RANK_LEVELS_MAX 6

struct rsc_rank_bitmap {
    uint64_t *lines;                        /* 8 words a line */
    uint16_t *group;                        /* one a line */
    uint32_t *level[RSC_RANK_LEVELS_MAX];   /* level[0]: one a group, level[k+1]: one a node of level k */
    uint32_t level_count;
    uint32_t line_count; /* capacity, a multiple of 32 */
    uint32_t top;        /* the slot that the next append will take */
    uint64_t set;        /* bits set */
};

/*
 * Room for at least `places` appends. Returns 0, RSC_ENOMEM, or RSC_ELIMIT above
 * RSC_RANK_PLACES_MAX. A zeroed struct may always be freed.
 */
#define RSC_RANK_PLACES_MAX 3700000000ull
int rsc_rank_init(struct rsc_rank_bitmap *rank, uint64_t places);
void rsc_rank_free(struct rsc_rank_bitmap *rank);

/* Empties it and appends `set` bits, as if one by one. */
void rsc_rank_fill(struct rsc_rank_bitmap *rank, uint64_t set);

/* Bytes held. */
uint64_t rsc_rank_bytes(const struct rsc_rank_bitmap *rank);

/* Writes the counts of a line, group and nodes that filling has just reached. */
void rsc_rank_enter_line(struct rsc_rank_bitmap *rank, uint32_t line);

extern const uint16_t rsc_rank_later_lines[32][32];  /* [k][j]: j > k */
extern const uint32_t rsc_rank_later_nodes[16][16];  /* [k][j]: j > k */
extern const uint64_t rsc_rank_later_words[8];       /* 1 in each 9-bit count after k */

/* Number of the place: 0 for the first append since the last fill of 0, and so on. */
static inline uint64_t rsc_rank_place(uint32_t slot) {
    return (uint64_t)(slot >> 9) * RSC_RANK_LINE_SLOTS + (slot & 511);
}
static inline uint32_t rsc_rank_slot(uint64_t place) {
    return (uint32_t)(place / RSC_RANK_LINE_SLOTS) << 9 | (uint32_t)(place % RSC_RANK_LINE_SLOTS);
}

static inline int rsc_rank_full(const struct rsc_rank_bitmap *rank) { return rank->top >> 9 >= rank->line_count; }

/* Bits set in the whole line. */
static inline uint32_t rsc_rank_line_total(const uint64_t *line) {
    return (uint32_t)(line[7] >> 54 & 511) + (uint32_t)__builtin_popcountll(line[6]);
}

/* Sets the bit at the top and returns its slot. The bitmap may not be full. */
static inline uint32_t rsc_rank_append(struct rsc_rank_bitmap *rank) {
    uint32_t slot = rank->top, line_index = slot >> 9, place = slot & 511, word = place >> 6;
    uint64_t *line = rank->lines + (uint64_t)line_index * 8;
    if ((place & 63) == 0) {
        if (word == 0) {
            rsc_rank_enter_line(rank, line_index);
        } else {
            uint64_t before = (line[7] >> 9 * (word - 1) & 511) + (uint64_t)__builtin_popcountll(line[word - 1]);
            line[7] = (line[7] & ((1ull << 9 * word) - 1)) | before << 9 * word;
        }
    }
    line[word] |= 1ull << (place & 63);
    rank->set++;
    rank->top = place == RSC_RANK_LINE_SLOTS - 1 ? (line_index + 1) << 9 : slot + 1;
    return slot;
}

/* Bits set before `slot`. */
static inline uint64_t rsc_rank_before(const struct rsc_rank_bitmap *rank, uint32_t slot) {
    uint32_t line_index = slot >> 9, word = slot >> 6 & 7, node = line_index >> 5;
    const uint64_t *line = rank->lines + (uint64_t)line_index * 8;
    uint64_t below = line[word] & ((1ull << (slot & 63)) - 1);
    uint64_t before = (line[7] >> 9 * word & 511) + (uint64_t)__builtin_popcountll(below) + rank->group[line_index];
    for (uint32_t k = 0; k < rank->level_count; k++, node >>= 4) before += rank->level[k][node];
    return before;
}

/* Takes away the set bit at `slot`, which was appended before. */
static inline void rsc_rank_take(struct rsc_rank_bitmap *rank, uint32_t slot) {
    uint32_t line_index = slot >> 9, word = slot >> 6 & 7;
    uint64_t *line = rank->lines + (uint64_t)line_index * 8;
    line[word] &= ~(1ull << (slot & 63));
    line[7] -= rsc_rank_later_words[word];
    rank->set--;

    uint32_t top_line = rank->top >> 9;
    if (line_index == top_line) return;
    uint16_t *group = rank->group + (line_index & ~31u);
    const uint16_t *later = rsc_rank_later_lines[line_index & 31];
    for (int j = 0; j < 32; j++) group[j] = (uint16_t)(group[j] - later[j]);

    uint32_t node = line_index >> 5, top_node = top_line >> 5;
    for (uint32_t k = 0; node != top_node && k < rank->level_count; k++, node >>= 4, top_node >>= 4) {
        uint32_t *siblings = rank->level[k] + (node & ~15u);
        const uint32_t *after = rsc_rank_later_nodes[node & 15];
        for (int j = 0; j < 16; j++) siblings[j] -= after[j];
    }
}

/* Takes away the bit appended last, whose slot is given: nothing was entered after it. */
static inline void rsc_rank_take_last(struct rsc_rank_bitmap *rank, uint32_t slot) {
    rank->lines[(uint64_t)(slot >> 9) * 8 + (slot >> 6 & 7)] &= ~(1ull << (slot & 63));
    rank->set--;
}

static inline void rsc_rank_prefetch(const struct rsc_rank_bitmap *rank, uint32_t slot) {
    __builtin_prefetch(rank->lines + (uint64_t)(slot >> 9) * 8, 1);
    __builtin_prefetch(rank->group + (slot >> 9), 1);
}

#endif
