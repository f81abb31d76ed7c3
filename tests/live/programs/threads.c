/* threads N ROUNDS [TIMES [spin]]: N threads at a time, so often; each adds TIMES (1024) in its own cell. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile long cells[4096][8];
static pthread_barrier_t all_there;
static int times = 1024, spinning_for;
static volatile int spinning;

static void *add(void *cell) {
    pthread_barrier_wait(&all_there);
    __atomic_fetch_add(&spinning, 1, __ATOMIC_SEQ_CST);
    while (spinning < spinning_for) {} /* asleep, one could miss all of the other's work */
    for (int i = 0; i < times; i++) ((volatile long *)cell)[0]++;
    return NULL;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 4, rounds = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_attr_t small;
    long sum = 0;
    if (argc > 3) times = atoi(argv[3]);
    if (argc > 4) spinning_for = count;
    if (!threads || count > 4096) return 1;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all_there, NULL, (unsigned)count);
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < count; i++)
            if (pthread_create(&threads[i], &small, add, (void *)cells[i]) != 0) return 2;
        for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < count; i++) sum += cells[i][0];
    printf("%d threads, sum %ld\n", count * rounds, sum);
    free(threads);
    return 0;
}
