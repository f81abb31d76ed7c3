/*
 * tables.h - tables besides the drawn report: a suite of profiles, code by module,
 * file, function, loop or line, and distances as a cumulative distribution. Each as
 * text or as complete CSV.
 */
#ifndef RSC_REPORT_TABLES_H
#define RSC_REPORT_TABLES_H

#include "report/report.h"

enum rsc_table_by { RSC_BY_NONE, RSC_BY_MODULE, RSC_BY_FILE, RSC_BY_FUNCTION, RSC_BY_LOOP, RSC_BY_LINE };

/* By name; RSC_BY_NONE for any other. */
enum rsc_table_by rsc_table_by_of_name(const char *name);

/* Which table. */
enum rsc_table_kind {
    /*
     * The distances that cover 70, 80, 90 and 95 % of each profile's reuses, one row
     * per profile, then the largest and the median of all (the lower median of an even
     * number), as in table III of paper 003.
     */
    RSC_TABLE_SUITE,
    /*
     * References and misses at the style's size. As text, the 20 rows with most misses. RSC_EFORMAT if there is no
     * code, or for loops if no code is known to be in one. A loop's numbers cover its code without that of inner
     * loops.
     */
    RSC_TABLE_CODE,
    /* The share of reuses within each distance: as text by octaves, as CSV by the profile's own bins. */
    RSC_TABLE_CDF,
    /*
     * The instructions that cover `cover` of the reuses that miss at the style's size; if it
     * has none, at the size at which `share` of the reuses miss in the first profile with
     * the same stacks and line size, with which every further one is matched
     * (selection.h). selection_table.c
     */
    RSC_TABLE_SELECTION,
};

struct rsc_choice {
    double cover, share;
};

struct rsc_table {
    enum rsc_table_kind kind;
    const char *const *names; /* of the profiles */
    enum rsc_table_by by;     /* code */
    struct rsc_choice choice; /* selection */
};

rsc_renderer rsc_table_text, rsc_table_csv;

int rsc_table_selection(const struct rsc_result *result, const struct rsc_report_style *style, int as_csv, char **text,
                        size_t *bytes, struct rsc_error *error);

#endif
