/* sharing_text.h - who takes lines from whom, as tables (private stacks). */
#ifndef RSC_REPORT_SHARING_TEXT_H
#define RSC_REPORT_SHARING_TEXT_H

#include "report/report.h"
#include "report/draw/text_buffer.h"

/* A matrix of up to so many threads as fit, else the largest of its cells. */
void rsc_put_sharing(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

/* The worst lines, with who uses which bytes and which code takes them. */
void rsc_put_false_sharing(struct rsc_text *text, const struct rsc_profile *profile,
                           const struct rsc_report_style *style);

#endif
