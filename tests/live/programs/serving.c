/*
 * serving.c - a server: answers each line of its input, while threads sweep over 4096
 * lines of memory each, a read and a write of every line. Ends with 7 at the end of its
 * input. "fork" starts a child that goes on serving in its place.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, LINES = 4096, LONGS = 8 };
static volatile long data[THREADS][LINES * LONGS];
static int stop;

static void *sweep(void *which) {
    volatile long *own = data[(long)which];
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        for (long i = 0; i < LINES; i++) own[LONGS * i] = !own[LONGS * i];
    return NULL;
}

static void start(pthread_t *threads) {
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, sweep, (void *)i)) exit(1);
}

int main(void) {
    pthread_t threads[THREADS];
    char line[256];
    long answers = 0;
    start(threads);
    while (fgets(line, sizeof line, stdin)) {
        if (!strcmp(line, "fork\n")) {
            int status;
            fflush(NULL);
            pid_t child = fork();
            if (child > 0) { /* its threads go on, too */
                waitpid(child, &status, 0);
                return WEXITSTATUS(status);
            }
            start(threads); /* a fork has only the thread that called it */
        }
        unsigned sum = 0;
        for (const char *at = line; *at; at++) sum = 31 * sum + (unsigned char)*at;
        printf("%ld: %u\n", ++answers, sum);
        fflush(stdout);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%ld answers\n", answers);
    return 7;
}
