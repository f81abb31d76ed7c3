/* study_times.c - time samples computed from the counts of every interval: see study.h. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/rng.h"
#include "simulate/sampling/study.h"

/*
 * The bias of each method over the systematic sample. For prime it is that of the
 * local miss ratio (the paper's footnote 4). An interval without an estimate is
 * excluded from the truth too.
 */
static void find_bias(struct rsc_study_time *time) {
    const uint64_t n = time->sampled;
    uint64_t misses = 0, full = 0, cold = 0;
    double loaded = 0;
    for (uint64_t k = 0; k < n; k++) {
        const struct rsc_study_interval *interval = &time->intervals[rsc_study_spread(k, n, time->count)];
        misses += interval->misses;
        full += interval->full_misses;
        cold += interval->cold_misses;
        loaded += interval->loaded;
    }
    time->mpi = n ? (double)misses / (double)n / (double)time->length : NAN;
    time->reliable = n && loaded / (double)n >= 0.5 && full >= cold;
    for (int method = 0; method < RSC_STUDY_METHODS; method++) {
        double estimated = 0, truth = 0;
        for (uint64_t k = 0; k < n; k++) {
            const struct rsc_study_interval *interval = &time->intervals[rsc_study_spread(k, n, time->count)];
            double weight = method == RSC_START_PRIME ? 1 / (double)interval->references : 1;
            if (isnan(interval->estimate[method]) || !interval->references) continue;
            estimated += interval->estimate[method] * weight;
            truth += (double)interval->misses * weight;
        }
        time->bias[method] = truth > 0 ? (estimated - truth) / truth : NAN;
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct cone {
    const struct rsc_study_time *time;
    uint64_t *order;      /* owned: a shuffle of the intervals */
    double *values;       /* owned: of one sample */
    double *means;        /* owned: of all samples, over the truth */
    double truth;         /* of the whole trace */
    struct rsc_rng rng;
};

/* Samples of n intervals: all of them for one interval, else random ones. */
static void slice(struct cone *cone, struct rsc_study_slice *out, uint64_t n, int with_truth) {
    const struct rsc_study_time *time = cone->time;
    const uint64_t samples = n == 1 ? time->count : RSC_STUDY_DRAWS;
    uint64_t within = 0, covered = 0;
    for (uint64_t draw = 0; draw < samples; draw++) {
        struct rsc_mean_estimate mean;
        for (uint64_t i = 0; i < n; i++) {
            uint64_t other = i + rsc_rng_below(&cone->rng, time->count - i), taken = cone->order[other];
            if (n == 1) {
                cone->order[0] = taken = draw;
            } else {
                cone->order[other] = cone->order[i];
                cone->order[i] = taken;
            }
            const struct rsc_study_interval *interval = &time->intervals[taken];
            double misses = with_truth ? (double)interval->misses : interval->estimate[RSC_START_INITMR];
            cone->values[i] = misses / (double)time->length;
        }
        rsc_mean_estimate(&mean, cone->values, n, time->count, 90);
        cone->means[draw] = mean.mean / cone->truth;
        within += fabs(mean.mean - cone->truth) <= 0.1 * cone->truth;
        covered += n >= 2 && mean.low <= cone->truth && cone->truth <= mean.high;
    }
    qsort(cone->means, samples, sizeof *cone->means, ascending);
    out->low[with_truth] = cone->means[(uint64_t)(0.05 * (double)(samples - 1))];
    out->high[with_truth] = cone->means[(uint64_t)ceil(0.95 * (double)(samples - 1))];
    out->within[with_truth] = (double)within / (double)samples;
    out->covered[with_truth] = n >= 2 ? (double)covered / (double)samples : NAN;
}

/* Sample sizes 1, 2, 5, 10, 20, 30, 50, 100 ...: 30 is the paper's least for confidence. */
static uint64_t next_size(uint64_t n) {
    uint64_t decade = 1;
    while (decade * 10 <= n) decade *= 10;
    if (n == 20) return 30;
    if (n == 30) return 50;
    return n == decade ? 2 * decade : n == 2 * decade ? 5 * decade : 10 * decade;
}

int rsc_study_finish_times(struct rsc_study_cache *cache, struct rsc_study_time *time, uint64_t instructions,
                           struct rsc_error *error) {
    struct cone cone = {.time = time, .truth = cache->mpi};
    int status = 0;
    find_bias(time);
    if (!time->count || !(cache->mpi > 0)) return 0;
    cone.order = malloc(time->count * sizeof *cone.order);
    cone.values = malloc(time->count * sizeof *cone.values);
    cone.means = malloc((time->count > RSC_STUDY_DRAWS ? time->count : RSC_STUDY_DRAWS) * sizeof *cone.means);
    if (!cone.order || !cone.values || !cone.means) {
        status = rsc_fail_memory(error, "study");
        goto out;
    }
    rsc_rng_seed(&cone.rng, 1, time->length);
    for (uint64_t n = 1; n <= time->count && time->slice_count < RSC_STUDY_CONE_MAX; n = next_size(n)) {
        struct rsc_study_slice *to = &time->slices[time->slice_count++];
        *to = (struct rsc_study_slice){.intervals = n,
                                       .fraction = (double)n * (double)time->length / (double)instructions};
        for (int with_truth = 0; with_truth < 2; with_truth++) {
            for (uint64_t i = 0; i < time->count; i++) cone.order[i] = i;
            slice(&cone, to, n, with_truth);
        }
    }
out:
    free(cone.order);
    free(cone.values);
    free(cone.means);
    return status;
}
