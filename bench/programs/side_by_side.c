/*
 * side_by_side.c - two threads that sweep lines of their own between barriers, and note the time after every tenth sweep.
 *
 *   side_by_side [bound [ROUNDS]]
 *
 * Prints how many percent of the notes of all rounds are in runs of at most four by the same thread, in the order of time:
 * nearly all where the threads run side by side, none where one runs after the other. The distance of a sweep's reuses is
 * 63 where a thread runs alone, 127 beside the other, at one pace. `bound`: each thread has a core of its own. ROUNDS: 100.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINES 64
#define NOTES 200
#define SWEEPS 10 /* between notes */
#define RUN_SHORT 4

static struct {
    char bytes[64];
} data[2][LINES] __attribute__((aligned(64)));
static uint64_t notes[2][NOTES];
static long in_short_runs, all_notes, rounds = 100;
static int is_bound;
static pthread_barrier_t barrier;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void count_runs(void) {
    long at[2] = {0, 0}, run = 0;
    int last = 0;
    while (at[0] + at[1] <= 2 * NOTES) {
        const int ended = at[0] + at[1] == 2 * NOTES;
        const int next = at[1] == NOTES || (at[0] < NOTES && notes[0][at[0]] <= notes[1][at[1]]) ? 0 : 1;
        if (run && (ended || next != last)) {
            in_short_runs += run <= RUN_SHORT ? run : 0;
            run = 0;
        }
        if (ended) break;
        at[next]++;
        last = next;
        run++;
    }
    all_notes += 2 * NOTES;
}

static void *work(void *number) {
    const long me = (long)number;
    if (is_bound) {
        cpu_set_t core;
        CPU_ZERO(&core);
        CPU_SET((int)me, &core);
        if (sched_setaffinity(0, sizeof core, &core) != 0) exit(1);
    }
    for (long round = 0; round < rounds; round++) {
        pthread_barrier_wait(&barrier);
        for (int note = 0; note < NOTES; note++) {
            for (int sweep = 0; sweep < SWEEPS; sweep++)
                for (int i = 0; i < LINES; i++) ((volatile char *)data[me][i].bytes)[0]++;
            notes[me][note] = now();
        }
        pthread_barrier_wait(&barrier);
        if (!me) count_runs();
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    is_bound = argc > 1 && !strcmp(argv[1], "bound");
    if (argc > 2) rounds = atol(argv[2]);
    if (rounds < 1 || pthread_barrier_init(&barrier, NULL, 2) != 0) return 2;
    for (long i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) return 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%.1f\n", 100.0 * (double)in_short_runs / (double)all_notes);
    return 0;
}
