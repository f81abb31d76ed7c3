/* graph.c - breadth-first searches of a random graph, pthreads level by level: vertices are claimed by compare and swap. */
#include "program.h"

#define VERTICES 40000
#define DEGREE 8
static int32_t edges[VERTICES][DEGREE];
static _Atomic int32_t level_of[VERTICES];
static int32_t *frontiers[2];
static _Atomic long counts[2], taken;
static pthread_barrier_t barrier;
static int searches;
static long reached;

static void *work(void *argument) {
    intptr_t me = (intptr_t)argument;
    for (int search = 0; search < searches; search++) {
        long from, to;
        share(VERTICES, me, &from, &to);
        for (long i = from; i < to; i++) atomic_store_explicit(&level_of[i], -1, memory_order_relaxed);
        pthread_barrier_wait(&barrier);
        if (me == 0) {
            frontiers[0][0] = search * 97 % VERTICES;
            level_of[frontiers[0][0]] = 0;
            counts[0] = 1;
            counts[1] = taken = 0;
        }
        pthread_barrier_wait(&barrier);
        for (int level = 0; counts[level & 1]; level++) {
            const int32_t *frontier = frontiers[level & 1];
            int32_t *next = frontiers[~level & 1];
            for (long at; (at = atomic_fetch_add(&taken, 64)) < counts[level & 1];)
                for (long i = at; i < at + 64 && i < counts[level & 1]; i++)
                    for (int k = 0; k < DEGREE; k++) {
                        int32_t vertex = edges[frontier[i]][k], none = -1;
                        if (atomic_load_explicit(&level_of[vertex], memory_order_relaxed) < 0 &&
                            atomic_compare_exchange_strong(&level_of[vertex], &none, level + 1))
                            next[atomic_fetch_add(&counts[~level & 1], 1)] = vertex;
                    }
            pthread_barrier_wait(&barrier);
            if (me == 0) {
                reached += counts[level & 1];
                counts[level & 1] = taken = 0;
            }
            pthread_barrier_wait(&barrier);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    searches = (int)(25 * size) + 1;
    uint64_t seed = 5;
    for (long i = 0; i < VERTICES; i++) {
        edges[i][0] = (int32_t)((i + 1) % VERTICES); /* a ring: every vertex is reached */
        for (int k = 1; k < DEGREE; k++) edges[i][k] = (int32_t)(next_random(&seed) % VERTICES);
    }
    for (int i = 0; i < 2; i++) frontiers[i] = memory(VERTICES * sizeof *frontiers[i]);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    return result("graph", reached == (long)searches * VERTICES, (double)reached);
}
