/*
 * watch_estimate.h - from what became of a thread's samples to how its references are
 * distributed over reuse intervals.
 *
 * Every sample stands for some references. What is not known of most: their
 * interval, where they were not watched (all slots were taken) or not until their
 * reuse (another sample took the slot). Four ways to make up for that:
 *
 * none          A hit counts for its own sample. Long intervals are lost most.
 * proportional  (paper 003, IV-A.) A hit counts for all samples taken in the context
 *               of its use since it was armed, in the belief that code that looks the
 *               same behaves the same. With several slots armed in one context the
 *               same samples are counted more than once, with one slot only half of
 *               them are: what is not explained is `censored`, what is too much is
 *               scaled down.
 * inverse       A hit counts for 1 / (the chance with which a sample would have got as
 *               far). Right on average without any belief, but few hits carry most of
 *               the weight.
 * censored      A watch that was replaced after r references says "longer than r". The
 *               Kaplan-Meier estimate uses all of these: S(r), the share with
 *               intervals above r, falls at each hit by the share it has among those
 *               watched that long; so it does for words that ended unused with
 *               their thread, which are an outcome of their own (of competing ones,
 *               as Aalen and Johansen have it). Done within each
 *               use's context (watch_group.c cuts busy ones in time, too), whose share of
 *               all samples is known; what one leaves open beyond its longest watch is
 *               shared out as in all contexts together. A watch that
 *               found a free slot stands for itself; one that had to take another's
 *               place, for its share of the samples that were taken around it, in that
 *               stretch of time, when slots were as scarce, watched or not.
 *
 * Watches that ended unused with their thread had no reuse: each word has one such
 * last use, as it has one first use, so their share is that of cold references. What
 * is longer than any watch is taken for such a last use too.
 */
#ifndef RSC_FEATHERLIGHT_WATCH_ESTIMATE_H
#define RSC_FEATHERLIGHT_WATCH_ESTIMATE_H

#include <stddef.h>

#include "featherlight/featherlight.h"

/* One sample and what became of it. */
struct rsc_watched {
    uint64_t count;      /* of the thread's references, at the use */
    uint64_t interval;   /* watched so long; until the reuse where `ending` is RSC_WATCH_REUSED */
    double stands_for;   /* references */
    double chance;       /* of the watch; 0 while it goes on */
    uint64_t use_pc, reuse_pc;
    uint32_t use_path, reuse_path;
    uint32_t context;    /* dense number */
    uint32_t since;      /* samples in its context since it was armed, its own too */
    uint32_t ending;     /* enum rsc_watch_ending, or RSC_WATCH_NOT: it was not watched */
    uint32_t scarcity;   /* how hard slots were to get when it was sampled; 0: one was free */
    uint32_t cycles;     /* that the use took; 0: not known */
    uint32_t source;     /* enum rsc_data_source, of the use */
};
#define RSC_WATCH_NOT 100u

/*
 * Whether a slot was free for a sample of this chance, or not. Finer classes by chance follow a program's phases more
 * closely, but few watches then carry most of the weight: with four, error bars on a zipf trace were 1.7 times as wide.
 */
#define RSC_SCARCITIES 2u
static inline uint32_t rsc_scarcity(double chance) { return chance < 1; }

/* A thread's samples, sorted for estimating any number of times. */
struct rsc_estimator {
    const struct rsc_watched *samples; /* the caller's, in order of time */
    size_t count;
    uint32_t contexts;
    enum rsc_attribution_kind attribution;
    size_t watched;       /* samples watched, not dropped */
    uint32_t *by_interval; /* [watched] indices of samples; hits before endings of the same interval */
    uint32_t *by_context;  /* [watched] the same, grouped by context */
    uint32_t *first;       /* [contexts + 1] into by_context */
    double *entry;         /* [count] weight with which a watch enters, in references */
    double *in_context;    /* scratch: [contexts] references */
    double *pooled;        /* scratch: [watched] */
    double *tail;          /* scratch: [watched + 1] */
    double *push;          /* scratch: [watched + 1] */
};

/* Returns 0 or RSC_ENOMEM. A zeroed estimator may always be freed. */
int rsc_estimator_init(struct rsc_estimator *estimator, const struct rsc_watched *samples, size_t count,
                       uint32_t contexts, enum rsc_attribution_kind attribution);
void rsc_estimator_free(struct rsc_estimator *estimator);

/* What the samples amount to, in references. */
struct rsc_estimate {
    double reused;   /* sum of the weights */
    double unused;   /* never reused: infinite interval */
    double censored; /* nothing is known of these */
};

/*
 * Weights, in references, of all samples that were reused (0 for the others) into
 * weight[count]. times[i], where not NULL, says how much sample i is to count (bootstrap); with 0 it
 * is as if it had never been.
 */
struct rsc_estimate rsc_estimator_weigh(struct rsc_estimator *estimator, const double *times, double *weight);

#endif
