/*
 * heat.c - heat spreading in a long plate, on all processors: the program that
 * `make run` watches, and the worked example of docs/guide/tutorial.md.
 *
 *     heat columns|rows [STEPS [HEIGHT WIDTH]]     20 steps on 16384 by 256 cells if not given
 *
 * A step is split by direction: heat first spreads along each row, then down each
 * column. Either way a cell is computed from itself, its two neighbours and how
 * well it conducts. The second half is written in two ways, with the same result:
 *
 *   columns  as one thinks of it, column by column. Each cell lies in another cache
 *            line than the one above it, and the cell beside it in the same line is
 *            only needed a whole column later.
 *   rows     with the two loops exchanged: cells are taken as they lie in memory.
 *
 * Build: cc -O2 -g -fopenmp heat.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plate {
    long height, width;
    double *now, *next, *conducts; /* height rows of width cells each */
};

/* ---- along rows ---- */

static void along_row(const double *from, double *to, const double *conducts, long width) {
    for (long x = 1; x < width - 1; x++)
        to[x] = from[x] + conducts[x] * (from[x - 1] - 2 * from[x] + from[x + 1]);
}

static void along_rows(const struct plate *plate) {
#pragma omp parallel for
    for (long y = 0; y < plate->height; y++) {
        long at = y * plate->width;
        along_row(plate->now + at, plate->next + at, plate->conducts + at, plate->width);
    }
}

/* ---- down columns ---- */

static void down_column(const double *from, double *to, const double *conducts, long height, long width) {
    for (long y = 1, at = width; y < height - 1; y++, at += width)
        to[at] = from[at] + conducts[at] * (from[at - width] - 2 * from[at] + from[at + width]);
}

static void down_columns(const struct plate *plate) {
#pragma omp parallel for
    for (long x = 0; x < plate->width; x++)
        down_column(plate->now + x, plate->next + x, plate->conducts + x, plate->height, plate->width);
}

/* The same with the loops exchanged: all cells of a row, then the row below. */
static void between_rows(const double *from, double *to, const double *conducts, long width) {
    for (long x = 0; x < width; x++)
        to[x] = from[x] + conducts[x] * (from[x - width] - 2 * from[x] + from[x + width]);
}

static void down_columns_by_rows(const struct plate *plate) {
#pragma omp parallel for
    for (long y = 1; y < plate->height - 1; y++) {
        long at = y * plate->width;
        between_rows(plate->now + at, plate->next + at, plate->conducts + at, plate->width);
    }
}

/* ---- the program ---- */

static void swap(struct plate *plate) {
    double *now = plate->now;
    plate->now = plate->next;
    plate->next = now;
}

/* A cold plate with one hot edge; its edges stay as they are. */
static int make(struct plate *plate) {
    size_t cells = (size_t)plate->height * (size_t)plate->width, bytes = cells * sizeof(double);
    plate->now = aligned_alloc(64, bytes);
    plate->next = aligned_alloc(64, bytes);
    plate->conducts = aligned_alloc(64, bytes);
    if (!plate->now || !plate->next || !plate->conducts) return -1;
    for (size_t i = 0; i < cells; i++) {
        plate->now[i] = plate->next[i] = i < (size_t)plate->width ? 100 : 0;
        plate->conducts[i] = i % 3 ? 0.2 : 0.1;
    }
    return 0;
}

int main(int argc, char **argv) {
    long steps = argc > 2 ? atol(argv[2]) : 20;
    struct plate plate = {.height = argc > 4 ? atol(argv[3]) : 16384, .width = argc > 4 ? atol(argv[4]) : 256};
    int by_rows = argc > 1 && !strcmp(argv[1], "rows");
    if (argc < 2 || (!by_rows && strcmp(argv[1], "columns")) || steps < 1 || plate.height < 3 ||
        plate.height > 1 << 20 || plate.width < 8 || plate.width > 1 << 14 || plate.width % 8) {
        fprintf(stderr, "usage: heat columns|rows [STEPS [HEIGHT WIDTH]]; WIDTH is a multiple of 8\n");
        return 2;
    }
    if (make(&plate) < 0) return 1;
    for (long step = 0; step < steps; step++) {
        along_rows(&plate);
        swap(&plate);
        if (by_rows) down_columns_by_rows(&plate);
        else down_columns(&plate);
        swap(&plate);
    }
    printf("after %ld steps the second row has %.3f degrees\n", steps, plate.now[plate.width + 1]);
    free(plate.now);
    free(plate.next);
    free(plate.conducts);
    return 0;
}
