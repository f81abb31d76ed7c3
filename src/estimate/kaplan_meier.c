/*
 * kaplan_meier.c - how long things last when some were only watched for a while.
 *
 * At each time t with events, of weight d among the weight n still watched, the
 * curve is multiplied by 1 - d/n (Kaplan and Meier, 1958). Greenwood's variance
 * is S(t)^2 times the running sum of d / (n (n - d)).
 */
#include "estimate/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

struct observation {
    double time, weight;
    int seen;
};

static int by_time(const void *left, const void *right) {
    const struct observation *a = left, *b = right;
    return a->time < b->time ? -1 : a->time > b->time;
}

/* Copies what has weight into `to`; returns how many, or a negative code. */
static int64_t collect(struct observation *to, const double *times, const uint8_t *seen, const double *weights,
                       size_t count, struct rsc_error *error) {
    int64_t used = 0;
    for (size_t i = 0; i < count; i++) {
        double weight = weights ? weights[i] : 1;
        if (isnan(times[i])) return rsc_fail(error, RSC_EINVAL, "survival curve: time %zu is not a number", i);
        if (!(weight >= 0) || isinf(weight))
            return rsc_fail(error, RSC_EINVAL, "survival curve: weight %zu is negative or not finite", i);
        if (weight > 0) to[used++] = (struct observation){times[i], weight, seen[i] != 0};
    }
    return used;
}

/* Steps through the sorted observations; `curve` has room for one step each. */
static void build_curve(struct rsc_survival *curve, const struct observation *observations, size_t count,
                        double *at_risk) {
    double survival = 1, sum = 0;
    for (size_t i = 0, next; i < count; i = next) {
        double events = 0;
        for (next = i; next < count && observations[next].time == observations[i].time; next++)
            if (observations[next].seen) events += observations[next].weight;
        if (events == 0) continue;
        double risk = at_risk[i], left = risk - events;
        if (!(left > 1e-12 * risk)) left = 0; /* nobody: weights that do not add up exactly */
        survival *= left / risk;
        if (left > 0) sum += events / (risk * left);
        size_t step = curve->count++;
        curve->time[step] = observations[i].time;
        curve->survival[step] = survival;
        curve->variance[step] = survival * survival * sum;
        curve->at_risk[step] = risk;
    }
}

int rsc_kaplan_meier(struct rsc_survival *out, const double *times, const uint8_t *seen, const double *weights,
                     size_t count, struct rsc_error *error) {
    struct observation *observations = calloc(count ? count : 1, sizeof *observations);
    double *at_risk = calloc(count ? count : 1, sizeof *at_risk);
    double *columns = calloc(count ? count : 1, 4 * sizeof *columns);
    int64_t used = 0;
    memset(out, 0, sizeof *out);
    if (!observations || !at_risk || !columns) {
        used = rsc_fail_memory(error, "survival curve");
        goto out;
    }
    used = collect(observations, times, seen, weights, count, error);
    if (used < 0) goto out;
    qsort(observations, (size_t)used, sizeof *observations, by_time);
    double risk = 0; /* summed from the end: the few left late keep their digits */
    for (int64_t i = used; i-- > 0;) at_risk[i] = risk += observations[i].weight;
    *out = (struct rsc_survival){0, columns, columns + count, columns + 2 * count, columns + 3 * count};
    build_curve(out, observations, (size_t)used, at_risk);
    columns = NULL;
out:
    free(columns);
    free(at_risk);
    free(observations);
    return used < 0 ? (int)used : 0;
}

void rsc_survival_free(struct rsc_survival *curve) {
    free(curve->time);
    memset(curve, 0, sizeof *curve);
}

/* Steps at or before t. */
static size_t steps_until(const struct rsc_survival *curve, double t) {
    size_t low = 0, high = curve->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->time[middle] <= t) low = middle + 1;
        else high = middle;
    }
    return low;
}

double rsc_survival_at(const struct rsc_survival *curve, double t) {
    size_t steps = steps_until(curve, t);
    return steps ? curve->survival[steps - 1] : 1;
}

double rsc_survival_variance_at(const struct rsc_survival *curve, double t) {
    size_t steps = steps_until(curve, t);
    return steps ? curve->variance[steps - 1] : 0;
}

double rsc_survival_quantile(const struct rsc_survival *curve, double left) {
    size_t low = 0, high = curve->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->survival[middle] <= left) high = middle;
        else low = middle + 1;
    }
    return low < curve->count ? curve->time[low] : INFINITY;
}
