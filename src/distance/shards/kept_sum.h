/*
 * kept_sum.h - makes a profile of the whole stream, with error bars, from the
 * distances of sampled lines.
 *
 * A reference to a line kept at rate p represents 1/p references. Its distance k,
 * counted in kept lines, represents the distances k/p to (k+1)/p: the k-th kept line
 * comes after k/p lines on average, so cutting the counts there gives an unbiased
 * curve where it is straight. Within that cell, references are placed at points that
 * fill it evenly, always below the exact reuse interval, which bounds every distance.
 *
 * SHARDS-adj: if the kept references fall short of (or exceed) the true number, the
 * difference is added to (or removed from) the smallest distances, so that
 *     misses(c) = misses of the kept lines / p,
 * whether or not hot lines, which nearly always hit, are in the sample.
 *
 * Error bars: estimate/line_bars.h.
 */
#ifndef RSC_DISTANCE_SHARDS_KEPT_SUM_H
#define RSC_DISTANCE_SHARDS_KEPT_SUM_H

#include "distance/shards/sampled_stack.h"
#include "estimate/line_bars.h"
#include "profile/profile_model.h"

struct rsc_kept_row {
    uint64_t references; /* exact */
    uint64_t pid, tid;
    double cold, *rd; /* RSC_BINS_COARSE */
};

struct rsc_kept_sum {
    double *rd, *ri; /* RSC_BINS_FINE, in references */
    double cold, capped; /* cold: with the invalidated */
    double invalidated;  /* of those: to lines that another stack had taken; 0 with one stack */
    uint64_t rd_cap; /* 0: none */
    uint64_t draws;  /* where in its cell the next distance is placed */
    struct rsc_line_groups groups; /* the same, by group of the line */
    struct rsc_kept_row *threads; /* by thread number */
    uint32_t thread_count;
    uint64_t threads_seen;
    int by_thread; /* shards: a thread other than the first was counted, and rows are separate from then on */
};

int rsc_kept_sum_init(struct rsc_kept_sum *sum, uint64_t rd_cap, uint64_t seed);
void rsc_kept_sum_free(struct rsc_kept_sum *sum);

/* Makes rows up to this thread number; RSC_ENOMEM. Numbers past RSC_THREAD_ROWS_MAX get none. */
int rsc_kept_see_thread(struct rsc_kept_sum *sum, uint64_t number);

/* Call when a second thread's line is counted: until then the totals were those of the first, whose row stayed empty. */
void rsc_kept_split_threads(struct rsc_kept_sum *sum);

/* Places a reuse with `above` kept lines since, `weight` = 1/rate: its distance, at most the cap, and less than `below`: its
 * interval, if that is exact. */
static inline uint64_t rsc_kept_place(struct rsc_kept_sum *sum, uint32_t above, uint64_t below, double weight) {
    sum->draws += 0x9E3779B97F4A7C15ull;
    /* 20 bits: above + within must be exact in a double, so that rate 1 changes nothing */
    double within = (double)(sum->draws >> 44) * 0x1p-20;
    double cell = above || weight < (double)below ? weight : (double)below;
    uint64_t distance = (uint64_t)(((double)above + within) * cell);
    if (distance >= below) distance = below - 1;
    return sum->rd_cap && distance >= sum->rd_cap ? sum->rd_cap : distance;
}

/* Counts a reuse of a line of `group`. */
static inline void rsc_kept_count(struct rsc_kept_sum *sum, uint64_t distance, uint64_t interval, double weight,
                                  uint32_t group) {
    sum->ri[rsc_bin_of_fine(interval)] += weight;
    if (sum->rd_cap && distance >= sum->rd_cap) sum->capped += weight;
    else sum->rd[rsc_bin_of_fine(distance)] += weight;
    sum->groups.rd[rsc_line_group_bin(distance)][group] += weight;
}

/* Places a reuse and counts it. Returns its distance. */
static inline uint64_t rsc_kept_reuse(struct rsc_kept_sum *sum, uint32_t above, uint64_t interval, uint64_t below,
                                      double weight, uint32_t group) {
    uint64_t distance = rsc_kept_place(sum, above, below, weight);
    rsc_kept_count(sum, distance, interval, weight, group);
    return distance;
}

/* Counts a reference to a line of `group` that misses in any cache. */
static inline void rsc_kept_miss(struct rsc_kept_sum *sum, double weight, uint32_t group) {
    sum->cold += weight;
    sum->groups.cold[group] += weight;
}

/* The same, where another stack had taken the line. */
static inline void rsc_kept_invalidated(struct rsc_kept_sum *sum, double weight, uint32_t group) {
    rsc_kept_miss(sum, weight, group);
    sum->invalidated += weight;
    sum->groups.invalidated[group] += weight;
}

/* Counts the lines above a line about to be reused at about `distance`, if its audit can afford it. */
void rsc_kept_audit(struct rsc_kept_sum *sum, const struct rsc_sampled_stack *stack, uint32_t node, uint64_t distance);

/*
 * Adds what `count` lacks to its first bin, or removes its excess from its first
 * bins, so that it sums to `total`; then adds it to `into`, rounded from the top, so
 * that the counts above any bin are off by less than one.
 */
void rsc_kept_settle(double *count, uint32_t bins, uint64_t total, struct rsc_histogram *into);

/* Facts about the whole stream. */
struct rsc_kept_whole {
    uint64_t accesses, references;
    double rate; /* at the end */
    double confidence; /* percent */
    uint64_t line_bytes;
    uint64_t lines; /* kept; 0: as many as were cold, as with one stack */
    int several_stacks; /* that take lines from each other */
    uint64_t held; /* lines known before the first reference: the curve reaches as far as these and the cold ones */
};

/* A new profile, not sealed, with curve, error bars and threads; NULL: out of memory. Changes the threads' counts. */
struct rsc_profile *rsc_kept_profile(struct rsc_kept_sum *sum, const struct rsc_kept_whole *whole);

/* Sets counts, distances, intervals and the curve with its error bars, but no
 * rows. The sum is not changed. Returns 0 or RSC_ENOMEM. */
int rsc_kept_fill(const struct rsc_kept_sum *sum, const struct rsc_kept_whole *whole, struct rsc_profile *profile);

/* Sets `made.sampling`: how lines were chosen, the number `kept`, and the uncertainty of the number of lines, and the
 * bars of that if they are not known. Returns 0 or RSC_ENOMEM. */
int rsc_kept_describe(struct rsc_profile *profile, const struct rsc_kept_whole *whole, uint64_t kept, uint64_t seed);

/* The mean half width of its error bars now; NAN: out of memory. The sum is not changed. */
double rsc_kept_error(const struct rsc_kept_sum *sum, const struct rsc_kept_whole *whole);

#endif
