/* narrow_tally.c - see narrow_tally.h. */
#include "distance/count/narrow_tally.h"

#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

_Static_assert(sizeof(struct rsc_tally_cell) == 64, "a cell is one cache line");

static size_t bytes_of(uint32_t cells) { return (size_t)cells * sizeof(struct rsc_tally_cell); }

int rsc_narrow_tally_init(struct rsc_narrow_tally *tally, uint32_t rows_max) {
    memset(tally, 0, sizeof *tally);
    uint32_t room = rows_max + rows_max / 4 + 16;
    tally->cells = rsc_pages_new(bytes_of(room));
    if (!tally->cells) return RSC_ENOMEM;
    tally->rows_max = tally->cell_count = rows_max;
    tally->cell_room = room;
    return 0;
}

void rsc_narrow_tally_free(struct rsc_narrow_tally *tally) {
    rsc_pages_free(tally->cells, bytes_of(tally->cell_room));
    memset(tally, 0, sizeof *tally);
}

int rsc_narrow_tally_copy(struct rsc_narrow_tally *copy, const struct rsc_narrow_tally *tally, uint32_t used_rows) {
    *copy = *tally;
    copy->cells = rsc_pages_copy(tally->cells, bytes_of(used_rows), bytes_of(tally->cell_room));
    if (!copy->cells) {
        memset(copy, 0, sizeof *copy);
        return RSC_ENOMEM;
    }
    memcpy(copy->cells + tally->rows_max, tally->cells + tally->rows_max,
           bytes_of(tally->cell_count - tally->rows_max));
    return 0;
}

/* A new cell + 1; 0: out of memory. Cells may move. */
static uint32_t cell_new(struct rsc_narrow_tally *tally) {
    if (tally->cell_count == tally->cell_room) {
        uint32_t room = tally->cell_room < UINT32_MAX / 2 ? 2 * tally->cell_room : 0;
        struct rsc_tally_cell *cells =
            room ? rsc_pages_grow(tally->cells, bytes_of(tally->cell_room), bytes_of(room)) : NULL;
        if (!cells) return 0;
        tally->cells = cells;
        tally->cell_room = room;
    }
    return ++tally->cell_count;
}

void rsc_narrow_tally_add(struct rsc_narrow_tally *tally, uint32_t row, uint32_t bin, uint64_t count) {
    for (uint32_t at = row;;) {
        struct rsc_tally_cell *cell = &tally->cells[at];
        for (uint32_t i = 0; i < cell->used; i++) {
            if (cell->bin[i] != bin) continue;
            cell->count[i] += count;
            return;
        }
        if (cell->used < RSC_CELL_BINS) {
            cell->bin[cell->used] = (uint8_t)bin;
            cell->count[cell->used++] = count;
            return;
        }
        if (!cell->next) {
            uint32_t next = cell_new(tally);
            if (!next) {
                tally->failed = 1;
                return;
            }
            tally->cells[at].next = next;
        }
        at = tally->cells[at].next - 1;
    }
}

void rsc_narrow_tally_add_row(struct rsc_narrow_tally *tally, uint32_t row, struct rsc_tally *from, uint32_t from_row) {
    const struct rsc_tally_row *counts = &from->rows[from_row];
    for (uint32_t half = 0; half < 2; half++)
        for (uint64_t left = counts->used[half]; left; left &= left - 1) {
            uint32_t bin = half * 64 + (uint32_t)__builtin_ctzll(left);
            rsc_narrow_tally_add(tally, row, bin, rsc_tally_count(from, from_row, bin));
        }
}

uint64_t rsc_narrow_tally_read(const struct rsc_narrow_tally *tally, uint32_t row, uint64_t *cold,
                               uint64_t *invalidated, struct rsc_histogram *rd) {
    uint64_t total = 0;
    for (uint32_t at = row + 1; at; at = tally->cells[at - 1].next) {
        const struct rsc_tally_cell *cell = &tally->cells[at - 1];
        for (uint32_t i = 0; i < cell->used; i++) {
            total += cell->count[i];
            if (cell->bin[i] == RSC_TALLY_COLD) {
                if (cold) *cold += cell->count[i];
            } else if (cell->bin[i] == RSC_TALLY_INVALIDATED) {
                if (invalidated) *invalidated += cell->count[i];
            } else if (rd) {
                rd->count[cell->bin[i] - 1] += cell->count[i];
            }
        }
    }
    return total;
}
