/*
 * page_rows.h - what of a profile goes into a page: a page is sent around and opened at once, and a small program has
 * thousands of rows of the dynamic loader that nobody looks at.
 *
 * Rows with less than RSC_PAGE_ROW_SHARE of the misses at every cache size are left out. Code rows that are, are
 * summed up by function and, where that is still too little, in one row, so that the sums of functions, files and
 * modules hold. Of the curve, points that repeat the one before are left out.
 */
#ifndef RSC_REPORT_PAGE_ROWS_H
#define RSC_REPORT_PAGE_ROWS_H

#include "profile/profile_model.h"

#define RSC_PAGE_ROW_SHARE 0.0005
#define RSC_PAGE_SMALL_PLACES "(places with few misses)"

struct rsc_page_rows {
    struct rsc_profile shown; /* shares what it has with the profile, but for the arrays below */
    struct rsc_code_row *code; /* owned, as are the histograms of those from `kept_code` on */
    struct rsc_pair_row *pairs;
    struct rsc_object_row *objects;
    struct rsc_mrc_point *mrc;
    size_t kept_code;
    size_t left_out; /* rows, summed up or not */
};

/* Returns 0 or RSC_ENOMEM; free it in any case. */
int rsc_page_rows_make(struct rsc_page_rows *rows, const struct rsc_profile *profile);
void rsc_page_rows_free(struct rsc_page_rows *rows);

#endif
