/* rounding.c - see rounding.h. */
#include "base/rounding.h"

#include <math.h>
#include <stdlib.h>

#include <reusescope/error.h>

struct fraction {
    double part;
    size_t row;
};

static int largest_first(const void *left, const void *right) {
    const struct fraction *a = left, *b = right;
    if (a->part != b->part) return a->part < b->part ? 1 : -1;
    return a->row < b->row ? -1 : a->row > b->row;
}

int rsc_round_rows(const double *shares, size_t count, uint64_t most, uint64_t *whole) {
    struct fraction *fractions = malloc((count + 1) * sizeof *fractions);
    double sum = 0;
    uint64_t given = 0;
    if (!fractions) return RSC_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        double down = floor(shares[i]);
        sum += shares[i];
        whole[i] = down < (double)(most - given) ? (uint64_t)down : most - given;
        given += whole[i];
        fractions[i] = (struct fraction){shares[i] - down, i};
    }
    uint64_t total = sum + 0.5 < (double)most ? (uint64_t)(sum + 0.5) : most;
    qsort(fractions, count, sizeof *fractions, largest_first);
    for (size_t i = 0; i < count && given < total; i++, given++) whole[fractions[i].row]++;
    free(fractions);
    return 0;
}
