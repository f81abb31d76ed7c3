/* Works on 1000 cells ten times in `work`, then ends in the way asked for. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int cells[1000];

__attribute__((noinline)) static void work(int rounds) {
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < 1000; i++) cells[i] += i;
}

__attribute__((noinline)) static void child_work(int rounds) {
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < 1000; i++) cells[i] -= i;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    int status;
    work(10);
    if (!strcmp(way, "segv")) *(volatile int *)8 = 1;
    if (!strcmp(way, "kill")) raise(SIGKILL);
    if (!strcmp(way, "term")) raise(SIGTERM);
    if (!strcmp(way, "abort")) abort();
    if (!strcmp(way, "_exit")) _exit(7);
    if (!strcmp(way, "exit")) exit(8);
#if defined(__x86_64__)
    if (!strcmp(way, "avx512")) __asm__ volatile("vmovups %%zmm0, %0" : "=m"(cells[16]));
#endif
    if (!strcmp(way, "exec")) execlp("echo", "echo", "from echo", (char *)NULL);
    if (!strcmp(way, "exec-missing")) return execlp("no-such-program", "x", (char *)NULL) < 0 ? 9 : 0;
    if (!strcmp(way, "fork")) {
        pid_t pid = fork();
        if (pid == 0) {
            child_work(5);
            _exit(3);
        }
        waitpid(pid, &status, 0);
        printf("child ended with %d\n", WEXITSTATUS(status));
        return 4;
    }
    if (!strcmp(way, "outlived")) { /* a child that lives on */
        if (fork() == 0) {
            setsid();
            for (int i = 0; i < 3000 && access("go-on", F_OK) != 0; i++) usleep(10000);
            child_work(100);
            FILE *file = fopen("child-done.part", "w");
            if (file) fclose(file);
            rename("child-done.part", "child-done");
            _exit(0);
        }
        return 5;
    }
    return 0;
}
