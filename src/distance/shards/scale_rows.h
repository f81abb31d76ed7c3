/*
 * scale_rows.h - scales rows that an exact engine counted over a sample of lines (threads,
 * phases, kinds, code, pairs, objects, sharing) to the whole run.
 *
 * A reference represents 1/rate references, or fewer if the total would exceed the true
 * one. A distance of k sampled lines represents k/rate to (k+1)/rate, evenly; for k = 0,
 * also less than its reuse interval. Rows of single lines (false sharing) are not scaled:
 * all references to a sampled line were seen. The totals of a profile are counted reference
 * by reference (kept_sum.h), by the same rule.
 */
#ifndef RSC_DISTANCE_SHARDS_SCALE_ROWS_H
#define RSC_DISTANCE_SHARDS_SCALE_ROWS_H

#include "profile/profile_model.h"

struct rsc_row_scale {
    double rate;         /* of lines */
    uint64_t references; /* of the whole run */
    uint64_t kept;       /* of those, to sampled lines */
    uint64_t rd_cap;     /* distances >= this are counted as this; 0: no cap */
    const struct rsc_histogram *zero_ri; /* RSC_BINS_FINE: intervals of references at distance 0 in sampled lines */
    /* References of a thread, if known; NULL: not known. */
    uint64_t (*thread_references)(const void *context, uint32_t number);
    const void *context;
    uint32_t thread_count; /* threads that get rows at least, with or without kept references */
};

/* Returns 0 or RSC_ENOMEM. */
int rsc_scale_rows(struct rsc_profile *profile, const struct rsc_row_scale *scale);

#endif
