/*
 * clang_definitions.h - functions of other files of a project, for a source that calls them.
 *
 * What a called function is, is found in the preprocessed source of another file: its definition, and the functions,
 * variables and types there that it needs and the source does not have. Their text, each under a line marker of its own
 * place, is appended to the source as if it had been written there. A function that needs something static whose name the
 * source uses too is left out: then its call stays a gap. C only.
 */
#ifndef RSC_LOOPS_FRONT_CLANG_DEFINITIONS_H
#define RSC_LOOPS_FRONT_CLANG_DEFINITIONS_H

#include <stddef.h>

#include <reusescope/error.h>

struct rsc_clang_names {
    char **name; /* owned, and so are the names */
    size_t count, room;
};

/* The functions that a preprocessed source calls and does not define, but for those of system headers; and all names
 * that it declares. For a short-lived process, as rsc_clang_source_read(). */
int rsc_clang_missing(const char *source, size_t bytes, struct rsc_clang_names *missing, struct rsc_clang_names *known,
                      struct rsc_error *error);

/* Text to append for those of `missing` that the other source defines, which the caller frees; NULL: there is none. */
int rsc_clang_definitions(const char *source, size_t bytes, const struct rsc_clang_names *missing,
                          const struct rsc_clang_names *known, char **text, struct rsc_error *error);

#endif
