/*
 * why.h - why a line of code misses, in words.
 */
#ifndef RSC_REPORT_WHY_H
#define RSC_REPORT_WHY_H

#include "report/ranking.h"

/* What the words are about: code ranked at a size, and the pairs ranked at the same. */
struct rsc_why {
    const struct rsc_ranking *lines, *pairs;
    struct rsc_rank_size size;
    int unicode;
    const struct rsc_machine *machine; /* NULL: not known */
};

struct rsc_why_words {
    char reason[224]; /* the largest of its three causes: "its data returns after a median of 2.2 MiB, ..."; or "" */
    char use[192];    /* "; last used at solver.c:71", or "" */
};

/* Only what the rank's own counts support. */
struct rsc_why_words rsc_why_line(const struct rsc_why *why, const struct rsc_rank *rank);

#endif
