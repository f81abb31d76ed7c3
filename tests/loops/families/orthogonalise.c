/* Solvers: columns made orthogonal to the first ones, one after the other. */
#ifndef M
#define M 20
#endif
#ifndef N
#define N 66
#endif
double a[M][N], q[M][N], r[N][N];

void kernel(void) {
    for (int k = 0; k < 2; k++) {
        double norm = 0;
        for (int i = 0; i < M; i++) norm += a[i][k] * a[i][k];
        r[k][k] = norm;
        for (int i = 0; i < M; i++) q[i][k] = a[i][k] / r[k][k];
#pragma omp parallel for
        for (int j = k + 1; j < N; j++) {
            r[k][j] = 0;
            for (int i = 0; i < M; i++) r[k][j] += q[i][k] * a[i][j];
            for (int i = 0; i < M; i++) a[i][j] -= q[i][k] * r[k][j];
        }
    }
}
