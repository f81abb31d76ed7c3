/* curve.c - from samples with distances to a miss ratio curve with error bars; see region_analysis.h. */
#include "loops/model/region_analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "estimate/statistics.h"

#define DISTANCES_EXACT 64.0 /* shorter distances are those of simulated windows */
#define DISTANCE_SHARE 0.01
#define DISTANCE_PICKS 0.008 /* of all lines: about half of what each line looked at stands for */

size_t rsc_loops_grid(uint64_t lines, uint64_t *size) {
    size_t count = 0;
    for (int k = 0; count < RSC_LOOPS_GRID_MAX; k++) {
        uint64_t next = (uint64_t)(exp2(k / 8.0) + 0.5);
        if (count && next == size[count - 1]) continue;
        size[count++] = next < lines ? next : lines ? lines : 1;
        if (next >= lines) break;
    }
    return count;
}

size_t rsc_loops_sizes_up_to(const uint64_t *size, size_t sizes, double distance) {
    return RSC_SEARCH(0, sizes, i, (double)size[i] <= distance);
}

void rsc_loops_tally_free(struct rsc_loops_tally *tally) {
    free(tally->by);
    free(tally->weight);
    free(tally->ratio);
    memset(tally, 0, sizeof *tally);
}

int rsc_loops_tally_new(struct rsc_loops_tally *tally, const struct rsc_loops_samples *samples, uint32_t references,
                        const uint64_t *size, size_t sizes) {
    uint32_t strata = samples->strata ? samples->strata->count : references;
    *tally = (struct rsc_loops_tally){.sizes = sizes, .strata = strata, .cold = samples->cold / samples->references};
    tally->by = calloc((size_t)strata * (sizes + 1) + 1, sizeof *tally->by);
    tally->weight = calloc(strata + (size_t)1, sizeof *tally->weight);
    tally->ratio = calloc(sizes + 1, sizeof *tally->ratio);
    if (!tally->by || !tally->weight || !tally->ratio) {
        rsc_loops_tally_free(tally);
        return RSC_ENOMEM;
    }
    for (size_t i = 0; i < samples->count; i++) {
        const struct rsc_reuse_sample *sample = &samples->sample[i];
        if (sample->interval <= 0) continue;
        uint32_t s = samples->strata ? samples->stratum[i] : samples->reference[i];
        tally->by[(size_t)s * (sizes + 1) + rsc_loops_sizes_up_to(size, sizes, sample->distance)]++;
        tally->weight[s] += sample->weight;
        tally->all += sample->weight;
    }
    for (uint32_t s = 0; s < strata; s++) {
        double *by = tally->by + (size_t)s * (sizes + 1);
        for (size_t g = sizes; g-- > 0;) by[g] += by[g + 1];
        for (size_t g = 0; g < sizes && by[0] > 0 && tally->all > 0; g++)
            tally->ratio[g] += tally->weight[s] / tally->all * by[g + 1] / by[0];
    }
    for (size_t g = 0; g < sizes; g++)
        tally->ratio[g] = tally->cold + (1 - tally->cold) * (tally->ratio[g] < 1 ? tally->ratio[g] : 1);
    return 0;
}

double rsc_loops_tally_variance(const struct rsc_loops_tally *tally, uint32_t stratum, size_t g) {
    const double *by = tally->by + (size_t)stratum * (tally->sizes + 1);
    if (by[0] <= 0 || tally->all <= 0) return 0;
    double part = (1 - tally->cold) * tally->weight[stratum] / tally->all, p = (by[g + 1] + 0.5) / (by[0] + 1);
    return part * part * p * (1 - p);
}

/*
 * Where no sample of a stratum misses, half of one is taken to (rsc_loops_tally_variance()): at the first such size. The
 * further a size is past the longest distance seen, the less likely is a longer one: by the ratio of the two, as for
 * distances without a mean.
 */
static double unseen(const struct rsc_loops_tally *tally, uint32_t stratum, const uint64_t *size, size_t g) {
    const double *by = tally->by + (size_t)stratum * (tally->sizes + 1);
    size_t longest = g;
    while (longest && by[longest] <= 0) longest--;
    return by[g + 1] > 0 ? 1 : (double)size[longest] / (double)size[g];
}

/* The variance of ratio[g] that comes from what each stratum stands for: its share of its reference's points. */
static double variance_of_shares(const struct rsc_loops_tally *tally, const struct rsc_loops_strata *strata, size_t g) {
    double variance = 0;
    for (uint32_t s = 0, end; s < strata->count; s = end) {
        double sum = 0, misses = 0, squares = 0;
        for (end = s; end < strata->count && strata->reference[end] == strata->reference[s]; end++) {
            const double *by = tally->by + (size_t)end * (tally->sizes + 1);
            double p = by[0] > 0 ? by[g + 1] / by[0] : 0;
            sum += tally->weight[end];
            misses += tally->weight[end] * p;
            squares += tally->weight[end] * p * p;
        }
        double part = (1 - tally->cold) / tally->all;
        if (sum > 0)
            variance +=
                part * part * sum * (squares - misses * misses / sum) / (double)(strata->first[end] - strata->first[s]);
    }
    return variance;
}

struct use {
    double end;
    size_t sizes; /* smaller ones than its distance */
};

static int by_end(const void *a, const void *b) {
    double x = ((const struct use *)a)->end, y = ((const struct use *)b)->end;
    return x < y ? -1 : x > y;
}

/*
 * How often neighbours in time, of one stratum, differ at each size: changes[stratum][size]. Points are spread evenly,
 * so that where a miss depends on the place in the run alone, the error is that of the places where it changes.
 */
static int count_changes(const struct rsc_loops_samples *samples, const uint64_t *size, size_t sizes, double *changes) {
    struct use *use = malloc((samples->count + 1) * sizeof *use);
    if (!use) return RSC_ENOMEM;
    for (size_t from = 0, end; from < samples->count; from = end) { /* samples are in order of stratum */
        uint32_t s = samples->strata ? samples->stratum[from] : samples->reference[from];
        double *of = changes + (size_t)s * (sizes + 1);
        size_t count = 0;
        for (end = from; end < samples->count; end++) {
            const struct rsc_reuse_sample *sample = &samples->sample[end];
            if ((samples->strata ? samples->stratum[end] : samples->reference[end]) != s) break;
            if (sample->interval > 0)
                use[count++] = (struct use){sample->end, rsc_loops_sizes_up_to(size, sizes, sample->distance)};
        }
        qsort(use, count, sizeof *use, by_end);
        for (size_t i = 1; i < count; i++) {
            size_t a = use[i - 1].sizes, b = use[i].sizes;
            of[a < b ? a : b]++;
            of[a < b ? b : a]--;
        }
        for (size_t g = 1; g < sizes; g++) of[g] += of[g - 1];
    }
    free(use);
    return 0;
}

/*
 * The error of distances, as a standard deviation: of counted ones, that of the lines looked at; of the others, a
 * share. bench_loops near has the coverage that these give.
 */
static double distance_error(const struct rsc_loops_samples *samples, double lines) {
    return lines < DISTANCES_EXACT ? 0
                                   : fmax(DISTANCE_SHARE * lines, DISTANCE_PICKS * samples->spread * samples->lines);
}

/* Student's quantiles, by degrees of freedom, that were needed so far. */
#define FREEDOM_MOST 64u
struct quantiles {
    double of[FREEDOM_MOST];
};

/*
 * The quantile for an error whose variance is in part (one `share`-th of it) that of `draws` + 1 draws, and so is
 * itself uncertain.
 */
static double quantile_of(struct quantiles *known, uint32_t draws, double share, double confidence) {
    double freedom = draws * share * share;
    uint32_t at = freedom < FREEDOM_MOST ? (uint32_t)freedom : FREEDOM_MOST - 1;
    if (known->of[at] <= 0) known->of[at] = rsc_student_quantile(0.5 + confidence / 200, at);
    return known->of[at];
}

int rsc_loops_curve(const struct rsc_loops_samples *samples, uint32_t reference_count, const uint64_t *size,
                    size_t sizes, double confidence, uint64_t line_bytes, struct rsc_mrc_point *mrc) {
    struct rsc_loops_tally tally = {0}, smaller = {0}, larger = {0};
    uint64_t *shifted = malloc((sizes + 1) * sizeof *shifted);
    struct quantiles known = {{0}};
    double *changes = NULL, *draws = calloc(sizes + 1, sizeof *draws);
    double z = rsc_normal_quantile(0.5 + confidence / 200);
    int status = shifted && draws ? rsc_loops_tally_new(&tally, samples, reference_count, size, sizes) : RSC_ENOMEM;
    if (status >= 0) changes = calloc((size_t)tally.strata * (sizes + 1) + 1, sizeof *changes);
    if (status >= 0) status = changes ? count_changes(samples, size, sizes, changes) : RSC_ENOMEM;
    if (status >= 0 && samples->draws > 1) status = rsc_loops_draws_variance(samples, &tally, size, draws);
    for (int side = -1; side <= 1 && status >= 0; side += 2) { /* what a distance that is off would change */
        for (size_t g = 0; g < sizes; g++) {
            double at = (double)size[g] + side * z * distance_error(samples, (double)size[g]);
            shifted[g] = at > 1 ? (uint64_t)(at + 0.5) : 1;
            if (g && shifted[g] < shifted[g - 1]) shifted[g] = shifted[g - 1];
        }
        status = rsc_loops_tally_new(side < 0 ? &smaller : &larger, samples, reference_count, shifted, sizes);
    }
    for (size_t g = 0; g < sizes && status >= 0; g++) {
        double variance = 0, ratio = tally.ratio[g], cold = tally.cold;
        for (uint32_t s = 0; s < tally.strata; s++)
            if (tally.by[(size_t)s * (sizes + 1)] > 0) {
                double part = (1 - tally.cold) * tally.weight[s] / tally.all, count = tally.by[(size_t)s * (sizes + 1)];
                double even = part * part * (changes[(size_t)s * (sizes + 1) + g] + 0.5) / (2 * count);
                double drawn = rsc_loops_tally_variance(&tally, s, g) * unseen(&tally, s, size, g);
                variance += (samples->one_order ? fmin(drawn, even) : drawn) / count;
            }
        if (samples->strata) variance += variance_of_shares(&tally, samples->strata, g);
        double all = variance + draws[g], times = z;
        if (draws[g] > 0) times = quantile_of(&known, samples->draws - 1, all / draws[g], confidence);
        double half = times * sqrt(all), low = ratio - hypot(half, ratio - larger.ratio[g]),
               high = ratio + hypot(half, smaller.ratio[g] - ratio);
        if (samples->lines > 0 && (double)size[g] >= samples->lines) ratio = low = high = cold;
        mrc[g] = (struct rsc_mrc_point){.lines = size[g],
                                        .bytes = size[g] * line_bytes,
                                        .miss_ratio = ratio,
                                        .low = low < cold ? cold : low,
                                        .high = high > 1 ? 1 : high};
        if (mrc[g].low > ratio) mrc[g].low = ratio;
    }
    rsc_loops_tally_free(&tally);
    rsc_loops_tally_free(&smaller);
    rsc_loops_tally_free(&larger);
    free(shifted);
    free(changes);
    free(draws);
    return status;
}
