/*
 * picture.h - the two drawings of a report.
 *
 * Both take a sealed profile with references and a style with its final width; no
 * line is wider. A reference has the colour of the smallest cache level it would
 * hit, the same in both pictures.
 */
#ifndef RSC_REPORT_PICTURE_H
#define RSC_REPORT_PICTURE_H

#include "report/report.h"
#include "report/draw/text_buffer.h"

/* Horizontal bars, one row per octave of reuse distance, then the references without one. */
void rsc_draw_histogram(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

/* Miss ratio over cache size, with a flag for each cache level. The size axis starts and ends at powers of two. */
void rsc_draw_curve(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style);

/* One of several curves in a chart. Points ascend in size. */
struct rsc_curve {
    const char *label; /* printable, short */
    const struct rsc_mrc_point *point;
    size_t count;
};

/* Several curves in one chart, one letter per curve, with a legend. */
void rsc_draw_curves(struct rsc_text *text, const struct rsc_curve *curves, size_t count, uint64_t line_bytes,
                     const struct rsc_report_style *style);

/* The colour of references that hit first in level `index`; `index` = number of levels: they miss in all. */
enum rsc_tint rsc_level_tint(const struct rsc_report_style *style, size_t index);

/* A row of values 0..1 as rising blocks (in ASCII, darker letters), `columns` wide. */
void rsc_draw_strip(struct rsc_text *text, const double *values, size_t count, unsigned columns);

#endif
