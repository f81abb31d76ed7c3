/*
 * ri_models.h - reuse distances from reuse intervals alone: StatStack, AET, HOTL
 * and Shen's model.
 *
 * A table of last uses gives reuse intervals (RI), but not reuse distances (RD). The
 * models estimate the RD from the histogram of the RI. With
 *     P(k) = (references with RI > k, cold ones counted as infinite) / references
 *     S(r) = P(1) + ... + P(r-1)
 * a reuse of interval r has r-1 references between its ends, and the k-th before
 * its later end is the last one to its line with probability P(k), so that S(r)
 * lines are expected in between. The four, as published:
 *   StatStack (Eklov and Hagersten, ISPASS 2010): RD = S(RI), rounded here.
 *   AET (Hu et al., ATC 2016): a cache of c lines has the eviction time A with
 *       P(0) + ... + P(A-1) = c, and misses references with RI > A. That is
 *       RD = S(RI) rounded up, so RI 2 is never RD 0.
 *   HOTL (Xiang et al., ASPLOS 2013): fp(w), the mean number of distinct lines in
 *       all windows of w references, is exact given also when lines were first
 *       and last used. A warm cache of c = fp(w) lines misses fp(w+1) - fp(w) of
 *       its references. A cache that starts empty has c misses while it fills,
 *       which takes about w references, and that rate after:
 *       misses(c) = fp(w) + (n-w) (fp(w+1) - fp(w)), the tangent of fp at w read
 *       at the trace's end (this last step is ours: without it cold references
 *       would be missing from the curve). Without first and last uses fp(w) is
 *       taken to be P(0) + ... + P(w-1), and the model becomes AET's.
 *   Shen (Shen et al., POPL 2007): each of the other N-1 lines is among the r-1
 *       references with probability p3(r-1), independently:
 *       RD ~ Binomial(N-1, p3), p3(d) = sum of P'(k) for k <= d, over N-1, where
 *       P' is of reuses only; p3 can pass 1 and is clipped. Counting places
 *       strictly between makes RI 1 give RD 0, as RDs are counted here.
 * In a long steady trace the first three are one integral. They differ in rounding
 * and at the trace's ends: StatStack and AET treat each line's last use as one with
 * RI > everything; HOTL gives less weight to windows that reach over the ends.
 *
 * All assume that the intervals of neighbouring references are independent, and
 * that every part of the trace is like the whole. Neither holds for programs:
 * docs/measured/approximate.md shows the resulting errors.
 *
 * An even spread of RI within a bin is assumed, so results are as fine as the bins.
 * For HOTL that is not enough: an error of a few tenths of a percent in all
 * intervals would be thousands of lines of footprint. There the mean within bins is
 * shifted (in all by the same share of the width) so that each line's intervals,
 * first use and last use sum to the trace's length, as they must. For the intervals
 * of a sample, the sum is the sample's, and the footprint is that of the number of
 * lines that the sum implies.
 * The models apply to words, lines and pages alike. Building a model is O(bins), a
 * whole histogram O(bins log(longest RI)); Shen's takes up to about a thousand steps
 * more per bin.
 */
#ifndef RSC_PROFILE_RI_MODELS_H
#define RSC_PROFILE_RI_MODELS_H

#include "base/histogram.h"

enum rsc_ri_model_kind { RSC_RI_STATSTACK, RSC_RI_AET, RSC_RI_HOTL, RSC_RI_SHEN };

/* The counts of a trace. Histograms belong to the caller and must outlive the model. */
struct rsc_ri_counts {
    const struct rsc_histogram *ri; /* any bins */
    uint64_t cold;                  /* references without RI; references = these + total(ri) */
    uint64_t distinct;              /* lines; bounds the distances. N of Shen's model */
    /* Used by HOTL, both or none: by line, the number of its first use, counted from 1, and of its last use,
     * counted from 1 backwards from the end. */
    const struct rsc_histogram *first, *last;
    /* The sum of all intervals, first and last uses, if known; 0: each line's sum to the trace's length. */
    double sum;
};

/* Tails of a histogram: the number of values above w, and the sum of their excess. */
struct rsc_tails {
    const struct rsc_histogram *histogram;
    uint32_t bins; /* 1 + index of the highest non-empty bin */
    double lean; /* mean excess over a bin's lo, relative to an even spread; 1 unless known better */
    double *above; /* [bin]: values in higher bins; owned, with the other two columns after it */
    double *excess; /* [bin]: sum of (value - hi of this bin) over higher bins */
    double *within; /* [bin]: sum over k >= 1, k < lo of this bin, of values above k */
};

struct rsc_ri_model {
    enum rsc_ri_model_kind kind;
    struct rsc_ri_counts counts;
    uint64_t references, longest; /* longest: no RI is longer */
    struct rsc_tails ri, first, last;
    double lines; /* of HOTL's footprint: the number implied by the sum of the gaps */
};

/* Returns 0 or RSC_ENOMEM. A zeroed model may always be freed. */
int rsc_ri_model_init(struct rsc_ri_model *model, enum rsc_ri_model_kind kind, const struct rsc_ri_counts *counts);
void rsc_ri_model_free(struct rsc_ri_model *model);

/* "statstack", ... by kind, ending with NULL. */
extern const char *const rsc_ri_model_names[];

/* S(interval): other lines expected within an interval. */
double rsc_ri_model_lines_within(const struct rsc_ri_model *model, uint64_t interval);

/* HOTL's fp(window), window from 0 to references; needs first and last uses. */
double rsc_ri_model_footprint(const struct rsc_ri_model *model, uint64_t window);

/*
 * The smallest RI that a cache of `lines` lines misses: AET's as published, for the
 * other kinds by StatStack's rounding. More than `longest`: it misses none.
 */
uint64_t rsc_ri_model_threshold(const struct rsc_ri_model *model, uint64_t lines);

/*
 * Fills rd (initialised by the caller, any bins; its counts are overwritten) so that
 * total(rd) = total(ri). No distance reaches `distinct`. Returns 0 or RSC_ENOMEM.
 */
int rsc_ri_model_rd(const struct rsc_ri_model *model, struct rsc_histogram *rd);

/*
 * The same for a part of the trace's reuses, such as those of one thread, within the
 * whole trace that the model describes. HOTL then uses the threshold above.
 */
int rsc_ri_model_rd_of(const struct rsc_ri_model *model, const struct rsc_histogram *part, struct rsc_histogram *rd);

#endif
