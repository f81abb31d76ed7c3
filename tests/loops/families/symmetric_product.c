/* Blas: product with a symmetric matrix of which the lower half is stored; columns are independent. */
#ifndef M
#define M 16
#endif
#ifndef N
#define N 64
#endif
double a[M][M], b[M][N], c[M][N];

void kernel(void) {
#pragma omp parallel for
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            double sum = 0;
            for (int k = 0; k < i; k++) {
                c[k][j] += 1.5 * b[i][j] * a[i][k];
                sum += b[k][j] * a[i][k];
            }
            c[i][j] = 1.2 * c[i][j] + 1.5 * b[i][j] * a[i][i] + 1.5 * sum;
        }
}
