/*
 * ranking.h - code, pairs and objects ordered by misses at one cache size.
 *
 * If a profile has latencies of reuses, pairs are ordered by misses times latency:
 * those that cost most time first.
 *
 * Rows that belong together for a reader (such as the instructions of a line) form
 * one rank. Misses in c lines are cold + invalidated + references with RD >= c, from
 * the rows' coarse histograms: exact at bin edges, interpolated within a bin.
 */
#ifndef RSC_REPORT_RANKING_H
#define RSC_REPORT_RANKING_H

#include "profile/cost.h"
#include "report/report.h"

enum rsc_ranked {
    RSC_RANK_LINES,   /* code by function, file and line; without a line by function, else by pc */
    RSC_RANK_SOURCE,  /* code by file and line, whatever the function; only if both are known */
    RSC_RANK_OWN, /* code by the user's own function, file and line (own_code.h). Misses of a library's code are those
                       * of the lines that called it, except first touches: their call path is not known */
    RSC_RANK_PAIRS, /* pairs by both ends, each in the same way */
    RSC_RANK_OBJECTS, /* objects by kind and name */
};

struct rsc_rank {
    const void *const *rows; /* struct rsc_code_row, rsc_pair_row or rsc_object_row of the profile */
    size_t row_count; /* at least 1 */
    uint64_t references, cold, invalidated, error, misses;
    double cost; /* the ranking key: misses, times latency for pairs that have one */
};

struct rsc_ranking {
    const struct rsc_profile *profile;
    enum rsc_ranked what;
    uint64_t size_lines; /* ranked at this cache size */
    struct rsc_rank *ranks; /* owned; highest cost first */
    size_t count;
    const void **rows; /* owned */
    struct rsc_code_row
        *calls; /* owned: for RSC_RANK_OWN, what libraries do in calls; strings and bins are the profile's */
    size_t call_count;
};

/* Zeroed rankings may be freed. Returns 0 or RSC_ENOMEM. */
int rsc_ranking_make(struct rsc_ranking *ranking, const struct rsc_profile *profile, enum rsc_ranked what,
                     uint64_t size_lines);
void rsc_ranking_free(struct rsc_ranking *ranking);

/* Orders a ranking by the cycles that misses cost, most first; `cost` of each rank becomes its cycles. */
void rsc_ranking_by_cycles(struct rsc_ranking *ranking, const struct rsc_machine *machine);

/* Misses of a rank at another size. */
uint64_t rsc_rank_misses(const struct rsc_ranking *ranking, const struct rsc_rank *rank, uint64_t size_lines);

/*
 * The median of a rank's reuse distances of `from` lines or more, to within its bin (a
 * quarter of an octave), never above the footprint; rsc_rows_told_apart() if it is that
 * or more, UINT64_MAX if there are none.
 */
uint64_t rsc_rank_median(const struct rsc_ranking *ranking, const struct rsc_rank *rank, uint64_t from);

/* The same for any quantile: `share` of the distances from `from` on are below it. */
uint64_t rsc_rank_quantile(const struct rsc_ranking *ranking, const struct rsc_rank *rank, uint64_t from, double share);

int rsc_place_has_line(const struct rsc_place *place);

/* An order of places in which places of one rank are equal. */
int rsc_place_compare(const struct rsc_place *a, const struct rsc_place *b);

/* Why a cache size is ranked at. */
enum rsc_size_why {
    RSC_SIZE_GIVEN, /* it was asked for, or there are no caches to choose from */
    RSC_SIZE_TOO_SMALL, /* of the machine's caches with misses for want of room, the largest */
    RSC_SIZE_ALL_FIT, /* in none, misses are for want of room: the smallest */
};

/* The cache size to rank at. */
struct rsc_rank_size {
    uint64_t lines, bytes;
    const struct rsc_machine_level *level; /* name of the machine's level with this size, or NULL */
    enum rsc_size_why why;
    int lowered; /* lowered to the largest size at which capped distances give misses */
};

/*
 * `bytes` as far as this profile allows it; 0: the largest of the machine's caches in which a thousandth of references or
 * more miss for want of room, or 1 MiB if no caches are known.
 */
struct rsc_rank_size rsc_rank_size(const struct rsc_profile *profile, const struct rsc_report_style *style,
                                   uint64_t bytes);

#endif
