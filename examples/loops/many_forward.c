/* L X = B by forward substitution, one right-hand side an iteration. */
#ifndef N
#define N 64
#endif
#ifndef R
#define R 48
#endif

static double l[N][N], b[N][R];

void kernel(void) {
#pragma omp parallel for
    for (int r = 0; r < R; r++)
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < i; j++) b[i][r] -= l[i][j] * b[j][r];
            b[i][r] /= l[i][i];
        }
}
