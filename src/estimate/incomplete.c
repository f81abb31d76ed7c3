/*
 * incomplete.c - the incomplete beta function, from which the
 * distributions are made.
 *
 * It is a power term times a continued fraction near 1. Taken from
 * log-gamma directly the power term would lose as many digits as its arguments
 * have (a million trials: six); C. Loader's saddle-point form (2000) keeps
 * them: Stirling's formula cancels analytically, and what remains is a small
 * Stirling error and a deviance
 *     D(k, m) = k log(k/m) + m - k
 * that is computed without cancellation.
 */
#include "estimate/statistics.h"

#include <math.h>

/* The continued fractions take about sqrt(a + b) steps at worst: this is for 1e12. */
#define STEPS_MAX 4000000

static const double TWO_PI = 6.283185307179586476925;

static double log_gamma(double x) {
    int sign; /* lgamma() would keep it in a global */
    return lgamma_r(x, &sign);
}

/* log(Gamma(x + 1)) less Stirling's log(sqrt(2 pi x) (x/e)^x); x > 0. */
static double stirling_error(double x) {
    if (x < 16) return log_gamma(x + 1) - (x + 0.5) * log(x) + x - 0.5 * log(TWO_PI);
    double y = 1 / (x * x); /* the asymptotic series; its 7th term is below 1e-18 at 16 */
    double sum =
        1.0 / 12 +
        y * (-1.0 / 360 +
             y * (1.0 / 1260 + y * (-1.0 / 1680 + y * (1.0 / 1188 + y * (-691.0 / 360360 + y * (1.0 / 156))))));
    return sum / x;
}

/*
 * D(k, m). With v = (k - m) / (k + m), log(k/m) = 2 atanh(v), and D becomes
 * (k - m) v + 2 k (v^3/3 + v^5/5 + ...): no cancellation where k is near m.
 */
static double deviance(double k, double m) {
    double v = (k - m) / (k + m);
    if (fabs(v) > 0.1) return k * log(k / m) + m - k;
    double sum = (k - m) * v, power = 2 * k * v, square = v * v;
    for (int odd = 3; odd < 100; odd += 2) {
        power *= square;
        double next = sum + power / odd;
        if (next == sum) break;
        sum = next;
    }
    return sum;
}

double rsc_binomial_term(double a, double b, double x, double y) {
    double n = a + b, error = stirling_error(n) - stirling_error(a) - stirling_error(b);
    double exponent = error - deviance(a, n * x) - deviance(b, n * y);
    return sqrt(n / (TWO_PI * a * b)) * exp(exponent);
}

double rsc_beta_term(double a, double b, double x, double y) {
    return rsc_binomial_term(a, b, x, y) * a * (b / (a + b));
}

/*
 * I_x(a, b) B(a, b) / (x^a y^b) as a continued fraction (Didonato and Morris,
 * 1992), by the modified Lentz method. Of x near 1 only y enters where it
 * matters, so that large a cost no digits. For x up to about a / (a + b).
 */
static double beta_fraction(double a, double b, double x, double y) {
    double lead = a * y - b * x + 1, value = a * lead / (a + 1), c = value, d = 0;
    for (double m = 1; m < STEPS_MAX; m++) {
        double span = a + 2 * m - 1;
        double above = (a + m - 1) / span * ((a + b + m - 1) / span) * (m * (b - m)) * (x * x);
        double below = m + m * (b - m) * x / span + (a + m) / (span + 2) * (lead + m * (1 + y));
        d = 1 / (below + above * d);
        c = below + above / c;
        value *= c * d;
        if (fabs(c * d - 1) <= 2e-16) break;
    }
    return 1 / value;
}

double rsc_beta_regularised_xy(double a, double b, double x, double y) {
    if (!(a > 0 && b > 0 && x >= 0 && y >= 0)) return NAN;
    if (x == 0) return 0;
    if (y == 0) return 1;
    if (x < (a + 1) / (a + b + 2)) return rsc_beta_term(a, b, x, y) * beta_fraction(a, b, x, y);
    return 1 - rsc_beta_term(b, a, y, x) * beta_fraction(b, a, y, x);
}
