/*
 * falseshare.c - producers and consumers, pthreads: half of the threads write numbers into their own ring, chunk by
 * chunk, the others add them up. Counters of all threads lie side by side in the same lines.
 */
#include <semaphore.h>

#include "program.h"

#define CHUNK 256
#define CHUNKS 16
struct ring {
    sem_t filled, empty; /* chunks */
    uint64_t items[CHUNKS * CHUNK];
};
static struct ring *rings;
static struct {
    volatile uint64_t done, sum; /* 16 bytes a thread: four threads a line */
} *counters;
static long chunks;

static void *work(void *argument) {
    intptr_t me = (intptr_t)argument;
    struct ring *ring = &rings[me / 2];
    int produces = me % 2 == 0;
    for (long chunk = 0; chunk < chunks; chunk++) {
        uint64_t *items = ring->items + chunk % CHUNKS * CHUNK;
        while (sem_wait(produces ? &ring->empty : &ring->filled) != 0) {
        }
        for (long i = 0; i < CHUNK; i++) {
            if (produces) items[i] = (uint64_t)(chunk * CHUNK + i) * 3;
            counters[me].sum += items[i];
            counters[me].done++;
        }
        sem_post(produces ? &ring->filled : &ring->empty);
    }
    return NULL;
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    long pairs = threads / 2 > 1 ? threads / 2 : 1;
    threads = 2 * (int)pairs;
    chunks = (long)(30000 * size) / pairs + 1;
    rings = memory((size_t)pairs * sizeof *rings);
    counters = memory((size_t)threads * sizeof *counters);
    for (long i = 0; i < pairs; i++) {
        sem_init(&rings[i].filled, 0, 0);
        sem_init(&rings[i].empty, 0, CHUNKS);
    }
    in_threads(work);
    int good = 1;
    for (long i = 0; i < pairs; i++)
        good &= counters[2 * i].sum == counters[2 * i + 1].sum && counters[2 * i].done == (uint64_t)(chunks * CHUNK);
    return result("falseshare", good, (double)counters[0].sum);
}
