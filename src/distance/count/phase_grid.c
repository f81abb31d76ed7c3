/* phase_grid.c - see phase_grid.h. */
#include "distance/count/phase_grid.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int rsc_phase_grid_init(struct rsc_phase_grid *grid, const struct rsc_accumulator *sum) {
    *grid = (struct rsc_phase_grid){.room = sum->phase_room};
    if (!sum->phases_asked) return 0;
    assert(rsc_bins_count(RSC_BINS_COARSE) == RSC_PHASE_BINS);
    grid->cells = calloc(grid->room + 1ull, sizeof *grid->cells);
    return grid->cells ? 0 : RSC_ENOMEM;
}

void rsc_phase_grid_free(struct rsc_phase_grid *grid) {
    free(grid->cells);
    grid->cells = NULL;
}

void rsc_phase_part_free(struct rsc_phase_part *part) {
    free(part->cells);
    part->cells = NULL;
}

static uint32_t shift_for(uint32_t room, uint64_t references) {
    uint32_t shift = 0;
    while (references >> shift >= room + 1ull) shift++;
    return shift;
}

int rsc_phase_part_start(struct rsc_phase_part *part, const struct rsc_phase_grid *grid, uint64_t begin, uint64_t end) {
    part->shift = shift_for(grid->room, end);
    part->first = begin >> part->shift;
    part->count = (uint32_t)(((end - 1) >> part->shift) - part->first + 1);
    if (part->count > part->room) {
        free(part->cells);
        part->cells = malloc(part->count * sizeof *part->cells);
        part->room = part->cells ? part->count : 0;
        if (!part->cells) return RSC_ENOMEM;
    }
    memset(part->cells, 0, part->count * sizeof *part->cells);
    return 0;
}

void rsc_phase_part_count(struct rsc_phase_part *part, uint64_t first, const uint32_t *rd, uint32_t count,
                          uint64_t cap) {
    for (uint32_t done = 0; done < count;) {
        uint64_t number = (first + done) >> part->shift, left = ((number + 1) << part->shift) - (first + done);
        uint32_t upto = left < count - done ? done + (uint32_t)left : count;
        struct rsc_phase_cell *cell = &part->cells[number - part->first];
        cell->references += upto - done;
        for (; done < upto; done++) {
            if (rd[done] == UINT32_MAX) cell->cold++;
            else if (rd[done] == RSC_RD_INVALIDATED) cell->invalidated++;
            else cell->rd[rsc_bin_of_coarse(rd[done] < cap ? rd[done] : cap)]++;
        }
    }
}

static void add_cell(struct rsc_phase_cell *into, const struct rsc_phase_cell *from) {
    into->references += from->references;
    into->cold += from->cold;
    into->invalidated += from->invalidated;
    for (uint32_t bin = 0; bin < RSC_PHASE_BINS; bin++) into->rd[bin] += from->rd[bin];
}

void rsc_phase_grid_add(struct rsc_phase_grid *grid, const struct rsc_phase_part *part) {
    for (; grid->shift < part->shift; grid->shift++) {
        /* room is even; the last cell has no neighbour */
        for (uint32_t i = 0; i <= grid->room / 2; i++) {
            struct rsc_phase_cell joined = grid->cells[2 * i];
            if (2 * i + 1 <= grid->room) add_cell(&joined, &grid->cells[2 * i + 1]);
            grid->cells[i] = joined;
        }
        uint32_t kept = grid->room / 2 + 1;
        memset(grid->cells + kept, 0, (grid->room + 1 - kept) * sizeof *grid->cells);
    }
    for (uint32_t i = 0; i < part->count; i++)
        add_cell(&grid->cells[(part->first + i) << part->shift >> grid->shift], &part->cells[i]);
}

int rsc_phase_grid_end(struct rsc_phase_grid *grid, struct rsc_accumulator *sum) {
    uint64_t first = 0;
    for (uint32_t i = 0; grid->cells && i <= grid->room && grid->cells[i].references; i++) {
        const struct rsc_phase_cell *cell = &grid->cells[i];
        struct rsc_phase_counts *phase = &sum->phases[i];
        *phase = (struct rsc_phase_counts){
            .first = first, .references = cell->references, .cold = cell->cold, .invalidated = cell->invalidated};
        if (rsc_histogram_init(&phase->rd, RSC_BINS_COARSE) < 0) return RSC_ENOMEM;
        sum->phase_count++;
        memcpy(phase->rd.count, cell->rd, sizeof cell->rd);
        first += cell->references;
    }
    sum->phase_length = 1ull << grid->shift;
    sum->phase_start_references = sum->references; /* none in progress */
    return 0;
}
