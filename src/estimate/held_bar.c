/* held_bar.c - see held_bar.h. */
#include "estimate/held_bar.h"

#include <math.h>

#include "estimate/statistics.h"

void rsc_held_level_set(struct rsc_held_level *level, double confidence, double freedom) {
    const double up_to[2] = {confidence, 0.5 + confidence / 2};
    level->confidence = confidence;
    level->freedom = freedom;
    for (int i = 0; i < 2; i++) {
        level->normal[i] = rsc_normal_quantile(up_to[i]);
        level->student[i] = rsc_student_quantile(up_to[i], freedom);
    }
}

/* P(Z > a) of the skew-normal with delta = sin(angle): that of the normal and twice Owen's T, by Simpson's rule. */
static double skew_tail(double a, double angle) {
    enum { STEPS = 16 };
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        double cosine = cos(angle * i / STEPS), weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += weight * exp(-a * a / (2 * cosine * cosine));
    }
    return rsc_normal_cdf(-a) + sum * angle / (3 * STEPS) / M_PI;
}

/* As above, for the normal. */
static double normal_reach(const struct rsc_held_level *level, double correlation) {
    double one = level->normal[0], both = level->normal[1], angle = asin(correlation),
           a = one + (both - one) * correlation;
    for (int i = 0; i < 4; i++) { /* Newton's; the tail is smooth, and the root between the two */
        double density = 2 * exp(-a * a / 2) / sqrt(2 * M_PI) * rsc_normal_cdf(tan(angle) * a);
        a = fmin(both, fmax(one, a + (skew_tail(a, angle) - 1 + level->confidence) / density));
    }
    return a;
}

double rsc_held_reach(const struct rsc_held_level *level, double correlation, double own) {
    double one = level->normal[0], both = level->normal[1], a = one;
    if (correlation >= 1) a = both;
    else if (correlation > 0) a = normal_reach(level, correlation);
    /* exact where only one tail counts and where both do; and a quantile of t exceeds the normal's by about 1/freedom */
    double student = level->student[0] + (level->student[1] - level->student[0]) * (a - one) / (both - one);
    return a + (student - a) * own * own;
}

void rsc_held_bar(double model, double value, double reach, double *low, double *high) {
    *low = fmin(model, value - reach);
    *high = fmax(model, value + reach);
}
