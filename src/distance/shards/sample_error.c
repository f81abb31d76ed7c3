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
 * moved sideways, as it should be. How often bars so made hold the truth:
 * docs/design/approximate.md.
 *
 * (1 - p) is the finite population correction: at rate 1 nothing is uncertain.
 */
#include <math.h>
#include <stdlib.h>

#include "estimate/statistics.h"
#include "distance/shards/sample_sum.h"

#define GROUPS RSC_STACK_GROUPS
#define DIRECTIONS 24
#define STEP_WIDTH 1.5 /* standard deviations of a distance, to each side, that hold a step */
/* The hottest lines are not as all others: of what their references would be if they were, so much is made good, and that is off
 * by so much. Over eight seeds each of zipf 1.1 (8 threads, 5 % writes) and zipf 1.2 (16 threads, 10 %) 0.3 to 1.8 were right. */
#define PART_TAKEN 0.75
#define PART_DEVIATION 0.18
#define FEW_KEPT 10.0 /* kept lines up to which the sample says too little about what it lacks */

/* The curve as a function of any size. */
struct curve {
    const struct rsc_profile *profile;
    double *misses; /* by fine bin: misses of a cache whose size is its lower edge */
    double *late; /* by fine bin: references with intervals from its lower edge on, and cold ones */
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

/*
 * With private stacks, references to lines that another stack had taken miss at any
 * size, and a few lines that many threads write can make most of them. Whether the
 * sample has its share of those lines shows in the number of references, which is known.
 * So the shares are estimated by regression on it: of references more or less, the
 * `part` is of that kind. With one stack there are none, and the part is 0.
 */
struct taken {
    double part, deviation; /* of the part: one standard deviation */
    double short_of; /* all references less those that the sample stands for, as a share of all */
};

static struct taken regress_taken(const struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole) {
    double references[GROUPS], mean_references = 0, mean_taken = 0, rr = 0, rt = 0, rest = 0;
    struct taken taken = {0};
    for (uint32_t g = 0; g < GROUPS; g++) {
        references[g] = sum->group_cold[g];
        for (uint32_t bin = 0; bin < RSC_SAMPLE_BINS; bin++) references[g] += sum->group_rd[bin][g];
        mean_references += references[g] / GROUPS;
        mean_taken += sum->group_invalidated[g] / GROUPS;
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        rr += pow(references[g] - mean_references, 2);
        rt += (references[g] - mean_references) * (sum->group_invalidated[g] - mean_taken);
    }
    if (!(rr > 0) || !(mean_taken > 0) || !whole->references) return taken;
    double slope = fmin(1, fmax(0, rt / rr));
    for (uint32_t g = 0; g < GROUPS; g++)
        rest += pow(sum->group_invalidated[g] - mean_taken - slope * (references[g] - mean_references), 2);
    taken.part = PART_TAKEN * slope;
    taken.deviation = sqrt(rest / (GROUPS - 2) / rr + pow(PART_DEVIATION * slope, 2));
    taken.short_of = 1 - mean_references * GROUPS / (double)whole->references;
    return taken;
}

double rsc_sample_taken_more(const struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole) {
    struct taken taken = regress_taken(sum, whole);
    return taken.part * taken.short_of * (double)whole->references;
}

/* At one size: standard deviations of the miss ratio and of the size axis, and their correlation. */
struct spread {
    double up, across, correlation;
    double lacking; /* misses among the references that the kept ones fall short of all by, if lines were alike */
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
                               const double (*tails)[GROUPS], const struct taken *taken, double size) {
    double misses[GROUPS], misses_sum = 0, references_sum = 0, above_sum = 0;
    double up = 0, across = 0, both = 0, rr = 0, rm = 0;
    const struct rsc_sample_audit *audit = audit_near(sum, size);
    group_misses(tails, size, misses);
    for (uint32_t g = 0; g < GROUPS; g++) {
        misses_sum += misses[g];
        references_sum += tails[0][g];
        above_sum += audit ? audit->above[g] : 0;
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        double t = (misses[g] - misses_sum / GROUPS) / (double)whole->references;
        double f = above_sum > 0 ? audit->above[g] / above_sum - 1.0 / GROUPS : 0;
        double r = (tails[0][g] - references_sum / GROUPS) / (double)whole->references;
        t -= taken->part * r; /* that was made good */
        rr += r * r;
        rm += r * t;
        up += t * t;
        across += f * f;
        both += t * f;
    }
    double factor = (1 - whole->rate) * GROUPS / (GROUPS - 1);
    double correlation = up > 0 && across > 0 ? both / sqrt(up * across) : 0;
    double slope = rr > 0 ? fmin(1, fmax(0, rm / rr)) : 0,
           lacking = slope * (1 - references_sum / (double)whole->references);
    up += pow(taken->deviation * taken->short_of, 2) / factor;
    return (struct spread){sqrt(up * factor), size * sqrt(across * factor), correlation, lacking};
}

/* What the curve reaches at `size`, moved along the ellipse of `times` standard deviations. */
static void move_curve(const struct curve *curve, double size, const struct spread *sd, double times, double *low,
                       double *high) {
    double rest = sqrt(fmax(0, 1 - sd->correlation * sd->correlation)), centre = miss_ratio_at(curve, size);
    for (int i = 0; i < DIRECTIONS; i++) {
        double angle = 2 * M_PI * i / DIRECTIONS, x = times * cos(angle), y = times * sin(angle);
        double up = sd->up * (sd->correlation * x + rest * y), moved = miss_ratio_at(curve, size - sd->across * x);
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
static void allow_for_step(const struct curve *curve, double size, double rate, double *low, double *high) {
    double blur = STEP_WIDTH * sqrt(size * (1 - rate) / rate), at = miss_ratio_at(curve, size);
    double left = miss_ratio_at(curve, size - blur), right = miss_ratio_at(curve, size + blur);
    double around = miss_ratio_at(curve, size - 3 * blur) - left + right - miss_ratio_at(curve, size + 3 * blur);
    double fall = left - right, sudden = fall - around / 2;
    double part = fall > 0 && sudden > 0 ? fmin(1, 2 * sudden / fall) : 0;
    part = fmax(part, few_kept(size * rate));
    if (part <= 0) return;
    /* no distance reaches its interval: what is reused in time is a hit for sure */
    double late = tail_at(curve, curve->late, size + 1) / (double)curve->profile->references;
    *high += fmax(0, part * (fmin(left, late) - at));
    *low -= part * (at - right);
}

static void bar(const struct curve *curve, const struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole,
                const double (*tails)[GROUPS], const struct taken *taken, double times, struct rsc_mrc_point *point) {
    double size = (double)point->lines, low = INFINITY, high = 0;
    struct spread sd = spread_at(sum, whole, tails, taken, size);
    move_curve(curve, size, &sd, times, &low, &high);
    allow_for_step(curve, size, whole->rate, &low, &high);
    /* A few hot lines make most references of many a trace, and small caches miss them too. Whether the sample has
     * its share of them is known from the number of references; SHARDS-adj takes what it lacks for hits. */
    if (sd.lacking > 0) high += sd.lacking * few_kept(size * whole->rate);
    else low += sd.lacking * few_kept(size * whole->rate);
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
    double(*tails)[GROUPS] = calloc(RSC_SAMPLE_BINS + 1, sizeof *tails);
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
        struct taken taken = regress_taken(sum, whole);
        for (size_t i = 0; i < profile->mrc_count; i++)
            bar(&curve, sum, whole, (const double(*)[GROUPS])tails, &taken, times, &profile->mrc[i]);
    }
    free(curve.misses);
    free(curve.late);
    free(tails);
    return status;
}
