/*
 * study_result.h - how well samples of one trace predict the whole trace, on the
 * caches of the lowest level of a hierarchy: plain data, filled by simulate/sampling/study.h
 * and shown by report/.
 */
#ifndef RSC_PROFILE_STUDY_RESULT_H
#define RSC_PROFILE_STUDY_RESULT_H

#include "profile/sim_result.h"

#define RSC_STUDY_FRACTIONS 2  /* 1/16 and 1/64 */
#define RSC_STUDY_LENGTHS 4    /* 0.1, 1, 10 and 100 million instructions */
#define RSC_STUDY_METHODS 5    /* cold, half, prime, stitch, initmr, as enum rsc_cold_start */
#define RSC_STUDY_SAMPLE 30u   /* intervals of a sample (section 4.1) */
#define RSC_STUDY_DRAWS 500u   /* random samples drawn when there are too many to take all */
#define RSC_STUDY_CONE_MAX 24u
#define RSC_STUDY_DISTANCES 8

/* Constant bits low .. low + width - 1 of a cache's index, all values in turn. */
struct rsc_study_bits {
    uint32_t low, width;
    int usable;            /* as a filter: the address bits are in the index unchanged */
    uint64_t samples;      /* 2^width */
    double cv;             /* fraction-instructions, equation 1 */
    double cv_sampled;     /* sampled-instructions; NAN without fetches, infinite if a sample has none */
    double cv_references;  /* the same, by the references to a sample's sets */
    double cv_data;        /* and by the data references */
    double variance_ratio; /* A1 over A2 */
    uint64_t within;       /* samples within 10% of the truth */
    uint64_t covered;      /* 90% intervals that contain the truth */
    double *mpi;           /* owned: each sample's estimate */
};

/* Random samples of the same number of sets. */
struct rsc_study_random {
    double cv;      /* by equation A1 */
    double within;  /* fraction of RSC_STUDY_DRAWS samples within 10% */
    double covered; /* fraction whose 90% interval contains the truth */
};

/* Sets of one cache at one fraction. */
struct rsc_study_sets {
    uint64_t denominator;
    int available;              /* the paper's bits exist, and are usable */
    struct rsc_study_bits
        paper; /* from one bit above the block (1/16: bits 8-11 of 128-byte blocks) or at the block (1/64) */
    struct rsc_study_random random;
    struct rsc_study_bits *ranges; /* owned: every range of that many index bits, lowest first; mpi NULL */
    size_t range_count;
};

struct rsc_study_interval {
    uint64_t misses;     /* true */
    uint64_t references; /* to this cache */
    double estimate[RSC_STUDY_METHODS]; /* misses; NAN if not known */
    double loaded;
    uint64_t cold_misses, full_misses;
};

/* A vertical slice of a cone: the middle 90% of the estimates from samples of a number of intervals, over the truth. */
struct rsc_study_slice {
    uint64_t intervals;
    double fraction; /* of the trace */
    double low[2], high[2], within[2], covered[2]; /* [0] initmr, [1] true initial state */
};

/* Intervals of one length of one cache. */
struct rsc_study_time {
    uint64_t length, count;
    struct rsc_study_interval *intervals; /* owned */
    uint64_t sampled; /* in the systematic sample: RSC_STUDY_SAMPLE, or every second one */
    double mpi; /* MPI_S: of that sample with its true state */
    double bias[RSC_STUDY_METHODS]; /* of that sample; NAN if not known */
    int reliable; /* on average, the conditions of table 9 hold */
    struct rsc_study_slice slices[RSC_STUDY_CONE_MAX];
    size_t slice_count;
};

struct rsc_study_cache {
    struct rsc_cache_label cache;
    uint64_t misses, references;
    double mpi;
    struct rsc_sample_shape shape; /* of the misses of all its sets */
    double
        alike[RSC_STUDY_DISTANCES]; /* correlation of the misses of sets 1, 2, 4, ... apart; NAN if all are the same */
    struct rsc_study_sets sets[RSC_STUDY_FRACTIONS];
    struct rsc_study_time times[RSC_STUDY_LENGTHS];
    size_t time_count;
};

struct rsc_study {
    const char *trace; /* its name. Not owned */
    uint64_t instructions, accesses, fetches;
    struct rsc_study_cache *caches; /* owned */
    size_t cache_count;
};

void rsc_study_free(struct rsc_study *study);

#endif
