/* Jacobi iteration on a square, OpenMP; prints the sum, which no thread count changes by much. */
#include <stdio.h>
#include <stdlib.h>

static void sweep(const double *from, double *to, int n) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100, sweeps = argc > 2 ? atoi(argv[2]) : 10;
    double *grid = calloc((size_t)n * n, sizeof *grid);
    double *next = calloc((size_t)n * n, sizeof *next);
    if (!grid || !next) return 1;
    for (int i = 0; i < n; i++) grid[i] = next[i] = 1000;
    for (int s = 0; s < sweeps; s++) {
        sweep(grid, next, n);
        double *swap = grid;
        grid = next;
        next = swap;
    }
    double sum = 0;
    for (int i = 0; i < n * n; i++) sum += grid[i];
    printf("%.3f\n", sum);
    free(grid);
    free(next);
    return 0;
}
