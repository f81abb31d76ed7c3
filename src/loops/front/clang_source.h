/* clang_source.h - the part of the C front end that needs libclang; runs in the child process of c_source.c. */
#ifndef RSC_LOOPS_FRONT_CLANG_SOURCE_H
#define RSC_LOOPS_FRONT_CLANG_SOURCE_H

#include "loops/front/c_source.h"

/* Converts preprocessed source to the text form. For a short-lived process: libclang's memory is not freed. */
int rsc_clang_source_read(const char *path, const char *source, size_t bytes, const struct rsc_c_options *options,
                          char **text, size_t *text_bytes, struct rsc_error *error);

#endif
