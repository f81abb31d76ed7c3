/* Kernels: y = a' (a x), the second pass by columns. */
#ifndef M
#define M 64
#endif
#ifndef N
#define N 72
#endif
double a[M][N], x[N], y[N], tmp[M];

void kernel(void) {
#pragma omp parallel for
    for (int i = 0; i < M; i++) {
        tmp[i] = 0;
        for (int j = 0; j < N; j++) tmp[i] += a[i][j] * x[j];
    }
#pragma omp parallel for schedule(static, 1)
    for (int j = 0; j < N; j++) {
        y[j] = 0;
        for (int i = 0; i < M; i++) y[j] += a[i][j] * tmp[i];
    }
}
