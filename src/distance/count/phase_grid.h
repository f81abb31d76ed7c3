/*
 * phase_grid.h - phases of a trace whose parts are counted out of order.
 *
 * accumulate.c cuts phases as references come, doubling their length each time the
 * table is full. Their final length depends only on the number of references: the
 * smallest power of two P with
 *     references < (room + 1) * P.
 * So a part of the trace can be counted separately, with the P at its own end, and
 * added to a grid whose P is the same or a multiple.
 */
#ifndef RSC_DISTANCE_COUNT_PHASE_GRID_H
#define RSC_DISTANCE_COUNT_PHASE_GRID_H

#include "distance/count/accumulate.h"

#define RSC_PHASE_BINS 252u /* of RSC_BINS_COARSE */

struct rsc_phase_cell {
    uint64_t references, cold, invalidated;
    uint64_t rd[RSC_PHASE_BINS]; /* distances >= the cap are in the bin of the cap */
};

/* Cells are `1 << shift` references long. */
struct rsc_phase_part {
    struct rsc_phase_cell *cells; /* owned */
    uint64_t first;               /* number of the first cell, counted from the start of the trace */
    uint32_t count, room, shift;
};

struct rsc_phase_grid {
    struct rsc_phase_cell *cells; /* owned; `room` + 1 of them */
    uint32_t room, shift;
};

/* Makes a grid for the phases requested of `sum`. Returns 0 or RSC_ENOMEM. A zeroed grid or part may always be
 * freed. */
int rsc_phase_grid_init(struct rsc_phase_grid *grid, const struct rsc_accumulator *sum);
void rsc_phase_grid_free(struct rsc_phase_grid *grid);
void rsc_phase_part_free(struct rsc_phase_part *part);

/* Empties `part` and makes it cover references begin to end - 1. Only uses grid->room. Returns 0 or RSC_ENOMEM. */
int rsc_phase_part_start(struct rsc_phase_part *part, const struct rsc_phase_grid *grid, uint64_t begin, uint64_t end);

/* Counts references first, first + 1, ...: distances (UINT32_MAX: cold; or RSC_RD_INVALIDATED); those >= `cap` count as
 * cap. */
void rsc_phase_part_count(struct rsc_phase_part *part, uint64_t first, const uint32_t *rd, uint32_t count,
                          uint64_t cap);

/* Corrects reference number `at`, counted as cold, to its distance. */
static inline void rsc_phase_part_not_cold(struct rsc_phase_part *part, uint64_t at, uint64_t rd, uint64_t cap) {
    struct rsc_phase_cell *cell = &part->cells[(at >> part->shift) - part->first];
    cell->cold--;
    cell->rd[rsc_bin_of_coarse(rd < cap ? rd : cap)]++;
}

void rsc_phase_grid_add(struct rsc_phase_grid *grid, const struct rsc_phase_part *part);

/* Moves the phases into `sum`, which has counted all references. Returns 0 or RSC_ENOMEM. */
int rsc_phase_grid_end(struct rsc_phase_grid *grid, struct rsc_accumulator *sum);

#endif
