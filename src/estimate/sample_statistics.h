/*
 * sample_statistics.h - estimates for the whole from a sample of sets or intervals
 * (paper 001, equation 1 and appendices A and B).
 *
 * An observation is the misses per instruction of one set or of one interval; a
 * sample is n of them out of a population of s. Means are plain arithmetic ones:
 * with the fraction-instructions method every set has the same share of the
 * instructions, and every interval has the same length.
 *
 * Its 90 % intervals of random sets held 87 to 91 % of the time, but for direct-mapped caches with
 * hot sets, which rsc_sample_shape() reports (docs/measured/sim.md, `sim --study sampling`).
 */
#ifndef RSC_ESTIMATE_SAMPLE_STATISTICS_H
#define RSC_ESTIMATE_SAMPLE_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

/* A sample mean and its confidence interval for the population's. */
struct rsc_mean_estimate {
    uint64_t observations; /* n */
    uint64_t population;   /* s; 0: infinite */
    double mean;
    double deviation;  /* of one observation: the sample standard deviation; NaN with fewer than 2 */
    double error;      /* standard deviation of the mean, finite population correction included; NaN likewise */
    double confidence; /* percent */
    double low, high;  /* Student's t on n - 1 degrees of freedom; NaN with fewer than 2 observations */
};

/*
 * Equation B1: error = deviation / sqrt(n) * sqrt((s - n) / s). The observations are
 * treated as a random sample. `low` is at least 0: misses are not negative.
 */
void rsc_mean_estimate(struct rsc_mean_estimate *out, const double *observations, uint64_t count, uint64_t population,
                       double confidence_percent);

/* Equation A1: the variance of the mean of a random sample of n from this whole population of s >= 2. */
double rsc_random_sample_variance(const double *population, uint64_t s, uint64_t n);

/* Equation A2: the variance of the means of the k systematic samples of a population. */
double rsc_systematic_sample_variance(const double *sample_means, uint64_t k, double population_mean);

/* Equation 1: root mean square error of k estimates over the truth. Infinite if an estimate is or the truth is 0. */
double rsc_coefficient_of_variation(const double *estimates, uint64_t k, double truth);

/* How many of the k estimates lie within `tolerance` (0.1: 10 percent) of the truth. */
uint64_t rsc_within(const double *estimates, uint64_t k, double truth, double tolerance);

/*
 * Whether the mean of such a sample is close enough to normal for the interval above
 * to be valid.
 *
 * scores: correlation of the ordered observations with normal scores, as in a normal
 * scores plot; 1 for normal observations. skewness: Fisher's G1.
 * normal: n >= 25 G1^2, the rule of Cochran (Sampling Techniques, 2.15) under
 * which a 95% interval fails at most 6% of the time. An observation is hot when
 * it lies more than three interquartile ranges above the third quartile (Tukey's
 * outer fence) and above twice the mean.
 */
struct rsc_sample_shape {
    double skewness;
    double scores;
    uint64_t hot; /* observations */
    double hot_share; /* of the sum of all */
    int normal;
    uint64_t needed; /* observations under the same rule */
};

/* RSC_ENOMEM, or 0. */
int rsc_sample_shape(struct rsc_sample_shape *out, const double *observations, uint64_t count, struct rsc_error *error);

#endif
