/*
 * summary.h - summarises a profile in a few sentences.
 */
#ifndef RSC_REPORT_SUMMARY_H
#define RSC_REPORT_SUMMARY_H

#include "report/report.h"
#include "report/draw/text_buffer.h"

/* Up to five statements, each a paragraph with a bullet; only those that hold for this profile. */
void rsc_put_summary(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

/*
 * rsc_profile_rd_quantile(), but at most the largest possible distance: the upper end
 * of the last bin may be above the footprint.
 */
uint64_t rsc_summary_quantile(const struct rsc_profile *profile, double fraction);

#endif
