/*
 * sample_sum.h - from the distances of sampled lines to a profile of the whole
 * stream, with error bars.
 *
 * A reference to a line kept at rate p stands for 1/p references. Its distance
 * k, counted in kept lines, stands for the distances k/p to (k+1)/p: the k-th of
 * the kept lines comes after k/p lines on average, so cutting the counts there
 * leaves a curve without bias where it is straight. Within that cell the
 * reference is put at points that fill it evenly, and never at or past its reuse
 * interval, which is exact and which no distance reaches.
 *
 * SHARDS-adj: the references that the kept ones fall short of (or exceed) the
 * true number by are added to (or taken from) the least distances, so that
 *     misses(c) = what the kept lines missed / p,
 * whichever hot lines, which nearly always hit, are or are not in the sample.
 *
 * Error bars: sample_error.c.
 */
#ifndef RSC_DISTANCE_SHARDS_SAMPLE_SUM_H
#define RSC_DISTANCE_SHARDS_SAMPLE_SUM_H

#include "distance/shards/sampled_stack.h"
#include "profile/profile_model.h"

#define RSC_SAMPLE_BINS 513u  /* of group counts: 0, then 8 an octave */
#define RSC_SAMPLE_AUDITS 128u /* 2 an octave */

/* What stood above some of the references of about one distance, by group. */
struct rsc_sample_audit {
    double above[RSC_STACK_GROUPS];
    uint64_t count;
    int64_t credit; /* blocks that may be added up: bounds what audits cost */
};

struct rsc_sample_row {
    uint64_t references; /* exact */
    uint64_t pid, tid;
    double cold, *rd; /* RSC_BINS_COARSE */
};

struct rsc_sample_sum {
    double *rd, *ri; /* RSC_BINS_FINE, in references */
    double cold, capped;
    uint64_t rd_cap; /* 0: none */
    uint64_t draws;  /* where in its cell the next distance is put */
    double (*group_rd)[RSC_STACK_GROUPS]; /* [RSC_SAMPLE_BINS]: rd again, by group of the line */
    double group_cold[RSC_STACK_GROUPS];
    double group_invalidated[RSC_STACK_GROUPS]; /* of those: to lines that another stack had taken; 0 with one stack */
    struct rsc_sample_audit *audits; /* [RSC_SAMPLE_AUDITS] */
    struct rsc_sample_row *threads; /* by thread number */
    uint32_t thread_count;
    uint64_t threads_seen;
};

int rsc_sample_sum_init(struct rsc_sample_sum *sum, uint64_t rd_cap, uint64_t seed);
void rsc_sample_sum_free(struct rsc_sample_sum *sum);

/* Makes rows up to this thread number; RSC_ENOMEM. Numbers past RSC_THREAD_ROWS_MAX get none. */
int rsc_sample_see_thread(struct rsc_sample_sum *sum, uint64_t number);

/* Call when the second thread appears: until then the totals were the first one's, and its row was left empty. */
void rsc_sample_split_threads(struct rsc_sample_sum *sum);

/* The bin of a distance in group_rd, and its lower edge. */
static inline uint32_t rsc_sample_bin(uint64_t distance) {
    if (!distance) return 0;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(distance);
    uint32_t step = (uint32_t)(octave >= 3 ? distance >> (octave - 3) : distance << (3 - octave)) & 7;
    return 1 + octave * 8 + step;
}
double rsc_sample_bin_edge(uint32_t bin);

/* The audit that a distance counts in. */
static inline uint32_t rsc_sample_audit_of(uint64_t distance) {
    if (!distance) return 0;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(distance);
    return octave * 2 + (octave ? (uint32_t)(distance >> (octave - 1)) & 1 : 0);
}

/* Counts a reuse of a line of `group`: `above` kept lines since, `weight` = 1/rate. Returns the distance it is put at. */
static inline uint64_t rsc_sample_reuse(struct rsc_sample_sum *sum, uint32_t above, uint64_t interval, double weight,
                                        uint32_t group) {
    sum->draws += 0x9E3779B97F4A7C15ull;
    /* 20 bits: above + within must be exact in a double, so that rate 1 changes nothing */
    double within = (double)(sum->draws >> 44) * 0x1p-20;
    double cell = above || weight < (double)interval ? weight : (double)interval;
    uint64_t distance = (uint64_t)(((double)above + within) * cell);
    if (distance >= interval) distance = interval - 1;
    sum->ri[rsc_bin_of_fine(interval)] += weight;
    if (sum->rd_cap && distance >= sum->rd_cap) {
        distance = sum->rd_cap;
        sum->capped += weight;
    } else {
        sum->rd[rsc_bin_of_fine(distance)] += weight;
    }
    sum->group_rd[rsc_sample_bin(distance)][group] += weight;
    return distance;
}

/* Counts what stands above a line about to be reused at about `distance`, if its audit can afford it. */
void rsc_sample_audit(struct rsc_sample_sum *sum, const struct rsc_sampled_stack *stack, uint32_t node,
                      uint64_t distance);

/* What is known of the whole stream. */
struct rsc_sample_whole {
    uint64_t accesses, references;
    double rate; /* at the end */
    double confidence; /* percent */
    uint64_t line_bytes;
};

/* A new profile, not sealed, with its curve and error bars; NULL: out of memory. */
struct rsc_profile *rsc_sample_profile(struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole);

/* References to lines that another stack had taken that the sample is known to lack (or, below 0, to have too many of). To be
 * added to `cold` of private stacks before a profile is made; group_cold stays as it was counted. */
double rsc_sample_taken_more(const struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole);

/* The mean half width that its error bars would have now; NAN: out of memory. The sum stays as it is. */
double rsc_sample_error(const struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole);

/* Sets low and high of the profile's curve. Returns 0 or RSC_ENOMEM. sample_error.c */
int rsc_sample_bars(const struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole,
                    struct rsc_profile *profile);

#endif
