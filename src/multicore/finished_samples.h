/*
 * finished_samples.h - makes a profile of all references, with error bars, from finished samples
 * (runtime/sampler/sampler.h) of one model: samples of a recorded trace (sampled_references.c) or
 * samples that a running program finished itself (program_samples.c).
 *
 * A sample represents `weight` references, the period it was drawn with. Shares are weighted means over
 * the samples, so they sum to 1 for any number of samples, and are scaled to the known number of
 * references. As each reference is drawn with probability 1/w, one of w neighbours, a share p has at most
 * the variance of independent draws,
 *     p (1 - p) / n,   n = (sum of w)^2 / (sum of w (w - 1)),
 * without assumptions about the trace; bars are Wilson's intervals with that n (appendix A of paper 000
 * has the same for equal w, but its intervals may leave 0..1).
 *
 * Other uncertainty widens the bars: a sketched distance may be z standard deviations off, in the worse
 * direction; a pruned or censored sample may have any distance from where it was given up. The curve
 * itself counts pruned samples as misses, as the paper does, and leaves censored ones out. Last touches
 * count as misses: there are as many of them as first touches, which samples of next uses cannot see.
 *
 * Of samples that were drawn in bursts and waited for longer, some were kept and stand for those that were dropped: they
 * weigh kept_weighs times as much (rsc_finished_samples_weigh_kept()). Bars are those of fewer samples (burst_groups.h).
 */
#ifndef RSC_MULTICORE_FINISHED_SAMPLES_H
#define RSC_MULTICORE_FINISHED_SAMPLES_H

#include "distance/count/attribution.h"
#include "multicore/sampled_sharing.h"
#include "multicore/burst_groups.h"
#include "profile/profile_model.h"
#include "runtime/sampler/sampler.h"

struct rsc_finished_row {
    double weight, invalidated, *rd; /* RSC_BINS_COARSE */
    uint64_t references, pid, tid;   /* exact; filled by the caller */
};

struct rsc_sample_tally {
    uint64_t samples;
    double outcome[RSC_SAMPLE_OUTCOMES]; /* sums of w */
    double weight, spread; /* sums of w and of w (w - 1) */
    double largest; /* w; of a burst, that of all its samples */
};

struct rsc_finished_samples {
    /* by fine bin, in references */
    double *rd, *ri;
    double *rd_least, *rd_most; /* rd with each distance at the lower and upper end of its sketch's range */
    double *certain, *maybe;    /* certainly in the bin; possibly in the bin */
    double *given_up;           /* pruned and censored, by the distance reached */
    double *rd_binned, *ri_binned; /* or NULL */
    uint32_t bins_per_octave, binned_count;
    double *pruned, *last;      /* by the interval reached: pruned, and last touches */
    double unfinished;          /* last touches of which it is not known */
    struct rsc_sample_tally tally;
    /* Of samples of all threads' uses, beside private ones: the footprint. Intervals as in ri, pruned and last. */
    struct rsc_sample_tally of_all;
    double *ri_of_all, *pruned_of_all, *last_of_all, unfinished_of_all;
    struct rsc_burst_groups groups, groups_of_all;
    double kept_weighs, kept_of_all_weighs;
    uint32_t burst; /* samples of a burst; filled by the caller, 0: there are none */
    double capped; /* of those reused: not in rd */
    uint64_t rd_cap;
    uint64_t sketched, farthest; /* farthest: greatest distance seen, less what a sketch may be off by */
    double z, confidence; /* percent */
    int is_private;
    struct rsc_sampled_sharing sharing; /* of private stacks */
    struct rsc_finished_row *threads; /* by thread number; owned */
    uint32_t thread_count;
};

/* `rd_cap` and `bins_per_octave` may be 0. Returns 0 or RSC_ENOMEM. A zeroed sum may always be freed. */
int rsc_finished_samples_init(struct rsc_finished_samples *sum, double confidence, uint64_t rd_cap,
                              uint32_t bins_per_octave);
void rsc_finished_samples_free(struct rsc_finished_samples *sum);

/* Makes rows up to this thread number, RSC_THREAD_ROWS_MAX at most. Returns 0 or RSC_ENOMEM. */
int rsc_finished_samples_see_thread(struct rsc_finished_samples *sum, uint32_t number);

/*
 * What a kept sample weighs, from weights as drawn: of all that were kept, and of all that were dropped, of one model and of
 * the shared one (0 if not known). Call before the first one is taken. If none was kept, dropped ones are pruned ones.
 */
struct rsc_judged_weight {
    double kept, dropped;
};
void rsc_finished_samples_weigh_kept(struct rsc_finished_samples *sum, struct rsc_judged_weight own,
                                     struct rsc_judged_weight of_all);

void rsc_finished_samples_take(struct rsc_finished_samples *sum, const struct rsc_sample_record *record);

/*
 * The sharing that a private sample shows, if its line was taken: by and of code with these pcs, 0 if not known.
 * Returns 0 or RSC_ENOMEM.
 */
int rsc_finished_samples_share(struct rsc_finished_samples *sum, const struct rsc_sample_record *record,
                               struct rsc_attribution *attribution, uint32_t line_bytes, uint64_t writer,
                               uint64_t victim);

/* A sample of the shared stack, beside private ones: only for the footprint of all threads. */
void rsc_finished_samples_take_shared(struct rsc_finished_samples *sum, const struct rsc_sample_record *record);

/*
 * Samples that were not finished at the end, of one weight: last touches, or censored where the program goes on. In as much
 * time for any number of them: a program that overwrites its ring chooses it.
 */
struct rsc_unfinished {
    uint64_t count;
    double weight; /* of each */
    uint8_t kept, censored;
};
void rsc_finished_samples_take_unfinished(struct rsc_finished_samples *sum, const struct rsc_unfinished *unfinished,
                                          int of_all);

/* The equivalent number of samples drawn with equal probability; infinity: every reference was sampled. */
double rsc_finished_samples_size(const struct rsc_finished_samples *sum);

/* Wilson's interval for a share p of n samples. */
void rsc_wilson(double p, double n, double z, double *low, double *high);

/* ---- code, pairs and objects: finished_rows.c ---- */

/*
 * Counts per place. Which code would have used the line of a sample again that was given up is not known: it is taken to
 * be the one that did so after the longest waits for the same use so far, or the using code itself.
 */
struct rsc_sample_places {
    struct rsc_attribution *attribution; /* NULL: not wanted */
    double period; /* the first period: tables have no weights, so a sample counts weight / this times */
    uint64_t line_bytes;
    struct rsc_next_place *next; /* by the tag of the use; owned */
    size_t next_count, next_room;
};
void rsc_sample_places_free(struct rsc_sample_places *places);

/*
 * Counts a finished sample at an access of the batch, tagged tags[access]; its use was tagged use_tag. One that was
 * given up counts with the distance it had reached, and the access is not looked at. Last touches are not counted.
 * Returns 0 or RSC_ENOMEM.
 */
int rsc_sample_places_count(struct rsc_sample_places *places, const struct rsc_sample_record *record,
                            const struct rsc_batch *batch, uint32_t access, const uint32_t *tags, uint32_t use_tag);

/* How the samples were drawn, for made.sampling. */
struct rsc_sampling_facts {
    const struct rsc_sampler_options *sampler;
    double last_period;
    uint64_t references, analysed;
    int in_program;
};

/* rsc_finished_samples_profile() with rows, scaled to references, and `made` except for fields common to all
 * engines. */
int rsc_finished_samples_finish(struct rsc_finished_samples *sum, const struct rsc_sample_places *places,
                                const struct rsc_sampling_facts *facts, uint64_t accesses, uint64_t line_bytes,
                                struct rsc_profile **out, struct rsc_error *error);

/* ---- the sums ---- */

/*
 * A new profile, not sealed, with curve and bars; the caller fills `made`. NULL: out
 * of memory.
 */
struct rsc_profile *rsc_finished_samples_profile(struct rsc_finished_samples *sum, uint64_t accesses,
                                                 uint64_t references, uint64_t line_bytes);

#endif
