/*
 * narrow_tally.h - very many histograms of reuse distance with few bins each: one row
 * per instruction.
 *
 * A row is a chain of 64-byte cells of up to twelve (bin, count); most rows are one cell.
 * Adding searches the chain, so this is for counts that come in sums. tally.h is the
 * wide form, with one increment per reference. The bins are those of tally.h, and so is what
 * happens to a counter of 32 bits that wraps.
 */
#ifndef RSC_DISTANCE_COUNT_NARROW_TALLY_H
#define RSC_DISTANCE_COUNT_NARROW_TALLY_H

#include <stdint.h>

#include "base/histogram.h"
#include "base/u64_table.h"
#include "distance/count/tally.h"

#define RSC_CELL_BINS 12u

struct rsc_tally_cell {
    uint32_t count[RSC_CELL_BINS];
    uint8_t bin[RSC_CELL_BINS]; /* bin + 1; 0: none, nor after it */
    uint32_t next; /* cell + 1; 0: none */
};

struct rsc_narrow_tally {
    struct rsc_tally_cell *cells; /* owned; rows_max first cells, then further ones */
    uint32_t rows_max;
    uint32_t cell_count, cell_room; /* including the first ones */
    int failed;                     /* a count was lost: out of memory */
    struct rsc_u64_table carried;   /* cell << 4 | place in it -> times its counter wrapped */
};

/* Memory is touched as rows are used. Returns 0 or RSC_ENOMEM. A zeroed tally may always be freed. */
int rsc_narrow_tally_init(struct rsc_narrow_tally *tally, uint32_t rows_max);
void rsc_narrow_tally_free(struct rsc_narrow_tally *tally);
int rsc_narrow_tally_copy(struct rsc_narrow_tally *copy, const struct rsc_narrow_tally *tally, uint32_t used_rows);

void rsc_narrow_tally_add(struct rsc_narrow_tally *tally, uint32_t row, uint32_t bin, uint64_t count);

/* Adds a row of a wide tally to a row. */
void rsc_narrow_tally_add_row(struct rsc_narrow_tally *tally, uint32_t row, struct rsc_tally *from, uint32_t from_row);

/* Reads a row: returns its total; adds to *cold, *invalidated and rd (RSC_BINS_COARSE), any of which may be NULL. */
uint64_t rsc_narrow_tally_read(struct rsc_narrow_tally *tally, uint32_t row, uint64_t *cold, uint64_t *invalidated,
                               struct rsc_histogram *rd);

#endif
