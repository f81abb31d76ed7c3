/*
 * sim_result.h - the result of a simulation: plain data, filled by simulate/ and shown
 * by report/.
 *
 * Counts are exact, or those of a sample; then every level has an estimate for the
 * whole trace. Estimates are misses per instruction if instructions are known, else
 * per access of the trace; NAN means "not known" throughout and is null in JSON.
 */
#ifndef RSC_PROFILE_SIM_RESULT_H
#define RSC_PROFILE_SIM_RESULT_H

#include <reusescope/trace.h>

#include "estimate/sample_statistics.h"

#define RSC_KINDS 3
#define RSC_BLAME_LEVELS 7 /* primary caches at most: two first levels, l2 to l6 */

/* A cache in words. */
struct rsc_cache_label {
    char name[8];   /* "l1i", "l1d", "l1", "l2" to "l6"; "itlb", "dtlb2", ... */
    char text[160]; /* "32K,8,64,lru", as options have it */
};

/* Counts of a level, all its caches together. Arrays are indexed by enum rsc_kind of the access that caused a
 * request. */
struct rsc_level_counts {
    uint64_t accesses[RSC_KINDS]; /* demand: from the program, misses above, or writes through from above */
    uint64_t misses[RSC_KINDS];   /* of those */
    uint64_t cold[RSC_KINDS], capacity[RSC_KINDS], conflict[RSC_KINDS],
        coherence[RSC_KINDS];             /* of misses, where classified */
    uint64_t writes_in;                   /* write-backs from above */
    uint64_t writes_in_missed;            /* of those, writes that missed */
    uint64_t sector_misses;               /* of misses, those that found their block but not all their sectors */
    uint64_t writebacks; /* dirty blocks, or sectors, written below: evicted, or requested by another cache */
    uint64_t writethroughs; /* writes passed below */
    uint64_t dirty_at_end;
    uint64_t blocks_at_end; /* valid blocks at the end, out of `blocks` */
    uint64_t blocks;
    uint64_t prefetches, prefetches_used; /* issued here; of those, used before their eviction */
    uint64_t prefetches_in; /* from above */
    uint64_t victim_hits; /* misses that hit in the victim cache: not in misses */
    uint64_t buffer_merged; /* writes below merged in the write buffer */
    uint64_t invalidated; /* blocks invalidated by other threads' writes */
    uint64_t back_invalidated; /* blocks invalidated by an inclusive level below */
};

static inline uint64_t rsc_kinds_sum(const uint64_t by_kind[RSC_KINDS]) {
    return by_kind[RSC_READ] + by_kind[RSC_WRITE] + by_kind[RSC_FETCH];
}

/* The caches' contents at the start of an interval of a time sample (paper 001, table 6), and functional warming. */
enum rsc_cold_start {
    RSC_START_COLD, /* nothing; every miss counts */
    RSC_START_HALF, /* nothing; only the second half is counted */
    RSC_START_PRIME, /* nothing; only references to initialised sets are counted */
    RSC_START_STITCH, /* the state at the end of the previous interval */
    RSC_START_INITMR, /* nothing; an estimated share of the misses to sets not yet full counts */
    RSC_START_WARM, /* the true state: accesses between the intervals are simulated too */
    RSC_START_COUNT,
};
extern const char *const rsc_cold_start_names[RSC_START_COUNT];

/* ---- estimates ---- */

enum rsc_estimate_method { RSC_ESTIMATE_SETS, RSC_ESTIMATE_TIME, RSC_ESTIMATE_WHOLE };

/* One of the samples of `=all`, or one interval. */
struct rsc_estimate_part {
    uint64_t at; /* value of the constant bits, or first access of the interval */
    double mpi; /* NAN if not known */
    double loaded; /* time: fraction of the cache loaded; NAN otherwise */
    int reliable; /* time: the paper's two conditions hold */
    double factor; /* time: how many times as long it would have to be; 1: long enough */
};

/* The estimate for one cache from a sample. */
struct rsc_estimate {
    enum rsc_estimate_method method;
    char how[96]; /* "constant bits 8-11 = 3", "30 systematic intervals of 10000000 instructions" */
    double fraction; /* of the sets, or of the instructions */
    int cold_start; /* enum rsc_cold_start; -1: none */
    int per_access; /* mpi, low and high are per access: instructions are not known */
    double mpi; /* fraction-instructions; or the mean of the intervals */
    double low, high; /* NAN: no interval known */
    double confidence; /* percent */
    uint64_t observations, population;
    double misses; /* of the whole trace, as estimated */

    /* Sets: */
    double sampled_instructions; /* mpi by that method; NAN without fetches */
    struct rsc_sample_shape shape;
    double cv, variance_ratio; /* with all values: equations 1 and A1 / A2; NAN otherwise */

    /* Time: */
    uint64_t length; /* of an interval, in instructions or accesses */
    double loaded; /* mean */
    uint64_t unreliable; /* intervals that do not meet the conditions */
    uint64_t left_out; /* intervals without an estimate (prime) */
    double length_needed; /* NAN if all are long enough, infinite if no length is enough */

    struct rsc_estimate_part *parts; /* owned; NULL: none */
    size_t part_count;
};

/* Misses per instruction; NAN if the estimate is per access. */
double rsc_estimate_mpi(const struct rsc_estimate *estimate);

void rsc_estimate_free(struct rsc_estimate *estimate);

/* ---- results ---- */

struct rsc_sim_level_result {
    struct rsc_cache_label cache;
    struct rsc_level_counts counts;
    int alternative; /* 0: the primary cache of its name; n: the nth other */
    int from_family; /* of "all:...": only some of the counts */
    const struct rsc_estimate *estimate; /* if the counts are a sample's; else NULL. Not owned */
};

/* One TLB with pages of one size. */
struct rsc_sim_tlb_result {
    struct rsc_cache_label tlb; /* its text has that page size alone */
    uint64_t accesses[RSC_KINDS], misses[RSC_KINDS];
};

/* All TLBs with pages of one size. */
struct rsc_sim_pages_result {
    uint64_t page_bytes;
    uint64_t walks[RSC_KINDS]; /* lookups that no TLB answered */
    struct rsc_sim_tlb_result *tlbs; /* owned */
    size_t tlb_count;
};

/* Accesses and misses of all rows of `levels` in one window. */
struct rsc_sim_window {
    uint64_t first, accesses; /* of the trace */
    uint64_t instructions; /* or RSC_UNKNOWN */
};

/* Misses of one instruction or object, by primary cache. */
struct rsc_sim_blame_row {
    uint64_t key; /* pc, or the key of an object */
    uint64_t misses[RSC_BLAME_LEVELS]; /* by primary cache, in the order of `levels` */
    char *name; /* owned: of the function or object; NULL: not known */
    char *file; /* owned */
    const char *kind; /* of an object */
    uint32_t line;
};

struct rsc_sim_blame_rows {
    const struct rsc_sim_blame_row *row; /* most misses in the last level first. Not owned */
    size_t count;
};

/* The part of the trace that was simulated. */
enum rsc_sim_sample { RSC_SIM_ALL, RSC_SIM_SETS, RSC_SIM_TIME };

struct rsc_sim_result {
    uint64_t instructions; /* counted, RSC_UNKNOWN if the trace has no counts */
    uint64_t accesses; /* of the trace, counted */
    uint64_t warm_accesses; /* of the trace, before counting */
    uint64_t references; /* requests to the first level, in blocks: the denominator of miss ratios */
    uint64_t left_out; /* accesses of kinds that no cache takes */
    uint64_t memory_reads, memory_writes; /* requests past the last primary level */
    int classified;
    int per_reference; /* text shows misses per thousand references although instructions are known */
    double seconds; /* wall time of the simulation */
    unsigned workers;
    char *const *command; /* of the run, ends with NULL; NULL: unknown. Not owned */
    struct rsc_sim_level_result *levels; /* owned */
    size_t level_count;
    struct rsc_sim_pages_result *pages; /* owned: smallest page first; NULL: no TLBs */
    size_t page_count;
    struct rsc_sim_window *windows; /* owned */
    uint64_t *window_accesses, *window_misses; /* owned: window_count rows of level_count */
    size_t window_count;

    int blamed; /* misses were counted by code and object */
    struct rsc_sim_blame_rows code, objects;

    /* Samples; every level has an estimate. */
    enum rsc_sim_sample sample;
    uint64_t trace_accesses; /* of the whole trace, RSC_UNKNOWN if it has no counts */
    uint64_t simulated; /* accesses, or parts of them */
};

void rsc_sim_result_free(struct rsc_sim_result *result);

/* Misses per instruction; NAN if instructions are unknown or 0. */
double rsc_sim_mpi(const struct rsc_sim_result *result, const struct rsc_sim_level_result *level);

#endif
