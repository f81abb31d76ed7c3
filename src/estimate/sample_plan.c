/* sample_plan.c - see sample_plan.h. */
#include "estimate/sample_plan.h"

#include <math.h>

#include "estimate/statistics.h"

double rsc_plan_z(double confidence) {
    double z = rsc_normal_quantile(0.5 + confidence / 200);
    return ceil(z * 100 - 1e-9) / 100;
}

/* n = factor * (z / e)^2. */
static double factor_of(const struct rsc_error_bound *bound) {
    switch (bound->kind) {
    case RSC_ERROR_RELATIVE: return (1 - bound->share) / bound->share;
    case RSC_ERROR_AGGREGATE: return bound->bins;
    default: return 0.25;
    }
}

uint64_t rsc_plan_samples(const struct rsc_error_bound *bound) {
    double times = rsc_plan_z(bound->confidence) / bound->error, samples = factor_of(bound) * times * times;
    if (!(samples < 0x1p62)) return 1ull << 62;
    /* a bound like 10 % has no exact double: keep whole numbers whole */
    double whole = round(samples);
    return (uint64_t)fmax(1, fabs(samples - whole) <= 1e-6 * whole ? whole : ceil(samples));
}

double rsc_plan_error(const struct rsc_error_bound *bound, double samples) {
    return samples > 0 ? rsc_plan_z(bound->confidence) * sqrt(factor_of(bound) / samples) : INFINITY;
}
