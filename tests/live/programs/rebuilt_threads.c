/*
 * rebuilt_threads.c - threads of rebuilt code, to the very end of each: destructors
 * of thread-local objects and of thread-specific data, in every round; pthread_exit();
 * barriers, locks, condition variables.
 *
 *     rebuilt_threads THREADS ROUNDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "touch.h"

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t early, late;
static int shared[16], ends[16];
static _Thread_local int own[64];

/* Comes again in each round of destructors there is. */
static void at_end(void *rounds) {
    touch(own, 64);
    pthread_mutex_lock(&lock);
    touch(ends, 1);
    pthread_mutex_unlock(&lock);
    if ((long)rounds < 4) pthread_setspecific(late, (void *)((long)rounds + 1));
}

static void once_at_end(void *ignored) {
    (void)ignored;
    touch(own, 64);
}

static void *work(void *how) {
    pthread_setspecific(early, own);
    pthread_setspecific(late, (void *)1);
    touch(own, 64);
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&lock);
    touch(shared, 16);
    pthread_mutex_unlock(&lock);
    if (how) pthread_exit(how);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 4, rounds = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_key_create(&early, once_at_end);
    pthread_key_create(&late, at_end);
    for (int round = 0; round < rounds; round++) {
        pthread_barrier_init(&barrier, NULL, (unsigned)threads);
        for (int i = 0; i < threads; i++)
            if (pthread_create(&ids[i], &small, work, (void *)(long)(i % 2)) != 0) return 2;
        for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
        pthread_barrier_destroy(&barrier);
    }
    printf("%d threads, %d touched, %d ends\n", threads * rounds, shared[15], ends[0]);
    free(ids);
    return 0;
}
