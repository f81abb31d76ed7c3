/* space_saving.c - replacing rows; see space_saving.h. */
#include "distance/count/space_saving.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/grow.h"
#include "base/pages.h"

#define CELLS_PER_SLOT 4u

static size_t slot_bytes(const struct rsc_space_saving *table) {
    return ((size_t)table->slot_mask + 1) * sizeof *table->slots;
}

/* A multiple of 64: there are 16 slots or more. */
static size_t cell_count(const struct rsc_space_saving *table) { return (table->slot_mask + 1ull) * CELLS_PER_SLOT; }

int rsc_space_saving_init(struct rsc_space_saving *table, uint32_t rows) {
    memset(table, 0, sizeof *table);
    uint32_t bits = 4;
    while (1ull << bits < 2ull * rows) bits++;
    table->row_count = rows;
    table->slot_mask = (uint32_t)((1ull << bits) - 1);
    table->slot_shift = 64 - bits;
    table->rows = calloc(rows, sizeof *table->rows);
    table->error = calloc(rows, sizeof *table->error);
    table->next = calloc(rows, sizeof *table->next);
    table->slots = rsc_pages_new(slot_bytes(table));
    if (table->rows && table->error && table->next && table->slots && rsc_tally_init(&table->tally, rows) == 0)
        return 0;
    rsc_space_saving_free(table);
    return RSC_ENOMEM;
}

int rsc_space_saving_init_filtered(struct rsc_space_saving *table, uint32_t rows) {
    if (rsc_space_saving_init(table, rows) < 0) return RSC_ENOMEM;
    table->cells = calloc(cell_count(table), sizeof *table->cells);
    table->has_row = calloc(cell_count(table) / 64, sizeof *table->has_row);
    if (table->cells && table->has_row) return 0;
    rsc_space_saving_free(table);
    return RSC_ENOMEM;
}

void rsc_space_saving_free(struct rsc_space_saving *table) {
    free(table->rows);
    free(table->error);
    free(table->next);
    free(table->cells);
    free(table->has_row);
    rsc_pages_free(table->slots, slot_bytes(table));
    rsc_tally_free(&table->tally);
    memset(table, 0, sizeof *table);
}

int rsc_space_saving_copy(struct rsc_space_saving *copy, const struct rsc_space_saving *table) {
    const size_t rows = table->row_count, cells = cell_count(table), words = cells / 64;
    *copy = *table;
    copy->rows = RSC_COPY(table->rows, rows, rows);
    copy->error = RSC_COPY(table->error, rows, rows);
    copy->next = RSC_COPY(table->next, rows, rows);
    copy->slots = rsc_pages_copy(table->slots, slot_bytes(table), slot_bytes(table));
    copy->cells = table->cells ? RSC_COPY(table->cells, cells, cells) : NULL;
    copy->has_row = table->has_row ? RSC_COPY(table->has_row, words, words) : NULL;
    int failed = rsc_tally_copy(&copy->tally, &table->tally, table->used) < 0;
    if (!failed && copy->rows && copy->error && copy->next && copy->slots && (copy->cells || !table->cells) &&
        (copy->has_row || !table->has_row))
        return 0;
    rsc_space_saving_free(copy);
    return RSC_ENOMEM;
}

/* ---- keys ---- */

static uint32_t home_of(const struct rsc_space_saving *table, uint64_t key) {
    return (uint32_t)(rsc_space_saving_hash(key) >> table->slot_shift);
}

static void slot_add(struct rsc_space_saving *table, uint64_t key, uint32_t row) {
    uint32_t at = home_of(table, key);
    while (table->slots[at].row) at = (at + 1) & table->slot_mask;
    table->slots[at] = (struct rsc_space_slot){.key = key, .row = row + 1};
    if (!table->has_row) return;
    const uint64_t cell = rsc_space_saving_cell(table, rsc_space_saving_hash(key));
    table->has_row[cell >> 6] |= 1ull << (cell & 63);
}

/* A key of that cell left: finds out whether another one has a row. */
static void look_for_rows(struct rsc_space_saving *table, uint64_t cell) {
    for (uint32_t at = (uint32_t)(cell / CELLS_PER_SLOT); table->slots[at].row; at = (at + 1) & table->slot_mask)
        if (rsc_space_saving_cell(table, rsc_space_saving_hash(table->slots[at].key)) == cell) return;
    table->has_row[cell >> 6] &= ~(1ull << (cell & 63));
}

/* Moves up the keys after the gap that a search would no longer find. */
static void slot_remove(struct rsc_space_saving *table, uint64_t key) {
    uint32_t mask = table->slot_mask, gap = home_of(table, key);
    while (table->slots[gap].key != key || !table->slots[gap].row) {
        assert(table->slots[gap].row);
        gap = (gap + 1) & mask;
    }
    for (uint32_t at = (gap + 1) & mask; table->slots[at].row; at = (at + 1) & mask) {
        uint32_t home = home_of(table, table->slots[at].key);
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        table->slots[gap] = table->slots[at];
        gap = at;
    }
    table->slots[gap].row = 0;
    if (table->has_row) look_for_rows(table, rsc_space_saving_cell(table, rsc_space_saving_hash(key)));
}

/* ---- the radix heap ---- */

static uint32_t list_of(const struct rsc_space_saving *table, uint64_t count) {
    uint64_t difference = count ^ table->smallest;
    return difference ? 64 - (uint32_t)__builtin_clzll(difference) : 0;
}

static void list_push(struct rsc_space_saving *table, uint32_t row, uint64_t count) {
    uint32_t list = list_of(table, count);
    table->next[row] = table->head[list];
    table->head[list] = row + 1;
    table->filled |= 1ull << list;
}

static void list_pop(struct rsc_space_saving *table) {
    table->head[0] = table->next[table->head[0] - 1];
    if (!table->head[0]) table->filled &= ~1ull;
}

/* For list `list` > 0, with all before it empty: rows that outgrew it leave, and its smallest count becomes the
 * smallest. */
static void list_spread(struct rsc_space_saving *table, uint32_t list) {
    uint32_t kept = 0, row;
    uint64_t least = UINT64_MAX;
    uint32_t left = table->head[list];
    table->head[list] = 0;
    table->filled &= ~(1ull << list);
    while (left) {
        row = left - 1;
        left = table->next[row];
        uint64_t count = table->rows[row].count;
        if (list_of(table, count) != list) {
            list_push(table, row, count);
            continue;
        }
        if (count < least) least = count;
        table->next[row] = kept;
        kept = row + 1;
    }
    if (!kept) return;
    table->smallest = least;
    while (kept) {
        row = kept - 1;
        kept = table->next[row];
        list_push(table, row, table->rows[row].count);
    }
}

/* Finds the smallest count of a full table. Returns a row that has it, still the first of list 0. */
static uint32_t list_least(struct rsc_space_saving *table) {
    for (;;) {
        uint32_t list = (uint32_t)__builtin_ctzll(table->filled);
        if (list) {
            list_spread(table, list);
            continue;
        }
        uint32_t row = table->head[0] - 1;
        uint64_t count = table->rows[row].count;
        if (count == table->smallest) return row;
        list_pop(table);
        list_push(table, row, count);
    }
}

/* Gives a row of count `error` to the key; the caller counts it. */
static uint32_t row_take(struct rsc_space_saving *table, uint32_t row, uint64_t key, uint64_t error) {
    table->rows[row].key = key;
    table->rows[row].count = table->error[row] = error;
    slot_add(table, key, row);
    list_push(table, row, error + 1);
    return row;
}

uint32_t rsc_space_saving_admit(struct rsc_space_saving *table, uint64_t key) {
    if (table->used < table->row_count) return row_take(table, table->used++, key, 0);
    uint32_t row = list_least(table);
    uint64_t left = table->rows[row].key;
    list_pop(table);
    if (table->leaving) table->leaving(table->owner, row);
    slot_remove(table, left);
    rsc_tally_clear(&table->tally, row);
    if (table->cells)
        table->cells[rsc_space_saving_cell(table, rsc_space_saving_hash(left))] =
            table->smallest < UINT16_MAX ? (uint16_t)table->smallest : UINT16_MAX;
    table->replaced++;
    return row_take(table, row, key, table->smallest);
}

uint32_t rsc_space_saving_offer(struct rsc_space_saving *table, uint64_t key, uint64_t hash, uint32_t count) {
    if (table->used < table->row_count) return rsc_space_saving_admit(table, key);
    uint16_t *cell = &table->cells[rsc_space_saving_cell(table, hash)];
    const uint64_t reached = (uint64_t)*cell + count;
    /* `smallest` is a lower bound until list_least() settles it; a full cell could be any count */
    if (reached > table->smallest) list_least(table);
    if (reached > table->smallest || reached > UINT16_MAX) return rsc_space_saving_admit(table, key);
    *cell = (uint16_t)reached;
    return RSC_SPACE_NO_ROW;
}
