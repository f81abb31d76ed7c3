/* Stencils: alternating directions, a tridiagonal system per column and then per row, forth and back. */
#ifndef N
#define N 66
#endif
#ifndef STEPS
#define STEPS 1
#endif
double u[N][N], v[N][N], p[N][N], q[N][N];

void kernel(void) {
#pragma omp parallel
    for (int t = 0; t < STEPS; t++) {
#pragma omp for
        for (int i = 1; i < N - 1; i++) {
            v[0][i] = 1;
            p[i][0] = 0;
            q[i][0] = v[0][i];
            for (int j = 1; j < N - 1; j++) {
                p[i][j] = 0.5 / (p[i][j - 1] + 2);
                q[i][j] = (u[j][i - 1] + u[j][i] + u[j][i + 1] - q[i][j - 1]) / (p[i][j - 1] + 2);
            }
            v[N - 1][i] = 1;
            for (int j = N - 2; j >= 1; j--) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
#pragma omp for
        for (int i = 1; i < N - 1; i++) {
            u[i][0] = 1;
            p[i][0] = 0;
            q[i][0] = u[i][0];
            for (int j = 1; j < N - 1; j++) {
                p[i][j] = 0.5 / (p[i][j - 1] + 2);
                q[i][j] = (v[i - 1][j] + v[i][j] + v[i + 1][j] - q[i][j - 1]) / (p[i][j - 1] + 2);
            }
            u[i][N - 1] = 1;
            for (int j = N - 2; j >= 1; j--) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
}
