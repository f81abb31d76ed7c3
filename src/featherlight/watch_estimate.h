/*
 * watch_estimate.h - estimates the distribution of reuse intervals from a thread's
 * samples.
 *
 * Every sample represents some references. For most, the interval is not known: they were
 * not watched (all slots were taken) or not until their reuse (another sample took the
 * slot). There are five ways to correct for that:
 *
 * none          A hit counts for its own sample. Long intervals are lost most.
 * proportional  (paper 003, IV-A.) A hit counts for all samples taken in the context
 *               of its use since it was armed, assuming that the same code behaves the
 *               same. With several slots armed in one context the same samples are
 *               counted more than once, with one slot only half of them are: a deficit is
 *               `censored`, an excess is scaled down.
 * since-last    The same with another reading of the paper: a hit counts for the samples
 *               taken in the context of its use since the last hit of that context, so
 *               that each sample counts at most once.
 * inverse       A hit counts for 1 / (the chance with which a sample would have got as
 *               far). Unbiased without assumptions, but few hits carry most of the
 *               weight.
 * censored      A watch replaced after r references means "longer than r". The
 *               Kaplan-Meier estimate uses all of these: S(r), the share with intervals
 *               above r, falls at each hit by the hit's share of those watched that long.
 *               Words that ended unused with their thread are a competing outcome and
 *               treated the same way (Aalen and Johansen). This is done within each use's
 *               context (watch_group.c also cuts busy ones in time), whose share of all
 *               samples is known; the rest beyond a context's longest watch is
 *               distributed as in all contexts together. A watch that found a free slot
 *               represents itself; one that replaced another represents its share of the
 *               samples, watched or not, taken around the same time when slots were as
 *               scarce.
 *
 * Watches that ended unused with their thread had no reuse: each word has one last use,
 * as it has one first use, so their share is that of cold references. Intervals longer
 * than any watch are counted as last uses too.
 */
#ifndef RSC_FEATHERLIGHT_WATCH_ESTIMATE_H
#define RSC_FEATHERLIGHT_WATCH_ESTIMATE_H

#include <stddef.h>

#include "featherlight/featherlight.h"

/* One sample and its outcome. */
struct rsc_watched {
    uint64_t count;      /* of the thread's references, at the use */
    uint64_t interval;   /* references watched; until the reuse where `ending` is RSC_WATCH_REUSED */
    double stands_for;   /* references */
    double chance;       /* of the watch; 0 while it continues */
    uint64_t use_pc, reuse_pc;
    uint32_t use_path, reuse_path;
    uint32_t context;    /* dense number */
    uint32_t since;      /* samples that a hit counts for: in its context since it was armed, including its own,
                          * or since the context's last hit */
    uint32_t ending;     /* enum rsc_watch_ending, or RSC_WATCH_NOT: it was not watched */
    uint32_t scarcity;   /* how hard slots were to get when it was sampled; 0: one was free */
    uint32_t cycles;     /* of the use; 0: not known */
    uint16_t source;     /* enum rsc_data_source, of the use */
    uint16_t shape;      /* enum rsc_watch_shape */
};
#define RSC_WATCH_NOT 100u

/*
 * Whether a slot was free for a sample of this chance. Finer classes by chance follow a program's phases more closely,
 * but then few watches carry most of the weight: with four classes, error bars on a zipf trace were 1.7 times as wide.
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
    double *entry;         /* [count] initial weight of a watch, in references */
    double *in_context;    /* scratch: [contexts] references */
    double *pooled;        /* scratch: [watched] */
    double *tail;          /* scratch: [watched + 1] */
    double *push;          /* scratch: [watched + 1] */
};

/* Returns 0 or RSC_ENOMEM. A zeroed estimator may always be freed. */
int rsc_estimator_init(struct rsc_estimator *estimator, const struct rsc_watched *samples, size_t count,
                       uint32_t contexts, enum rsc_attribution_kind attribution);
void rsc_estimator_free(struct rsc_estimator *estimator);

/* The result of an estimate, in references. */
struct rsc_estimate {
    double reused;   /* sum of the weights */
    double unused;   /* never reused: infinite interval */
    double censored; /* unknown */
};

/*
 * Writes the weights, in references, of all reused samples (0 for the others) to weight[count].
 * times[i], if not NULL, is how often sample i counts (bootstrap); 0 leaves it out.
 */
struct rsc_estimate rsc_estimator_weigh(struct rsc_estimator *estimator, const double *times, double *weight);

#endif
