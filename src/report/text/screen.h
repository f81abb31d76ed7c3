/*
 * screen.h - the first screen: what ran, its miss ratios, the curve, the worst lines, what to type next.
 */
#ifndef RSC_REPORT_SCREEN_H
#define RSC_REPORT_SCREEN_H

#include "report/report.h"
#include "report/draw/text_buffer.h"

/*
 * One screen of at most RSC_SCREEN_LINES for each profile; the private and the shared model of one run are folded into
 * one. At 80 columns or more.
 */
void rsc_put_screens(struct rsc_text *text, struct rsc_profile *const *profiles, size_t count,
                     const struct rsc_report_style *style);

#endif
