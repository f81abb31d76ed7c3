/*
 * rebuilt_processes.c - fork, vfork and exec of rebuilt code.
 *
 *     rebuilt_processes fork|vfork|exec|spawn|system|exit|kill|abort [COUNT]
 *
 * Each touches 1000 cells before, and 1000 in what it starts.
 */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "touch.h"

static int cells[1000];
extern char **environ;

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    char *again[] = {argv[0], (char *)"child", NULL};
    pid_t pid = 0;
    int status = 0;
    touch(cells, 1000);
    if (!strcmp(how, "child")) return getenv("REUSESCOPE_RING") && !getenv("RING_ALLOWED") ? 9 : 0;
    if (!strcmp(how, "fork")) {
        if ((pid = fork()) == 0) {
            touch(cells, 1000);
            exit(cells[999] == 2 ? 0 : 1);
        }
        touch(cells, 1000);
    } else if (!strcmp(how, "vfork")) {
        if ((pid = vfork()) == 0) {
            touch(cells, 1000); /* in our memory */
            execv(argv[0], again);
            _exit(127);
        }
        touch(cells, 1000);
        if (cells[999] != 3) return 2;
    } else if (!strcmp(how, "exec")) {
        execl("/nonexistent", "nonexistent", (char *)NULL);
        touch(cells, 1000);
        execlp(argv[0], argv[0], "child", (char *)NULL);
        return 127;
    } else if (!strcmp(how, "spawn")) {
        if (posix_spawn(&pid, argv[0], NULL, NULL, again, environ) != 0) return 3;
    } else if (!strcmp(how, "system")) {
        char command[4096];
        snprintf(command, sizeof command, "'%s' child", argv[0]);
        return WEXITSTATUS(system(command));
    } else if (!strcmp(how, "exit")) {
        touch(cells, 1000);
        _exit(7);
    } else if (!strcmp(how, "kill")) {
        touch(cells, 1000);
        kill(getpid(), SIGKILL);
    } else if (!strcmp(how, "abort")) {
        touch(cells, 1000);
        abort();
    } else if (!strcmp(how, "crash")) {
        touch(cells, 1000);
        *(volatile int *)(intptr_t)(argc - 2 - argc + 2) = 1;
    }
    if (pid > 0 && waitpid(pid, &status, 0) == pid) return WEXITSTATUS(status);
    return pid ? 4 : 0;
}
