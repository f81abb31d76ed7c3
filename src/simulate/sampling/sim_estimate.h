/*
 * estimate.h - what a sample says about one cache: the `estimate` of a level.
 *
 * Misses per instruction where instructions are known, else per access of the
 * trace; NAN is "not known" throughout and null in JSON.
 */
#ifndef RSC_SIMULATE_SAMPLING_SIM_ESTIMATE_H
#define RSC_SIMULATE_SAMPLING_SIM_ESTIMATE_H

#include "base/json_writer.h"
#include "estimate/sample_statistics.h"
#include "simulate/sampling/time_choice.h"

enum rsc_estimate_method { RSC_ESTIMATE_SETS, RSC_ESTIMATE_TIME, RSC_ESTIMATE_WHOLE };

/* One of the samples of `=all`, or one interval. */
struct rsc_estimate_part {
    uint64_t at;    /* value of the constant bits, or first access of the interval */
    double mpi;     /* NAN where nothing can be said of it */
    double loaded;  /* time: fraction of the cache loaded; NAN otherwise */
    int reliable;   /* time: the paper's two conditions hold */
    double factor;  /* time: how many times as long it would have to be; 1: long enough */
};

struct rsc_estimate {
    enum rsc_estimate_method method;
    char how[96];       /* "constant bits 8-11 = 3", "30 systematic intervals of 10000000 instructions" */
    double fraction;    /* of the sets, or of the instructions */
    int cold_start;     /* enum rsc_cold_start; -1: none */
    int per_access;     /* mpi, low and high are per access, as instructions are not known */
    double mpi;         /* fraction-instructions; or the mean of the intervals */
    double low, high;   /* NAN: no interval can be given */
    double confidence;  /* percent */
    uint64_t observations, population;
    double misses;      /* of the whole trace, as estimated */

    /* Sets: */
    double sampled_instructions; /* mpi by that method; NAN without fetches */
    struct rsc_sample_shape shape;
    double cv, variance_ratio;   /* with all values: equations 1 and A1 / A2; NAN otherwise */

    /* Time: */
    uint64_t length;     /* of an interval, in instructions or accesses */
    double loaded;       /* mean */
    uint64_t unreliable; /* intervals that do not meet the conditions */
    uint64_t left_out;   /* intervals nothing could be said of (prime) */
    double length_needed; /* NAN where all are long enough, infinite where no length can be told */

    struct rsc_estimate_part *parts; /* owned; NULL: none */
    size_t part_count;
};

/* Misses per instruction; NAN where they are per access. */
double rsc_estimate_mpi(const struct rsc_estimate *estimate);

void rsc_estimate_free(struct rsc_estimate *estimate);

/* As the value of a key. */
void rsc_estimate_json(struct rsc_json *json, const struct rsc_estimate *estimate);

#endif
