/*
 * place_text.h - places in the code as text: "src/solver.c:88 relax".
 */
#ifndef RSC_REPORT_PLACE_TEXT_H
#define RSC_REPORT_PLACE_TEXT_H

#include "profile/profile_model.h"
#include "report/draw/text_buffer.h"

/* The whole place in at most `columns`: of a path that is too long, the end stays. */
void rsc_put_place(struct rsc_text *text, const struct rsc_place *place, unsigned columns);

/* "solver.c:88", or what else names the place, in at most 30 columns, fit to be put on a terminal. */
#define RSC_PLACE_SHORT_COLUMNS 30
struct rsc_place_short {
    char text[4 * RSC_PLACE_SHORT_COLUMNS + 1];
};
struct rsc_place_short rsc_place_in_short(const struct rsc_place *place, int unicode);

/* What follows the last slash. */
const char *rsc_base_name(const char *path);

#endif
