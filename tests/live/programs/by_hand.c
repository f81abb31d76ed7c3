/* by_hand.c - calls sum() of by_hand.S on so many threads, so many times. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
long sum(const long *cells, long count);
long other;
static long cells[1000], rounds;
static void *work(void *argument) {
    long total = 0;
    for (long i = 0; i < rounds; i++) total += sum(cells, 1000);
    return (void *)total;
}
int main(int argc, char **argv) {
    int threads = atoi(argv[1]);
    pthread_t ids[threads];
    long total = 0;
    rounds = atol(argv[2]);
    for (long i = 0; i < 1000; i++) cells[i] = i;
    char *copy = malloc(sizeof cells);
    memcpy(copy, cells, sizeof cells);
    for (int i = 1; i < threads; i++) pthread_create(&ids[i], NULL, work, NULL);
    total = (long)work(NULL);
    for (int i = 1; i < threads; i++) {
        void *result;
        pthread_join(ids[i], &result);
        total += (long)result;
    }
    free(copy);
    printf("%ld\n", total);
    return argc > 3;
}
