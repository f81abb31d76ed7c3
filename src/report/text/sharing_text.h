/* sharing_text.h - tables of which thread takes lines from which (private stacks). */
#ifndef RSC_REPORT_SHARING_TEXT_H
#define RSC_REPORT_SHARING_TEXT_H

#include "report/report.h"
#include "report/draw/text_buffer.h"

/* Whether so few samples show sharing that nothing can be said about who shares with whom. */
int rsc_sharing_is_unclear(const struct rsc_profile *profile);

/* A matrix if the threads fit and counts are exact, else a list of its largest cells, with their bars. */
void rsc_put_sharing(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

/* The worst lines, with the bytes each thread uses and the code that takes them. */
void rsc_put_false_sharing(struct rsc_text *text, const struct rsc_profile *profile,
                           const struct rsc_report_style *style);

#endif
