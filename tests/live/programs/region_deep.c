/*
 * region_deep DEPTH: inside() is called below DEPTH open calls, as is outside(), before and after it. Each makes 2,000
 * accesses of its cells.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 1000
static volatile int cells[CELLS];
static long depth;

__attribute__((noinline)) void inside(void) {
    for (int i = 0; i < CELLS; i++) cells[i]++;
}

__attribute__((noinline)) void outside(void) {
    for (int i = 0; i < CELLS; i++) cells[i]--;
}

__attribute__((noinline)) static long deeper(long left) {
    if (left) return deeper(left - 1) + 1;
    outside();
    inside();
    outside();
    return 1;
}

static void *work(void *unused) {
    depth = deeper(depth);
    outside();
    return unused;
}

int main(int argc, char **argv) {
    pthread_attr_t large;
    pthread_t thread;
    depth = argc > 1 ? atol(argv[1]) : 10;
    pthread_attr_init(&large);
    if (pthread_attr_setstacksize(&large, (size_t)(depth + 10000) * 64) || pthread_create(&thread, &large, work, NULL))
        return 1;
    pthread_join(thread, NULL);
    printf("%ld\n", depth);
    return 0;
}
