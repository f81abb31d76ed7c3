/* Matrix product as dot products: the second matrix is walked down its columns. */
#ifndef N
#define N 48
#endif

static double a[N][N], b[N][N], c[N][N];

void kernel(void) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}
