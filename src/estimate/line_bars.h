/*
 * line_bars.h - error bars of a miss ratio curve from a sample of lines: the counts by
 * group, and the bars computed from them.
 *
 * The sampling unit is the *line*: all references of a line are sampled or none, so
 * they must not be treated as independent. Further hash bits divide the kept lines into
 * RSC_LINE_GROUPS groups. Groups are independent samples of equal size, so the spread
 * between them shows the variance of the whole, however the lines of the trace are
 * correlated.
 *
 * The engines count while references come in (distance/shards/kept_sum.h); the bars
 * need only these counts.
 */
#ifndef RSC_ESTIMATE_LINE_BARS_H
#define RSC_ESTIMATE_LINE_BARS_H

#include <stdint.h>

#define RSC_LINE_GROUPS 32u
#define RSC_LINE_GROUP_BINS 513u /* of distances: 0, then 8 per octave */
#define RSC_LINE_AUDITS 128u     /* of distances: 2 per octave */

/* The lines above some of the references of about one distance, by group. */
struct rsc_line_audit {
    double above[RSC_LINE_GROUPS];
    uint64_t count;
    int64_t credit; /* lines or blocks that may still be visited: bounds the cost of audits */
};

/* References, by group of their line. */
struct rsc_line_groups {
    double (*rd)[RSC_LINE_GROUPS];        /* [RSC_LINE_GROUP_BINS]: by distance; owned */
    double cold[RSC_LINE_GROUPS];         /* that miss in any cache */
    double invalidated[RSC_LINE_GROUPS];  /* of those: to lines that another stack had taken; 0 with one stack */
    struct rsc_line_audit *audits;        /* [RSC_LINE_AUDITS]; owned */
};

/* Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_line_groups_init(struct rsc_line_groups *groups);
void rsc_line_groups_free(struct rsc_line_groups *groups);

/* The bin of a distance in `rd`. */
static inline uint32_t rsc_line_group_bin(uint64_t distance) {
    if (!distance) return 0;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(distance);
    uint32_t step = (uint32_t)(octave >= 3 ? distance >> (octave - 3) : distance << (3 - octave)) & 7;
    return 1 + octave * 8 + step;
}

/* The audit that a distance counts in. */
static inline uint32_t rsc_line_audit_of(uint64_t distance) {
    if (!distance) return 0;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(distance);
    return octave * 2 + (octave ? (uint32_t)(distance >> (octave - 1)) & 1 : 0);
}

/* Adds `credit` and returns that audit if it can afford a visit now; the caller then subtracts the cost. */
static inline struct rsc_line_audit *rsc_line_audit_due(struct rsc_line_groups *groups, uint64_t distance,
                                                        int64_t credit) {
    struct rsc_line_audit *audit = &groups->audits[rsc_line_audit_of(distance)];
    audit->credit += credit;
    return audit->credit < 0 ? 0 : audit;
}

/* How many references to lines taken by another stack the sample lacks (below 0: has too many of), out of `references` in
 * all. */
double rsc_line_groups_taken_more(const struct rsc_line_groups *groups, double references);

/*
 * With private stacks, references to lines that another stack had taken miss at any
 * size, and a few lines that many threads write can make most of them. Whether the
 * sample has its share of those lines shows in the number of references, which is known.
 * So the shares are estimated by regression on it: of references more or less, the
 * `part` is of that kind. With one stack there are none, and the part is 0.
 */
struct rsc_line_taken {
    double part, deviation; /* of the part: one standard deviation */
    double short_of; /* all references less those that the sample stands for, as a share of all */
};

/* The curve, as it was scaled to all references. */
struct rsc_line_curve {
    const uint64_t *rd, *ri; /* [bins], RSC_BINS_FINE */
    uint32_t bins;
    double beyond; /* misses of every size: cold, invalidated, capped */
    double cold; /* references that are not reuses */
    double references; /* all of them */
    double rate; /* of lines */
    double confidence; /* percent */
};

struct rsc_line_bars {
    const struct rsc_line_groups *groups;
    struct rsc_line_curve curve;
    double *misses; /* by fine bin: misses of a cache whose size is its lower edge; owned */
    double *late; /* by fine bin: references with intervals from its lower edge on, and cold ones; owned */
    double (*tails)[RSC_LINE_GROUPS]; /* [RSC_LINE_GROUP_BINS + 1]: misses of each group; owned */
    double times; /* half width of a bar in standard deviations */
    struct rsc_line_taken taken;
};

/* Returns 0 or RSC_ENOMEM. Its arguments must outlive it. Free it in any case. */
int rsc_line_bars_init(struct rsc_line_bars *bars, const struct rsc_line_groups *groups,
                       const struct rsc_line_curve *curve);
void rsc_line_bars_free(struct rsc_line_bars *bars);

/* The bar of a cache of `lines` lines whose miss ratio is `ratio`. */
void rsc_line_bar(const struct rsc_line_bars *bars, double lines, double ratio, double *low, double *high);

/* Totals of a sample: how they vary with the lines drawn. Variances are in references, squared. */
struct rsc_line_totals {
    double cold, invalidated; /* variances; `cold`: first touches alone */
    double more,
        less; /* further references that may be, or not be, invalidated: the sample does not show lines like theirs */
};
void rsc_line_totals(const struct rsc_line_groups *groups, double references, double rate, double confidence_percent,
                     struct rsc_line_totals *totals);

/*
 * The bar of a count that is a sum over lines, of this variance for `total` (0: nothing of its kind was seen, and `unit` is
 * what one line more would add). Counts of fewer lines vary more in proportion: a Poisson number of units of
 * variance / total each, with the score interval.
 */
void rsc_line_count_bar(double count, double total, double variance, double unit, double confidence_percent,
                        double *low, double *high);

/* How far `total`, told from `kept` lines of a sample of this rate, reaches to either side: it is a number of lines, to which
 * references do not matter. */
double rsc_line_total_reach(double total, double kept, double rate, double confidence_percent);

#endif
