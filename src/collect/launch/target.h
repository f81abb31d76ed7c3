/*
 * target.h - the program to record, before it runs: where it is, which machine it is
 * for, and whether it can be recorded.
 */
#ifndef RSC_COLLECT_LAUNCH_TARGET_H
#define RSC_COLLECT_LAUNCH_TARGET_H

#include <limits.h>

#include <reusescope/error.h>

#include "collect/qemu/guest_code.h"

struct rsc_target {
    char path[PATH_MAX];        /* of the ELF file that will run */
    char interpreter[PATH_MAX]; /* for a script: path is the interpreter of its #! line, script the file */
    char script[PATH_MAX];
    char script_argument[256]; /* of the #! line; "" if none */
    enum rsc_guest guest;
    int dynamic; /* has a program interpreter (ld.so) */
    int rebuilt; /* was built with `reusescope cc`: has the tables of runtime/pieces/asm_abi.h */
};

/*
 * Finds `name` as execvp() would and examines it. Rejected with a one-line error:
 * missing (path is then empty, if name is not one), not executable, set-user-id or
 * set-group-id, or for a machine other than x86-64 and AArch64.
 */
int rsc_target_find(struct rsc_target *target, const char *name, struct rsc_error *error);

/* Whether it, or a program that it becomes, may start threads; 1 also if unknown. Its libraries are not examined. */
int rsc_target_may_thread(const struct rsc_target *target);

#endif
