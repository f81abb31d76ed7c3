/*
 * transpose.c - the transpose of a square matrix, one element at a time or in
 * blocks: the worked example of docs/guide/tutorial.md.
 *
 *     transpose naive|blocked [N]     N is a multiple of 8; 256 if not given
 *
 * B[j][i] = A[i][j]. Naively, one of the two is walked down its columns: each
 * step is another cache line, and its next element is only needed a whole
 * column later. In blocks of 8 by 8 doubles, the 8 lines of either matrix are
 * used up before they are left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 8

static void transpose_naive(const double *a, double *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) b[j * n + i] = a[i * n + j];
}

static void transpose_blocked(const double *a, double *b, size_t n) {
    for (size_t ii = 0; ii < n; ii += BLOCK)
        for (size_t jj = 0; jj < n; jj += BLOCK)
            for (size_t i = ii; i < ii + BLOCK; i++)
                for (size_t j = jj; j < jj + BLOCK; j++) b[j * n + i] = a[i * n + j];
}

int main(int argc, char **argv) {
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 256;
    int blocked = argc > 1 && !strcmp(argv[1], "blocked");
    if (argc < 2 || (!blocked && strcmp(argv[1], "naive")) || !n || n % BLOCK || n > 1 << 14) {
        fprintf(stderr, "usage: transpose naive|blocked [N, a multiple of 8]\n");
        return 2;
    }
    double *a = aligned_alloc(64, n * n * sizeof *a), *b = aligned_alloc(64, n * n * sizeof *b);
    if (!a || !b) return 1;
    for (size_t i = 0; i < n * n; i++) a[i] = (double)i;
    memset(b, 0, n * n * sizeof *b);
    if (blocked) transpose_blocked(a, b, n);
    else transpose_naive(a, b, n);
    printf("%s, %zu by %zu: b[1][0] is %g\n", argv[1], n, n, b[n]);
    free(a);
    free(b);
    return 0;
}
