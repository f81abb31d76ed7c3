/* sweeps.c - a program to watch: two threads sweep over memory; "children": so does a child; "serve": until it is killed. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static double grid[4096];

static void *sweep(void *from) {
    double *at = from, sum = 0;
    for (int k = 0; k < 20; k++)
        for (int i = 0; i < 4096; i += 8) sum += at[i], at[i] = sum;
    return NULL;
}

int main(int count, char **words) {
    int serves = count > 1 && !strcmp(words[1], "serve"), forks = count > 1 && !serves;
    pthread_t thread;
    double *heap = calloc(4096, sizeof *heap);
    if (!heap || pthread_create(&thread, NULL, sweep, heap)) return 1;
    do {
        sweep(grid);
        if (serves) usleep(1000);
    } while (serves);
    pthread_join(thread, NULL);
    if (forks && !fork()) {
        sweep(heap);
        _exit(0);
    }
    if (forks) wait(NULL);
    free(heap);
    return (int)grid[1];
}
