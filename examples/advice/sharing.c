/*
 * sharing.c - two threads that count, each in a counter of its own: side by side in one
 * line of memory, and each in its own line. An example of docs/guide/advice.md.
 *
 *     sharing before|after [COUNTS]     20,000,000 each if not given
 *
 * Side by side, each thread keeps taking the line from the other: false sharing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct counter {
    volatile long value;
};

struct padded_counter {
    _Alignas(64) volatile long value;
};

static _Alignas(64) struct counter counters[2];
static struct padded_counter padded[2];
static long counts = 20000000;
static int is_padded;

static void *count(void *argument) {
    long which = (long)argument;
    for (long i = 0; i < counts; i++)
        if (is_padded) padded[which].value++;
        else counters[which].value++;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    is_padded = argc > 1 && !strcmp(argv[1], "after");
    if (argc > 2) counts = atol(argv[2]);
    if (argc < 2 || (!is_padded && strcmp(argv[1], "before")) || counts < 1) {
        fprintf(stderr, "usage: sharing before|after [COUNTS]\n");
        return 2;
    }
    clock_t start = clock();
    for (long i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, count, (void *)i)) return 1;
    for (long i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    printf("%ld and %ld\n", counters[0].value + padded[0].value, counters[1].value + padded[1].value);
    return 0;
}
