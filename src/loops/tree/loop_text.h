/*
 * loop_text.h - the text form of loop trees: docs/guide/loop-tree.md.
 *
 * Reading what was written gives the same program; writing it again gives the
 * same text.
 */
#ifndef RSC_LOOPS_TREE_LOOP_TEXT_H
#define RSC_LOOPS_TREE_LOOP_TEXT_H

#include "loops/tree/loop_tree.h"

#define RSC_LOOP_TEXT_BYTES_MAX (16u << 20)

/* A number given by the user for a `param` of the text (or a variable of C source). */
struct rsc_loop_setting {
    const char *name;
    int64_t value;
    int used; /* set when it is used */
};

/*
 * Reads and seals a program. Messages begin with `name` ("NAME:LINE: ..."). Settings
 * override the values of params with their names. On failure *program is NULL.
 */
int rsc_loop_text_read(const char *text, size_t bytes, const char *name, struct rsc_loop_setting *settings,
                       size_t setting_count, struct rsc_loop_program **program, struct rsc_error *error);

/* The program as text; the caller frees *text. Returns 0 or RSC_ENOMEM. */
int rsc_loop_text_write(const struct rsc_loop_program *program, char **text, size_t *bytes);

#endif
