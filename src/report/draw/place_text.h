/*
 * place_text.h - places in the code as text: "src/solver.c:88 relax".
 */
#ifndef RSC_REPORT_PLACE_TEXT_H
#define RSC_REPORT_PLACE_TEXT_H

#include "profile/profile_model.h"
#include "report/draw/text_buffer.h"

/* The whole place in at most `columns`: a path that is too long keeps its end. */
void rsc_put_place(struct rsc_text *text, const struct rsc_place *place, unsigned columns);

/* A function's name, without the arguments of C++ templates unless text->full_names: "std::vector<>::push_back". */
void rsc_put_function(struct rsc_text *text, const char *name, unsigned columns);

/* The same into memory, of at least 64 bytes. */
void rsc_collapse_function(const char *name, char *to, size_t room);

/* Whether it is code of the dynamic loader, which no user can change: all of it is shown as one place. */
int rsc_place_is_loader(const struct rsc_place *place);

/* "solver.c:88", or another name of the place, in at most 30 columns, safe for a terminal. */
#define RSC_PLACE_SHORT_COLUMNS 30
struct rsc_place_short {
    char text[4 * RSC_PLACE_SHORT_COLUMNS + 1];
};
struct rsc_place_short rsc_place_in_short(const struct rsc_place *place, int unicode);

/* The part after the last slash. */
const char *rsc_base_name(const char *path);

#endif
