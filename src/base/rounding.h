/*
 * rounding.h - rounds estimates to whole counts whose sum is right. Rounding each by itself
 * can make the parts exceed the whole.
 */
#ifndef RSC_BASE_ROUNDING_H
#define RSC_BASE_ROUNDING_H

#include <stddef.h>
#include <stdint.h>

/*
 * For ordered parts, as the bins of a histogram: rounds running totals, so that every
 * total up to a part is off by at most 1/2, and so is the last.
 */
struct rsc_running_round {
    double sum, scale; /* of the values so far; counts per unit of value */
    uint64_t given, total; /* so far; at most */
};

static inline uint64_t rsc_round_next(struct rsc_running_round *round, double value) {
    round->sum += value;
    double upto = round->sum * round->scale + 0.5;
    uint64_t whole = upto < (double)round->total ? (uint64_t)upto : round->total, before = round->given;
    if (whole < before) whole = before;
    round->given = whole;
    return whole - before;
}

/*
 * For rows, the largest first: rounds each down, and gives the remainder to the rows with
 * the largest fractions. Rows stay in order and those rounded to 0 are last. The sum is
 * that of `shares`, rounded, and at most `most`. Returns 0 or RSC_ENOMEM.
 */
int rsc_round_rows(const double *shares, size_t count, uint64_t most, uint64_t *whole);

#endif
