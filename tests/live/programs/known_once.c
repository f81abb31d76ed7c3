/*
 * known_once ONCE LINES SWEEPS [THREADS]: the first thread reads ONCE lines once, then THREADS (2) threads each sweep
 * LINES lines of their own SWEEPS times.
 *
 * Truth. ONCE + THREADS * LINES * SWEEPS references, of which ONCE + THREADS * LINES are first uses. Shared, in caches of
 * more than THREADS * LINES lines, only these miss: of 400,000 lines once, then 2 x 900 lines 3,000 times, 6.9 %. Private
 * the same, in caches of more than LINES lines. Nothing is invalidated. Footprint: ONCE + THREADS * LINES.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct line {
    _Alignas(64) volatile long value;
};
static long lines, sweeps, threads = 2;

static void *sweep(void *argument) {
    struct line *own = argument;
    for (long sweep = 0; sweep < sweeps; sweep++)
        for (long i = 0; i < lines; i++) own[i].value = sweep;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread[64];
    if (argc < 4) return 2;
    const long once = atol(argv[1]);
    lines = atol(argv[2]);
    sweeps = atol(argv[3]);
    if (argc > 4) threads = atol(argv[4]);
    if (threads < 1 || threads > 64) return 2;
    struct line *first = aligned_alloc(64, (size_t)once * sizeof *first);
    struct line *swept = aligned_alloc(64, (size_t)(threads * lines) * sizeof *swept);
    if (!first || !swept) return 1;
    for (long i = 0; i < once; i++) (void)first[i].value;
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, sweep, swept + i * lines)) return 1;
    for (long i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    printf("ok %ld\n", swept[0].value);
    return 0;
}
