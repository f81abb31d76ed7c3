/* running_thread.c - see running_thread.h. */
#include "collect/drain/running_thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text behind the name in a stat file, which begins with the state; NULL: there is no such thread. */
static const char *read_stat(uint32_t pid, uint32_t tid, char *text, size_t room) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%u/task/%u/stat", pid, tid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    ssize_t got = read(fd, text, room - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *state = strrchr(text, ')');
    return state && state[1] == ' ' ? state + 2 : NULL;
}

char rsc_thread_state(uint32_t pid, uint32_t tid) {
    char text[512];
    const char *state = read_stat(pid, tid, text, sizeof text);
    return state && *state != 'Z' && *state != 'X' ? *state : 0;
}

void rsc_ancestors_find(struct rsc_ancestors *ancestors) {
    char text[512];
    const char *state;
    ancestors->count = 0;
    for (uint32_t pid = (uint32_t)getpid(); pid && ancestors->count < RSC_ANCESTORS_MAX;) {
        ancestors->pids[ancestors->count++] = pid;
        state = read_stat(pid, pid, text, sizeof text);
        pid = state && *state ? (uint32_t)strtoul(state + 1, NULL, 10) : 0;
    }
}

enum rsc_running rsc_thread_running(const struct rsc_ancestors *ancestors, uint32_t pid, uint32_t tid) {
    if (!rsc_thread_state(pid, tid)) return RSC_THREAD_GONE;
    for (uint32_t i = 0; i < ancestors->count; i++)
        if (ancestors->pids[i] == pid) return RSC_THREAD_OURS;
    return getsid((pid_t)pid) == getsid(0) ? RSC_THREAD_RUNS : RSC_THREAD_LEFT;
}
