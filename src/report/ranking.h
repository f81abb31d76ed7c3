/*
 * ranking.h - code, pairs and objects in the order of their misses at one cache
 * size.
 *
 * Where a profile knows how long reuses took, pairs are in the order of misses times
 * latency: those that cost most time first.
 *
 * Rows that are one thing to a reader (the instructions of a line, say) make one
 * rank. Misses in c lines are cold + invalidated + references with RD >= c, from
 * the rows' coarse histograms: exact at sizes that are edges of their bins,
 * in proportion within one.
 */
#ifndef RSC_REPORT_RANKING_H
#define RSC_REPORT_RANKING_H

#include "report/report.h"

enum rsc_ranked {
    RSC_RANK_LINES,   /* code by function, file and line; where no line is known by function, else by pc */
    RSC_RANK_SOURCE,  /* code by file and line, whatever the function; only where both are known */
    RSC_RANK_PAIRS,   /* pairs by both ends, each in the same way */
    RSC_RANK_OBJECTS, /* objects by kind and name */
};

struct rsc_rank {
    const void *const *rows; /* struct rsc_code_row, rsc_pair_row or rsc_object_row of the profile */
    size_t row_count;        /* at least 1 */
    uint64_t references, cold, invalidated, error, misses;
    double cost; /* misses; of pairs with a latency, times that: what they are ranked by */
};

struct rsc_ranking {
    const struct rsc_profile *profile;
    enum rsc_ranked what;
    uint64_t size_lines;    /* ranked at this cache size */
    struct rsc_rank *ranks; /* owned; highest cost first */
    size_t count;
    const void **rows; /* owned */
};

/* Zeroed rankings may be freed. Returns 0 or RSC_ENOMEM. */
int rsc_ranking_make(struct rsc_ranking *ranking, const struct rsc_profile *profile, enum rsc_ranked what,
                     uint64_t size_lines);
void rsc_ranking_free(struct rsc_ranking *ranking);

/* Misses of a rank at another size. */
uint64_t rsc_rank_misses(const struct rsc_ranking *ranking, const struct rsc_rank *rank, uint64_t size_lines);

/*
 * The median of a rank's reuse distances that are `from` lines or more, to within
 * its bin (a quarter of an octave), never more than the footprint allows;
 * rsc_rows_told_apart() if it is that or more, UINT64_MAX if there are none.
 */
uint64_t rsc_rank_median(const struct rsc_ranking *ranking, const struct rsc_rank *rank, uint64_t from);

/* The same for any share of them: the distance that `share` of those from `from` on are below. */
uint64_t rsc_rank_quantile(const struct rsc_ranking *ranking, const struct rsc_rank *rank, uint64_t from, double share);

/* Where rows' distances end in an open bin because of a cap; UINT64_MAX: nowhere. */
uint64_t rsc_rows_told_apart(const struct rsc_profile *profile);

/* All misses of the profile at a size, by the same rule: what shares are shares of. */
uint64_t rsc_profile_coarse_misses(const struct rsc_profile *profile, uint64_t size_lines);

int rsc_place_has_line(const struct rsc_place *place);

/* An order of places in which those that are one rank are equal. */
int rsc_place_compare(const struct rsc_place *a, const struct rsc_place *b);

/* The size of cache to rank at. */
struct rsc_rank_size {
    uint64_t lines, bytes;
    const struct rsc_machine_level *level; /* of the style's machine, if it is one of its sizes; else NULL */
    int lowered;                           /* to where a cap on distances lets misses be known */
};

/* `bytes` as it can be used with this profile; 0: the machine's L2, or 1 MiB if there is none. */
struct rsc_rank_size rsc_rank_size(const struct rsc_profile *profile, const struct rsc_report_style *style,
                                   uint64_t bytes);

#endif
