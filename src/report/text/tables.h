/*
 * tables.h - tables beside the drawn report: a suite of profiles, code by module,
 * file, function, loop or line, and distances as a cumulative distribution. Each as text
 * for people or as CSV with everything in it.
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
     * The distances that 70, 80, 90 and 95 % of each profile's reuses are within, a
     * row a profile, and over all of them the largest and the median (of an even
     * number, the lower one), as table III of paper 003.
     */
    RSC_TABLE_SUITE,
    /*
     * References and misses at the style's size. As text the 20 rows with most misses. RSC_EFORMAT if there is no
     * code, or for loops if none of it is known to be in one. A loop's numbers are of the code that is in it and in no
     * loop inside it.
     */
    RSC_TABLE_CODE,
    /* The share of reuses within each distance: as text by octaves, as CSV by the profile's own bins. */
    RSC_TABLE_CDF,
    /*
     * The instructions that have `cover` of the reuses that miss at the style's size, or
     * where it has none, at the size at which `share` of the first profile's reuses miss.
     * Every further profile is also matched with the first (selection.h). selection_table.c
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
