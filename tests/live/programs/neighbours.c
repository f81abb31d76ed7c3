/* neighbours.c - two threads count, each in a word of its own: of one line, or with an argument of two. */
#include <pthread.h>
#include <stdio.h>

static struct {
    volatile long word[64];
} __attribute__((aligned(256))) counts;

static void *count(void *word) {
    for (int i = 0; i < 20000; i++) (*(volatile long *)word)++;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t other;
    (void)argv;
    if (pthread_create(&other, NULL, count, (void *)&counts.word[argc > 1 ? 32 : 1])) return 1;
    count((void *)&counts.word[0]);
    pthread_join(other, NULL);
    printf("%ld\n", counts.word[0]);
    return 0;
}
