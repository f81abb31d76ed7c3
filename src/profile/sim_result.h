/*
 * sim_result.h - what a simulation found: plain data, filled by simulate/ and shown by
 * report/.
 *
 * Counts are exact, or those of a sample; then every level has an estimate of what
 * the whole trace does. Estimates are misses per instruction where instructions are
 * known, else per access of the trace; NAN is "not known" throughout and null in JSON.
 */
#ifndef RSC_PROFILE_SIM_RESULT_H
#define RSC_PROFILE_SIM_RESULT_H

#include <reusescope/trace.h>

#include "estimate/sample_statistics.h"

#define RSC_KINDS 3
#define RSC_BLAME_LEVELS 4 /* primary caches at most: two first levels, l2 and l3 */

/* A cache in words. */
struct rsc_cache_label {
    char name[8];   /* "l1i", "l1d", "l1", "l2", "l3" */
    char text[160]; /* "32K,8,64,lru", as options have it */
};

/* Of a level, all its caches together. Arrays are by enum rsc_kind of the access behind a request. */
struct rsc_level_counts {
    uint64_t accesses[RSC_KINDS]; /* demand: of the program, or of misses above, or written through from above */
    uint64_t misses[RSC_KINDS];   /* of those */
    uint64_t cold[RSC_KINDS], capacity[RSC_KINDS], conflict[RSC_KINDS],
        coherence[RSC_KINDS];             /* of misses, where classified */
    uint64_t writes_in;                   /* write-backs from above */
    uint64_t writes_in_missed;            /* of those, that did not find their block */
    uint64_t writebacks;                  /* dirty blocks written below: evicted, or asked for by another cache */
    uint64_t writethroughs;               /* writes passed below */
    uint64_t dirty_at_end;
    uint64_t blocks_at_end;               /* in the caches, of `blocks` there are */
    uint64_t blocks;
    uint64_t prefetches, prefetches_used; /* issued here; asked for before they went */
    uint64_t prefetches_in;               /* from above */
    uint64_t victim_hits;                 /* misses of the cache that its victim cache had: not in misses */
    uint64_t buffer_merged;               /* writes below that the write buffer had already */
    uint64_t invalidated;                 /* blocks taken away by other threads' writes */
    uint64_t back_invalidated;            /* blocks taken away by an inclusive level below */
};

static inline uint64_t rsc_kinds_sum(const uint64_t by_kind[RSC_KINDS]) {
    return by_kind[RSC_READ] + by_kind[RSC_WRITE] + by_kind[RSC_FETCH];
}

/* What an interval of a time sample finds in the caches (paper 001, table 6), and functional warming. */
enum rsc_cold_start {
    RSC_START_COLD,   /* nothing; every miss counts */
    RSC_START_HALF,   /* nothing; only the second half is counted */
    RSC_START_PRIME,  /* nothing; only references to initialised sets are counted */
    RSC_START_STITCH, /* what the interval before left */
    RSC_START_INITMR, /* nothing; an estimated share of the misses to sets not yet full counts */
    RSC_START_WARM,   /* the truth: all between the intervals is simulated too */
    RSC_START_COUNT,
};
extern const char *const rsc_cold_start_names[RSC_START_COUNT];

/* ---- estimates ---- */

enum rsc_estimate_method { RSC_ESTIMATE_SETS, RSC_ESTIMATE_TIME, RSC_ESTIMATE_WHOLE };

/* One of the samples of `=all`, or one interval. */
struct rsc_estimate_part {
    uint64_t at;   /* value of the constant bits, or first access of the interval */
    double mpi;    /* NAN where nothing can be said of it */
    double loaded; /* time: fraction of the cache loaded; NAN otherwise */
    int reliable;  /* time: the paper's two conditions hold */
    double factor; /* time: how many times as long it would have to be; 1: long enough */
};

/* What a sample says about one cache. */
struct rsc_estimate {
    enum rsc_estimate_method method;
    char how[96];      /* "constant bits 8-11 = 3", "30 systematic intervals of 10000000 instructions" */
    double fraction;   /* of the sets, or of the instructions */
    int cold_start;    /* enum rsc_cold_start; -1: none */
    int per_access;    /* mpi, low and high are per access, as instructions are not known */
    double mpi;        /* fraction-instructions; or the mean of the intervals */
    double low, high;  /* NAN: no interval can be given */
    double confidence; /* percent */
    uint64_t observations, population;
    double misses;     /* of the whole trace, as estimated */

    /* Sets: */
    double sampled_instructions; /* mpi by that method; NAN without fetches */
    struct rsc_sample_shape shape;
    double cv, variance_ratio;   /* with all values: equations 1 and A1 / A2; NAN otherwise */

    /* Time: */
    uint64_t length;      /* of an interval, in instructions or accesses */
    double loaded;        /* mean */
    uint64_t unreliable;  /* intervals that do not meet the conditions */
    uint64_t left_out;    /* intervals nothing could be said of (prime) */
    double length_needed; /* NAN where all are long enough, infinite where no length can be told */

    struct rsc_estimate_part *parts; /* owned; NULL: none */
    size_t part_count;
};

/* Misses per instruction; NAN where they are per access. */
double rsc_estimate_mpi(const struct rsc_estimate *estimate);

void rsc_estimate_free(struct rsc_estimate *estimate);

/* ---- results ---- */

struct rsc_sim_level_result {
    struct rsc_cache_label cache;
    struct rsc_level_counts counts;
    int alternative;                     /* 0: the primary cache of its name; n: the nth other */
    int from_family;                     /* of "all:...": fewer sorts of counts */
    const struct rsc_estimate *estimate; /* where the counts are a sample's; else NULL. Not owned */
};

/* Accesses and misses of all rows of `levels` in one window. */
struct rsc_sim_window {
    uint64_t first, accesses; /* of the trace */
    uint64_t instructions;    /* or RSC_UNKNOWN */
};

/* Misses of one instruction or object, by primary cache. */
struct rsc_sim_blame_row {
    uint64_t key;     /* pc, or the key of an object */
    uint64_t misses[RSC_BLAME_LEVELS]; /* by primary cache, in the order of `levels` */
    char *name;       /* owned: of the function or object; NULL: not known */
    char *file;       /* owned */
    const char *kind; /* of an object */
    uint32_t line;
};

struct rsc_sim_blame_rows {
    const struct rsc_sim_blame_row *row; /* most misses in the last level first. Not owned */
    size_t count;
};

/* What part of the trace was simulated. */
enum rsc_sim_sample { RSC_SIM_ALL, RSC_SIM_SETS, RSC_SIM_TIME };

struct rsc_sim_result {
    uint64_t instructions;  /* counted, RSC_UNKNOWN where the trace does not say */
    uint64_t accesses;      /* of the trace, counted */
    uint64_t warm_accesses; /* of the trace, before counting */
    uint64_t references;    /* requests to the first level, by blocks: what is missed per */
    uint64_t left_out;      /* accesses of kinds that no cache takes */
    uint64_t memory_reads, memory_writes; /* requests past the last primary level */
    int classified;
    int per_reference;      /* text has misses per thousand references although instructions are known */
    double seconds;         /* that the simulation took */
    unsigned workers;
    char *const *command;   /* of the run, ends with NULL; NULL: not told. Not owned */
    struct rsc_sim_level_result *levels; /* owned */
    size_t level_count;
    struct rsc_sim_window *windows; /* owned */
    uint64_t *window_accesses, *window_misses; /* owned: window_count rows of level_count */
    size_t window_count;

    int blamed; /* misses were counted by code and object */
    struct rsc_sim_blame_rows code, objects;

    /* Samples; every level has an estimate. */
    enum rsc_sim_sample sample;
    uint64_t trace_accesses; /* of the whole trace, RSC_UNKNOWN where it does not say */
    uint64_t simulated;      /* accesses, or parts of them */
};

void rsc_sim_result_free(struct rsc_sim_result *result);

/* Misses per instruction; NAN where instructions are not known or 0. */
double rsc_sim_mpi(const struct rsc_sim_result *result, const struct rsc_sim_level_result *level);

#endif
