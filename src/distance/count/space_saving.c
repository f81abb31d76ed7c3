/* space_saving.c - replacing rows; see space_saving.h. */
#include "distance/count/space_saving.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

static size_t slot_bytes(const struct rsc_space_saving *table) {
    return ((size_t)table->slot_mask + 1) * sizeof *table->slots;
}

int rsc_space_saving_init(struct rsc_space_saving *table, uint32_t rows) {
    memset(table, 0, sizeof *table);
    uint32_t bits = 4;
    while (1ull << bits < 2ull * rows) bits++;
    table->row_count = rows;
    table->slot_mask = (uint32_t)((1ull << bits) - 1);
    table->slot_shift = 64 - bits;
    table->rows = calloc(rows, sizeof *table->rows);
    table->error = calloc(rows, sizeof *table->error);
    table->next = malloc(rows * sizeof *table->next);
    table->slots = rsc_pages_new(slot_bytes(table));
    if (table->rows && table->error && table->next && table->slots && rsc_tally_init(&table->tally, rows) == 0)
        return 0;
    rsc_space_saving_free(table);
    return RSC_ENOMEM;
}

void rsc_space_saving_free(struct rsc_space_saving *table) {
    free(table->rows);
    free(table->error);
    free(table->next);
    rsc_pages_free(table->slots, slot_bytes(table));
    rsc_tally_free(&table->tally);
    memset(table, 0, sizeof *table);
}

/* ---- keys ---- */

static void slot_add(struct rsc_space_saving *table, uint64_t key, uint32_t row) {
    uint32_t at = rsc_space_saving_home(table, key);
    while (table->slots[at].row) at = (at + 1) & table->slot_mask;
    table->slots[at] = (struct rsc_space_slot){.key = key, .row = row + 1};
}

/* Moves up the keys after the gap that a search would no longer find. */
static void slot_remove(struct rsc_space_saving *table, uint64_t key) {
    uint32_t mask = table->slot_mask, gap = rsc_space_saving_home(table, key);
    while (table->slots[gap].key != key || !table->slots[gap].row) {
        assert(table->slots[gap].row);
        gap = (gap + 1) & mask;
    }
    for (uint32_t at = (gap + 1) & mask; table->slots[at].row; at = (at + 1) & mask) {
        uint32_t home = rsc_space_saving_home(table, table->slots[at].key);
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        table->slots[gap] = table->slots[at];
        gap = at;
    }
    table->slots[gap].row = 0;
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
        if (list_of(table, table->rows[row].count) != list) {
            list_push(table, row, table->rows[row].count);
            continue;
        }
        if (table->rows[row].count < least) least = table->rows[row].count;
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

/* Takes a row with the smallest count off its list, which must not be empty. */
static uint32_t list_take(struct rsc_space_saving *table) {
    for (;;) {
        uint32_t list = (uint32_t)__builtin_ctzll(table->filled);
        if (list) {
            list_spread(table, list);
            continue;
        }
        uint32_t row = table->head[0] - 1;
        table->head[0] = table->next[row];
        if (!table->head[0]) table->filled &= ~1ull;
        if (table->rows[row].count == table->smallest) return row;
        list_push(table, row, table->rows[row].count);
    }
}

uint32_t rsc_space_saving_admit(struct rsc_space_saving *table, uint64_t key) {
    uint32_t row;
    if (table->used < table->row_count) {
        row = table->used++;
    } else {
        row = list_take(table);
        if (table->leaving) table->leaving(table->owner, row);
        slot_remove(table, table->rows[row].key);
        rsc_tally_clear(&table->tally, row);
        table->error[row] = table->rows[row].count;
    }
    table->rows[row].key = key;
    slot_add(table, key, row);
    list_push(table, row, table->rows[row].count + 1); /* the caller counts it */
    return row;
}
