/* study_sets.c - set samples computed from the misses of every set: see study.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/rng.h"
#include "simulate/sampling/study.h"

struct sets {
    const struct rsc_study_cache *cache;
    const struct rsc_cache_config *config;
    double *mpi; /* owned: misses of each set over its share of the instructions; their mean is the cache's MPI */
    double *scratch;
    uint64_t count;
    uint32_t shift, index_bits;
};

/* The estimates of all values of the bits, and how good they are. */
static int study_bits(struct sets *sets, struct rsc_study_bits *bits, uint32_t low, uint32_t width,
                      struct rsc_error *error) {
    const uint64_t k = 1ull << width, n = sets->count / k;
    const uint32_t down = low - sets->shift;
    const double truth = sets->cache->mpi;
    *bits = (struct rsc_study_bits){.low = low, .width = width, .samples = k, .variance_ratio = NAN};
    bits->cv_sampled = bits->cv_references = bits->cv_data = NAN;
    bits->mpi = malloc(k * sizeof *bits->mpi);
    if (!bits->mpi) return rsc_fail_memory(error, "study");
    for (uint64_t value = 0; value < k; value++) {
        struct rsc_mean_estimate mean;
        uint64_t taken = 0;
        for (uint64_t set = 0; set < sets->count; set++)
            if ((set >> down & (k - 1)) == value) sets->scratch[taken++] = sets->mpi[set];
        rsc_mean_estimate(&mean, sets->scratch, taken, sets->count, 90);
        bits->mpi[value] = mean.mean;
        bits->covered += n >= 2 && mean.low <= truth && truth <= mean.high;
    }
    bits->cv = rsc_coefficient_of_variation(bits->mpi, k, truth);
    bits->within = rsc_within(bits->mpi, k, truth, 0.1);
    double systematic = rsc_systematic_sample_variance(bits->mpi, k, truth);
    if (systematic > 0) bits->variance_ratio = rsc_random_sample_variance(sets->mpi, sets->count, n) / systematic;
    return 0;
}

/* Equation 1 for estimates by what a sample's own sets have of the references counted in `first` and `second` (or NULL). */
static double cv_by_own(const struct rsc_study_bits *bits, double truth, const struct rsc_study_uses *uses,
                        const uint64_t *first, const uint64_t *second) {
    const uint64_t k = bits->samples;
    double sum = 0, all = 0;
    if (bits->low < uses->low || bits->low + bits->width > uses->low + uses->width) return NAN;
    for (uint64_t i = 0; i < 1ull << uses->width; i++) all += (double)(first[i] + (second ? second[i] : 0));
    if (!(all > 0)) return NAN;
    for (uint64_t value = 0; value < k; value++) {
        double own = 0;
        for (uint64_t i = 0; i < 1ull << uses->width; i++)
            if ((i >> (bits->low - uses->low) & (k - 1)) == value) own += (double)(first[i] + (second ? second[i] : 0));
        if (!(own > 0)) return INFINITY;
        /* mpi[] was divided by 1/k of all instructions; replace that by the sample's share */
        double estimate = bits->mpi[value] / (double)k * all / own;
        sum += (estimate - truth) * (estimate - truth);
    }
    return truth > 0 ? sqrt(sum / (double)k) / truth : INFINITY;
}

static void study_random(struct sets *sets, struct rsc_study_random *random, uint64_t n) {
    const double truth = sets->cache->mpi;
    struct rsc_rng rng;
    uint64_t within = 0, covered = 0;
    *random = (struct rsc_study_random){NAN, NAN, NAN};
    if (n < 2 || n > sets->count) return;
    random->cv = truth > 0 ? sqrt(rsc_random_sample_variance(sets->mpi, sets->count, n)) / truth : NAN;
    memcpy(sets->scratch, sets->mpi, sets->count * sizeof *sets->scratch);
    rsc_rng_seed(&rng, 1, 0);
    for (unsigned draw = 0; draw < RSC_STUDY_DRAWS; draw++) {
        struct rsc_mean_estimate mean;
        for (uint64_t i = 0; i < n; i++) { /* the first of a shuffle */
            uint64_t other = i + rsc_rng_below(&rng, sets->count - i);
            double taken = sets->scratch[other];
            sets->scratch[other] = sets->scratch[i];
            sets->scratch[i] = taken;
        }
        rsc_mean_estimate(&mean, sets->scratch, n, sets->count, 90);
        within += fabs(mean.mean - truth) <= 0.1 * truth;
        covered += mean.low <= truth && truth <= mean.high;
    }
    random->within = (double)within / RSC_STUDY_DRAWS;
    random->covered = (double)covered / RSC_STUDY_DRAWS;
}

/* The end of the index bits that are address bits unchanged. */
static uint32_t plain_end(const struct rsc_cache_config *config) {
    struct rsc_sim_config *one = calloc(1, sizeof *one);
    uint32_t low = 0, width = 0;
    if (!one) return 0;
    one->caches[0] = *config;
    one->count = 1;
    int status = rsc_set_bits(one, &low, &width, NULL);
    free(one);
    return status < 0 ? 0 : low + width;
}

static int study_fraction(struct sets *sets, struct rsc_study_sets *out, uint32_t width,
                          const struct rsc_study_uses *uses, struct rsc_error *error) {
    const uint32_t top = sets->shift + sets->index_bits, end = plain_end(sets->config);
    uint32_t paper = sets->shift + (width == 4); /* bits 11-8 and 12-7 of 128-byte blocks */
    int status = 0;
    out->denominator = 1ull << width;
    if (width > sets->index_bits || sets->count >> width < 2) return 0;
    if (paper + width > end) paper = sets->shift;
    out->ranges = calloc(sets->index_bits, sizeof *out->ranges);
    if (!out->ranges) return rsc_fail_memory(error, "study");
    for (uint32_t low = sets->shift; !status && low + width <= top; low++) {
        struct rsc_study_bits *bits = &out->ranges[out->range_count++];
        status = study_bits(sets, bits, low, width, error);
        if (status < 0) break;
        bits->usable = low + width <= end;
        if (bits->usable) {
            bits->cv_sampled = cv_by_own(bits, sets->cache->mpi, uses, uses->fetches, NULL);
            bits->cv_references = cv_by_own(bits, sets->cache->mpi, uses, uses->fetches, uses->data);
            bits->cv_data = cv_by_own(bits, sets->cache->mpi, uses, uses->data, NULL);
        }
        if (low == paper && bits->usable) {
            out->paper = *bits;
            out->available = 1;
        } else {
            free(bits->mpi);
        }
        bits->mpi = NULL;
    }
    if (!status) study_random(sets, &out->random, sets->count >> width);
    return status;
}

/*
 * Correlation of sets at a distance. It uses ranks: a few hot sets would dominate a
 * correlation of the numbers themselves.
 */
static int by_mpi(const void *a, const void *b, void *mpi) {
    double x = ((double *)mpi)[*(const uint32_t *)a], y = ((double *)mpi)[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

static int find_alike(const struct sets *sets, double alike[RSC_STUDY_DISTANCES], struct rsc_error *error) {
    const uint64_t s = sets->count;
    uint32_t *order = malloc(s * sizeof *order);
    double *rank = sets->scratch, squares = 0, middle = (double)(s - 1) / 2;
    if (!order) return rsc_fail_memory(error, "study");
    for (uint64_t i = 0; i < s; i++) order[i] = (uint32_t)i;
    qsort_r(order, s, sizeof *order, by_mpi, sets->mpi);
    for (uint64_t i = 0, end; i < s; i = end) { /* equal ones share their ranks */
        for (end = i; end < s && sets->mpi[order[end]] == sets->mpi[order[i]];) end++;
        for (uint64_t k = i; k < end; k++) rank[order[k]] = (double)(i + end - 1) / 2 - middle;
    }
    for (uint64_t i = 0; i < s; i++) squares += rank[i] * rank[i];
    for (int d = 0; d < RSC_STUDY_DISTANCES; d++) {
        double products = 0;
        for (uint64_t i = 0; i < s; i++) products += rank[i] * rank[(i + (1ull << d)) % s];
        alike[d] = squares > 0 ? products / squares : NAN;
    }
    free(order);
    return 0;
}

int rsc_study_finish_sets(struct rsc_study_cache *cache, const struct rsc_cache_config *config,
                          const struct rsc_study *study, const uint64_t *set_misses, const struct rsc_study_uses *uses,
                          struct rsc_error *error) {
    static const uint32_t widths[RSC_STUDY_FRACTIONS] = {4, 6};
    struct sets sets = {.cache = cache, .config = config, .count = rsc_cache_sets(config)};
    int status = 0;
    if (sets.count & (sets.count - 1)) return 0; /* the index is not a range of address bits */
    sets.index_bits = (uint32_t)__builtin_ctzll(sets.count);
    sets.shift = (uint32_t)__builtin_ctz(config->block_bytes);
    sets.mpi = malloc(2 * sets.count * sizeof *sets.mpi);
    if (!sets.mpi) return rsc_fail_memory(error, "study");
    sets.scratch = sets.mpi + sets.count;
    for (uint64_t i = 0; i < sets.count; i++)
        sets.mpi[i] = (double)set_misses[i] * (double)sets.count / (double)study->instructions;
    status = rsc_sample_shape(&cache->shape, sets.mpi, sets.count, error);
    if (!status) status = find_alike(&sets, cache->alike, error);
    for (int i = 0; !status && i < RSC_STUDY_FRACTIONS; i++)
        status = study_fraction(&sets, &cache->sets[i], widths[i], uses, error);
    free(sets.mpi);
    return status;
}
