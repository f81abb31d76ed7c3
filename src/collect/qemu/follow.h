/*
 * follow.h - inside the plugin: runs a program that the guest starts under QEMU, with
 * the same plugin and ring.
 */
#ifndef RSC_COLLECT_QEMU_FOLLOW_H
#define RSC_COLLECT_QEMU_FOLLOW_H

#include <stdint.h>

#include "collect/qemu/guest_code.h"
#include "collect/launch/target.h"

struct rsc_follow {
    enum rsc_guest guest;
    uint64_t guest_base; /* host address of the guest's address 0 */
    int ring_fd;         /* the guest may have closed it */
    uint32_t parent_pid; /* the other process that has it */
    /* Copied by rsc_follow_read(): */
    char *path;
    char **argv, **envp;
};

/* The arguments of execveat(), as guest addresses; execve() uses AT_FDCWD and no flags. */
struct rsc_follow_call {
    int folder_fd;
    uint64_t path, argv, envp;
    int flags;
};

/*
 * Reads the call's arguments. Returns 0, or -1 if they cannot be read (a bad pointer:
 * the call itself will fail) or name a file without a path.
 */
int rsc_follow_read(struct rsc_follow *follow, const struct rsc_follow_call *call);
void rsc_follow_free(struct rsc_follow *follow);

/* Whether the program can be followed. Not if it is missing, for another guest, or set-user-id. */
int rsc_follow_find(const struct rsc_follow *follow, struct rsc_target *target);

/* Replaces the process; returns only on failure. */
void rsc_follow_exec(const struct rsc_follow *follow, struct rsc_target *target);

#endif
