/*
 * known_rows: three threads, each created when the one before has begun, sweep 40 lines of their own, 4000, 500 and 50 times:
 * those created last end first. Before that the first and the third one take 200 turns at writing the same 60 lines.
 *
 * Truth. References: few of the main thread, then 166,000, 20,000 and 8,000, in the order in which threads were created. Only
 * the first and the third take lines from each other: 200 * 60 - 2 * 60 misses, all of these lines but each one's first turn.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

struct line {
    _Alignas(64) volatile long value;
};
static struct line own[3][40], common[60];
static const long sweeps[3] = {4000, 500, 50};
static sem_t turn[3], begun;

static void *work(void *argument) {
    const long self = (long)argument;
    own[self][0].value = 1;
    sem_post(&begun);
    for (long i = 0; self != 1 && i < 100; i++) {
        sem_wait(&turn[self]);
        for (int k = 0; k < 60; k++) common[k].value = i;
        sem_post(&turn[2 - self]);
    }
    struct line *const lines = own[self];
    const long count = sweeps[self];
    for (long i = 0; i < count; i++)
        for (int k = 0; k < 40; k++) lines[k].value = i;
    return NULL;
}

int main(void) {
    pthread_t thread[3];
    sem_init(&begun, 0, 0);
    for (int i = 0; i < 3; i++) sem_init(&turn[i], 0, i == 0);
    for (long i = 0; i < 3; i++) {
        if (pthread_create(&thread[i], NULL, work, (void *)i)) return 1;
        sem_wait(&begun);
    }
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    printf("ok %ld\n", common[0].value);
    return 0;
}
