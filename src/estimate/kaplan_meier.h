/*
 * kaplan_meier.h - how long things last when some were only watched for a while
 * (Kaplan and Meier, 1958): a walk over observations in order of time.
 *
 * At an event of weight d among the weight n still under observation, the share that
 * lasts longer is multiplied by 1 - d/n; what that takes away is the event's part of
 * the whole. An observation that ended without the event (censored) only leaves those
 * under observation. At equal times events come first. With several kinds of events
 * that exclude each other the parts are theirs (Aalen and Johansen).
 *
 * Bars are not made here: featherlight repeats the whole estimate on half-samples
 * (half_samples.h), whose coverage bench_feather_bars measures.
 */
#ifndef RSC_ESTIMATE_KAPLAN_MEIER_H
#define RSC_ESTIMATE_KAPLAN_MEIER_H

struct rsc_survival_walk {
    double all;     /* weight of all observations */
    double at_risk; /* of those still under observation */
    double left;    /* of the total: what lasts longer than the walk has got */
};

/* `total` is what the curve begins at, `all` the weight of the observations that will come. */
static inline struct rsc_survival_walk rsc_survival_begin(double total, double all) {
    return (struct rsc_survival_walk){all, all, total};
}

/* The next observation, of this weight. Returns the part of the total that ends with it: 0 if it is no event. */
static inline double rsc_survival_step(struct rsc_survival_walk *walk, double weight, int is_event) {
    double part = 0;
    if (is_event && weight > 0) {
        /* the last of them takes all: sums of weights do not come out at exactly 0 */
        part = walk->at_risk - weight > 1e-9 * walk->all ? walk->left * weight / walk->at_risk : walk->left;
        walk->left -= part;
    }
    walk->at_risk -= weight;
    return part;
}

#endif
