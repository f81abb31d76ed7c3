/* metrics.c - overlap, mean absolute error and earth mover's distance of two profiles. */
#include "profile/metrics.h"

#include <math.h>
#include <stdlib.h>

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

/* References that paper 000 counts; 0: an empty profile. */
static double counted(const struct rsc_profile *profile, int without_zero) {
    return (double)profile->references - (without_zero ? (double)profile->rd_binned.count[0] : 0);
}

/* Share of the counted references in a bin; of those without a distance in the one after the last. */
static double binned_share(const struct rsc_profile *profile, uint32_t bin, double total) {
    const struct rsc_histogram *rd = &profile->rd_binned;
    double in_bin =
        bin < rd->bin_count ? (double)rd->count[bin] : (double)profile->references - (double)rsc_histogram_total(rd);
    return in_bin / total;
}

double rsc_profile_accuracy_of_runs(const struct rsc_profile *const *runs, size_t count,
                                    const struct rsc_profile *estimate, int without_zero) {
    size_t filled = 0;
    if (!estimate->bins_per_octave) return NAN;
    for (size_t run = 0; run < count; run++)
        if (!same_bins(&runs[run]->rd_binned, &estimate->rd_binned)) return NAN;
    for (size_t run = 0; run < count; run++) filled += counted(runs[run], without_zero) > 0;
    double total = counted(estimate, without_zero), apart = 0;
    if (total == 0 || !filled) return total == 0 && !filled;
    for (uint32_t bin = without_zero ? 1 : 0; bin <= estimate->rd_binned.bin_count; bin++) {
        double sum = 0;
        for (size_t run = 0; run < count; run++) {
            double of_run = counted(runs[run], without_zero);
            if (of_run > 0) sum += binned_share(runs[run], bin, of_run);
        }
        apart += fabs(sum / (double)filled - binned_share(estimate, bin, total));
    }
    return fmax(0, 1 - apart / 2);
}

double rsc_profile_accuracy(const struct rsc_profile *a, const struct rsc_profile *b, int without_zero) {
    return rsc_profile_accuracy_of_runs(&a, 1, b, without_zero);
}

double rsc_profile_runs_agree(const struct rsc_profile *const *runs, size_t count, int without_zero) {
    const struct rsc_profile **others = count > 1 ? malloc((count - 1) * sizeof *others) : NULL;
    double sum = 0;
    if (!others) return NAN;
    for (size_t left_out = 0; left_out < count; left_out++) {
        for (size_t run = 0, n = 0; run < count; run++)
            if (run != left_out) others[n++] = runs[run];
        sum += rsc_profile_accuracy_of_runs(others, count - 1, runs[left_out], without_zero);
    }
    free(others);
    return sum / (double)count;
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
