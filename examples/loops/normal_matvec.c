/* y = A' (A x): the matrix is walked along its rows, then down its columns. */
#ifndef M
#define M 120
#endif
#ifndef N
#define N 140
#endif

static double a[M][N], x[N], y[N], t[M];

void kernel(void) {
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < M; i++) {
            t[i] = 0;
            for (int j = 0; j < N; j++) t[i] += a[i][j] * x[j];
        }
#pragma omp for
        for (int j = 0; j < N; j++) {
            y[j] = 0;
            for (int i = 0; i < M; i++) y[j] += a[i][j] * t[i];
        }
    }
}
