/*
 * transpose.c - a matrix transposed into another: row by row, and in tiles. An example
 * of docs/guide/advice.md.
 *
 *     transpose before|after [N [TIMES]]     4096, once if not given
 *
 * Whichever loop is the inner one, one of the two matrices is gone through by columns.
 * In tiles, both fit the cache until all of their lines are used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TILE 16

static void transpose(const double *a, double *b, long n) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            b[j * n + i] = a[i * n + j];
}

static long least(long a, long b) { return a < b ? a : b; }

static void transpose_tiles(const double *a, double *b, long n) {
    for (long ii = 0; ii < n; ii += TILE)
        for (long jj = 0; jj < n; jj += TILE)
            for (long i = ii; i < least(ii + TILE, n); i++)
                for (long j = jj; j < least(jj + TILE, n); j++) b[j * n + i] = a[i * n + j];
}

int main(int argc, char **argv) {
    long n = argc > 2 ? atol(argv[2]) : 4096, times = argc > 3 ? atol(argv[3]) : 1;
    int tiled = argc > 1 && !strcmp(argv[1], "after");
    if (argc < 2 || (!tiled && strcmp(argv[1], "before")) || n < 2 || n > 1 << 14) {
        fprintf(stderr, "usage: transpose before|after [N [TIMES]]\n");
        return 2;
    }
    double *a = malloc((size_t)(n * n) * sizeof *a), *b = malloc((size_t)(n * n) * sizeof *b);
    if (!a || !b) return 1;
    for (long i = 0; i < n * n; i++) a[i] = (double)(i % 1021), b[i] = 0;
    clock_t start = clock();
    for (long i = 0; i < times; i++) (tiled ? transpose_tiles : transpose)(a, b, n);
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    printf("the last row begins with %.0f\n", b[(n - 1) * n]);
    free(a);
    free(b);
    return 0;
}
