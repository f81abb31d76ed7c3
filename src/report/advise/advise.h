/*
 * advise.h - suggests changes to the code from a profile, with evidence.
 *
 * Rules look at one cache size. Each gives advice only if its evidence is a large
 * part of that cache's misses; a profile without problems gets none.
 */
#ifndef RSC_REPORT_ADVISE_H
#define RSC_REPORT_ADVISE_H

#include "report/report.h"

#define RSC_ADVICE_TEXT 1024
#define RSC_ADVICE_CHANGE 2048
#define RSC_ADVICE_PAIRS 5

/* A pair that a piece of advice is about. */
struct rsc_advice_pair {
    const struct rsc_pair_row *row; /* of the profile; among several with the same lines, the one with most misses */
    double share;                   /* of the misses at the size */
    uint64_t median_lines;          /* median of its distances beyond the size */
};

/* How likely the evidence means what the advice says. */
enum rsc_sureness { RSC_SURE_LOW, RSC_SURE_MEDIUM, RSC_SURE_HIGH };

/* What an advice would gain, at most. Counted from the profile; a change may also cost something elsewhere. */
struct rsc_advice_gain {
    int is_known;
    uint64_t misses; /* at the size of the advice */
    uint64_t at[RSC_MACHINE_LEVELS_MAX]; /* in each cache of the machine */
    double cycles; /* those misses would cost (cost.h); 0: not known */
};

struct rsc_advice {
    const char *rule; /* "fusion", "interchange", "tiling", "order", "long-distance", "line-use", "false-sharing",
                         "sharing", "imbalance", "cache-cliff", "cold" */
    const char *title;
    char evidence[RSC_ADVICE_TEXT]; /* the evidence, with numbers */
    char attempt[RSC_ADVICE_TEXT];  /* what to try */
    double share; /* share of the misses at the size that this is about, 0..1 (imbalance: of the references) */
    const struct rsc_place *place; /* of the profile; NULL: none */
    const struct rsc_place
        *other; /* where the data was used before (false-sharing: the code that lost the line); NULL: none */
    uint32_t loop; /* the profile's loop around both, as in rsc_place; 0: none */
    struct rsc_advice_gain gain;
    enum rsc_sureness sure;
    char why_sure[RSC_ADVICE_TEXT];
    char change[RSC_ADVICE_CHANGE]; /* lines of the source and what they could become; "": none, or it was not found */
    uint64_t pays_below; /* bytes: larger caches already hold nine in ten of its reuses; 0: not known */
    struct rsc_advice_pair pairs[RSC_ADVICE_PAIRS]; /* worst first */
    size_t pair_count;
};

struct rsc_advices {
    struct rsc_advice *items; /* owned; largest share first */
    size_t count;
    uint64_t size_bytes; /* the cache they are about */
};

/* `style` gives the size and the machine. The profile must outlive the result. Returns 0 or RSC_ENOMEM. */
int rsc_advise(struct rsc_advices *advices, const struct rsc_profile *profile, const struct rsc_report_style *style);
void rsc_advices_free(struct rsc_advices *advices);

/* "Up to 52.1 k misses in 256 KiB, 60.0 k in L1d; they wait about 1.20 M cycles." */
void rsc_advice_gain_words(const struct rsc_advice *advice, uint64_t size_bytes, const struct rsc_machine *machine,
                           char words[RSC_ADVICE_TEXT]);

/* "low", "medium" or "high". */
const char *rsc_sureness_words(enum rsc_sureness sure);

/* The advice of all profiles. */
rsc_renderer rsc_advise_text, rsc_advise_json;

#endif
