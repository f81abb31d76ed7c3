/*
 * chance.h - fast random numbers for the models, accurate to about a percent of a
 * standard deviation, which is far less than the sampling error.
 */
#ifndef RSC_LOOPS_MODEL_CHANCE_H
#define RSC_LOOPS_MODEL_CHANCE_H

#include <math.h>

#include "base/rng.h"

#define RSC_NORMALS 16384u

struct rsc_chance {
    struct rsc_rng rng;
    const float *normal; /* RSC_NORMALS quantiles of the normal distribution */
};

static inline double chance_even(struct rsc_chance *chance) { return rsc_rng_double(&chance->rng); }
static inline double chance_normal(struct rsc_chance *chance) {
    return chance->normal[rsc_rng_u64(&chance->rng) >> 50];
}

/* Sum of `shape` exponentials of mean 1; 0 for shape 0. */
static inline double chance_gamma(struct rsc_chance *chance, double shape) {
    if (shape <= 0) return 0;
    if (shape > 200) return shape + sqrt(shape) * chance_normal(chance);
    if (shape < 4 && shape == floor(shape)) {
        double product = 1;
        for (int i = (int)shape; i--;) product *= 1 - chance_even(chance);
        return -log(product);
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d); /* Marsaglia and Tsang, 2000 */
    for (;;) {
        double x = chance_normal(chance), v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        double u = 1 - chance_even(chance);
        if (u < 1 - 0.0331 * x * x * x * x || log(u) < 0.5 * x * x + d - d * v + d * log(v)) return d * v;
    }
}

static inline double chance_poisson(struct rsc_chance *chance, double mean) {
    if (mean <= 0) return 0;
    if (mean < 12) {
        double limit = exp(-mean), product = 1 - chance_even(chance);
        int count = 0;
        while (product > limit) {
            product *= 1 - chance_even(chance);
            count++;
        }
        return count;
    }
    double count = floor(mean + sqrt(mean) * chance_normal(chance) + 0.5);
    return count > 0 ? count : 0;
}

/* Rounds randomly to one of the two neighbouring integers, with this mean. */
static inline double chance_round(struct rsc_chance *chance, double mean) {
    double whole = floor(mean);
    return whole + (chance_even(chance) < mean - whole);
}

#endif
