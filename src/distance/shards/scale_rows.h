/*
 * scale_rows.h - rows that an exact engine counted over a sample of lines (threads,
 * phases, kinds, code, pairs, objects, sharing) become rows of the whole run.
 *
 * A reference stands for 1/rate of them, or for as many fewer as all references are
 * fewer than that. A distance of k sampled lines stands for k/rate to (k+1)/rate,
 * evenly; where k is 0, for less than its reuse interval too. Rows of single lines
 * (false sharing) stay: all references to a sampled line were seen. The totals of a profile
 * are counted reference by reference (kept_sum.h), which says the same of them.
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
    /* References of a thread, which are known; NULL: not known. */
    uint64_t (*thread_references)(const void *context, uint32_t number);
    const void *context;
    uint32_t thread_count; /* threads that get rows at least, kept references or not */
};

/* Returns 0 or RSC_ENOMEM. */
int rsc_scale_rows(struct rsc_profile *profile, const struct rsc_row_scale *scale);

#endif
