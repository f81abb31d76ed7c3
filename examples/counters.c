/*
 * counters.c - threads that count the last digits of their numbers, each in
 * counters of its own, and meet now and then: with the counters of one digit side
 * by side (packed), so that every cache line has a counter of every thread, or with
 * the counters of one thread side by side (padded), in lines of their own. The sums
 * are the same; packed, threads keep taking lines from each other, though none ever
 * looks at another's counter: false sharing.
 *
 *     counters packed|padded [THREADS] [ROUNDS]
 *
 *     reusescope run --model both -- ./counters packed
 *     reusescope advise
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 8
#define DIGITS 10
#define NUMBERS 100 /* a round */
#define LINE 64

static _Alignas(LINE) volatile long packed[DIGITS][THREADS_MAX];
static struct {
    _Alignas(LINE) volatile long digit[DIGITS];
} padded[THREADS_MAX];

static pthread_barrier_t round_over;
static long rounds = 500;
static int is_packed;

static void *count(void *argument) {
    size_t thread = (size_t)argument;
    unsigned number = 1 + (unsigned)thread;
    for (long round = 0; round < rounds; round++) {
        for (int i = 0; i < NUMBERS; i++) {
            number = number * 1103515245u + 12345u;
            unsigned digit = (number >> 16) % DIGITS;
            if (is_packed) packed[digit][thread]++;
            else padded[thread].digit[digit]++;
        }
        pthread_barrier_wait(&round_over);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS_MAX];
    size_t thread_count = argc > 2 ? (size_t)atoi(argv[2]) : 2;
    long sum = 0;
    if (argc > 3) rounds = atol(argv[3]);
    if (argc < 2 || !thread_count || thread_count > THREADS_MAX || (strcmp(argv[1], "packed") && strcmp(argv[1], "padded"))) {
        fprintf(stderr, "usage: counters packed|padded [THREADS, up to %d] [ROUNDS]\n", THREADS_MAX);
        return 2;
    }
    is_packed = !strcmp(argv[1], "packed");
    pthread_barrier_init(&round_over, NULL, (unsigned)thread_count);
    for (size_t i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, count, (void *)i)) return 1;
    for (size_t i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
    for (size_t i = 0; i < thread_count; i++)
        for (size_t digit = 0; digit < DIGITS; digit++) sum += is_packed ? packed[digit][i] : padded[i].digit[digit];
    printf("%zu threads counted %ld numbers\n", thread_count, sum);
    return 0;
}
