/* Relaxation in place: diagonals after one another, their points in parallel. */
#ifndef N
#define N 72
#endif

#define max(x, y) ((x) > (y) ? (x) : (y))
#define min(x, y) ((x) < (y) ? (x) : (y))

static double g[N][N];

void kernel(void) {
    for (int d = 2; d <= 2 * (N - 2); d++)
#pragma omp parallel for
        for (int i = max(1, d - (N - 2)); i <= min(N - 2, d - 1); i++) {
            int j = d - i;
            g[i][j] = 0.25 * (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1]);
        }
}
