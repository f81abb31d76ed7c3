/*
 * tally.h - very many small histograms of reuse distance, one row per instruction,
 * pair or object.
 *
 * A row has a counter for cold references and one per coarse bin of distance, so one
 * increment counts a reference and no total is kept. Counters are 32 bits wide to
 * save cache; a counter that wraps carries into a side table. One bit per counter
 * marks those ever used, so emptying a row touches only those.
 */
#ifndef RSC_DISTANCE_COUNT_TALLY_H
#define RSC_DISTANCE_COUNT_TALLY_H

#include <stdint.h>

#include "base/histogram.h"
#include "base/u64_table.h"

#define RSC_TALLY_COLD 0u
#define RSC_TALLY_BINS 124u /* cold, then coarse bins up to 2.5 Gi lines, more than rank_bitmap.h can distinguish, */
#define RSC_TALLY_INVALIDATED (RSC_TALLY_BINS - 1) /* and references to lines that were taken away */

struct rsc_tally_row {
    uint32_t count[RSC_TALLY_BINS];
    uint64_t used[2]; /* bit b: count[b] is not 0 or has carried */
};

struct rsc_tally {
    struct rsc_tally_row *rows; /* 512 bytes each */
    uint32_t row_count;
    int failed;                   /* a carry was lost: out of memory */
    struct rsc_u64_table carried; /* row << 7 | bin -> times it wrapped + 1 */
};

/* Returns 0 or RSC_ENOMEM. A zeroed tally may always be freed. */
int rsc_tally_init(struct rsc_tally *tally, uint32_t row_count);
void rsc_tally_free(struct rsc_tally *tally);
int rsc_tally_copy(struct rsc_tally *copy, const struct rsc_tally *tally, uint32_t used); /* the first `used` rows */

/* The counter of a distance; UINT32_MAX is cold, one less invalidated. Distances from `cap` on count as cap. */
static inline uint32_t rsc_tally_bin(uint32_t rd, uint32_t cap) {
    uint32_t bin = 1 + rsc_bin_of_coarse(rd < cap ? rd : cap);
    if (bin >= RSC_TALLY_INVALIDATED) bin = RSC_TALLY_INVALIDATED - 1;
    if (rd == UINT32_MAX) bin = RSC_TALLY_COLD;
    return rd == UINT32_MAX - 1 ? RSC_TALLY_INVALIDATED : bin;
}

/* After a counter became 1, which may be its first time, or wrapped to 0. */
void rsc_tally_turn(struct rsc_tally *tally, uint32_t row, uint32_t bin);

static inline void rsc_tally_add(struct rsc_tally *tally, uint32_t row, uint32_t bin) {
    uint32_t count = ++tally->rows[row].count[bin];
    if (__builtin_expect(count <= 1, 0)) rsc_tally_turn(tally, row, bin);
}

/* Counts a bin of a row `count` times. */
void rsc_tally_add_sum(struct rsc_tally *tally, uint32_t row, uint32_t bin, uint32_t count);

/* Empties a row. */
void rsc_tally_clear(struct rsc_tally *tally, uint32_t row);

/* Reads a row: returns its total, adds the distances to rd (RSC_BINS_COARSE; may be NULL), sets *cold. */
uint64_t rsc_tally_read(struct rsc_tally *tally, uint32_t row, uint64_t *cold, struct rsc_histogram *rd);

/* One counter of a row. */
uint64_t rsc_tally_count(struct rsc_tally *tally, uint32_t row, uint32_t bin);

#endif
