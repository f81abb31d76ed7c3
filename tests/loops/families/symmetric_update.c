/* BLAS: the lower triangle of c += a b' + b a'. */
#ifndef N
#define N 64
#endif
#ifndef M
#define M 16
#endif
double a[N][M], b[N][M], c[N][N];

void kernel(void) {
#pragma omp parallel for schedule(guided)
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < M; k++) c[i][j] += a[j][k] * b[i][k] + b[j][k] * a[i][k];
}
