/* A += u v' + w z', then x = A' y and r = A x. */
#ifndef N
#define N 128
#endif

static double a[N][N], u[N], v[N], w[N], z[N], x[N], y[N], r[N];

void kernel(void) {
#pragma omp parallel
    {
#pragma omp for schedule(static, 8)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) a[i][j] = a[i][j] + u[i] * v[j] + w[i] * z[j];
#pragma omp for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) x[i] += a[j][i] * y[j];
#pragma omp for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) r[i] += a[i][j] * x[j];
    }
}
