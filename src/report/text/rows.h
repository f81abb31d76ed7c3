/*
 * rows.h - tables of the parts of a run: phases, threads, kinds of access, cache
 * lines.
 *
 * Miss ratios are those at the machine's first two cache levels, or at 32 KiB
 * and 1 MiB if no machine is known. At most 16 rows of a table are printed.
 */
#ifndef RSC_REPORT_ROWS_H
#define RSC_REPORT_ROWS_H

#include "report/report.h"
#include "report/draw/text_buffer.h"

/* A strip that shows the miss ratio over the run, then one row per phase. */
void rsc_put_phases(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

/* One row per thread. */
void rsc_put_threads(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

/* One row per kind of access. */
void rsc_put_kinds(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

/* All requested cache lines. */
void rsc_put_lines(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

#endif
