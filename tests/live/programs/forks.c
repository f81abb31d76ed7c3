/* forks COUNT: makes that many children, one after the other, each of which calls touch(). */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "touch.h"
static int cells[1000];
int main(int argc, char **argv) {
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
        pid_t child = fork();
        if (child < 0) return 1;
        if (!child) {
            touch(cells, 1000);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return 0;
}
