/*
 * known_turns LINES ROUNDS [THREADS]: THREADS (3) threads take turns, a barrier between them: in round r, thread
 * r % THREADS writes each of the same LINES lines once.
 *
 * Truth. ROUNDS * LINES references (and a few for the start). Private: a thread's first turn is cold, THREADS *
 * LINES in all; before each later turn the others wrote every line, so all its reuses are invalidated: 100 %. Shared: all
 * but the first LINES have the distance LINES - 1.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct line {
    _Alignas(64) volatile long value;
};
static struct line *data;
static long lines, rounds, threads = 3;
static pthread_barrier_t turn;

static void *take_turns(void *argument) {
    const long self = (long)argument, last = rounds, count = lines, many = threads;
    struct line *const first = data;
    for (long round = 0; round < last; round++) {
        if (round % many == self)
            for (long i = 0; i < count; i++) first[i].value = round;
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread[64];
    if (argc < 3) return 2;
    lines = atol(argv[1]);
    rounds = atol(argv[2]);
    if (argc > 3) threads = atol(argv[3]);
    if (lines < 1 || threads < 1 || threads > 64) return 2;
    data = aligned_alloc(64, (size_t)lines * sizeof *data);
    if (!data) return 1;
    pthread_barrier_init(&turn, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, take_turns, (void *)i)) return 1;
    for (long i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    printf("ok %ld\n", data[0].value);
    return 0;
}
