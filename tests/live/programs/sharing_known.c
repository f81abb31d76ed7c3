/*
 * sharing_known pairs|pipeline ROUNDS: four threads of which each shares memory with known others only, in turns that
 * semaphores enforce.
 *
 * Truth of `pairs`: threads a and b, and c and d, write one word in turns, ROUNDS times each. Every write but the first
 * of each thread finds that its partner has taken the line: ROUNDS - 1 misses in each of the cells (a, b), (b, a),
 * (c, d) and (d, c), none of them false.
 *
 * Truth of `pipeline`: a thread writes an item where the next thread reads it, ROUNDS times. Each read but the first
 * finds the line taken: ROUNDS - 1 misses in each of the cells (a, b), (b, c) and (c, d), none of them false.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4

static struct {
    volatile long item;
} __attribute__((aligned(128))) places[THREADS];
static sem_t may_write[THREADS], may_read[THREADS];
static long rounds;

static void *pair(void *which) {
    const long self = (long)which, partner = self ^ 1;
    volatile long *ball = &places[self / 2].item;
    for (long i = 0; i < rounds; i++) {
        sem_wait(&may_write[self]);
        *ball = i;
        sem_post(&may_write[partner]);
    }
    return NULL;
}

static void *stage(void *which) {
    const long self = (long)which;
    long item = 0;
    for (long i = 0; i < rounds; i++) {
        if (self) {
            sem_wait(&may_read[self - 1]);
            item = places[self - 1].item;
            sem_post(&may_write[self - 1]);
        } else {
            item = i;
        }
        if (self == THREADS - 1) continue;
        sem_wait(&may_write[self]);
        places[self].item = item;
        sem_post(&may_read[self]);
    }
    return (void *)item;
}

int main(int argc, char **argv) {
    pthread_t thread[THREADS];
    if (argc < 3) return 2;
    const int is_pipeline = argv[1][1] == 'i';
    rounds = atol(argv[2]);
    for (long i = 0; i < THREADS; i++) {
        sem_init(&may_write[i], 0, is_pipeline || i % 2 == 0);
        sem_init(&may_read[i], 0, 0);
    }
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, is_pipeline ? stage : pair, (void *)i)) return 1;
    for (long i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    printf("%ld\n", places[0].item);
    return 0;
}
