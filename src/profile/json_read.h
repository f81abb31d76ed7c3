/* json_read.h - reads JSON text into jansson's values. */
#ifndef RSC_PROFILE_JSON_READ_H
#define RSC_PROFILE_JSON_READ_H

#include <stddef.h>

#include <jansson.h>

#include <reusescope/error.h>

/*
 * Sets *root to the value of a text, for the caller to json_decref(). Returns 0, RSC_EFORMAT with the reason, line and
 * offset, or RSC_ENOMEM; then *root is NULL. A key that comes twice in an object is an error.
 */
int rsc_json_read(json_t **root, const char *text, size_t bytes, const char *name, struct rsc_error *error);

#endif
