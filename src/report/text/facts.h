/*
 * facts.h - headings of a report, and what was measured: program, collector, totals.
 */
#ifndef RSC_REPORT_FACTS_H
#define RSC_REPORT_FACTS_H

#include "report/report.h"
#include "report/draw/text_buffer.h"

#define RSC_USELESS_SHARE 0.5 /* an error bar wider than this share of all references says nothing */

/* The program was watched from outside, for a while. */
int rsc_is_attached(const struct rsc_profile *profile);

/* "; run --sample none is exact", or what else there is to type where a bar says nothing. */
const char *rsc_instead_of_sample(const struct rsc_profile *profile);

/* The first line, of profile `index` of `count`. */
void rsc_put_title(struct rsc_text *text, const struct rsc_report_style *style, size_t index, size_t count);

/* A blank line and a heading; `what` explains it, if there is room. */
void rsc_put_section(struct rsc_text *text, const struct rsc_report_style *style, const char *title, const char *what);

/* One fact a line. */
void rsc_put_facts(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

/* The same in three or four lines; the model is left out if both are shown or there is one thread. */
void rsc_put_screen_facts(struct rsc_text *text, const struct rsc_profile *profile,
                          const struct rsc_report_style *style, int both_models);

#endif
