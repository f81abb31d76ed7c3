/*
 * report.h - a profile for people and for other programs: text, JSON, CSV, folded
 * stacks, speedscope, an HTML page.
 *
 * Everything is built in memory and handed over; where it goes (terminal, pager,
 * file) is the caller's business.
 */
#ifndef RSC_REPORT_REPORT_H
#define RSC_REPORT_REPORT_H

#include "profile/profile_model.h"
#include "report/draw/machine.h"

enum rsc_report_format {
    RSC_REPORT_NONE = 0, /* no format goes by that name */
    RSC_REPORT_TEXT,
    RSC_REPORT_JSON,
    RSC_REPORT_CSV,
    RSC_REPORT_FOLDED,
    RSC_REPORT_SPEEDSCOPE,
    RSC_REPORT_HTML,
};

#define RSC_REPORT_WIDTH_MIN 40
#define RSC_REPORT_WIDTH_MAX 200

/* How text is drawn. A zeroed style is 80 columns of plain ASCII without cache marks. */
struct rsc_report_style {
    unsigned width; /* columns; 0: 80; kept between RSC_REPORT_WIDTH_MIN and _MAX */
    int unicode;    /* block and braille characters, else only ASCII */
    int colour;     /* ANSI colours: one for each cache level that would serve a reference */
    const struct rsc_machine *machine; /* whose caches to mark; NULL: none */
    uint64_t at_bytes; /* cache size at which code, pairs and objects are ranked; 0: the machine's L2, else 1 MiB */
    int references;    /* stacks are weighed by references, not by misses at that size */
    const struct rsc_page_extras *page; /* what else goes into an HTML page (page.h); NULL: nothing */
    int brief; /* of text, what fits in RSC_REPORT_BRIEF_LINES a profile: a sentence, facts, curve, words, worst lines and pairs */
};

#define RSC_REPORT_BRIEF_LINES 55 /* and 5 of next commands */

/* By suffix: .txt, .json, .csv, .folded, .speedscope.json, .html; RSC_REPORT_NONE for any other, "-" included. */
enum rsc_report_format rsc_report_format_of_path(const char *path);

/* By name, as --format takes it: text, json, csv, folded, speedscope, html. */
enum rsc_report_format rsc_report_format_of_name(const char *name);

/*
 * Renders profiles into *text, NUL-terminated, `*bytes` without the NUL; the
 * caller frees it. style matters for text, stacks and pages only and may be NULL. Profiles must be
 * sealed. Return 0 or RSC_ENOMEM (RSC_EINVAL for RSC_REPORT_NONE).
 */
int rsc_report_render(struct rsc_profile *const *profiles, size_t count, enum rsc_report_format format,
                      const struct rsc_report_style *style, char **text, size_t *bytes, struct rsc_error *error);

/*
 * The drawn report: totals, histogram, curve, quantiles, what that means in
 * words, the worst lines, pairs and objects, phases, threads.
 */
int rsc_report_text(struct rsc_profile *const *profiles, size_t count, const struct rsc_report_style *style,
                    char **text, size_t *bytes, struct rsc_error *error);

/*
 * One tidy table (csv.c describes the columns):
 *     profile,model,line_bytes,table,name,lo,hi,count,value,low,high
 */
int rsc_report_csv(struct rsc_profile *const *profiles, size_t count, char **text, size_t *bytes,
                   struct rsc_error *error);

/* Misses or references by call path, for tools that draw flame graphs (flame.c). */
int rsc_report_folded(struct rsc_profile *const *profiles, size_t count, const struct rsc_report_style *style,
                      char **text, size_t *bytes, struct rsc_error *error);
int rsc_report_speedscope(struct rsc_profile *const *profiles, size_t count, const struct rsc_report_style *style,
                          char **text, size_t *bytes, struct rsc_error *error);

#endif
