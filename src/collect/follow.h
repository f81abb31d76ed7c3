/*
 * follow.h - inside the plugin: a program that the guest starts is started under
 * QEMU with the same plugin and ring.
 */
#ifndef RSC_COLLECT_FOLLOW_H
#define RSC_COLLECT_FOLLOW_H

#include <stdint.h>

#include "collect/guest_code.h"

struct rsc_follow {
    enum rsc_guest guest;
    const char *path; /* as the guest gave it to execve(), all three */
    char *const *argv;
    char *const *envp;
    uint64_t guest_base; /* to be added to the pointers inside argv and envp */
    int ring_fd;
    int contexts, strict;
};

/* Replaces the process, or returns when it cannot: not a program for this guest, set-user-id, no memory. */
void rsc_follow_exec(const struct rsc_follow *follow);

#endif
