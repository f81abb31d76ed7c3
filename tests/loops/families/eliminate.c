/* Solvers: Gaussian elimination without pivots, the rows below each pivot shared. */
#ifndef N
#define N 66
#endif
double a[N][N];

void kernel(void) {
    for (int k = 0; k < N / 16; k++) {
#pragma omp parallel for
        for (int i = k + 1; i < N; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < N; j++) a[i][j] -= a[i][k] * a[k][j];
        }
    }
}
