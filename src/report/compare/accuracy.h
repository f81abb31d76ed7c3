/*
 * accuracy.h - how close two profiles of the same references are, in the papers' measures:
 * an estimate against the exact result, or two methods against each other.
 */
#ifndef RSC_REPORT_ACCURACY_H
#define RSC_REPORT_ACCURACY_H

#include "report/report.h"

/* Paper 003, section V (profile/metrics.h): overlap in octaves, the same over neighbouring means, bins moved. */
struct rsc_octave_measures {
    double s, s_hat, emd;
};

struct rsc_accuracy {
    const struct rsc_profile *sides[2];
    int has_ri; /* both counted reuse intervals */
    struct rsc_octave_measures ri, rd;
    double overlap; /* of distances, in the profile's own bins and with references that have none */
    double mae, worst; /* differences of the miss ratio: mean and largest over `sizes` sizes, 8 per octave */
    size_t sizes;
    double within_bars; /* share of these sizes at which the error bars meet; NAN: neither has any */
};

/* NULL, or why these two cannot be compared. */
const char *rsc_accuracy_refusal(const struct rsc_profile *a, const struct rsc_profile *b);

/* Only if there is no refusal. Both must outlive the result. */
struct rsc_accuracy rsc_accuracy_of(const struct rsc_profile *a, const struct rsc_profile *b);

struct rsc_accuracy_report {
    const struct rsc_accuracy *items;
    size_t count;
    const char *names[2];
    size_t unmatched; /* profiles of either file with no partner in the other */
};

rsc_renderer rsc_accuracy_text, rsc_accuracy_json;

#endif
