/*
 * loops_result.h - the result of the analysis of loops: plain data, filled by loops/
 * and cmd/, shown by report/.
 *
 * A loop has variants (the source's, and what-if changes), a variant one result per
 * number of threads. Strings not marked as owned point into the loop tree, which must
 * outlive the result.
 */
#ifndef RSC_PROFILE_LOOPS_RESULT_H
#define RSC_PROFILE_LOOPS_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/profile.h>

#include "base/histogram.h"

/* One reference of the source, in the order of the text. */
struct rsc_loops_row {
    const char *file;        /* NULL: not known */
    const char *array, *text; /* its array; how it is written, or NULL */
    uint32_t line;
    int is_write;
    uint64_t references;     /* executions: exact */
    uint64_t samples;        /* of those, sampled */
    double cold;             /* first uses of a line, of all threads together: estimated, scaled to references */
    struct rsc_histogram rd; /* RSC_BINS_COARSE: reuse distances (shared cache), scaled to references */
};

/* One array in the threads' private caches. */
struct rsc_loops_sharing {
    const char *array;
    double references;    /* scaled estimates, as all below */
    double coherence;     /* references whose line another thread wrote since this thread's last use */
    double false_sharing; /* of those: none of the referenced bytes was written */
};

struct rsc_loops_private {
    double cold, invalidated; /* summed over threads; cold is each thread's own first uses */
    double false_sharing;
    double cold_low, cold_high, invalidated_low, invalidated_high;
    struct rsc_mrc_point *mrc; /* of all threads' caches together, each of that size */
    size_t mrc_count;
    struct rsc_loops_sharing *arrays; /* those with coherence misses, most first */
    size_t array_count;
};

/* A cache of a named machine. */
#define RSC_LOOPS_LEVELS_MAX 4
struct rsc_loops_level {
    char name[8]; /* "l1d" */
    uint64_t size_bytes;
    uint32_t ways;
    int per_thread;               /* one for each thread; else one for all */
    double miss_ratio, low, high; /* of all references */
};

/* One number of threads and one interleaving. */
struct rsc_loops_result {
    uint32_t threads;
    char interleave[64]; /* "drift", "bursty:2000" */
    int exact;           /* every number is exact, low and high equal miss_ratio */
    uint64_t references, distinct;
    uint64_t samples;          /* references sampled */
    struct rsc_histogram ri;   /* RSC_BINS_FINE: reuse intervals with all threads, scaled to references - distinct */
    struct rsc_mrc_point *mrc; /* 8 sizes per octave, from 1 line to the footprint */
    size_t mrc_count;
    struct rsc_loops_row *rows;
    size_t row_count;
    struct rsc_loops_private own; /* mrc NULL: not requested */
    struct rsc_loops_level level[RSC_LOOPS_LEVELS_MAX]; /* of findings.machine */
    size_t level_count;
    int levels_simulated; /* reference by reference; else estimated from the curves */
    double seconds;
};

void rsc_loops_result_free(struct rsc_loops_result *result);

/* The curve of the shared cache at `lines` lines (0 lines: 1). */
struct rsc_mrc_point rsc_loops_result_at(const struct rsc_loops_result *result, uint64_t lines);

/* Misses of each row in a shared cache of `lines` lines: they sum to those of the curve. */
void rsc_loops_blame(const struct rsc_loops_result *result, uint64_t lines, double *misses);

/* One way to run a loop: as in the source, or with a what-if change. */
struct rsc_loops_variant {
    char *what;       /* NULL: as it is. Owned */
    const char *note; /* about a what-if: NULL, or why it may compute something else */
    uint64_t references, distinct;
    struct rsc_loops_result **result; /* by number of threads; owned */
    size_t result_count;
};

/* A part of a loop that is not affine and therefore not analysed, or analysed under an assumption. */
struct rsc_loops_gap {
    const char *file;   /* NULL: not known */
    const char *text;   /* source text; NULL: none */
    const char *reason; /* "subscript is not affine: it reads idx[i]" */
    uint32_t line;
};

struct rsc_loops_found {
    const char *file;     /* its source file, or the file read */
    const char *function; /* NULL: not known */
    const char *name;     /* unique in the file: "gemm:12" */
    uint32_t line;
    int aside;            /* it initialises or prints data: left out of the text, unless asked for */
    char schedule[256];   /* "static", "dynamic,4", "sequential"; several different ones joined by "; " */
    char
        refused[256]; /* the gap of a loop that the models do not take: it is too large, or a reference crosses lines */
    int refusal; /* its RSC_E...; 0: none */
    char left_out[256]; /* "16 threads, what if chunk=4": what time did not suffice for; else empty */
    struct rsc_loops_gap *gap; /* owned */
    size_t gap_count;
    struct rsc_loops_gap *assumed; /* owned */
    size_t assumed_count;
    struct rsc_loops_variant *variant; /* owned; the first is the loop as it is. None: not analysed */
    size_t variant_count;
};

struct rsc_loops_findings {
    uint64_t line_bytes;
    uint64_t at_bytes; /* cache size for the list of references */
    const char *machine; /* name of the one whose caches results have; NULL: none. Not owned */
    char *const *command; /* of the run, ends with NULL; NULL: unknown. Not owned */
    struct rsc_loops_found *loop; /* owned */
    size_t loop_count;
};

/* The last one. */
void rsc_loops_drop_variant(struct rsc_loops_found *loop);
void rsc_loops_findings_free(struct rsc_loops_findings *findings);

/* One profile per loop, variant and thread count (loops_profile.c); the caller owns them, and *count may be 0. */
int rsc_loops_profiles(const struct rsc_loops_findings *findings, struct rsc_profile ***profiles, size_t *count,
                       struct rsc_error *error);

#endif
