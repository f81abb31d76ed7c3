/* A tridiagonal solve along every row, then down every column. */
#ifndef N
#define N 96
#endif

static double u[N][N], p[N][N], q[N][N];

void kernel(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        p[i][0] = 0;
        q[i][0] = u[i][0];
        for (int j = 1; j < N - 1; j++) {
            p[i][j] = -1.0 / (p[i][j - 1] - 4.0);
            q[i][j] = (u[i][j] + q[i][j - 1]) / (4.0 - p[i][j - 1]);
        }
        for (int j = N - 2; j >= 1; j--) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
#pragma omp parallel for
    for (int j = 0; j < N; j++) {
        p[0][j] = 0;
        q[0][j] = u[0][j];
        for (int i = 1; i < N - 1; i++) {
            p[i][j] = -1.0 / (p[i - 1][j] - 4.0);
            q[i][j] = (u[i][j] + q[i - 1][j]) / (4.0 - p[i - 1][j]);
        }
        for (int i = N - 2; i >= 1; i--) u[i][j] = p[i][j] * u[i + 1][j] + q[i][j];
    }
}
