/* chi_square.h - how likely a chi-square as large as one seen is, for tests and benchmarks that draw numbers. */
#ifndef RSC_TESTS_CHI_SQUARE_H
#define RSC_TESTS_CHI_SQUARE_H

#include <math.h>

/*
 * P(chi-square of `freedom` degrees > x): the upper incomplete gamma function Q(freedom / 2, x / 2),
 * as a series below its mean and as a continued fraction (modified Lentz) above it.
 */
static inline double chi_square_tail(double freedom, double x) {
    double a = freedom / 2, y = x / 2, power = exp(a * log(y) - y - lgamma(a + 1));
    if (y <= 0) return 1;
    if (y < a + 1) {
        double sum = 1, term = 1;
        for (double n = 1; term > 1e-17 * sum; n++) sum += term *= y / (a + n);
        return 1 - power * sum;
    }
    double base = y + 1 - a, c = 1e300, d = 1 / base, value = d;
    for (double n = 1; n < 1e6 && fabs(c * d - 1) > 2e-16; n++) {
        base += 2;
        d = 1 / (base - n * (n - a) * d);
        c = base - n * (n - a) / c;
        value *= c * d;
    }
    return power * a * value;
}

#endif
