/* metrics.c - overlap, mean absolute error and earth mover's distance of two profiles. */
#include "profile/metrics.h"

#include <math.h>

static int same_bins(const struct rsc_histogram *a, const struct rsc_histogram *b) {
    return a->bins.linear == b->bins.linear && a->bins.per_octave == b->bins.per_octave;
}

/* Overlap of two histograms, each with a further bin of count rest. */
static double overlap(const struct rsc_histogram *a, double rest_a, const struct rsc_histogram *b, double rest_b) {
    if (!same_bins(a, b)) return NAN;
    double total_a = (double)rsc_histogram_total(a) + rest_a, total_b = (double)rsc_histogram_total(b) + rest_b;
    if (total_a == 0 || total_b == 0) return total_a == total_b;
    double apart = fabs(rest_a / total_a - rest_b / total_b);
    for (uint32_t bin = 0; bin < a->bin_count; bin++)
        apart += fabs((double)a->count[bin] / total_a - (double)b->count[bin] / total_b);
    return fmax(0, 1 - apart / 2);
}

double rsc_profile_overlap(const struct rsc_profile *a, const struct rsc_profile *b) {
    double rest_a = (double)a->references - (double)rsc_histogram_total(&a->rd);
    double rest_b = (double)b->references - (double)rsc_histogram_total(&b->rd);
    return overlap(&a->rd, fmax(rest_a, 0), &b->rd, fmax(rest_b, 0));
}

double rsc_profile_accuracy(const struct rsc_profile *a, const struct rsc_profile *b, int without_zero) {
    const struct rsc_profile *sides[2] = {a, b};
    double total[2], apart = 0;
    if (!a->bins_per_octave || !same_bins(&a->rd_binned, &b->rd_binned)) return NAN;
    for (int side = 0; side < 2; side++)
        total[side] = (double)sides[side]->references - (without_zero ? (double)sides[side]->rd_binned.count[0] : 0);
    if (total[0] == 0 || total[1] == 0) return total[0] == total[1];
    double rest[2];
    for (int side = 0; side < 2; side++)
        rest[side] =
            ((double)sides[side]->references - (double)rsc_histogram_total(&sides[side]->rd_binned)) / total[side];
    apart = fabs(rest[0] - rest[1]);
    for (uint32_t bin = without_zero ? 1 : 0; bin < a->rd_binned.bin_count; bin++)
        apart += fabs((double)a->rd_binned.count[bin] / total[0] - (double)b->rd_binned.count[bin] / total[1]);
    return fmax(0, 1 - apart / 2);
}

static double share(uint64_t count, const struct rsc_profile *profile) {
    return profile->references ? (double)count / (double)profile->references : 0;
}

double rsc_profile_error_rate(const struct rsc_profile *a, const struct rsc_profile *b, struct rsc_bins bins,
                              uint32_t *used) {
    struct rsc_histogram left = {0}, right = {0};
    double apart = NAN;
    uint32_t highest = 0; /* bins that have a distance */
    if (rsc_histogram_init(&left, bins) < 0 || rsc_histogram_init(&right, bins) < 0) goto out;
    rsc_histogram_merge(&left, &a->rd);
    rsc_histogram_merge(&right, &b->rd);
    apart = fabs(share(a->references - rsc_histogram_total(&left), a) -
                 share(b->references - rsc_histogram_total(&right), b));
    for (uint32_t bin = 0; bin < left.bin_count; bin++) {
        if (left.count[bin] || right.count[bin]) highest = bin + 1;
        apart += fabs(share(left.count[bin], a) - share(right.count[bin], b));
    }
out:
    if (used) *used = highest + 1;
    rsc_histogram_free(&left);
    rsc_histogram_free(&right);
    return apart / (highest + 1);
}

double rsc_profile_mrc_error(const struct rsc_profile *a, const struct rsc_profile *b, size_t *points) {
    size_t i = 0, j = 0, common = 0;
    double sum = 0;
    while (i < a->mrc_count && j < b->mrc_count) {
        uint64_t left = a->mrc[i].bytes, right = b->mrc[j].bytes;
        if (left == right) {
            sum += fabs(a->mrc[i].miss_ratio - b->mrc[j].miss_ratio);
            common++;
        }
        if (left <= right) i++;
        if (right <= left) j++;
    }
    if (points) *points = common;
    return common ? sum / (double)common : NAN;
}

uint64_t rsc_grid_next(uint64_t lines, uint32_t per_octave) {
    if (!lines) return 1;
    double step = floor(log2((double)lines) * per_octave);
    for (;; step++) {
        uint64_t next = (uint64_t)(exp2(step / per_octave) + 0.5);
        if (next > lines) return next;
    }
}

double rsc_profile_mrc_error_octaves(const struct rsc_profile *a, const struct rsc_profile *b, uint32_t per_octave,
                                     size_t *points) {
    double sum = 0;
    size_t count = 0;
    if (points) *points = 0;
    if (!a->mrc_count || !b->mrc_count) return NAN;
    uint64_t last = a->distinct > b->distinct ? a->distinct : b->distinct;
    for (uint64_t lines = 1; lines <= last; lines = rsc_grid_next(lines, per_octave), count++)
        sum += fabs(rsc_profile_miss_ratio(a, lines) - rsc_profile_miss_ratio(b, lines));
    if (points) *points = count;
    return count ? sum / (double)count : NAN;
}

double rsc_histogram_emd_octaves(const struct rsc_histogram *a, const struct rsc_histogram *b) {
    if (!same_bins(a, b)) return NAN;
    double total_a = (double)rsc_histogram_total(a), total_b = (double)rsc_histogram_total(b);
    if (total_a == 0 || total_b == 0) return total_a == total_b ? 0 : NAN;
    /* In one dimension the work is the area between the two cumulative distributions. */
    double work = 0, ahead = 0;
    for (uint32_t bin = 0; bin + 1 < a->bin_count; bin++) {
        ahead += (double)a->count[bin] / total_a - (double)b->count[bin] / total_b;
        double here = log2(1 + (double)rsc_bin_lo(a->bins, bin)), next = log2(1 + (double)rsc_bin_lo(a->bins, bin + 1));
        work += fabs(ahead) * (next - here);
    }
    return work;
}

double rsc_profile_stated_error(const struct rsc_profile *profile) {
    double sum = 0;
    size_t points = 0;
    for (uint64_t lines = 1; lines <= rsc_profile_footprint(profile); lines = rsc_grid_next(lines, 8), points++) {
        struct rsc_mrc_point point = rsc_profile_mrc_at(profile, lines);
        sum += (point.high - point.low) / 2;
    }
    return points ? sum / (double)points : 0;
}

/* ---- paper 003 ---- */

#define FIRST_OCTAVE 12u /* 4 Ki */

void rsc_histogram_octave_shares(const struct rsc_histogram *histogram, double shares[RSC_OCTAVE_SHARES]) {
    double total = (double)rsc_histogram_total(histogram);
    for (uint32_t i = 0; i < RSC_OCTAVE_SHARES; i++) shares[i] = 0;
    for (uint32_t bin = 0; bin < histogram->bin_count; bin++) {
        if (!histogram->count[bin]) continue;
        uint64_t lo = rsc_bin_lo(histogram->bins, bin);
        uint32_t octave = lo ? 63 - (uint32_t)__builtin_clzll(lo) : 0,
                 place = octave < FIRST_OCTAVE ? 0 : octave - FIRST_OCTAVE + 1;
        shares[place < RSC_OCTAVE_SHARES ? place : RSC_OCTAVE_SHARES - 1] += (double)histogram->count[bin] / total;
    }
}

double rsc_octave_accuracy(const double a[RSC_OCTAVE_SHARES], const double b[RSC_OCTAVE_SHARES]) {
    double apart = 0;
    for (uint32_t i = 0; i < RSC_OCTAVE_SHARES; i++) apart += fabs(a[i] - b[i]);
    return 1 - apart / 2;
}

double rsc_octave_accuracy_windowed(const double a[RSC_OCTAVE_SHARES], const double b[RSC_OCTAVE_SHARES]) {
    double apart = 0;
    for (uint32_t i = 0; i + 1 < RSC_OCTAVE_SHARES; i++) apart += fabs((a[i] + a[i + 1]) / 2 - (b[i] + b[i + 1]) / 2);
    return 1 - apart / 2;
}

double rsc_octave_emd(const double a[RSC_OCTAVE_SHARES], const double b[RSC_OCTAVE_SHARES]) {
    double work = 0, ahead = 0;
    for (uint32_t i = 0; i + 1 < RSC_OCTAVE_SHARES; i++) work += fabs(ahead += a[i] - b[i]);
    return work;
}
