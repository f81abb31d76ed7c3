/* Ways to start a program that are not execve() with good arguments: each says how that went. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    char *words[] = {"ends", "exit", NULL};
    if (!strcmp(way, "bad")) {
        const uintptr_t bad[] = {1, 0xdead0000, ~(uintptr_t)0 - 4095};
        char *bad_words[] = {"ends", (char *)bad[1], NULL};
        for (int i = 0; i < 3; i++) {
            printf("path %s\n", syscall(SYS_execve, bad[i], words, environ) < 0 ? strerror(errno) : "?");
            printf("argv %s\n", syscall(SYS_execve, "./ends", bad[i], environ) < 0 ? strerror(errno) : "?");
            printf("envp %s\n", syscall(SYS_execve, "./ends", words, bad[i]) < 0 ? strerror(errno) : "?");
        }
        printf("word %s\n", syscall(SYS_execve, "./ends", bad_words, environ) < 0 ? strerror(errno) : "?");
        printf("no path %s\n", syscall(SYS_execve, NULL, words, environ) < 0 ? strerror(errno) : "?");
        return 3;
    }
    if (!strcmp(way, "open")) fexecve(open("./ends", O_RDONLY | O_CLOEXEC), words, environ);
    if (!strcmp(way, "folder")) syscall(SYS_execveat, open(".", O_RDONLY | O_DIRECTORY), "ends", words, environ, 0);
    return 1;
}
