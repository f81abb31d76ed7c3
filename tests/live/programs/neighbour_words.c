/*
 * neighbour_words TURNS: two threads take turns, by semaphores, at incrementing a variable of their own each. Both lie in
 * one line, which begins with a third that nobody uses meanwhile.
 *
 * Truth. Each increment but the first of each thread finds its line taken by the other, falsely: 2 * TURNS - 2 misses.
 * `free` instead of taking turns: as they like. `atomic`: as they like, each by atomic increments and nothing else.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In this order, at the beginning of a line. */
extern volatile long left_count, right_count;
__asm__(".bss\n.p2align 6\n.type before_them, @object\n.size before_them, 8\nbefore_them: .zero 8\n"
        ".globl left_count\n.type left_count, @object\n.size left_count, 8\nleft_count: .zero 8\n"
        ".globl right_count\n.type right_count, @object\n.size right_count, 8\nright_count: .zero 8\n.zero 40\n.text\n");
static sem_t semaphores[2];
static long turns;
static int is_free;

static void *count(void *which) {
    const long self = (long)which;
    volatile long *own = self ? &right_count : &left_count;
    for (long i = 0; i < turns; i++) {
        if (!is_free) sem_wait(&semaphores[self]);
        ++*own;
        if (!is_free) sem_post(&semaphores[!self]);
    }
    return NULL;
}

static void *count_atomically(void *which) {
    volatile long *own = which ? &right_count : &left_count;
    for (long i = turns; i > 0; i--) __atomic_fetch_add(own, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread[2];
    if (argc < 2) return 2;
    turns = atol(argv[1]);
    is_free = argc > 2;
    void *(*counts)(void *) = is_free && !strcmp(argv[2], "atomic") ? count_atomically : count;
    sem_init(&semaphores[0], 0, 1);
    sem_init(&semaphores[1], 0, 0);
    for (long i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, counts, (void *)i)) return 1;
    for (long i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    printf("%ld\n", left_count + right_count);
    return 0;
}
