/*
 * cc_command.h - a compiler's command line, made to go through the assembler pass
 * (asm_pass.h) and to link the runtime.
 */
#ifndef RSC_COLLECT_REWRITE_CC_COMMAND_H
#define RSC_COLLECT_REWRITE_CC_COMMAND_H

#include <stdint.h>

#include <reusescope/error.h>

#include "base/arena.h"

struct rsc_cc_options {
    int verify, strict, no_calls, assembler, keep, quiet, verbose;
    const char *only, *skip, *max_blocks; /* NULL: not given */
};

/* Where our parts are. */
struct rsc_cc_files {
    char pass[4096];    /* the folder with `as` */
    char library[4096]; /* the folder with the runtime */
};

/* Looks for them beside the tool and where it was installed. Refused with one line where they are not. */
int rsc_cc_find(struct rsc_cc_files *files, struct rsc_error *error);

struct rsc_cc_command {
    struct rsc_arena arena; /* what the rest lies in */
    char **argv;            /* of the compiler; NULL at the end */
    char *settings;         /* REUSESCOPE_CC, for the pass (asm_main.c) */
    int links;              /* an executable or shared object is made */
};

/*
 * `arguments` begins with the compiler and ends with NULL. Refused: what cannot be
 * rebuilt (-flto, -fnon-call-exceptions, machines other than x86-64, Intel syntax).
 */
int rsc_cc_arrange(struct rsc_cc_command *command, char *const *arguments, const struct rsc_cc_options *options,
                   const struct rsc_cc_files *files, struct rsc_error *error);
void rsc_cc_free(struct rsc_cc_command *command);

#endif
