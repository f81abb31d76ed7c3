/*
 * worst.h - which code and which data miss most at one cache size, and why.
 */
#ifndef RSC_REPORT_WORST_H
#define RSC_REPORT_WORST_H

#include "report/ranking.h"
#include "report/draw/text_buffer.h"

/* "by misses in L2 (1.25 MiB)", or shorter where that is more than `columns`. */
struct rsc_worst_words {
    char text[96];
};
struct rsc_worst_words rsc_worst_words(const struct rsc_rank_size *size, unsigned columns);

/* One sentence: how much misses at that size, and which line of code makes most of it. */
void rsc_put_verdict(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

/* A row a source line, the ten with most misses, and a sentence for each of the first three. */
void rsc_put_worst_lines(struct rsc_text *text, const struct rsc_profile *profile,
                         const struct rsc_report_style *style);

/* "61 % from memory": where most of a pair's reuses had their data from; "" where that is not known. */
struct rsc_source_words {
    char text[64];
};
struct rsc_pair_row;
struct rsc_source_words rsc_source_words(const struct rsc_pair_row *pair);

/* Where data was used and where used again, the five with most misses. */
void rsc_put_worst_pairs(struct rsc_text *text, const struct rsc_profile *profile,
                         const struct rsc_report_style *style);

/* A row a thing in memory, the eight with most misses. */
void rsc_put_worst_objects(struct rsc_text *text, const struct rsc_profile *profile,
                           const struct rsc_report_style *style);

#endif
