/* Looks at what surrounds it: arguments, descriptors. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int cells[1000];

__attribute__((noinline)) static void work(void) {
    for (int r = 0; r < 10; r++)
        for (int i = 0; i < 1000; i++) cells[i] += i;
}

/* Which of 0, 1 and 2 are open, into a file. */
static int descriptors(const char *name) {
    int is_open[3];
    for (int fd = 0; fd < 3; fd++) is_open[fd] = fcntl(fd, F_GETFD) >= 0;
    FILE *file = fopen(name, "w");
    if (!file) return 1;
    fprintf(file, "%d %d %d\n", is_open[0], is_open[1], is_open[2]);
    return fclose(file) != 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "argv")) {
        for (int i = 0; i < argc; i++) printf("[%s]", argv[i]);
        printf("\n");
    }
    if (!strcmp(what, "descriptors") && argc > 2) return descriptors(argv[2]);
    if (!strcmp(what, "close")) {
        closefrom(3);
        work();
        printf("closed\n");
    }
    if (!strcmp(what, "heap")) {
        volatile char *block = calloc(10000, 1);
        if (!block) return 1;
        for (int i = 0; i < 10000; i++) block[i]++;
        free((void *)block);
    }
    return 0;
}
