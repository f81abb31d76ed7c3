/* Kernels: q = a p and s = a' r in one construct, without a barrier in between. */
#ifndef M
#define M 72
#endif
#ifndef N
#define N 64
#endif
double a[N][M], p[M], q[N], r[N], s[M];

void kernel(void) {
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < N; i++) {
            q[i] = 0;
            for (int j = 0; j < M; j++) q[i] += a[i][j] * p[j];
        }
#pragma omp for
        for (int j = 0; j < M; j++)
            for (int i = 0; i < N; i++) s[j] += r[i] * a[i][j];
    }
}
