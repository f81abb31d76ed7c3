/*
 * known_join ROUNDS [LINES CHILD SWEEPS]: in each round the first thread sweeps LINES (900) lines, then starts a thread
 * that sweeps CHILD (120) other lines SWEEPS (8) times, and joins it.
 *
 * Truth. ROUNDS * (LINES + CHILD * SWEEPS) references (and some 20 a round). Private, in caches of more than LINES lines:
 * each new thread misses CHILD times, the first thread LINES times in all; with the defaults 120 of 1860 references, 6.5 %.
 * Nothing is invalidated: no line is written by one thread and used by another. Footprint: LINES + CHILD, and some 100 of
 * stacks.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct line {
    _Alignas(64) volatile long value;
};
static struct line *own, *childs;
static long lines = 900, child = 120, sweeps = 8;

static void *sweep(void *unused) {
    for (long sweep = 0; sweep < sweeps; sweep++)
        for (long i = 0; i < child; i++) (void)childs[i].value;
    return unused;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    const long rounds = atol(argv[1]);
    if (argc > 4) {
        lines = atol(argv[2]);
        child = atol(argv[3]);
        sweeps = atol(argv[4]);
    }
    own = aligned_alloc(64, (size_t)lines * sizeof *own);
    childs = aligned_alloc(64, (size_t)child * sizeof *childs);
    if (!own || !childs) return 1;
    for (long i = 0; i < child; i++) childs[i].value = i;
    for (long round = 0; round < rounds; round++) {
        pthread_t thread;
        for (long i = 0; i < lines; i++) own[i].value = round;
        if (pthread_create(&thread, NULL, sweep, NULL)) return 1;
        pthread_join(thread, NULL);
    }
    printf("ok %ld\n", own[0].value);
    return 0;
}
