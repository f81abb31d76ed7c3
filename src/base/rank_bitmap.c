/*
 * rank_bitmap.c - the parts of rank_bitmap.h that run once per word (64 places)
 * or less, and its constant tables.
 */
#include "base/rank_bitmap.h"

#include <assert.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

/* Row k: zeros up to and including k, then ones. */
#define ONES_16(k)                                                                \
    {0 > (k), 1 > (k), 2 > (k),  3 > (k),  4 > (k),  5 > (k),  6 > (k),  7 > (k), \
     8 > (k), 9 > (k), 10 > (k), 11 > (k), 12 > (k), 13 > (k), 14 > (k), 15 > (k)}
#define ONES_32(k)                                                                                                 \
    {0 > (k),  1 > (k),  2 > (k),  3 > (k),  4 > (k),  5 > (k),  6 > (k),  7 > (k),  8 > (k),  9 > (k),  10 > (k), \
     11 > (k), 12 > (k), 13 > (k), 14 > (k), 15 > (k), 16 > (k), 17 > (k), 18 > (k), 19 > (k), 20 > (k), 21 > (k), \
     22 > (k), 23 > (k), 24 > (k), 25 > (k), 26 > (k), 27 > (k), 28 > (k), 29 > (k), 30 > (k), 31 > (k)}

__attribute__((aligned(64))) const uint16_t rsc_rank_later_lines[32][32] = {
    ONES_32(0),  ONES_32(1),  ONES_32(2),  ONES_32(3),  ONES_32(4),  ONES_32(5),  ONES_32(6),  ONES_32(7),
    ONES_32(8),  ONES_32(9),  ONES_32(10), ONES_32(11), ONES_32(12), ONES_32(13), ONES_32(14), ONES_32(15),
    ONES_32(16), ONES_32(17), ONES_32(18), ONES_32(19), ONES_32(20), ONES_32(21), ONES_32(22), ONES_32(23),
    ONES_32(24), ONES_32(25), ONES_32(26), ONES_32(27), ONES_32(28), ONES_32(29), ONES_32(30), ONES_32(31),
};

__attribute__((aligned(64))) const uint32_t rsc_rank_later_nodes[16][16] = {
    ONES_16(0), ONES_16(1), ONES_16(2),  ONES_16(3),  ONES_16(4),  ONES_16(5),  ONES_16(6),  ONES_16(7),
    ONES_16(8), ONES_16(9), ONES_16(10), ONES_16(11), ONES_16(12), ONES_16(13), ONES_16(14), ONES_16(15),
};

#define COUNT_ONE(w) (1ull << 9 * (w))
const uint64_t rsc_rank_later_words[8] = {
    COUNT_ONE(1) + COUNT_ONE(2) + COUNT_ONE(3) + COUNT_ONE(4) + COUNT_ONE(5) + COUNT_ONE(6),
    COUNT_ONE(2) + COUNT_ONE(3) + COUNT_ONE(4) + COUNT_ONE(5) + COUNT_ONE(6),
    COUNT_ONE(3) + COUNT_ONE(4) + COUNT_ONE(5) + COUNT_ONE(6),
    COUNT_ONE(4) + COUNT_ONE(5) + COUNT_ONE(6),
    COUNT_ONE(5) + COUNT_ONE(6),
    COUNT_ONE(6),
    0,
    0,
};

/* Children at a level, rounded up to whole nodes of 16. */
static uint64_t level_entries(uint32_t line_count, uint32_t level) {
    uint64_t entries = line_count / 32;
    while (level--) entries = (entries + 15) / 16;
    return (entries + 15) / 16 * 16;
}

/* Writes the counts of the group and nodes that contain a line just entered. */
static void enter_group(struct rsc_rank_bitmap *rank, uint32_t line) {
    const uint64_t *words = rank->lines + (uint64_t)line * 8;
    if (line & 31) {
        rank->group[line] = (uint16_t)(rank->group[line - 1] + rsc_rank_line_total(words - 8));
        return;
    }
    rank->group[line] = 0;
    uint32_t node = line >> 5;
    /* Bits below the previous sibling, at the current level. */
    uint32_t left = line ? rank->group[line - 1] + rsc_rank_line_total(words - 8) : 0;
    for (uint32_t k = 0; k < rank->level_count; k++, node >>= 4) {
        if (node & 15) {
            rank->level[k][node] = rank->level[k][node - 1] + left;
            return;
        }
        if (node) left += rank->level[k][node - 1];
        rank->level[k][node] = 0;
    }
}

static void enter_line(struct rsc_rank_bitmap *rank, uint32_t line) {
    rank->lines[(uint64_t)line * 8 + 7] = 0;
    enter_group(rank, line);
}

int rsc_rank_init(struct rsc_rank_bitmap *rank, uint64_t places) {
    memset(rank, 0, sizeof *rank);
    if (places > RSC_RANK_PLACES_MAX) return RSC_ELIMIT;
    uint64_t lines = places / RSC_RANK_LINE_SLOTS + 1;
    rank->line_count = (uint32_t)((lines + 31) / 32 * 32) + 32;
    rank->lines = rsc_pages_new((uint64_t)rank->line_count * 64);
    rank->group = rsc_pages_new((uint64_t)rank->line_count * sizeof *rank->group);
    if (!rank->lines || !rank->group) goto no_memory;
    for (uint64_t nodes = rank->line_count / 32;; nodes = (nodes + 15) / 16) {
        uint32_t level = rank->level_count;
        rank->level[level] = rsc_pages_new(level_entries(rank->line_count, level) * sizeof **rank->level);
        if (!rank->level[level]) goto no_memory;
        rank->level_count++;
        if (nodes <= 16) break;
    }
    enter_line(rank, 0);
    return 0;

no_memory:
    rsc_rank_free(rank);
    return RSC_ENOMEM;
}

void rsc_rank_free(struct rsc_rank_bitmap *rank) {
    rsc_pages_free(rank->lines, (uint64_t)rank->line_count * 64);
    rsc_pages_free(rank->group, (uint64_t)rank->line_count * sizeof *rank->group);
    for (uint32_t k = 0; k < rank->level_count; k++)
        rsc_pages_free(rank->level[k], level_entries(rank->line_count, k) * sizeof **rank->level);
    memset(rank, 0, sizeof *rank);
}

uint64_t rsc_rank_bytes(const struct rsc_rank_bitmap *rank) {
    uint64_t bytes = (uint64_t)rank->line_count * (64 + sizeof *rank->group);
    for (uint32_t k = 0; k < rank->level_count; k++) bytes += level_entries(rank->line_count, k) * sizeof **rank->level;
    return bytes;
}

void rsc_rank_enter(struct rsc_rank_bitmap *rank, uint32_t word) {
    assert(word > rank->word && word >> 3 < rank->line_count);
    while (rank->word != word) {
        rank->word++;
        uint64_t *line = rank->lines + (rank->word & ~7u);
        uint32_t place = rank->word & 7;
        if (place == 7) continue; /* the counts themselves */
        if (place == 0) {
            enter_line(rank, rank->word >> 3);
            continue;
        }
        uint64_t before = (line[7] >> 9 * (place - 1) & 511) + (uint64_t)__builtin_popcountll(line[place - 1]);
        line[7] = (line[7] & ((1ull << 9 * place) - 1)) | before << 9 * place;
    }
}

void rsc_rank_set_range(struct rsc_rank_bitmap *rank, uint32_t place, uint32_t count) {
    assert((uint64_t)place + count <= rsc_rank_places(rank));
    rank->set += count;
    for (uint32_t part; count; place += part, count -= part) {
        uint32_t slot = rsc_rank_slot(place), bit = slot & 63;
        part = 64 - bit < count ? 64 - bit : count;
        if (slot >> 6 != rank->word) rsc_rank_enter(rank, slot >> 6);
        rank->lines[slot >> 6] |= ~0ull >> (64 - part) << bit;
    }
}

void rsc_rank_fill(struct rsc_rank_bitmap *rank, uint64_t set) {
    assert(set <= rsc_rank_places(rank));
    memset(rank->lines, 0, (uint64_t)rank->line_count * 64);
    enter_line(rank, 0);
    rank->word = 0;
    rank->set = set;
    uint64_t whole = set / RSC_RANK_LINE_SLOTS;
    for (uint32_t line = 0; line < whole; line++) {
        uint64_t *words = rank->lines + (uint64_t)line * 8;
        if (line) enter_line(rank, line);
        memset(words, 0xff, 56);
        for (uint32_t word = 0; word < 7; word++) words[7] |= (uint64_t)word * 64 << 9 * word;
        rank->word = line << 3 | 6;
    }
    for (uint64_t place = whole * RSC_RANK_LINE_SLOTS; place < set; place++) {
        rsc_rank_set(rank, rsc_rank_slot(place));
        rank->set--;
    }
}

void rsc_rank_take_over(struct rsc_rank_bitmap *rank, uint32_t lines) {
    rank->set = 0;
    for (uint32_t line = 0; line < lines; line++) {
        enter_group(rank, line);
        rank->set += rsc_rank_line_total(rank->lines + (uint64_t)line * 8);
    }
    rank->word = lines ? lines * 8 - 1 : 0;
    if (!lines) enter_line(rank, 0);
}
