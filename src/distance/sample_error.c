/*
 * sample_error.c - how far a curve from sampled lines may be off.
 *
 * What was drawn is *lines*: references of a line come or stay away together, so
 * nothing may be treated as if references had been drawn. The lines kept fall
 * into groups by further bits of their hash. Groups are independent samples of
 * equal size, so the spread between them shows how the whole varies, whatever
 * the lines of the trace have to do with each other.
 *
 * Two things vary with the lines drawn, together:
 *   up and down   T_g(c), the misses of the lines of group g at size c. With
 *                 T = sum T_g:  var T = (1 - p) G/(G-1) sum (T_g - mean)^2.
 *   left, right   a distance is right only if the lines above are represented in
 *                 the sample as they should be. Audits say which share of the
 *                 lines above a reference near c belongs to each group, averaged
 *                 over references: F_g. Where every reference has other lines
 *                 above it, errors average out and F_g = 1/G; in a loop over the
 *                 same lines they do not, and the whole step of the curve moves:
 *                 sd of the size axis at c = c sqrt((1 - p) G/(G-1) sum (F_g - 1/G)^2).
 * The interval is what the curve reaches at c when it is moved along the ellipse
 * of those two (with their correlation). For a curve that is straight nearby this
 * is the usual t * sqrt(variance) by the delta method; at a step it is the step
 * moved sideways, as it should be.
 *
 * (1 - p) is the finite population correction: at rate 1 nothing is uncertain.
 */
#include <math.h>
#include <stdlib.h>

#include "base/statistics.h"
#include "distance/sample_sum.h"

#define GROUPS RSC_STACK_GROUPS
#define DIRECTIONS 24

/* The curve as a function of any size. */
struct curve {
    const struct rsc_profile *profile;
    double *misses;        /* by fine bin: misses of a cache whose size is its lower edge */
    double *late;          /* by fine bin: references with intervals from its lower edge on, and cold ones */
    uint32_t bins;
};

static double tail_at(const struct curve *curve, const double *tail, double size) {
    if (size <= 0) return tail[0];
    if (size >= 0x1p62) return tail[curve->bins - 1];
    uint32_t bin = rsc_bin_of_fine((uint64_t)size);
    double lo = (double)rsc_bin_lo(RSC_BINS_FINE, bin), hi = (double)rsc_bin_hi(RSC_BINS_FINE, bin) + 1;
    double next = bin + 1 < curve->bins ? tail[bin + 1] : 0;
    return tail[bin] + (next - tail[bin]) * (size - lo) / (hi - lo);
}

static double miss_ratio_at(const struct curve *curve, double size) {
    return tail_at(curve, curve->misses, size) / (double)curve->profile->references;
}

/* Standard deviations at one size: of the miss ratio, of the size axis, and their correlation. */
struct spread {
    double up, across, correlation;
};

/* Misses of each group at a size, from the edges of its bins. */
static void group_misses(const double (*tails)[GROUPS], double size, double *misses) {
    uint32_t bin = rsc_sample_bin((uint64_t)size);
    double lo = rsc_sample_bin_edge(bin), hi = rsc_sample_bin_edge(bin + 1);
    double share = size > lo ? (size - lo) / (hi - lo) : 0;
    for (uint32_t g = 0; g < GROUPS; g++) misses[g] = tails[bin][g] + (tails[bin + 1][g] - tails[bin][g]) * share;
}

/* The audit nearest to a size that has any references. */
static const struct rsc_sample_audit *audit_near(const struct rsc_sample_sum *sum, double size) {
    uint32_t at = rsc_sample_audit_of((uint64_t)size);
    for (uint32_t away = 0; away < RSC_SAMPLE_AUDITS; away++) {
        if (away <= at && sum->audits[at - away].count) return &sum->audits[at - away];
        if (at + away < RSC_SAMPLE_AUDITS && sum->audits[at + away].count) return &sum->audits[at + away];
    }
    return NULL;
}

static struct spread spread_at(const struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole,
                               const double (*tails)[GROUPS], double size) {
    double misses[GROUPS], share[GROUPS], total = 0, above = 0, up = 0, across = 0, both = 0;
    const struct rsc_sample_audit *audit = audit_near(sum, size);
    group_misses(tails, size, misses);
    for (uint32_t g = 0; g < GROUPS; g++) {
        share[g] = audit ? audit->above[g] : 0;
        total += misses[g];
        above += share[g];
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        double t = (misses[g] - total / GROUPS) / (double)whole->references;
        double f = above > 0 ? share[g] / above - 1.0 / GROUPS : 0;
        up += t * t;
        across += f * f;
        both += t * f;
    }
    double factor = (1 - whole->rate) * GROUPS / (GROUPS - 1);
    double correlation = up > 0 && across > 0 ? both / sqrt(up * across) : 0;
    return (struct spread){sqrt(up * factor), size * sqrt(across * factor), correlation};
}

/* What the curve reaches at `size`, moved along the ellipse of `times` standard deviations. */
static void move_curve(const struct curve *curve, double size, const struct spread *sd, double times, double *low,
                       double *high) {
    double rest = sqrt(fmax(0, 1 - sd->correlation * sd->correlation));
    for (int i = 0; i < DIRECTIONS; i++) {
        double angle = 2 * M_PI * i / DIRECTIONS, x = times * cos(angle), y = times * sin(angle);
        double moved = miss_ratio_at(curve, size - sd->across * x) + sd->up * (sd->correlation * x + rest * y);
        *low = fmin(*low, moved);
        *high = fmax(*high, moved);
    }
}

static void bar(const struct curve *curve, const struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole,
                const double (*tails)[GROUPS], double times, struct rsc_mrc_point *point) {
    double size = (double)point->lines, ratio = miss_ratio_at(curve, size), low = ratio, high = ratio;
    struct spread sd = spread_at(sum, whole, tails, size);
    move_curve(curve, size, &sd, times, &low, &high);
    /* Each distance alone is off by this much: what bends more tightly is smoothed away, and looks like the middle
     * of its surroundings. */
    double blur = sqrt(size * (1 - whole->rate) / whole->rate);
    double bias = (miss_ratio_at(curve, size + blur) + miss_ratio_at(curve, fmax(0, size - blur))) / 2 - ratio;
    if (bias > 0) low -= bias;
    else high -= bias;
    /* Below one kept line the sample sees nothing but intervals: only what is certain is said. */
    double cell = 1 / whole->rate;
    if (size < cell) {
        low = fmin(low, miss_ratio_at(curve, cell) - times * sd.up);
        high = fmax(high, tail_at(curve, curve->late, size + 1) / (double)whole->references + times * sd.up);
    }
    point->low = fmin(point->miss_ratio, fmax(0, low));
    point->high = fmax(point->miss_ratio, fmin(1, high));
}

int rsc_sample_bars(const struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole,
                    struct rsc_profile *profile) {
    if (rsc_profile_derive_mrc(profile) < 0) return RSC_ENOMEM;
    if (whole->rate >= 1 || !profile->mrc_count) return 0;
    struct curve curve = {.profile = profile, .bins = profile->rd.bin_count};
    curve.misses = calloc(curve.bins, sizeof *curve.misses);
    curve.late = calloc(curve.bins, sizeof *curve.late);
    double (*tails)[GROUPS] = calloc(RSC_SAMPLE_BINS + 1, sizeof *tails);
    int status = curve.misses && curve.late && tails ? 0 : RSC_ENOMEM;
    if (!status) {
        double misses = (double)profile->cold + (double)profile->rd_capped, late = (double)profile->cold;
        for (uint32_t bin = curve.bins; bin-- > 0;) {
            curve.misses[bin] = misses += (double)profile->rd.count[bin];
            curve.late[bin] = late += (double)profile->ri.count[bin];
        }
        for (uint32_t g = 0; g < GROUPS; g++) {
            tails[RSC_SAMPLE_BINS][g] = sum->group_cold[g];
            for (uint32_t bin = RSC_SAMPLE_BINS; bin-- > 0;) tails[bin][g] = tails[bin + 1][g] + sum->group_rd[bin][g];
        }
        double times = rsc_student_quantile(0.5 + whole->confidence / 200, GROUPS - 1);
        for (size_t i = 0; i < profile->mrc_count; i++)
            bar(&curve, sum, whole, (const double (*)[GROUPS])tails, times, &profile->mrc[i]);
    }
    free(curve.misses);
    free(curve.late);
    free(tails);
    return status;
}
