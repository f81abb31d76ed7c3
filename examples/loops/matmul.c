/* Matrix product, the middle loop over the inner index: rows are walked along. */
#ifndef N
#define N 48
#endif

static double a[N][N], b[N][N], c[N][N];

void kernel(void) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++) c[i][j] += a[i][k] * b[k][j];
}
