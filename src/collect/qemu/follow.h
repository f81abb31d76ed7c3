/*
 * follow.h - inside the plugin: a program that the guest starts is started under
 * QEMU with the same plugin and ring.
 */
#ifndef RSC_COLLECT_QEMU_FOLLOW_H
#define RSC_COLLECT_QEMU_FOLLOW_H

#include <stdint.h>

#include "collect/qemu/guest_code.h"
#include "collect/launch/target.h"

struct rsc_follow {
    enum rsc_guest guest;
    uint64_t guest_base; /* host address of the guest's address 0 */
    int ring_fd;         /* the guest may have closed it meanwhile */
    uint32_t parent_pid; /* who has it too */
    /* Copies, by rsc_follow_read(): */
    char *path;
    char **argv, **envp;
};

/* What the guest gave to execveat(), as addresses of its own; execve() is with AT_FDCWD and no flags. */
struct rsc_follow_call {
    int folder_fd;
    uint64_t path, argv, envp;
    int flags;
};

/*
 * Reads what the call names. Returns 0, or -1 when that is not to be read (a bad
 * pointer: the call itself will say so) or names a file without a path.
 */
int rsc_follow_read(struct rsc_follow *follow, const struct rsc_follow_call *call);
void rsc_follow_free(struct rsc_follow *follow);

/* Can the program be followed? Not when it is not there, for another guest, set-user-id. */
int rsc_follow_find(const struct rsc_follow *follow, struct rsc_target *target);

/* Replaces the process, or returns when it cannot. */
void rsc_follow_exec(const struct rsc_follow *follow, struct rsc_target *target);

#endif
