/*
 * place_text.h - places in the code as text: "src/solver.c:88 relax".
 */
#ifndef RSC_REPORT_PLACE_TEXT_H
#define RSC_REPORT_PLACE_TEXT_H

#include "profile/profile_model.h"
#include "report/draw/text_buffer.h"

/* The whole place in at most `columns`: a path that is too long keeps its end. */
void rsc_put_place(struct rsc_text *text, const struct rsc_place *place, unsigned columns);

/* "solver.c:88", or another name of the place, in at most 30 columns, safe for a terminal. */
#define RSC_PLACE_SHORT_COLUMNS 30
struct rsc_place_short {
    char text[4 * RSC_PLACE_SHORT_COLUMNS + 1];
};
struct rsc_place_short rsc_place_in_short(const struct rsc_place *place, int unicode);

/* The part after the last slash. */
const char *rsc_base_name(const char *path);

#endif
