/*
 * neighbours.c - two threads take turns at counting, each in a word of its own: of one
 * line, or with an argument of two lines.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define TURNS 400

static struct {
    volatile long word[64];
} __attribute__((aligned(256))) counts;
static struct {
    atomic_int number;
} __attribute__((aligned(256))) turn;

static void count(int mine, volatile long *word) {
    for (int i = mine; i < TURNS; i += 2) {
        while (atomic_load(&turn.number) != i) sched_yield();
        (*word)++;
        atomic_store(&turn.number, i + 1);
    }
}

static void *other(void *word) {
    count(1, word);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    (void)argv;
    if (pthread_create(&thread, NULL, other, (void *)&counts.word[argc > 1 ? 32 : 1])) return 1;
    count(0, &counts.word[0]);
    pthread_join(thread, NULL);
    printf("%ld\n", counts.word[0]);
    return 0;
}
