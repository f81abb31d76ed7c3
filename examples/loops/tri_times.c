/* B = L' B with a unit lower triangle, columns of B apart. */
#ifndef N
#define N 64
#endif
#ifndef M
#define M 60
#endif

static double l[N][N], b[N][M];

void kernel(void) {
#pragma omp parallel for
    for (int c = 0; c < M; c++)
        for (int i = 0; i < N; i++) {
            for (int k = i + 1; k < N; k++) b[i][c] += l[k][i] * b[k][c];
            b[i][c] = 2.0 * b[i][c];
        }
}
