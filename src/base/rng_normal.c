/* rng_normal.c - separate from rng.c, which runs inside watched programs: this needs libm. */
#include <math.h>

#include "base/portable_math.h"
#include "base/rng.h"

/* Marsaglia's polar method. The second value of each pair is dropped, so that no state is kept between draws. */
double rsc_rng_normal(struct rsc_rng *rng) {
    for (;;) {
        double x = 2 * rsc_rng_double(rng) - 1, y = 2 * rsc_rng_double(rng) - 1, square = x * x + y * y;
        if (square > 0 && square < 1) return x * sqrt(-2 * rsc_portable_log(square) / square);
    }
}
