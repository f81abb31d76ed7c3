/* outliving.c - a child that works on when its parent has long returned; with an argument the parent waits for it. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int cells[1 << 16];

int main(int argc, char **argv) {
    (void)argv;
    if (fork() == 0) {
        for (int round = 0; round < 20; round++)
            for (int i = 0; i < 1 << 16; i++) cells[i] += i;
        _exit(0);
    }
    if (argc > 1) wait(NULL);
    return 0;
}
