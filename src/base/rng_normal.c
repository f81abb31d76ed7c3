/* rng_normal.c - apart from rng.c, which runs inside of watched programs: it needs the mathematics library. */
#include <math.h>

#include "base/portable_math.h"
#include "base/rng.h"

/* Marsaglia's polar method; the second value of each pair is not kept, so that a draw is all there is to it. */
double rsc_rng_normal(struct rsc_rng *rng) {
    for (;;) {
        double x = 2 * rsc_rng_double(rng) - 1, y = 2 * rsc_rng_double(rng) - 1, square = x * x + y * y;
        if (square > 0 && square < 1) return x * sqrt(-2 * rsc_portable_log(square) / square);
    }
}
