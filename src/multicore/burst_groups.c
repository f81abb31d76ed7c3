/* burst_groups.c - see burst_groups.h. */
#include "multicore/burst_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/histogram.h"
#include <reusescope/error.h>

/*
 * Few bursts have most of the weight, so a variance found from them has some 8 degrees of freedom: the squared ratio of
 * the quantiles of Student's t and of the normal distribution at 90 %.
 */
#define UNSURE 1.28

int rsc_burst_groups_init(struct rsc_burst_groups *groups) {
    size_t fine = rsc_bins_count(RSC_BINS_FINE);
    memset(groups, 0, sizeof *groups);
    groups->in_time.rd = calloc(fine, sizeof *groups->in_time.rd);
    groups->kept.rd = calloc(fine, sizeof *groups->kept.rd);
    if (groups->in_time.rd && groups->kept.rd) return 0;
    rsc_burst_groups_free(groups);
    return RSC_ENOMEM;
}

void rsc_burst_groups_free(struct rsc_burst_groups *groups) {
    free(groups->in_time.rd);
    free(groups->kept.rd);
    memset(groups, 0, sizeof *groups);
}

void rsc_burst_groups_add(struct rsc_burst_groups *groups, const struct rsc_sample_record *record) {
    uint32_t group = (record->burst ? record->burst : (uint32_t)groups->alone++) % RSC_BURST_GROUPS;
    struct rsc_burst_part *part = record->kept ? &groups->kept : &groups->in_time;
    groups->bursts |= record->burst != 0;
    if (record->outcome == RSC_SAMPLE_KEPT || record->outcome == RSC_SAMPLE_DROPPED) {
        groups->late[group] += record->weight;
        return;
    }
    part->weight[group] += record->weight;
    part->outcome[record->outcome][group] += record->weight;
    if (record->outcome == RSC_SAMPLE_REUSED) part->rd[rsc_bin_of_fine(record->distance)][group] += record->weight;
}

static double sum_of(const double value[RSC_BURST_GROUPS]) {
    double sum = 0;
    for (uint32_t g = 0; g < RSC_BURST_GROUPS; g++) sum += value[g];
    return sum;
}

/* Of a share with weight a in time, and b kept; `share`: what it is estimated as. */
static double effect_of(const struct rsc_burst_groups *groups, const double a[RSC_BURST_GROUPS],
                        const double b[RSC_BURST_GROUPS], double size, double *share) {
    const double *s = groups->in_time.weight, *k = groups->kept.weight, *m = groups->late;
    double late = sum_of(m), kept = sum_of(k), all = sum_of(s) + late, squares = 0;
    double q = kept > 0 ? sum_of(b) / kept : 0, scale = kept > 0 ? late / kept : 0;
    double p = *share = all > 0 ? (sum_of(a) + q * late) / all : 0;
    if (!(all > 0) || !(p > 0) || !(p < 1) || !isfinite(size)) return 0; /* the groups say nothing */
    for (uint32_t g = 0; g < RSC_BURST_GROUPS; g++) {
        double r = a[g] + q * m[g] - p * (s[g] + m[g]) + scale * (b[g] - q * k[g]);
        squares += r * r;
    }
    double variance = squares / (all * all) * RSC_BURST_GROUPS / (RSC_BURST_GROUPS - 1);
    return variance * size / (p * (1 - p));
}

double rsc_burst_effect(const struct rsc_burst_groups *groups, uint32_t outcome, double size) {
    double share;
    if (!groups->bursts) return 1;
    return fmax(
        1, UNSURE * effect_of(groups, groups->in_time.outcome[outcome], groups->kept.outcome[outcome], size, &share));
}

void rsc_burst_effects(const struct rsc_burst_groups *groups, double size, double *bins, double *tails) {
    static const uint32_t without[] = {RSC_SAMPLE_INVALIDATED, RSC_SAMPLE_TAKEN, RSC_SAMPLE_LAST_TOUCH,
                                       RSC_SAMPLE_PRUNED, RSC_SAMPLE_CENSORED};
    double a[RSC_BURST_GROUPS] = {0}, b[RSC_BURST_GROUPS] = {0}, share, sums[2] = {0}, weights[2] = {0};
    const uint32_t fine = rsc_bins_count(RSC_BINS_FINE);
    for (uint32_t bin = 0; bin < fine; bin++) bins[bin] = tails[bin] = 1;
    if (!groups->bursts) return;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        for (uint32_t g = 0; g < RSC_BURST_GROUPS; g++) {
            a[g] += groups->in_time.outcome[without[i]][g];
            b[g] += groups->kept.outcome[without[i]][g];
        }
    for (uint32_t bin = fine; bin-- > 0;) {
        const double *in_time = groups->in_time.rd[bin], *kept = groups->kept.rd[bin];
        for (uint32_t g = 0; g < RSC_BURST_GROUPS; g++) a[g] += in_time[g], b[g] += kept[g];
        tails[bin] = effect_of(groups, a, b, size, &share);
        sums[0] += tails[bin] * share * (1 - share);
        weights[0] += share * (1 - share);
        bins[bin] = effect_of(groups, in_time, kept, size, &share);
        sums[1] += bins[bin] * share;
        weights[1] += share;
    }
    /* where no sample counts, or all do, the groups say nothing: the mean does */
    const double tail = weights[0] > 0 ? sums[0] / weights[0] : 1, one = weights[1] > 0 ? sums[1] / weights[1] : 1;
    for (uint32_t bin = 0; bin < fine; bin++) {
        tails[bin] = fmax(1, fmax(tail, UNSURE * tails[bin]));
        bins[bin] = fmax(1, fmax(one, UNSURE * bins[bin]));
    }
}
