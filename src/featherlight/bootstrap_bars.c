/*
 * bootstrap_bars.c - how far the miss ratio curve may be off.
 *
 * Because only samples were watched: a bootstrap by half-samples. The samples of each
 * group of threads are cut into BLOCKS runs in time (neighbours are alike, so single
 * samples would look more independent than they are) and neighbouring runs are paired:
 * in each of REPLICATES estimates one run of every pair, by the toss of a coin, counts
 * 1 + TILT times and the other 1 - TILT times, and the whole estimate is made again
 * (weights, distances, curve). The spread over the replicates divided by TILT is the
 * standard error s (Fay's variant of balanced half-samples); pairs, not all runs, are
 * exchanged because a run's phases are always sampled in full. From s at a miss ratio p
 * follows how many independent samples it is worth, n = p (1 - p) / s^2, never more than
 * were watched, and the bar is Wilson's for n: near 0 and 1, where the spread says too
 * little, it stays wide enough; with Student's quantile for as many degrees of freedom
 * as outcomes were seen that far out, which may be few. What was sampled of all references needs no bar: s^2
 * and 1/n are multiplied by the share that was not.
 *
 * Because distances are modelled from intervals: they are taken to be off by up to
 * MODEL_FACTOR either way, so the curve at c / MODEL_FACTOR and c * MODEL_FACTOR lines is
 * what it could be at c. On the exact intervals of the development traces the truth lies
 * between those (and 0.002) at 97 to 100 % of sizes, but for one kernel whose curve falls
 * in a few steps (70 %). Both parts are added by their squares: so much that bars of 90 %
 * held the truth of the real programs among those traces at 87 to 92 % of sizes (with a
 * factor of 1.1: at 75 to 90 %).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "featherlight/watch_group.h"
#include "profile/profile_model.h"

#define REPLICATES 100u
#define BLOCKS 128u /* even */
#define TILT 0.5
#define MODEL_FACTOR 1.2

struct curves {
    uint32_t bins;    /* of RSC_BINS_FINE, up to the footprint's */
    double *misses;   /* [replicate * bins + bin]: references with RD from this bin's lo up, and those never used again */
    double known[REPLICATES];
    uint32_t *outcomes; /* [bin]: watches that ended unused, or reused at an RD from this bin's lo up */
    double *times, *weight, *distance; /* scratch, of the largest group */
};

static void toss_pairs(struct rsc_rng *rng, double *times, size_t count) {
    uint32_t blocks = count < BLOCKS ? (uint32_t)count & ~1u : BLOCKS;
    double tilt[BLOCKS];
    for (uint32_t i = 0; i + 1 < blocks; i += 2) {
        tilt[i] = rsc_rng_u64(rng) >> 63 ? 1 + TILT : 1 - TILT;
        tilt[i + 1] = 2 - tilt[i];
    }
    for (size_t i = 0; i < count; i++) times[i] = blocks ? tilt[i * blocks / count] : 1;
}

static void add_replicate(struct curves *curves, struct rsc_watch_group *group, uint32_t replicate, struct rsc_rng *rng) {
    double *misses = curves->misses + (size_t)replicate * curves->bins;
    if (!group->count) return;
    toss_pairs(rng, curves->times, group->count);
    struct rsc_estimate estimate = rsc_group_estimate(group, curves->times, curves->weight, curves->distance);
    curves->known[replicate] += estimate.reused + estimate.unused;
    misses[curves->bins - 1] += estimate.unused;
    for (size_t i = 0; i < group->estimator.watched; i++) {
        uint32_t index = group->estimator.by_interval[i];
        if (!(curves->weight[index] > 0)) continue;
        uint32_t bin = rsc_bin_of_fine((uint64_t)(curves->distance[index] + 0.5));
        misses[bin < curves->bins ? bin : curves->bins - 1] += curves->weight[index];
    }
}

static void add_outcomes(struct curves *curves, const struct rsc_watch_group *group) {
    for (size_t i = 0; i < group->count; i++) {
        uint32_t bin = rsc_bin_of_fine((uint64_t)(group->distance[i] + 0.5));
        if (group->samples[i].ending == RSC_WATCH_UNUSED) curves->outcomes[curves->bins - 1]++;
        if (group->samples[i].ending == RSC_WATCH_REUSED) curves->outcomes[bin < curves->bins ? bin : curves->bins - 1]++;
    }
}

/* From counts in bins to counts from each bin on. */
static void sum_tails(struct curves *curves) {
    for (uint32_t bin = curves->bins - 1; bin-- > 0;) curves->outcomes[bin] += curves->outcomes[bin + 1];
    for (uint32_t r = 0; r < REPLICATES; r++) {
        double *misses = curves->misses + (size_t)r * curves->bins;
        for (uint32_t bin = curves->bins - 1; bin-- > 0;) misses[bin] += misses[bin + 1];
    }
}

static double variance_at(const struct curves *curves, uint32_t bin) {
    double sum = 0, squares = 0;
    uint32_t used = 0;
    if (bin >= curves->bins) bin = curves->bins - 1;
    for (uint32_t r = 0; r < REPLICATES; r++) {
        if (!(curves->known[r] > 0)) continue;
        double ratio = curves->misses[(size_t)r * curves->bins + bin] / curves->known[r];
        sum += ratio;
        squares += ratio * ratio;
        used++;
    }
    if (used < 2) return 0;
    double variance = (squares - sum * sum / used) / (used - 1) / (TILT * TILT);
    return variance > 0 ? variance : 0;
}

/* Wilson's interval for a share p seen in n samples. */
static void set_bar(struct rsc_mrc_point *point, double n, double z) {
    double p = fmin(fmax(point->miss_ratio, 0), 1), over = z * z / n;
    double middle = (p + over / 2) / (1 + over), half = z * sqrt(p * (1 - p) / n + over / n / 4) / (1 + over);
    point->low = fmin(p, fmax(0, middle - half));
    point->high = fmax(p, fmin(1, middle + half));
}

/* Adds what distances that are off by MODEL_FACTOR could do. Reads the curve, which stays as it is. */
static void widen_for_model(struct rsc_profile *profile, size_t index) {
    struct rsc_mrc_point *point = &profile->mrc[index];
    double lines = (double)point->lines;
    double above = rsc_profile_miss_ratio(profile, (uint64_t)(lines / MODEL_FACTOR)) - point->miss_ratio;
    double below = point->miss_ratio - rsc_profile_miss_ratio(profile, (uint64_t)ceil(lines * MODEL_FACTOR));
    point->high = fmin(1, point->miss_ratio + hypot(point->high - point->miss_ratio, above));
    point->low = fmax(0, point->miss_ratio - hypot(point->miss_ratio - point->low, below));
}

static int curves_init(struct curves *curves, const struct rsc_watch_group *groups, uint32_t count, uint64_t words) {
    size_t largest = 1;
    memset(curves, 0, sizeof *curves);
    for (uint32_t i = 0; i < count; i++)
        if (groups[i].count > largest) largest = groups[i].count;
    curves->bins = rsc_bin_of_fine(words) + 1;
    curves->misses = calloc((size_t)REPLICATES * curves->bins, sizeof *curves->misses);
    curves->outcomes = calloc(curves->bins, sizeof *curves->outcomes);
    curves->times = malloc(largest * sizeof *curves->times);
    curves->weight = malloc(largest * sizeof *curves->weight);
    curves->distance = malloc(largest * sizeof *curves->distance);
    return curves->misses && curves->outcomes && curves->times && curves->weight && curves->distance ? 0 : RSC_ENOMEM;
}

int rsc_groups_bars(const struct rsc_featherlight *feather, struct rsc_watch_group *groups, uint32_t count,
                    struct rsc_profile *profile) {
    struct curves curves;
    struct rsc_rng rng;
    double watched = 0, samples = 0, level = 0.5 + feather->options.confidence / 200;
    int status = curves_init(&curves, groups, count, profile->distinct);
    rsc_rng_seed(&rng, feather->options.seed, 0xb007);
    for (uint32_t i = 0; i < count; i++) {
        watched += (double)groups[i].estimator.watched;
        samples += (double)groups[i].count;
    }
    if (status == 0 && watched > 0) {
        for (uint32_t r = 0; r < REPLICATES; r++)
            for (uint32_t i = 0; i < count; i++) add_replicate(&curves, &groups[i], r, &rng);
        for (uint32_t i = 0; i < count; i++) add_outcomes(&curves, &groups[i]);
        sum_tails(&curves);
        double unseen = fmax(0, 1 - samples / (double)profile->references);
        for (size_t i = 0; i < profile->mrc_count && unseen > 0; i++) {
            struct rsc_mrc_point *point = &profile->mrc[i];
            double p = point->miss_ratio, variance = unseen * variance_at(&curves, rsc_bin_of_fine(point->lines));
            double most = watched / unseen, n = variance > 0 ? p * (1 - p) / variance : most;
            uint32_t bin = rsc_bin_of_fine(point->lines), outcomes = curves.outcomes[bin < curves.bins ? bin : curves.bins - 1];
            set_bar(point, n > 1 && n < most ? n : n > 1 ? most : 1, rsc_student_quantile(level, outcomes > 2 ? outcomes : 2));
        }
        for (size_t i = 0; i < profile->mrc_count; i++) widen_for_model(profile, i);
    }
    for (size_t i = 0; status == 0 && !(watched > 0) && i < profile->mrc_count; i++) {
        /* nothing is known */
        profile->mrc[i].low = 0;
        profile->mrc[i].high = 1;
    }
    free(curves.misses);
    free(curves.outcomes);
    free(curves.times);
    free(curves.weight);
    free(curves.distance);
    return status;
}
