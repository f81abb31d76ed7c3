/*
 * matmul.c - the product of two matrices as the textbook writes it, and with its two
 * inner loops exchanged. An example of docs/guide/advice.md.
 *
 *     matmul before|after [N]     1024 if not given
 *
 * The textbook's inner loop goes down a column of b: each step is a whole row ahead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
    long n = argc > 2 ? atol(argv[2]) : 1024;
    if (argc < 2 || (strcmp(argv[1], "before") && strcmp(argv[1], "after")) || n < 2 || n > 1 << 13) {
        fprintf(stderr, "usage: matmul before|after [N]\n");
        return 2;
    }
    double *a = malloc((size_t)(n * n) * sizeof *a);
    double *b = malloc((size_t)(n * n) * sizeof *b);
    double *c = calloc((size_t)(n * n), sizeof *c);
    if (!a || !b || !c) return 1;
    for (long i = 0; i < n * n; i++) {
        a[i] = (double)(i % 13);
        b[i] = (double)(i % 11);
    }
    clock_t start = clock();
    if (!strcmp(argv[1], "before")) {
        for (long i = 0; i < n; i++) {
            for (long j = 0; j < n; j++) {
                for (long k = 0; k < n; k++) {
                    c[i * n + j] += a[i * n + k] * b[k * n + j];
                }
            }
        }
    } else {
        for (long i = 0; i < n; i++)
            for (long k = 0; k < n; k++)
                for (long j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    printf("the product has %.0f in its corner\n", c[n * n - 1]);
    free(a);
    free(b);
    free(c);
    return 0;
}
