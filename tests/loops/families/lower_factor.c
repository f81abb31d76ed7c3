/* Solvers: Cholesky factors in place, row by row; no loop is parallel. */
#ifndef N
#define N 40
#endif
double a[N][N];

void kernel(void) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
        for (int k = 0; k < i; k++) a[i][i] -= a[i][k] * a[i][k];
        a[i][i] = __builtin_sqrt(a[i][i]);
    }
}
