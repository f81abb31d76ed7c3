/* study_text.h - a study of sampling for people, in the tables of paper 001. */
#ifndef RSC_CMD_STUDY_TEXT_H
#define RSC_CMD_STUDY_TEXT_H

#include "simulate/sampling/study.h"

/* *text belongs to the caller. */
int rsc_study_text(const struct rsc_study *study, const char *trace_name, char **text, size_t *bytes,
                   struct rsc_error *error);

#endif
