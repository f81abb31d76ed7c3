/* Solvers: LU factors in place, each row after all rows above it; no loop is parallel. */
#ifndef N
#define N 40
#endif
double a[N][N];

void kernel(void) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[k][j];
            a[i][j] /= a[j][j];
        }
        for (int j = i; j < N; j++)
            for (int k = 0; k < i; k++) a[i][j] -= a[i][k] * a[k][j];
    }
}
