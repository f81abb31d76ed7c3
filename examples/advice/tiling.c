/*
 * tiling.c - the product of two matrices, row by row and in tiles. A worked example of
 * docs/guide/advice.md.
 *
 *     tiling before|after [N]     1536 if not given
 *
 * Each row of the result needs all of b. It is gone through in the order it lies in,
 * but the whole of it lies between two uses of one of its lines. In tiles, a part of b
 * that fits the cache is used for all rows of the result before the next part is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TILE_ROWS 64
#define TILE_COLUMNS 256 /* 64 by 256 numbers are 128 KiB */

static void multiply(const double *a, const double *b, double *c, long n) {
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static long least(long a, long b) { return a < b ? a : b; }

static void multiply_tiles(const double *a, const double *b, double *c, long n) {
    for (long kk = 0; kk < n; kk += TILE_ROWS)
        for (long jj = 0; jj < n; jj += TILE_COLUMNS) {
            long k_end = least(n, kk + TILE_ROWS), j_end = least(n, jj + TILE_COLUMNS);
            for (long i = 0; i < n; i++)
                for (long k = kk; k < k_end; k++)
                    for (long j = jj; j < j_end; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
        }
}

int main(int argc, char **argv) {
    long n = argc > 2 ? atol(argv[2]) : 1536;
    int tiled = argc > 1 && !strcmp(argv[1], "after");
    if (argc < 2 || (!tiled && strcmp(argv[1], "before")) || n < 2 || n > 1 << 14) {
        fprintf(stderr, "usage: tiling before|after [N]\n");
        return 2;
    }
    size_t cells = (size_t)n * (size_t)n;
    double *a = malloc(cells * sizeof *a), *b = malloc(cells * sizeof *b), *c = calloc(cells, sizeof *c);
    if (!a || !b || !c) return 1;
    for (size_t i = 0; i < cells; i++) a[i] = (double)(i % 13), b[i] = (double)(i % 11);
    clock_t start = clock();
    (tiled ? multiply_tiles : multiply)(a, b, c, n);
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    printf("the product has %.0f in its corner\n", c[cells - 1]);
    free(a);
    free(b);
    free(c);
    return 0;
}
