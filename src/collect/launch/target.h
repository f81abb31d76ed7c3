/*
 * target.h - the program to be watched, before it runs: where it is, what machine
 * it is for, and whether it may be watched at all.
 */
#ifndef RSC_COLLECT_LAUNCH_TARGET_H
#define RSC_COLLECT_LAUNCH_TARGET_H

#include <limits.h>

#include <reusescope/error.h>

#include "collect/qemu/guest_code.h"

struct rsc_target {
    char path[PATH_MAX];        /* of the ELF file that will run */
    char interpreter[PATH_MAX]; /* of a script: what its #! line names; path is then that, script the file */
    char script[PATH_MAX];
    char script_argument[256]; /* of the #! line; "" if none */
    enum rsc_guest guest;
    int dynamic; /* has a program interpreter (ld.so) */
    int rebuilt; /* was built with `reusescope cc`: has the tables of runtime/pieces/asm_abi.h */
};

/*
 * Finds `name` as execvp() would and looks at it. Refused with one line: what is
 * not there, not executable, set-user-id or set-group-id, or for another kind of
 * machine than x86-64 and AArch64.
 */
int rsc_target_find(struct rsc_target *target, const char *name, struct rsc_error *error);

/* Does it look as if it starts threads? 1 also where that cannot be told. What its libraries do is not looked at. */
int rsc_target_may_thread(const struct rsc_target *target);

#endif
