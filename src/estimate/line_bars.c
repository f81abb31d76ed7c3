/*
 * line_bars.c - see line_bars.h.
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
 *
 * Measured (bench_coverage, bars of 90 %, sizes from 10 kept lines on): shards:0.01, 500
 * seeds, held 93.5 % on eight generated traces and 92.4 % on four of programs. Rate 1/16,
 * zipf and stencil: 89 % (shards), 90 % (lines:1/16). Private stacks (MODEL=private,
 * sampled:lines=1/16), 30 seeds: 95 % over eight traces, from 90 % (zipf 1.2, 16 threads)
 * to 99 % (zipf 0.9 and 1.1), and 94 % on the two of programs. The private rule
 * (PART_TAKEN, PART_DEVIATION) was chosen on the same eight traces: its coverage there
 * is in-sample.
 */
#include "estimate/line_bars.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/histogram.h"
#include "estimate/statistics.h"

#define GROUPS RSC_LINE_GROUPS
#define AUDIT_CREDIT_FIRST 16384 /* what audits may cost at first in each band of distance */
#define DIRECTIONS 24
#define STEP_WIDTH 1.5 /* standard deviations of a distance, to each side, that hold a step */
/* The hottest lines behave differently from all others: only this part of the correction that would be right for equal
 * lines is made, with this standard deviation. Over eight seeds each of zipf 1.1 (8 threads, 5 % writes) and zipf 1.2 (16 threads, 10 %) the
 * right part was 0.3 to 1.8. */
#define PART_TAKEN 0.75
#define PART_DEVIATION 0.18
#define FEW_KEPT 10.0 /* kept lines up to which the sample says too little about what it lacks */

int rsc_line_groups_init(struct rsc_line_groups *groups) {
    memset(groups, 0, sizeof *groups);
    groups->rd = calloc(RSC_LINE_GROUP_BINS, sizeof *groups->rd);
    groups->audits = calloc(RSC_LINE_AUDITS, sizeof *groups->audits);
    if (!groups->rd || !groups->audits) {
        rsc_line_groups_free(groups);
        return RSC_ENOMEM;
    }
    for (uint32_t i = 0; i < RSC_LINE_AUDITS; i++) groups->audits[i].credit = AUDIT_CREDIT_FIRST;
    return 0;
}

void rsc_line_groups_free(struct rsc_line_groups *groups) {
    free(groups->rd);
    free(groups->audits);
    memset(groups, 0, sizeof *groups);
}

/* ---- the curve at any size ---- */

static double tail_at(const struct rsc_line_bars *bars, const double *tail, double size) {
    if (size <= 0) return tail[0];
    if (size >= 0x1p62) return tail[bars->curve.bins - 1];
    uint32_t bin = rsc_bin_of_fine((uint64_t)size);
    double lo = (double)rsc_bin_lo(RSC_BINS_FINE, bin), hi = (double)rsc_bin_hi(RSC_BINS_FINE, bin) + 1;
    double next = bin + 1 < bars->curve.bins ? tail[bin + 1] : 0;
    return tail[bin] + (next - tail[bin]) * (size - lo) / (hi - lo);
}

static double miss_ratio_at(const struct rsc_line_bars *bars, double size) {
    return tail_at(bars, bars->misses, size) / bars->curve.references;
}

/* ---- lines that were taken ---- */

static struct rsc_line_taken regress_taken(const struct rsc_line_groups *groups, double all) {
    double references[GROUPS], mean_references = 0, mean_taken = 0, rr = 0, rt = 0, rest = 0;
    struct rsc_line_taken taken = {0};
    for (uint32_t g = 0; g < GROUPS; g++) {
        references[g] = groups->cold[g];
        for (uint32_t bin = 0; bin < RSC_LINE_GROUP_BINS; bin++) references[g] += groups->rd[bin][g];
        mean_references += references[g] / GROUPS;
        mean_taken += groups->invalidated[g] / GROUPS;
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        rr += pow(references[g] - mean_references, 2);
        rt += (references[g] - mean_references) * (groups->invalidated[g] - mean_taken);
    }
    if (!(rr > 0) || !(mean_taken > 0) || !(all > 0)) return taken;
    double slope = fmin(1, fmax(0, rt / rr));
    for (uint32_t g = 0; g < GROUPS; g++)
        rest += pow(groups->invalidated[g] - mean_taken - slope * (references[g] - mean_references), 2);
    taken.part = PART_TAKEN * slope;
    taken.deviation = sqrt(rest / (GROUPS - 2) / rr + pow(PART_DEVIATION * slope, 2));
    taken.short_of = 1 - mean_references * GROUPS / all;
    return taken;
}

double rsc_line_groups_taken_more(const struct rsc_line_groups *groups, double references) {
    struct rsc_line_taken taken = regress_taken(groups, references);
    return taken.part * taken.short_of * references;
}

/* ---- totals ---- */

/* Of a sum over groups. */
static double variance_of(const double *by_group, double rate) {
    double mean = 0, sum = 0;
    for (uint32_t g = 0; g < GROUPS; g++) mean += by_group[g] / GROUPS;
    for (uint32_t g = 0; g < GROUPS; g++) sum += pow(by_group[g] - mean, 2);
    return (1 - rate) * GROUPS / (GROUPS - 1) * sum;
}

void rsc_line_totals(const struct rsc_line_groups *groups, double references, double rate, double confidence_percent,
                     struct rsc_line_totals *totals) {
    struct rsc_line_taken taken = regress_taken(groups, references);
    double first[GROUPS], rest[GROUPS], all[GROUPS], kept = 0, invalidated = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        all[g] = groups->cold[g];
        for (uint32_t bin = 0; bin < RSC_LINE_GROUP_BINS; bin++) all[g] += groups->rd[bin][g];
        first[g] = groups->cold[g] - groups->invalidated[g];
        rest[g] = groups->invalidated[g] - taken.part * all[g];
        kept += all[g];
        invalidated += groups->invalidated[g];
    }
    totals->cold = variance_of(first, rate);
    totals->invalidated = variance_of(rest, rate) + pow(taken.deviation * taken.short_of * references, 2);
    /* what is lacking may be as the rest is, or not invalidated at all; what the spread of groups does not explain, anything */
    double lacking = references - kept, made_good = taken.part * lacking;
    double explained = rsc_normal_quantile(0.5 + confidence_percent / 200) * sqrt(variance_of(all, rate));
    double alike = kept > 0 ? invalidated / kept * lacking : 0;
    totals->more = fmax(0, fmax(alike - made_good, -made_good)) + fmax(0, lacking - explained);
    totals->less = fmax(0, fmax(made_good - alike, made_good));
}

void rsc_line_count_bar(double count, double total, double variance, double unit, double confidence_percent,
                        double *low, double *high) {
    double z = rsc_normal_quantile(0.5 + confidence_percent / 200);
    if (total > 0) unit = variance / total;
    double reach = z * sqrt(count * unit + pow(z * unit / 2, 2)), middle = count + z * z * unit / 2;
    *low = fmax(0, middle - reach);
    *high = middle + reach;
}

/* ---- spread ---- */

/* At one size: standard deviations of the miss ratio and of the size axis, and their correlation. */
struct spread {
    double up, across, correlation;
    double lacking; /* misses among the references that the kept ones fall short of all by, if lines were alike */
};

static double bin_edge(uint32_t bin) { return bin ? ldexp(1 + (bin - 1) % 8 / 8.0, (int)((bin - 1) / 8)) : 0; }

/* Misses of each group at a size, from the edges of its bins. */
static void group_misses(const struct rsc_line_bars *bars, double size, double *misses) {
    uint32_t bin = rsc_line_group_bin((uint64_t)size);
    double lo = bin_edge(bin), hi = bin_edge(bin + 1), share = size > lo ? (size - lo) / (hi - lo) : 0;
    for (uint32_t g = 0; g < GROUPS; g++)
        misses[g] = bars->tails[bin][g] + (bars->tails[bin + 1][g] - bars->tails[bin][g]) * share;
}

/* The audit nearest to a size that has any references. */
static const struct rsc_line_audit *audit_near(const struct rsc_line_groups *groups, double size) {
    uint32_t at = rsc_line_audit_of((uint64_t)size);
    for (uint32_t away = 0; away < RSC_LINE_AUDITS; away++) {
        if (away <= at && groups->audits[at - away].count) return &groups->audits[at - away];
        if (at + away < RSC_LINE_AUDITS && groups->audits[at + away].count) return &groups->audits[at + away];
    }
    return NULL;
}

static struct spread spread_at(const struct rsc_line_bars *bars, double size) {
    double misses[GROUPS], misses_sum = 0, references_sum = 0, above_sum = 0, all = bars->curve.references;
    double up = 0, across = 0, both = 0, rr = 0, rm = 0;
    const struct rsc_line_audit *audit = audit_near(bars->groups, size);
    const double *references = bars->tails[0];
    group_misses(bars, size, misses);
    for (uint32_t g = 0; g < GROUPS; g++) {
        misses_sum += misses[g];
        references_sum += references[g];
        above_sum += audit ? audit->above[g] : 0;
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        double t = (misses[g] - misses_sum / GROUPS) / all;
        double f = above_sum > 0 ? audit->above[g] / above_sum - 1.0 / GROUPS : 0;
        double r = (references[g] - references_sum / GROUPS) / all;
        t -= bars->taken.part * r; /* that was made good */
        rr += r * r;
        rm += r * t;
        up += t * t;
        across += f * f;
        both += t * f;
    }
    double factor = (1 - bars->curve.rate) * GROUPS / (GROUPS - 1);
    double correlation = up > 0 && across > 0 ? both / sqrt(up * across) : 0;
    double slope = rr > 0 ? fmin(1, fmax(0, rm / rr)) : 0, lacking = slope * (1 - references_sum / all);
    up += pow(bars->taken.deviation * bars->taken.short_of, 2) / factor;
    return (struct spread){sqrt(up * factor), size * sqrt(across * factor), correlation, lacking};
}

/* ---- bars ---- */

/* What the curve reaches at `size`, moved along the ellipse of `times` standard deviations. */
static void move_curve(const struct rsc_line_bars *bars, double size, const struct spread *sd, double times,
                       double *low, double *high) {
    double rest = sqrt(fmax(0, 1 - sd->correlation * sd->correlation)), centre = miss_ratio_at(bars, size);
    for (int i = 0; i < DIRECTIONS; i++) {
        double angle = 2 * M_PI * i / DIRECTIONS, x = times * cos(angle), y = times * sin(angle);
        double up = sd->up * (sd->correlation * x + rest * y), moved = miss_ratio_at(bars, size - sd->across * x);
        /* A sum over few lines is skewed, and looks surest when it is too small: the bar is the same factor up and
         * down, not the same amount. */
        moved = centre > 0 ? moved * exp(up / centre) : moved + up;
        *low = fmin(*low, moved);
        *high = fmax(*high, moved);
    }
}

/* 1 up to FEW_KEPT kept lines, falling to 0 at twice that. */
static double few_kept(double kept) { return fmin(1, fmax(0, 2 - kept / FEW_KEPT)); }

/*
 * Each distance alone is off by `blur`: a step of the true curve is seen as a
 * slope so wide. Where the curve falls faster within a blur or so than around
 * it, it may be such a step, and the truth anything from its top to its foot.
 * With few kept lines the blur is as wide as the surroundings, which then tell
 * nothing: it must always be allowed for.
 */
static void allow_for_step(const struct rsc_line_bars *bars, double size, double *low, double *high) {
    double rate = bars->curve.rate;
    double blur = STEP_WIDTH * sqrt(size * (1 - rate) / rate), at = miss_ratio_at(bars, size);
    double left = miss_ratio_at(bars, size - blur), right = miss_ratio_at(bars, size + blur);
    double around = miss_ratio_at(bars, size - 3 * blur) - left + right - miss_ratio_at(bars, size + 3 * blur);
    double fall = left - right, sudden = fall - around / 2;
    double part = fall > 0 && sudden > 0 ? fmin(1, 2 * sudden / fall) : 0;
    part = fmax(part, few_kept(size * rate));
    if (part <= 0) return;
    /* no distance reaches its interval: what is reused in time is a hit for sure */
    double late = tail_at(bars, bars->late, size + 1) / bars->curve.references;
    *high += fmax(0, part * (fmin(left, late) - at));
    *low -= part * (at - right);
}

void rsc_line_bar(const struct rsc_line_bars *bars, double lines, double ratio, double *low, double *high) {
    struct spread sd = spread_at(bars, lines);
    double least = INFINITY, most = 0;
    move_curve(bars, lines, &sd, bars->times, &least, &most);
    allow_for_step(bars, lines, &least, &most);
    /* A few hot lines make most references of many a trace, and small caches miss them too. Whether the sample has
     * its share of them is known from the number of references; SHARDS-adj takes what it lacks for hits. */
    if (sd.lacking > 0) most += sd.lacking * few_kept(lines * bars->curve.rate);
    else least += sd.lacking * few_kept(lines * bars->curve.rate);
    /* What the sample lacks may be of another kind altogether: the bar reaches back to where it would be then. */
    double taken = bars->taken.part * bars->taken.short_of;
    if (taken > 0) least -= taken;
    else most -= taken;
    *low = fmin(ratio, fmax(0, least));
    *high = fmax(ratio, fmin(1, most));
}

int rsc_line_bars_init(struct rsc_line_bars *bars, const struct rsc_line_groups *groups,
                       const struct rsc_line_curve *curve) {
    *bars = (struct rsc_line_bars){.groups = groups, .curve = *curve};
    assert(curve->rate > 0 && curve->rate < 1 && curve->references > 0);
    bars->misses = calloc(curve->bins, sizeof *bars->misses);
    bars->late = calloc(curve->bins, sizeof *bars->late);
    bars->tails = calloc(RSC_LINE_GROUP_BINS + 1, sizeof *bars->tails);
    if (!bars->misses || !bars->late || !bars->tails) return RSC_ENOMEM;
    double misses = curve->beyond, late = curve->cold;
    for (uint32_t bin = curve->bins; bin-- > 0;) {
        bars->misses[bin] = misses += (double)curve->rd[bin];
        bars->late[bin] = late += (double)curve->ri[bin];
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        double tail = bars->tails[RSC_LINE_GROUP_BINS][g] = groups->cold[g];
        for (uint32_t bin = RSC_LINE_GROUP_BINS; bin-- > 0;) bars->tails[bin][g] = tail += groups->rd[bin][g];
    }
    bars->times = rsc_student_quantile(0.5 + curve->confidence / 200, GROUPS - 1);
    bars->taken = regress_taken(groups, curve->references);
    return 0;
}

void rsc_line_bars_free(struct rsc_line_bars *bars) {
    free(bars->misses);
    free(bars->late);
    free(bars->tails);
    memset(bars, 0, sizeof *bars);
}

double rsc_line_total_reach(double total, double kept, double rate, double confidence_percent) {
    return kept > 0 ? rsc_normal_quantile(0.5 + confidence_percent / 200) * total * sqrt((1 - rate) / kept) : 0;
}
