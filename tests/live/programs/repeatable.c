/*
 * repeatable N: N threads race for everything that they can race for, and what each of them got is printed: the order of
 * a mutex, chunks of work from a counter, places in a queue, pieces of data from a pipe, threads that come and go.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 30, CHUNKS = 400, ITEMS = 120, LATER = 6 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int next_chunk, made, taken, all_made, bytes_in[2], gone;
static unsigned long order[5]; /* a number for who came when, of each kind */
static volatile long work[64][64];

static void note(int kind, long who) { order[kind] = order[kind] * 31 + (unsigned long)who + 1; }

static void *come_and_go(void *who) {
    work[(long)who][0]++;
    pthread_mutex_lock(&mutex);
    note(4, (long)who);
    gone++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *race(void *argument) {
    const long who = (long)argument;
    for (int i = 0; i < ROUNDS; i++) { /* who is how far when it gets the lock */
        for (int step = 0; step < 40 * (int)(1 + (who + i) % 3); step++) work[who][step % 64]++;
        pthread_mutex_lock(&mutex);
        note(0, who);
        pthread_mutex_unlock(&mutex);
    }
    pthread_barrier_wait(&barrier);
    int chunk;
    while ((chunk = __atomic_fetch_add(&next_chunk, 1, __ATOMIC_SEQ_CST)) < CHUNKS) {
        for (int step = 0; step < chunk % 17; step++) work[who][step]++;
        __atomic_fetch_xor(&order[1], (unsigned long)chunk * 2654435761u * (unsigned long)(who + 1), __ATOMIC_SEQ_CST);
        if (chunk % 50 == 0) sched_yield();
    }
    pthread_barrier_wait(&barrier);
    if (who == 0) { /* one makes, the others take */
        for (int i = 0; i < ITEMS; i++) {
            pthread_mutex_lock(&mutex);
            made++;
            pthread_cond_signal(&changed);
            pthread_mutex_unlock(&mutex);
            char letter = (char)('a' + i % 26);
            if (write(bytes_in[1], &letter, 1) != 1) exit(1);
        }
        pthread_mutex_lock(&mutex);
        all_made = 1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
        close(bytes_in[1]);
    }
    pthread_mutex_lock(&mutex);
    while (who != 0) {
        while (made == taken && !all_made) pthread_cond_wait(&changed, &mutex);
        if (made == taken) break;
        taken++;
        note(2, who);
    }
    pthread_mutex_unlock(&mutex);
    for (char letter; read(bytes_in[0], &letter, 1) == 1;) {
        pthread_mutex_lock(&mutex);
        note(3, who * 26 + letter - 'a');
        pthread_mutex_unlock(&mutex);
    }
    for (int i = 0; i < LATER; i++) {
        pthread_t later;
        if (pthread_create(&later, NULL, come_and_go, argument)) exit(2);
        if (i % 2) pthread_detach(later);
        else pthread_join(later, NULL);
    }
    return NULL;
}

int main(int argc, char **argv) {
    const long count = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t threads[64];
    if (count < 1 || count > 64 || pipe(bytes_in)) return 1;
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, race, (void *)i)) return 1;
    for (long i = 0; i < count; i++) pthread_join(threads[i], NULL);
    pthread_mutex_lock(&mutex);
    while (gone < count * LATER) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    printf("%lx %lx %lx %lx %lx\n", order[0], order[1], order[2], order[3], order[4]);
    return 0;
}
