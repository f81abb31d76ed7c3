/* A kernel as benchmark suites write them: initialise, time, print. */
#include "benchmark_support.h"
#include <stdio.h>
#include <string.h>
#ifndef N
#define N 200
#endif
static void init_array(int n, double A[N][N], double B[N][N]) {
    int i, j;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) { A[i][j] = (double)(i * j % n) / n; B[i][j] = 0; }
}
static void print_array(int n, double A[N][N]) {
    int i, j;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            if ((i * n + j) % 20 == 0) fprintf(stderr, "\n");
            fprintf(stderr, "%0.2lf ", A[i][j]);
        }
}
static void kernel(int n, double A[N][N], double B[N][N]) {
    int i, j;
#pragma omp parallel for private(j)
    for (i = 1; i < n - 1; i++)
        for (j = 1; j < n - 1; j++) B[i][j] = 0.2 * (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
}
int main(int argc, char **argv) {
    int n = N;
    double(*A)[N][N] = BENCH_ALLOC_2D(double, N, N);
    double(*B)[N][N] = BENCH_ALLOC_2D(double, N, N);
    init_array(n, *A, *B);
    bench_timer_start();
    kernel(n, *A, *B);
    bench_timer_stop();
    bench_timer_print();
    if (argc > 42 && !strcmp(argv[0], "")) print_array(n, *B);
    free(A);
    free(B);
    return 0;
}
