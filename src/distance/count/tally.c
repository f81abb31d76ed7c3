/* tally.c - see tally.h. */
#include "distance/count/tally.h"

#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

_Static_assert(sizeof(struct rsc_tally_row) == 512, "rows are whole cache lines");

int rsc_tally_init(struct rsc_tally *tally, uint32_t row_count) {
    memset(tally, 0, sizeof *tally);
    tally->rows = rsc_pages_new((size_t)row_count * sizeof *tally->rows);
    if (!tally->rows) return RSC_ENOMEM;
    tally->row_count = row_count;
    return 0;
}

void rsc_tally_free(struct rsc_tally *tally) {
    rsc_pages_free(tally->rows, (size_t)tally->row_count * sizeof *tally->rows);
    rsc_u64_table_free(&tally->carried);
    memset(tally, 0, sizeof *tally);
}

int rsc_tally_copy(struct rsc_tally *copy, const struct rsc_tally *tally, uint32_t used) {
    *copy = (struct rsc_tally){.row_count = tally->row_count, .failed = tally->failed};
    copy->rows = rsc_pages_copy(tally->rows, used * sizeof *tally->rows, tally->row_count * sizeof *tally->rows);
    if (copy->rows && rsc_u64_table_copy(&copy->carried, &tally->carried) == 0) return 0;
    rsc_tally_free(copy);
    return RSC_ENOMEM;
}

static uint64_t carry_key(uint32_t row, uint32_t bin) { return (uint64_t)row << 7 | bin; }

static void mark_used(struct rsc_tally *tally, uint32_t row, uint32_t bin) {
    tally->rows[row].used[bin >> 6] |= 1ull << (bin & 63);
}

/* A counter wrapped. */
static void carry(struct rsc_tally *tally, uint32_t row, uint32_t bin) {
    struct rsc_u64_table *carried = &tally->carried;
    if (!carried->entries && rsc_u64_table_init(carried, 0) < 0) {
        tally->failed = 1;
        return;
    }
    struct rsc_u64_entry *entry = rsc_u64_table_find(carried, carry_key(row, bin));
    if (!entry->value) {
        if (rsc_u64_table_needs_rebuild(carried)) {
            if (rsc_u64_table_rebuild(carried) < 0) {
                tally->failed = 1;
                return;
            }
            entry = rsc_u64_table_find(carried, carry_key(row, bin));
        }
        entry->key = carry_key(row, bin);
        entry->value = 1;
        carried->used++;
    }
    entry->value++;
}

void rsc_tally_turn(struct rsc_tally *tally, uint32_t row, uint32_t bin) {
    if (tally->rows[row].count[bin]) mark_used(tally, row, bin);
    else carry(tally, row, bin);
}

void rsc_tally_add_sum(struct rsc_tally *tally, uint32_t row, uint32_t bin, uint32_t count) {
    uint32_t *counter = &tally->rows[row].count[bin];
    if (!count) return;
    if (!*counter) mark_used(tally, row, bin); /* the first time, or after it wrapped to 0 */
    if (__builtin_add_overflow(*counter, count, counter)) carry(tally, row, bin);
}

static uint64_t carries(struct rsc_tally *tally, uint32_t row, uint32_t bin) {
    if (!tally->carried.entries) return 0;
    const struct rsc_u64_entry *entry = rsc_u64_table_find(&tally->carried, carry_key(row, bin));
    return entry->value ? entry->value - 1 : 0;
}

void rsc_tally_clear(struct rsc_tally *tally, uint32_t row) {
    struct rsc_tally_row *counts = &tally->rows[row];
    for (uint32_t half = 0; half < 2; half++) {
        for (uint64_t left = counts->used[half]; left; left &= left - 1) {
            uint32_t bin = half * 64 + (uint32_t)__builtin_ctzll(left);
            counts->count[bin] = 0;
            if (carries(tally, row, bin)) rsc_u64_table_find(&tally->carried, carry_key(row, bin))->value = 1;
        }
        counts->used[half] = 0;
    }
}

uint64_t rsc_tally_count(struct rsc_tally *tally, uint32_t row, uint32_t bin) {
    return tally->rows[row].count[bin] + (carries(tally, row, bin) << 32);
}

uint64_t rsc_tally_read(struct rsc_tally *tally, uint32_t row, uint64_t *cold, struct rsc_histogram *rd) {
    const struct rsc_tally_row *counts = &tally->rows[row];
    uint64_t total = 0;
    *cold = 0;
    for (uint32_t half = 0; half < 2; half++) {
        for (uint64_t left = counts->used[half]; left; left &= left - 1) {
            uint32_t bin = half * 64 + (uint32_t)__builtin_ctzll(left);
            uint64_t count = counts->count[bin] + (carries(tally, row, bin) << 32);
            total += count;
            if (bin == RSC_TALLY_COLD) *cold = count;
            else if (rd && bin != RSC_TALLY_INVALIDATED) rd->count[bin - 1] += count;
        }
    }
    return total;
}
