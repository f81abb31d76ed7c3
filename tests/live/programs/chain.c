/* chain N PROGRAM...: forks and starts itself N times over, then PROGRAM; each works
 * 10,000 times on memory and ends as the next did. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int cells[100];

__attribute__((noinline)) static void link_work(void) {
    for (int i = 0; i < 10000; i++) cells[i % 100]++;
}

int main(int argc, char **argv) {
    char left[16];
    int status;
    if (argc < 3) return 2;
    link_work();
    if (atoi(argv[1]) == 0) {
        execvp(argv[2], argv + 2);
        return 127;
    }
    snprintf(left, sizeof left, "%d", atoi(argv[1]) - 1);
    pid_t pid = fork();
    if (pid == 0) {
        argv[1] = left;
        execv(argv[0], argv);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid) return 126;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
