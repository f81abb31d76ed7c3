/*
 * json_problem.h - says why JSON could not be parsed.
 */
#ifndef RSC_PROFILE_JSON_PROBLEM_H
#define RSC_PROFILE_JSON_PROBLEM_H

#include <stddef.h>

#include <jansson.h>

#include <reusescope/error.h>

/*
 * Fills `error` after jansson has refused a text: RSC_EFORMAT with its reason, line and
 * offset, or RSC_ENOMEM. jansson reports an allocation that failed as bad syntax, or not
 * at all; text that is well-formed was refused for want of memory.
 */
int rsc_json_problem(const json_error_t *problem, const char *text, size_t bytes, const char *name,
                     struct rsc_error *error);

#endif
