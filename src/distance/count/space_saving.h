/*
 * space_saving.h - finds the most frequent of very many keys, in a table of fixed
 * size.
 *
 * The space-saving rule (Metwally, Agrawal and El Abbadi, 2005): a key with a row
 * counts there; a new key takes a free row or, if there is none, the row with the
 * smallest count, and continues from that count. So with n counted in a table of k
 * rows
 *     count - error <= true count <= count,
 * where error is the inherited count, and every key with a true count above n / k has
 * a row. A row's histogram (tally.h) is cleared when the row is replaced: its total
 * is count - error.
 *
 * Most keys of a long tail come a few times and never again; each would replace a row
 * for nothing. A *filtered* table (Homem and Carvalho, 2010) has cells that keys
 * without a row share by hash. Such a key counts in its cell, which is an upper bound
 * of what it had so far, and gets a row when the cell reaches the smallest count. A
 * replaced key leaves its count in its cell. The bounds above hold: a cell is never
 * larger than the smallest count, and a new row never starts from more than it.
 *
 * The smallest count never decreases, so a radix heap finds it: rows are listed by
 * the highest bit in which their count differs from the smallest. Counting leaves a
 * row in its list; it moves to the right list when it is next visited.
 */
#ifndef RSC_DISTANCE_COUNT_SPACE_SAVING_H
#define RSC_DISTANCE_COUNT_SPACE_SAVING_H

#include <stdint.h>

#include "distance/count/tally.h"

struct rsc_space_slot {
    uint64_t key;
    uint32_t row; /* its row + 1; 0: empty */
    uint32_t reserved;
};

struct rsc_space_row {
    uint64_t key;
    uint64_t count;
};

struct rsc_space_saving {
    uint32_t row_count; /* of the table; `used` of them have a key */
    uint32_t used;
    struct rsc_tally tally;
    /* NULL, or called with a row that is about to be replaced and cleared. */
    void (*leaving)(void *owner, uint32_t row);
    void *owner;
    struct rsc_space_row *rows; /* owned */
    uint64_t *error;            /* by row; owned */

    struct rsc_space_slot *slots; /* key -> row: linear probing, at most half full */
    uint32_t slot_mask, slot_shift;

    uint64_t smallest;   /* all counts are at least this */
    uint64_t filled;     /* bit b: list b is not empty */
    uint32_t head[64];   /* rows + 1 by bit of difference from smallest; 0: none */
    uint32_t *next;      /* by row: the next of its list + 1 */

    uint16_t *cells; /* filtered: 4 for each slot, by the hash of a key; else NULL. Owned */
    uint64_t *has_row; /* filtered: bit c: a key of cell c has a row; small enough for L1. Owned */
    uint64_t replaced; /* rows so far */
};

/* rows >= 1. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_space_saving_init(struct rsc_space_saving *table, uint32_t rows);
void rsc_space_saving_free(struct rsc_space_saving *table);
int rsc_space_saving_copy(struct rsc_space_saving *copy, const struct rsc_space_saving *table); /* of the same owner */

/* The same, filtered. */
int rsc_space_saving_init_filtered(struct rsc_space_saving *table, uint32_t rows);

/*
 * Filtered, for `key`, which has no row, to be counted `count` times: a row to count it in; or RSC_SPACE_NO_ROW, and it
 * was counted in its cell.
 */
uint32_t rsc_space_saving_offer(struct rsc_space_saving *table, uint64_t key, uint64_t hash, uint32_t count);

/* Gives `key`, which has no row, a row and returns it. */
uint32_t rsc_space_saving_admit(struct rsc_space_saving *table, uint64_t key);

/* One multiplication: slots and cells are its upper bits. */
static inline uint64_t rsc_space_saving_hash(uint64_t key) {
    unsigned __int128 product = (unsigned __int128)(key ^ 0xA0761D6478BD642Full) * 0xE7037ED1A0B428DBull;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* always_inline: gcc drops calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void rsc_space_saving_prefetch(const struct rsc_space_saving *table,
                                                                            uint64_t hash) {
    __builtin_prefetch(&table->slots[hash >> table->slot_shift]);
}

/* The row of `key`, or RSC_SPACE_NO_ROW. Valid until the next key is admitted. */
#define RSC_SPACE_NO_ROW UINT32_MAX
static inline uint32_t rsc_space_saving_find_hashed(const struct rsc_space_saving *table, uint64_t key, uint64_t hash) {
    const struct rsc_space_slot *slot;
    uint64_t at = hash >> table->slot_shift;
    while ((slot = &table->slots[at])->row && slot->key != key) at = (at + 1) & table->slot_mask;
    return slot->row - 1;
}
static inline uint32_t rsc_space_saving_find(const struct rsc_space_saving *table, uint64_t key) {
    return rsc_space_saving_find_hashed(table, key, rsc_space_saving_hash(key));
}

/* The cell of a key with that hash. */
static inline uint64_t rsc_space_saving_cell(const struct rsc_space_saving *table, uint64_t hash) {
    return hash >> (table->slot_shift - 2);
}

/* As rsc_space_saving_find_hashed(), in a filtered table: most keys without a row are found to have none without a search. */
static inline uint32_t rsc_space_saving_find_filtered(const struct rsc_space_saving *table, uint64_t key,
                                                      uint64_t hash) {
    const uint64_t cell = rsc_space_saving_cell(table, hash);
    if (!(table->has_row[cell >> 6] >> (cell & 63) & 1)) return RSC_SPACE_NO_ROW;
    return rsc_space_saving_find_hashed(table, key, hash);
}

/* Fetches what rsc_space_saving_find_filtered(), or rsc_space_saving_offer() if it finds none, will read. */
static inline __attribute__((always_inline)) void
rsc_space_saving_prefetch_filtered(const struct rsc_space_saving *table, uint64_t hash) {
    const uint64_t cell = rsc_space_saving_cell(table, hash);
    const int may = table->has_row[cell >> 6] >> (cell & 63) & 1;
    __builtin_prefetch(may ? (const void *)&table->slots[hash >> table->slot_shift] : &table->cells[cell], 1);
}

/* Counts a row `count` times, in counter `bin` of its tally. */
static inline void rsc_space_saving_add_sum(struct rsc_space_saving *table, uint32_t row, uint32_t bin,
                                            uint32_t count) {
    table->rows[row].count += count;
    rsc_tally_add_sum(&table->tally, row, bin, count);
}

/* Counts a row once, in counter `bin` of its tally. */
static inline void rsc_space_saving_add(struct rsc_space_saving *table, uint32_t row, uint32_t bin) {
    table->rows[row].count++;
    rsc_tally_add(&table->tally, row, bin);
}

/* Counts `key` once. */
static inline void rsc_space_saving_count(struct rsc_space_saving *table, uint64_t key, uint32_t bin) {
    uint32_t row = rsc_space_saving_find(table, key);
    rsc_space_saving_add(table, row == RSC_SPACE_NO_ROW ? rsc_space_saving_admit(table, key) : row, bin);
}

#endif
