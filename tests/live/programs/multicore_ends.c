/*
 * multicore_ends.c - threads that end in every way while they are being analysed, a line
 * that is used once and never again, and a program that does not end by itself.
 *   multicore_ends threads|cancelled|once|forever|killed
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELLS 4096
static volatile int cells[8][CELLS], once[16];

static void work(int number, int rounds) {
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < CELLS; i++) cells[number][i] += i;
}

static void *returns(void *number) { work((int)(long)number, 30); return NULL; }
static void *exits(void *number) {
    work((int)(long)number, 30);
    pthread_exit(NULL);
}
static void *is_cancelled(void *number) {
    work((int)(long)number, 1); /* so that it samples by the time it may be cancelled */
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    work((int)(long)number, 1 << 30);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    int cancelled = !strcmp(argv[1], "cancelled"); /* else these end by themselves too */
    if (cancelled || !strcmp(argv[1], "threads")) {
        void *(*const kinds[])(void *) = {returns, exits, cancelled ? is_cancelled : returns};
        for (int round = 0; round < 20; round++) {
            pthread_t threads[6];
            for (long i = 0; i < 6; i++) pthread_create(&threads[i], NULL, kinds[i % 3], (void *)i);
            work(6, cancelled ? round % 8 : 5);
            for (int i = 2; cancelled && i < 6; i += 3) pthread_cancel(threads[i]);
            for (int i = 0; i < 6; i++) {
                void *result = NULL;
                pthread_join(threads[i], &result);
                if (result != (cancelled && i % 3 == 2 ? PTHREAD_CANCELED : NULL)) puts("another result");
            }
        }
    } else if (!strcmp(argv[1], "once")) {
        once[0] = 1;
        work(0, 300);
    } else if (!strcmp(argv[1], "killed")) {
        work(0, 300);
        kill(getpid(), SIGKILL);
    } else {
        if (argc > 2) fclose(fopen(argv[2], "w"));
        work(0, 1 << 30);
    }
    puts("done");
    return 0;
}
