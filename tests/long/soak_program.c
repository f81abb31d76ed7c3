/*
 * soak_program.c SECONDS THREADS - makes THREADS threads, sixteen at a time, and then works with four until SECONDS have
 * passed. Each call of work() has the same number of accesses; how many calls there were is printed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile int cells[4][4096];
static atomic_ulong calls;
static double end;

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

__attribute__((noinline)) void work(volatile int *own) {
    for (int i = 0; i < 4096; i++) own[i]++;
}

static void *once(void *own) {
    work(own);
    atomic_fetch_add(&calls, 1);
    return NULL;
}

static void *on_and_on(void *own) {
    do once(own);
    while (now() < end);
    return NULL;
}

static void together(int count, void *(*routine)(void *)) {
    pthread_t threads[16];
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, routine, (void *)cells[i % 4])) exit(3);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int threads = atoi(argv[2]);
    end = now() + atof(argv[1]);
    for (int made = 0; made < threads; made += 16) together(threads - made < 16 ? threads - made : 16, once);
    if (atof(argv[1]) > 0) together(4, on_and_on);
    printf("%lu\n", (unsigned long)calls);
    return 0;
}
