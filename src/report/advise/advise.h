/*
 * advise.h - what a profile suggests to change, each with its evidence.
 *
 * Rules look at one cache size. Each speaks only where its evidence is a large
 * part of that cache's misses; a profile that nothing is wrong with gets none.
 */
#ifndef RSC_REPORT_ADVISE_H
#define RSC_REPORT_ADVISE_H

#include "report/report.h"

#define RSC_ADVICE_TEXT 1024
#define RSC_ADVICE_PAIRS 5

/* A pair that a piece of advice is about. */
struct rsc_advice_pair {
    const struct rsc_pair_row *row; /* of the profile; of several with the same lines the one with most misses */
    double share;                   /* of the misses at the size */
    uint64_t median_lines;          /* of its distances beyond the size */
};

struct rsc_advice {
    const char *rule; /* "fusion", "interchange", "tiling", "long-distance", "line-use", "false-sharing", "sharing",
                         "imbalance", "cache-cliff", "cold" */
    const char *title;
    char evidence[RSC_ADVICE_TEXT]; /* what was seen, with numbers */
    char attempt[RSC_ADVICE_TEXT];  /* what to try */
    double share; /* of the misses at the size that this is about, 0..1 (imbalance: of the references) */
    const struct rsc_place *place; /* of the profile; NULL: none */
    const struct rsc_place
        *other; /* where the data was used before (false-sharing: what it was taken from); NULL: none */
    uint32_t loop; /* of the profile, around both of these, as in rsc_place; 0: none */
    uint64_t pays_below; /* bytes: nine in ten of its reuses fit larger caches as it is; 0: not known */
    struct rsc_advice_pair pairs[RSC_ADVICE_PAIRS]; /* worst first */
    size_t pair_count;
};

struct rsc_advices {
    struct rsc_advice *items; /* owned; largest share first */
    size_t count;
    uint64_t size_bytes; /* the cache they are about */
};

/* `style` has the size and the machine. The profile must outlive the result. Returns 0 or RSC_ENOMEM. */
int rsc_advise(struct rsc_advices *advices, const struct rsc_profile *profile, const struct rsc_report_style *style);
void rsc_advices_free(struct rsc_advices *advices);

/* The advice of all profiles. */
rsc_renderer rsc_advise_text, rsc_advise_json;

#endif
