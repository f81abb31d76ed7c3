/*
 * bootstrap_bars.c - error bars of the miss ratio curve.
 *
 * Sampling error: a bootstrap by half-samples (estimate/half_samples.h) of each group of threads, with REPLICATES
 * complete estimates: weights, distances, curve. Their spread is the standard error s.
 *
 * Half-samples underestimate the spread where a context has few watches (few_watches.c): with one watch, its estimate
 * is the same in all of them. The missing variance is added, and s is at least that of independent watches. It is wider
 * still where registers were scarce: watches then depend on each other (a hit frees a register for the samples that
 * follow), and their number depends on what they find. On the development traces, where nearly all samples found all
 * registers taken, the spread over seeds was 1.2 to 1.6 times s; SCARCE corrects for 1.26.
 *
 * s at a miss ratio p gives the equivalent number of independent samples, n = p (1 - p) / s^2, at most the number
 * watched. The bar is Wilson's for n, which stays wide enough near 0 and 1 where the spread is too small, with
 * Student's quantile for as many degrees of freedom as outcomes were seen that far out, which may be few. Finite
 * population correction: s^2 and 1/n are multiplied by the share of references not sampled.
 *
 * Model error, as distances are modelled from intervals: distances are assumed to be off by up to MODEL_FACTOR either
 * way, so the curve at c may be anything between its values at c / MODEL_FACTOR and c * MODEL_FACTOR lines; and the
 * curve itself by MODEL_SHARE * sqrt(p (1 - p)). On the exact intervals of the development traces' 16 real programs the
 * true curve lies within these (and 0.002) at 93 % of sizes on average and 73 % at worst (a run whose phases use
 * different data); with the factor alone, at 82 and 50 %.
 *
 * Lines of 64 bytes (line_model.h) use samples of all shapes, and the line model is assumed to be off by LINE_POWER in
 * its power either way. All parts are added in quadrature.
 */
#include "featherlight/bootstrap_bars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/half_samples.h"
#include "estimate/statistics.h"
#include "featherlight/few_watches.h"
#include "featherlight/line_model.h"
#include "profile/profile_model.h"

#define REPLICATES 100u
#define SCARCE 0.6 /* of the variance, where no sample found a free register */
#define MODEL_FACTOR 1.2
#define MODEL_SHARE 0.07 /* at a confidence of 90 % */
#define LINE_POWER 0.3

struct curves {
    uint32_t bins;    /* of RSC_BINS_FINE, up to the footprint's */
    double *misses; /* [replicate * bins + bin]: references with RD from this bin's lo up, and those never used again */
    double known[REPLICATES + 2]; /* the last two: LINE_POWER less and more, all samples once */
    uint32_t *outcomes; /* [bin]: watches that ended unused, or were reused at an RD from this bin's lo up */
    double *times, *weight[RSC_WATCH_LINE_SHAPES], *distance; /* scratch, of the largest group */
};
#define CURVES (REPLICATES + 2u)

static void add_misses(struct curves *curves, uint32_t curve, double distance, double references) {
    double *misses = curves->misses + (size_t)curve * curves->bins;
    uint32_t bin = rsc_bin_of_fine((uint64_t)(distance + 0.5));
    misses[bin < curves->bins ? bin : curves->bins - 1] += references;
}

static void add_words(struct curves *curves, struct rsc_watch_group *group, uint32_t replicate, struct rsc_rng *rng) {
    if (!group->count) return;
    rsc_half_sample(rng, curves->times, group->count);
    struct rsc_estimate estimate = rsc_group_estimate(group, curves->times, curves->weight[0], curves->distance);
    curves->known[replicate] += estimate.reused + estimate.unused;
    curves->misses[(size_t)replicate * curves->bins + curves->bins - 1] += estimate.unused;
    for (size_t i = 0; i < group->estimator.watched; i++) {
        uint32_t index = group->estimator.by_interval[i];
        if (curves->weight[0][index] > 0)
            add_misses(curves, replicate, curves->distance[index], curves->weight[0][index]);
    }
}

/* rng NULL: all samples once. */
static void add_lines(struct curves *curves, struct rsc_watch_group *const *shapes, uint32_t number, uint32_t curve,
                      struct rsc_lines *lines, double power, struct rsc_rng *rng) {
    struct rsc_weighed weighed[RSC_WATCH_LINE_SHAPES];
    for (uint32_t i = 0; i < RSC_WATCH_LINE_SHAPES; i++) {
        struct rsc_watch_group *group = &shapes[i][number];
        if (rng) rsc_half_sample(rng, curves->times, group->count);
        weighed[i] = (struct rsc_weighed){
            group, curves->weight[i],
            rsc_group_estimate(group, rng ? curves->times : NULL, curves->weight[i], curves->distance)};
    }
    rsc_line_model_join(lines, weighed, power);
    curves->known[curve] += lines->reused + lines->unused;
    curves->misses[(size_t)curve * curves->bins + curves->bins - 1] += lines->unused;
    for (size_t i = 0; i < lines->count; i++)
        add_misses(curves, curve, lines->steps[i].distance, lines->steps[i].references);
}

static int add_all(struct curves *curves, struct rsc_watch_group *const *shapes, uint32_t shape_count, uint32_t number,
                   struct rsc_rng *rng) {
    struct rsc_lines lines;
    size_t watches = 0;
    if (shape_count == 1) {
        for (uint32_t r = 0; r < REPLICATES; r++) add_words(curves, &shapes[0][number], r, rng);
        return 0;
    }
    for (uint32_t i = 0; i < shape_count; i++) watches += shapes[i][number].estimator.watched;
    if (rsc_line_model_init(&lines, watches) < 0) return RSC_ENOMEM;
    for (uint32_t r = 0; r < REPLICATES; r++) add_lines(curves, shapes, number, r, &lines, 1, rng);
    add_lines(curves, shapes, number, REPLICATES, &lines, 1 - LINE_POWER, NULL);
    add_lines(curves, shapes, number, REPLICATES + 1, &lines, 1 + LINE_POWER, NULL);
    rsc_line_model_free(&lines);
    return 0;
}

static void add_outcomes(struct curves *curves, const struct rsc_watch_group *group) {
    for (size_t i = 0; i < group->count; i++) {
        uint32_t bin = rsc_bin_of_fine((uint64_t)(group->distance[i] + 0.5));
        if (group->samples[i].ending == RSC_WATCH_UNUSED) curves->outcomes[curves->bins - 1]++;
        if (group->samples[i].ending == RSC_WATCH_REUSED)
            curves->outcomes[bin < curves->bins ? bin : curves->bins - 1]++;
    }
}

/* Turns counts per bin into counts from each bin on. */
static void sum_tails(struct curves *curves) {
    for (uint32_t bin = curves->bins - 1; bin-- > 0;) curves->outcomes[bin] += curves->outcomes[bin + 1];
    for (uint32_t c = 0; c < CURVES; c++) {
        double *misses = curves->misses + (size_t)c * curves->bins;
        for (uint32_t bin = curves->bins - 1; bin-- > 0;) misses[bin] += misses[bin + 1];
    }
}

static uint32_t bin_within(const struct curves *curves, uint64_t lines) {
    uint32_t bin = rsc_bin_of_fine(lines);
    return bin < curves->bins ? bin : curves->bins - 1;
}

static double variance_at(const struct curves *curves, uint32_t bin) {
    double ratio[REPLICATES];
    for (uint32_t r = 0; r < REPLICATES; r++)
        ratio[r] = curves->known[r] > 0 ? curves->misses[(size_t)r * curves->bins + bin] / curves->known[r] : NAN;
    return rsc_half_sample_variance(ratio, REPLICATES);
}

/* The range the models allow. Reads the curve and does not change it. */
static void widen_for_models(const struct curves *curves, struct rsc_profile *profile, size_t index, double share,
                             int has_lines) {
    struct rsc_mrc_point *point = &profile->mrc[index];
    double lines = (double)point->lines, p = fmin(fmax(point->miss_ratio, 0), 1), level = share * sqrt(p * (1 - p));
    double above = rsc_profile_miss_ratio(profile, (uint64_t)(lines / MODEL_FACTOR)) - p;
    double below = p - rsc_profile_miss_ratio(profile, (uint64_t)ceil(lines * MODEL_FACTOR));
    for (uint32_t c = REPLICATES; has_lines && c < CURVES; c++) {
        if (!(curves->known[c] > 0)) continue;
        double other = curves->misses[(size_t)c * curves->bins + bin_within(curves, point->lines)] / curves->known[c];
        if (other > p) above = hypot(above, other - p);
        else below = hypot(below, p - other);
    }
    point->high = fmin(1, p + hypot(hypot(point->high - p, above), level));
    point->low = fmax(0, p - hypot(hypot(p - point->low, below), level));
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static int curves_init(struct curves *curves, struct rsc_watch_group *const *shapes, uint32_t shape_count,
                       uint32_t count, uint64_t words) {
    size_t most = 1;
    memset(curves, 0, sizeof *curves);
    for (uint32_t i = 0; i < count * shape_count; i++) most = larger(most, shapes[i / count][i % count].count);
    curves->bins = rsc_bin_of_fine(words) + 1;
    curves->misses = calloc((size_t)CURVES * curves->bins, sizeof *curves->misses);
    curves->outcomes = calloc(curves->bins, sizeof *curves->outcomes);
    curves->times = malloc(most * sizeof *curves->times);
    int failed = 0;
    for (uint32_t i = 0; i < RSC_WATCH_LINE_SHAPES; i++)
        failed |= !(curves->weight[i] = malloc(most * sizeof *curves->weight[i]));
    curves->distance = malloc(most * sizeof *curves->distance);
    return !failed && curves->misses && curves->outcomes && curves->times && curves->distance ? 0 : RSC_ENOMEM;
}

static void curves_free(struct curves *curves) {
    free(curves->misses);
    free(curves->outcomes);
    free(curves->times);
    for (uint32_t i = 0; i < RSC_WATCH_LINE_SHAPES; i++) free(curves->weight[i]);
    free(curves->distance);
}

/* Samples of all groups: how many, how many were watched, and which share found all registers taken. */
struct totals {
    double samples, watched, scarce;
};

static struct totals count_samples(struct rsc_watch_group *const *shapes, uint32_t shape_count, uint32_t count) {
    struct totals totals = {0, 0, 0};
    for (uint32_t g = 0; g < count * shape_count; g++) {
        const struct rsc_watch_group *group = &shapes[g / count][g % count];
        totals.watched += (double)group->estimator.watched;
        totals.samples += (double)group->count;
        for (size_t i = 0; i < group->count; i++) totals.scarce += group->samples[i].scarcity != 0;
    }
    return totals;
}

/* What misses in a cache that holds everything is a first touch, and every word has one. */
static void set_total_bars(struct rsc_profile *profile) {
    if (!profile->mrc_count) return;
    const struct rsc_mrc_point *all = &profile->mrc[profile->mrc_count - 1];
    const double references = (double)profile->references;
    struct rsc_count_bar bar = {1, (uint64_t)floor(all->low * references), (uint64_t)ceil(all->high * references)};
    if (bar.high > profile->references) bar.high = profile->references;
    profile->bars.cold = profile->bars.distinct = bar;
    if (profile->cold < bar.low) profile->bars.cold.low = profile->cold;
    if (profile->cold > bar.high) profile->bars.cold.high = profile->cold;
    if (profile->distinct < bar.low) profile->bars.distinct.low = profile->distinct;
    if (profile->distinct > bar.high) profile->bars.distinct.high = profile->distinct;
}

int rsc_groups_bars(const struct rsc_featherlight *feather, struct rsc_watch_group *const *shapes, uint32_t shape_count,
                    uint32_t count, struct rsc_profile *profile) {
    struct curves curves;
    struct rsc_rng rng;
    struct rsc_few_watches few = {0};
    struct totals totals = count_samples(shapes, shape_count, count);
    double level = 0.5 + feather->options.confidence / 200,
           normal = rsc_normal_quantile(level) / rsc_normal_quantile(0.95);
    int status = curves_init(&curves, shapes, shape_count, count, profile->distinct);
    rsc_rng_seed(&rng, feather->options.seed, 0xb007);
    double scarce = totals.samples > 0 ? totals.scarce / totals.samples : 0, spread = 1 + SCARCE * scarce * scarce;
    double unseen = fmax(0, 1 - totals.samples / (double)(profile->references ? profile->references : 1));
    if (status == 0 && totals.watched > 0) {
        for (uint32_t i = 0; i < count && status == 0; i++) status = add_all(&curves, shapes, shape_count, i, &rng);
        for (uint32_t i = 0; i < count; i++) add_outcomes(&curves, &shapes[shape_count - 1][i]);
        sum_tails(&curves);
        if (status == 0) status = rsc_few_watches_make(&few, shapes, shape_count, count, profile);
        for (size_t i = 0; status == 0 && i < profile->mrc_count && unseen > 0; i++) {
            struct rsc_mrc_point *point = &profile->mrc[i];
            struct rsc_few_variance more = rsc_few_watches_at(&few, point->lines);
            uint32_t bin = bin_within(&curves, point->lines), outcomes = curves.outcomes[bin];
            double p = point->miss_ratio,
                   variance = unseen * spread * fmax(more.least, variance_at(&curves, bin) + more.lacking);
            double most = totals.watched / unseen, n = variance > 0 ? p * (1 - p) / variance : most;
            rsc_wilson_bar(fmin(fmax(p, 0), 1), n > 1 ? fmin(n, most) : 1,
                           rsc_student_quantile(level, outcomes > 2 ? outcomes : 2), &point->low, &point->high);
        }
        for (size_t i = 0; status == 0 && i < profile->mrc_count; i++)
            widen_for_models(&curves, profile, i, MODEL_SHARE * normal, shape_count > 1);
    }
    for (size_t i = 0; status == 0 && !(totals.watched > 0) && i < profile->mrc_count; i++) {
        /* no estimate */
        profile->mrc[i].low = 0;
        profile->mrc[i].high = 1;
    }
    set_total_bars(profile);
    rsc_few_watches_free(&few);
    curves_free(&curves);
    return status;
}
