/*
 * sharing.c - two threads that count, each in a counter of its own: side by side in one
 * line of memory, and each in its own line. An example of docs/guide/advice.md.
 *
 *     sharing before|after [ROUNDS [COUNTS]]     20,000 rounds of 1,000 counts if not given
 *
 * In each round both threads count, and then wait for each other. Side by side, each takes
 * the line from the other, in every round and, on two cores, many times in each: false
 * sharing.
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
static pthread_barrier_t together;
static long rounds = 20000, counts = 1000;

static void *count(void *argument) {
    long which = (long)argument;
    for (long round = 0; round < rounds; round++) {
        for (long i = 0; i < counts; i++) counters[which].value++;
        pthread_barrier_wait(&together);
    }
    return NULL;
}

static void *count_padded(void *argument) {
    long which = (long)argument;
    for (long round = 0; round < rounds; round++) {
        for (long i = 0; i < counts; i++) padded[which].value++;
        pthread_barrier_wait(&together);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    int is_padded = argc > 1 && !strcmp(argv[1], "after");
    if (argc > 2) rounds = atol(argv[2]);
    if (argc > 3) counts = atol(argv[3]);
    if (argc < 2 || (!is_padded && strcmp(argv[1], "before")) || rounds < 1 || counts < 1) {
        fprintf(stderr, "usage: sharing before|after [ROUNDS [COUNTS]]\n");
        return 2;
    }
    if (pthread_barrier_init(&together, NULL, 2)) return 1;
    clock_t start = clock();
    for (long i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, is_padded ? count_padded : count, (void *)i)) return 1;
    for (long i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    printf("%ld and %ld\n", counters[0].value + padded[0].value, counters[1].value + padded[1].value);
    return 0;
}
