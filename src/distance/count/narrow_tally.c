/* narrow_tally.c - see narrow_tally.h. */
#include "distance/count/narrow_tally.h"

#include <string.h>

#include <reusescope/error.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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
    rsc_u64_table_free(&tally->carried);
    memset(tally, 0, sizeof *tally);
}

int rsc_narrow_tally_copy(struct rsc_narrow_tally *copy, const struct rsc_narrow_tally *tally, uint32_t used_rows) {
    *copy = *tally;
    copy->carried = (struct rsc_u64_table){0};
    copy->cells = rsc_pages_copy(tally->cells, bytes_of(used_rows), bytes_of(tally->cell_room));
    if (!copy->cells || (tally->carried.entries && rsc_u64_table_copy(&copy->carried, &tally->carried) < 0)) {
        rsc_narrow_tally_free(copy);
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

static uint64_t carry_key(uint32_t at, uint32_t place) { return (uint64_t)at << 4 | place; }

/* A counter wrapped `times` times. */
static void carry(struct rsc_narrow_tally *tally, uint64_t key, uint64_t times) {
    struct rsc_u64_table *carried = &tally->carried;
    if ((!carried->entries && rsc_u64_table_init(carried, 0) < 0) ||
        (rsc_u64_table_needs_rebuild(carried) && rsc_u64_table_rebuild(carried) < 0)) {
        tally->failed = 1;
        return;
    }
    struct rsc_u64_entry *entry = rsc_u64_table_find(carried, key);
    carried->used += !entry->value;
    entry->key = key;
    entry->value += times;
}

/* Bit i: place i of the cell has that bin, or none. */
static inline uint32_t places_for(const struct rsc_tally_cell *cell, uint32_t bin) {
#if defined(__SSE2__)
    const __m128i bins = _mm_loadu_si128((const __m128i *)(const void *)cell->bin); /* and `next` */
    const __m128i match =
        _mm_or_si128(_mm_cmpeq_epi8(bins, _mm_set1_epi8((char)(bin + 1))), _mm_cmpeq_epi8(bins, _mm_setzero_si128()));
    return (uint32_t)_mm_movemask_epi8(match) & ((1u << RSC_CELL_BINS) - 1);
#else
    uint32_t match = 0;
    for (uint32_t i = 0; i < RSC_CELL_BINS; i++)
        match |= (uint32_t)((cell->bin[i] == bin + 1) | (cell->bin[i] == 0)) << i;
    return match;
#endif
}

void rsc_narrow_tally_add(struct rsc_narrow_tally *tally, uint32_t row, uint32_t bin, uint64_t count) {
    for (uint32_t at = row;;) {
        struct rsc_tally_cell *cell = &tally->cells[at];
        const uint32_t match = places_for(cell, bin);
        if (__builtin_expect(match != 0, 1)) { /* its own place comes before all that are free */
            const uint32_t place = (uint32_t)__builtin_ctz(match);
            cell->bin[place] = (uint8_t)(bin + 1);
            const uint64_t low = cell->count[place] + (count & UINT32_MAX), wraps = (count >> 32) + (low >> 32);
            cell->count[place] = (uint32_t)low;
            if (__builtin_expect(wraps != 0, 0)) carry(tally, carry_key(at, place), wraps);
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

uint64_t rsc_narrow_tally_read(struct rsc_narrow_tally *tally, uint32_t row, uint64_t *cold, uint64_t *invalidated,
                               struct rsc_histogram *rd) {
    uint64_t total = 0;
    for (uint32_t at = row + 1; at; at = tally->cells[at - 1].next) {
        const struct rsc_tally_cell *cell = &tally->cells[at - 1];
        for (uint32_t i = 0; i < RSC_CELL_BINS && cell->bin[i]; i++) {
            const uint32_t bin = cell->bin[i] - 1u;
            uint64_t count = cell->count[i];
            if (tally->carried.entries) count += rsc_u64_table_find(&tally->carried, carry_key(at - 1, i))->value << 32;
            total += count;
            if (bin == RSC_TALLY_COLD) {
                if (cold) *cold += count;
            } else if (bin == RSC_TALLY_INVALIDATED) {
                if (invalidated) *invalidated += count;
            } else if (rd) {
                rd->count[bin - 1] += count;
            }
        }
    }
    return total;
}
