/*
 * affinity.c - see affinity.h. The processors are noted by a function in .preinit_array, which runs before the
 * constructors of all libraries. Sanitizers are not set up at that time, so it makes only a system call.
 */
#include "cmd/affinity.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long given[1024]; /* 65,536 processors */
static long given_bytes; /* of it; 0 or less: not known */

__attribute__((no_sanitize("address", "thread", "undefined"))) static void note_given(int argc, char **argv,
                                                                                      char **environment) {
    (void)argc, (void)argv, (void)environment;
    given_bytes = syscall(SYS_sched_getaffinity, 0, sizeof given, given);
}
__attribute__((section(".preinit_array"), used)) static void (*const noted)(int, char **, char **) = note_given;

void rsc_affinity_restore(void) {
    static unsigned long now[sizeof given / sizeof *given];
    const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof now, now);
    if (given_bytes <= 0 || bytes != given_bytes || !memcmp(now, given, (size_t)bytes)) return;
    syscall(SYS_sched_setaffinity, 0, (size_t)bytes, given); /* if it fails, they are as before */
}
