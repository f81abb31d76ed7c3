/* sample_statistics.c - see sample_statistics.h. Sums are of differences from the mean: populations are large and even. */
#include "estimate/sample_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "estimate/statistics.h"

static double mean_of(const double *values, uint64_t count) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += values[i];
    return count ? sum / (double)count : 0;
}

static double squares_about(const double *values, uint64_t count, double centre) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += (values[i] - centre) * (values[i] - centre);
    return sum;
}

void rsc_mean_estimate(struct rsc_mean_estimate *out, const double *observations, uint64_t count, uint64_t population,
                       double confidence_percent) {
    const double n = (double)count;
    *out = (struct rsc_mean_estimate){.observations = count,
                                      .population = population,
                                      .confidence = confidence_percent,
                                      .deviation = NAN,
                                      .error = NAN,
                                      .low = NAN,
                                      .high = NAN};
    out->mean = mean_of(observations, count);
    if (count < 2 || isnan(out->mean)) return;
    out->deviation = sqrt(squares_about(observations, count, out->mean) / (n - 1));
    out->error = out->deviation / sqrt(n);
    if (population) out->error *= sqrt(count < population ? (double)(population - count) / (double)population : 0);
    double reach = out->error * rsc_student_quantile(0.5 + confidence_percent / 200, n - 1);
    out->low = out->mean > reach ? out->mean - reach : 0;
    out->high = out->mean + reach;
}

double rsc_random_sample_variance(const double *population, uint64_t s, uint64_t n) {
    double centre = mean_of(population, s);
    return squares_about(population, s, centre) / (double)(s - 1) / (double)n * (double)(s - n) / (double)s;
}

double rsc_systematic_sample_variance(const double *sample_means, uint64_t k, double population_mean) {
    return squares_about(sample_means, k, population_mean) / (double)k;
}

double rsc_coefficient_of_variation(const double *estimates, uint64_t k, double truth) {
    if (!(truth > 0)) return INFINITY;
    return sqrt(squares_about(estimates, k, truth) / (double)k) / truth;
}

uint64_t rsc_within(const double *estimates, uint64_t k, double truth, double tolerance) {
    uint64_t within = 0;
    for (uint64_t i = 0; i < k; i++) within += fabs(estimates[i] - truth) <= tolerance * truth;
    return within;
}

/* ---- shape ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted values, by linear interpolation. */
static double quantile(const double *sorted, uint64_t count, double p) {
    double at = p * (double)(count - 1);
    uint64_t below = (uint64_t)at;
    if (below + 1 >= count) return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* Blom's normal scores; they sum to 0, so only the values need centring. */
static double scores_correlation(const double *sorted, uint64_t count, double mean) {
    double products = 0, scores = 0, values = squares_about(sorted, count, mean);
    for (uint64_t i = 0; i < count; i++) {
        double score = rsc_normal_quantile(((double)i + 0.625) / ((double)count + 0.25));
        products += score * (sorted[i] - mean);
        scores += score * score;
    }
    return values > 0 && scores > 0 ? products / sqrt(values * scores) : 1;
}

int rsc_sample_shape(struct rsc_sample_shape *out, const double *observations, uint64_t count,
                     struct rsc_error *error) {
    *out = (struct rsc_sample_shape){.scores = 1, .normal = 1};
    if (count < 3) return 0;
    double *sorted = malloc(count * sizeof *sorted);
    if (!sorted) return rsc_fail_memory(error, "shape of a sample");
    memcpy(sorted, observations, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);

    const double n = (double)count, mean = mean_of(sorted, count);
    double squares = 0, cubes = 0, sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        double off = sorted[i] - mean;
        squares += off * off;
        cubes += off * off * off;
        sum += sorted[i];
    }
    if (squares > 0) out->skewness = cubes / n / pow(squares / n, 1.5);
    out->scores = scores_correlation(sorted, count, mean);
    out->needed = (uint64_t)ceil(25 * out->skewness * out->skewness);
    out->normal = count >= out->needed;

    double upper = quantile(sorted, count, 0.75), fence = upper + 3 * (upper - quantile(sorted, count, 0.25)), held = 0;
    if (fence < 2 * mean) fence = 2 * mean;
    for (uint64_t i = count; i-- > 0 && sorted[i] > fence;) {
        out->hot++;
        held += sorted[i];
    }
    out->hot_share = sum > 0 ? held / sum : 0;
    free(sorted);
    return 0;
}
