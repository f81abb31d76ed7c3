/*
 * cc_command.h - changes a compiler's command line to run the assembler pass
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

/* Folders of our files. */
struct rsc_cc_files {
    char pass[4096];    /* folder of `as` */
    char library[4096]; /* folder of the runtime */
};

/* Looks for them beside the tool and where it was installed. One-line error if they are missing. */
int rsc_cc_find(struct rsc_cc_files *files, struct rsc_error *error);

struct rsc_cc_command {
    struct rsc_arena arena; /* owns the memory of the rest */
    char **argv;            /* arguments for the compiler; NULL at the end */
    char *settings;         /* REUSESCOPE_CC, for the pass (asm_main.c) */
    int links;              /* links an executable or shared object */
};

/*
 * `arguments` begins with the compiler and ends with NULL. Rejected: what cannot be
 * rebuilt (-flto, -fnon-call-exceptions, machines other than x86-64, Intel syntax).
 */
int rsc_cc_arrange(struct rsc_cc_command *command, char *const *arguments, const struct rsc_cc_options *options,
                   const struct rsc_cc_files *files, struct rsc_error *error);
void rsc_cc_free(struct rsc_cc_command *command);

#endif
