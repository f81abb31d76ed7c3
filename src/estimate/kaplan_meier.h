/*
 * kaplan_meier.h - survival with censored observations (Kaplan and Meier, 1958): a walk
 * over observations in order of time.
 *
 * At an event of weight d among the weight n still at risk, the survival is multiplied
 * by 1 - d/n; the decrease is the event's part of the whole. A censored observation only
 * leaves the risk set. At equal times events come first. With several mutually exclusive
 * kinds of events the parts are per kind (Aalen and Johansen).
 *
 * Bars are not made here: featherlight repeats the whole estimate on half-samples
 * (half_samples.h), whose coverage bench_feather_bars measures.
 */
#ifndef RSC_ESTIMATE_KAPLAN_MEIER_H
#define RSC_ESTIMATE_KAPLAN_MEIER_H

struct rsc_survival_walk {
    double all;     /* weight of all observations */
    double at_risk; /* weight of those still under observation */
    double left;    /* of the total: the part that survives so far */
};

/* `total` is the initial value of the curve, `all` the weight of all observations. */
static inline struct rsc_survival_walk rsc_survival_begin(double total, double all) {
    return (struct rsc_survival_walk){all, all, total};
}

/* The next observation, of this weight. Returns the part of the total that ends with it: 0 if it is not an event. */
static inline double rsc_survival_step(struct rsc_survival_walk *walk, double weight, int is_event) {
    double part = 0;
    if (is_event && weight > 0) {
        /* the last one takes the rest: sums of weights do not end at exactly 0 */
        part = walk->at_risk - weight > 1e-9 * walk->all ? walk->left * weight / walk->at_risk : walk->left;
        walk->left -= part;
    }
    walk->at_risk -= weight;
    return part;
}

#endif
