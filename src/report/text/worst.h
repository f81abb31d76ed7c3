/*
 * worst.h - which code and which data miss most at one cache size, and why.
 */
#ifndef RSC_REPORT_WORST_H
#define RSC_REPORT_WORST_H

#include "report/ranking.h"
#include "report/draw/text_buffer.h"

/* "by misses in L2 (1.25 MiB)", or shorter if that exceeds `columns`. */
struct rsc_worst_words {
    char text[96];
};
struct rsc_worst_words rsc_worst_words(const struct rsc_rank_size *size, unsigned columns);

/* "by cycles lost: L2 15, L3 60, memory 250 (typical)", or shorter if that exceeds `columns`. */
struct rsc_worst_words rsc_cycles_words(const struct rsc_machine *machine, unsigned columns);

/*
 * Whether a table is ordered by cycles: unless a cache size was asked for, or the misses of all caches are not known, or
 * latencies of pairs were measured.
 */
int rsc_worst_by_cycles(const struct rsc_profile *profile, enum rsc_ranked what, const struct rsc_report_style *style);

/* One row per source line, the ten with most misses, and a sentence for each of the first three. */
void rsc_put_worst_lines(struct rsc_text *text, const struct rsc_profile *profile,
                         const struct rsc_report_style *style);

/* "61 % from memory": the most common source of a pair's data; "" if not known. */
struct rsc_source_words {
    char text[64];
};
struct rsc_pair_row;
struct rsc_source_words rsc_source_words(const struct rsc_pair_row *pair);

/* Where data was used and where used again, the five with most misses. */
void rsc_put_worst_pairs(struct rsc_text *text, const struct rsc_profile *profile,
                         const struct rsc_report_style *style);

/* One row per object in memory, the eight with most misses. */
void rsc_put_worst_objects(struct rsc_text *text, const struct rsc_profile *profile,
                           const struct rsc_report_style *style);

/*
 * A note on first touches that are in no row: a sample shows how many there are, but not by which code. `all`: the cost of
 * all misses, in cycles or misses. Returns the share of these first touches.
 */
double rsc_put_first_touches(struct rsc_text *text, const struct rsc_profile *profile,
                             const struct rsc_report_style *style, int by_cycles, double all);

#endif
