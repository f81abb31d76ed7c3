/*
 * distributions.c - normal, Student's t and binomial.
 *
 * Distribution functions are incomplete beta functions (incomplete.c), each
 * written for the tail in which it is small. Quantiles use Newton's method on a
 * concave form of the distribution function, started from the side where every step
 * comes nearer: this needs neither a bracket nor fitted constants.
 */
#include "estimate/statistics.h"

#include <math.h>

#define NEWTON_STEPS_MAX 200 /* 5 to 10 are usual */

static const double SQRT_HALF = 0.7071067811865475244008;
static const double SQRT_TWO_PI = 2.506628274631000502416;

/* Above this many degrees of freedom the two differ by less than 1e-11 of p for every p above 1e-20. */
#define STUDENT_IS_NORMAL 1e15

double rsc_normal_cdf(double x) { return 0.5 * erfc(-x * SQRT_HALF); }

/*
 * For p <= 1/2. log P(X <= x) is concave, and P(X <= x) <= exp(-x^2/2) / 2 for
 * x <= 0 gives a start to the left of the root. Near 1/2 it solves for P(x < X < 0),
 * which has more digits.
 */
static double normal_quantile_low(double p) {
    double x = -sqrt(-2 * log(2 * p)), log_p = log(p);
    for (int i = 0; i < NEWTON_STEPS_MAX; i++) {
        double density = exp(-0.5 * x * x) / SQRT_TWO_PI, step;
        if (p > 0.1) {
            step = (0.5 * erf(-x * SQRT_HALF) - (0.5 - p)) / density;
        } else {
            double cdf = rsc_normal_cdf(x);
            if (cdf == 0) break; /* p itself is at the underflow limit */
            step = (log_p - log(cdf)) * cdf / density;
        }
        x += step;
        if (fabs(step) <= 1e-15 * fabs(x)) break;
    }
    return x;
}

double rsc_normal_quantile(double p) {
    if (!(p >= 0 && p <= 1)) return NAN;
    if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
    return p <= 0.5 ? normal_quantile_low(p) : -normal_quantile_low(1 - p);
}

/* x = df / (df + t^2) and y = 1 - x, without overflow. */
static void student_xy(double t, double df, double *x, double *y) {
    double r = fabs(t) / sqrt(df);
    *x = r > 1e8 ? 1 / r / r : 1 / (1 + r * r);
    *y = r > 1e8 ? 1 : r * r / (1 + r * r);
}

/* P(T > t) and P(0 < T <= t) for t >= 0: the first is exact far out, the second near 0. */
static double student_tail(double t, double df) {
    double x, y;
    student_xy(t, df, &x, &y);
    return 0.5 * rsc_beta_regularised_xy(0.5 * df, 0.5, x, y);
}

static double student_middle(double t, double df) {
    double x, y;
    student_xy(t, df, &x, &y);
    return 0.5 * rsc_beta_regularised_xy(0.5, 0.5 * df, y, x);
}

/* t times the density at t > 0. */
static double student_term(double t, double df) {
    double x, y;
    student_xy(t, df, &x, &y);
    return rsc_beta_term(0.5, 0.5 * df, y, x);
}

double rsc_student_cdf(double t, double df) {
    if (!(df > 0) || t != t) return NAN;
    if (df > STUDENT_IS_NORMAL) return rsc_normal_cdf(t);
    return t <= 0 ? student_tail(-t, df) : 1 - student_tail(t, df);
}

/*
 * The t > 0 with P(0 < T <= t) = middle < 1/2. That is concave in t, and its slope
 * is nowhere above the normal density at 0: the start is left of the root.
 */
static double student_quantile_middle(double middle, double df) {
    double t = middle * SQRT_TWO_PI;
    for (int i = 0; i < NEWTON_STEPS_MAX && t > 0; i++) {
        double step = (middle - student_middle(t, df)) * t / student_term(t, df);
        t += step;
        if (fabs(step) <= 1e-15 * t) break;
    }
    return t;
}

/*
 * The t > 0 with P(T > t) = tail, for small tails. In w = log(1 + t^2/df) the
 * logarithm of the tail is nearly straight (exactly so in the limits of few and
 * of many degrees of freedom) and convex; the quantile of 0.1 is left of the root.
 */
static double student_quantile_tail(double tail, double df) {
    double t = student_quantile_middle(0.4, df), log_tail = log(tail), r = t / sqrt(df), w = log1p(r * r);
    for (int i = 0; i < NEWTON_STEPS_MAX; i++) {
        double now = student_tail(t, df);
        if (!(now > 0)) break;
        double slope = -0.5 * student_term(t, df) / now * (df / t / t + 1);
        double step = (log_tail - log(now)) / slope;
        w += step;
        t = sqrt(df) * sqrt(expm1(w));
        if (fabs(step) <= 1e-15 * w) break;
    }
    return t;
}

double rsc_student_quantile(double p, double df) {
    if (!(df > 0) || !(p >= 0 && p <= 1)) return NAN;
    if (df > STUDENT_IS_NORMAL) return rsc_normal_quantile(p);
    if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
    if (p == 0.5) return 0;
    double tail = p < 0.5 ? p : 1 - p;
    double t = tail > 0.1 ? student_quantile_middle(0.5 - tail, df) : student_quantile_tail(tail, df);
    return p < 0.5 ? -t : t;
}

double rsc_binomial_pmf(uint64_t k, uint64_t n, double p) {
    if (!(p >= 0 && p <= 1)) return NAN;
    if (k > n) return 0;
    if (p == 0 || p == 1) return k == (p == 0 ? 0 : n);
    if (k == 0) return exp((double)n * log1p(-p));
    if (k == n) return exp((double)n * log(p));
    return rsc_binomial_term((double)k, (double)(n - k), p, 1 - p);
}
