/*
 * tool_launcher.c - what Valgrind starts when a watched program starts another: our tool, from this folder. The same as
 * Valgrind's own `valgrind` command, which need not be installed.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOOL "reusescope-amd64-linux"

int main(int argc, char **argv) {
    char self[PATH_MAX], tool[PATH_MAX + sizeof TOOL];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    (void)argc;
    if (length <= 0) return 127;
    self[length] = 0;
    setenv("VALGRIND_LAUNCHER", self, 1);
    unsetenv("VALGRIND_LIB"); /* the tool knows its folder */
    char *slash = strrchr(self, '/');
    snprintf(tool, sizeof tool, "%.*s/" TOOL, slash ? (int)(slash - self) : 0, self);
    execv(tool, argv);
    perror(tool);
    return 127;
}
