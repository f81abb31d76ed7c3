/* LU factors in place: a parallel loop over the rows below each pivot. */
#ifndef N
#define N 40
#endif

static double a[N][N];

void kernel(void) {
    for (int k = 0; k < N; k++)
#pragma omp parallel for
        for (int i = k + 1; i < N; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < N; j++) a[i][j] -= a[i][k] * a[k][j];
        }
}
