/*
 * follow.h - inside the plugin: a program that the guest starts is started under
 * QEMU with the same plugin and ring.
 */
#ifndef RSC_COLLECT_FOLLOW_H
#define RSC_COLLECT_FOLLOW_H

#include <stdint.h>

#include "collect/guest_code.h"
#include "collect/target.h"

struct rsc_follow {
    enum rsc_guest guest;
    const char *path; /* as the guest gave it to execve(), all three */
    char *const *argv;
    char *const *envp;
    uint64_t guest_base; /* to be added to the pointers inside argv and envp */
    int ring_fd;         /* the guest may have closed it meanwhile */
    uint32_t parent_pid; /* who has it too */
};

/* Can the program be followed? Not when it is not there, for another guest, set-user-id. */
int rsc_follow_find(const struct rsc_follow *follow, struct rsc_target *target);

/* Replaces the process, or returns when it cannot. */
void rsc_follow_exec(const struct rsc_follow *follow, struct rsc_target *target);

#endif
