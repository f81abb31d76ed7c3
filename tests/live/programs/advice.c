/*
 * advice MODE: programs that `advise` has something to say about at 32 KiB, and
 * the twin of each that it has not. Each makes some hundred thousand accesses, so
 * that what the loader does is little beside them.
 *
 *   wide small      lines in an order without order, again and again, of much memory or of little
 *   fields packed   a field of each record, of records or in an array of its own
 *   columns rows    a table by columns or by rows
 *   held            columns of half as many lines, which stay in the cache until the next ones
 *   tight roomy     a cycle over a little more than 32 KiB, or over half of it
 *   fresh again     always new memory, or the same again
 *   uneven even     four threads, of which the first does most, or all the same
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGS = 1 << 17, THREADS = 4 };
static volatile long numbers[2 * LONGS];

static void first_pass(int from, int count) {
    for (int i = from; i < from + count; i++) numbers[i] = i;
}

static long second_pass(int from, int count) {
    long sum = 0;
    for (int i = from; i < from + count; i++) sum += numbers[i];
    return sum;
}

/* Each of `lines` lines once in an order without order, and again. */
static long jumps(unsigned lines) {
    unsigned at = 1;
    long sum = 0;
    for (int i = 0; i < 65536; i++) {
        at = (at * 1664525u + 1013904223u) & (lines - 1); /* comes to all of a power of two */
        sum += numbers[8 * at];
    }
    return sum;
}

/* Longs lie side by side, or each in a record of 64 bytes. */
static long fields(int longs) {
    long sum = 0;
    for (int i = 0; i < 16384; i++) sum += numbers[(i * longs) & (2 * LONGS - 1)];
    return sum;
}

static long table(int by_columns, int rows) {
    long sum = 0;
    for (int i = 0; i < 512; i++)
        for (int j = 0; j < rows; j++) sum += numbers[by_columns ? j * 512 + i : i * 512 + j];
    return sum;
}

static long cycle(int longs) {
    long sum = 0;
    for (int round = 0; round < 100; round++) sum += second_pass(0, longs);
    return sum;
}

static long memory(int fresh) {
    long sum = 0;
    for (int round = 0; round < 32; round++) {
        int from = fresh ? round * 8192 : 0;
        first_pass(from, fresh ? 8192 : 2048);
        for (int again = 0; again < (fresh ? 1 : 4); again++) sum += second_pass(from, fresh ? 0 : 2048);
    }
    return sum;
}

static int shares[THREADS];

static void *work(void *share) {
    for (int round = 0; round < *(int *)share; round++) second_pass(0, 1024);
    return NULL;
}

static long threads(int uneven) {
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        shares[i] = !uneven ? 200 : i ? 20 : 700;
        if (pthread_create(&ids[i], NULL, work, &shares[i])) exit(1);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(ids[i], NULL);
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    long sum = 0;
    if (!strcmp(mode, "wide")) sum = jumps(8192);
    else if (!strcmp(mode, "small")) sum = jumps(256);
    else if (!strcmp(mode, "fields")) sum = fields(8);
    else if (!strcmp(mode, "packed")) sum = fields(1);
    else if (!strcmp(mode, "columns")) sum = table(1, 512);
    else if (!strcmp(mode, "rows")) sum = table(0, 512);
    else if (!strcmp(mode, "held")) sum = table(1, 240);
    else if (!strcmp(mode, "tight")) sum = cycle(5 << 10);
    else if (!strcmp(mode, "roomy")) sum = cycle(2 << 10);
    else if (!strcmp(mode, "fresh")) sum = memory(1);
    else if (!strcmp(mode, "again")) sum = memory(0);
    else if (!strcmp(mode, "uneven")) sum = threads(1);
    else if (!strcmp(mode, "even")) sum = threads(0);
    else return 1;
    printf("%ld\n", sum);
    return 0;
}
