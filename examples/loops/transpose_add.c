/* B = B + A' in single precision. */
#ifndef N
#define N 150
#endif

static float a[N][N], b[N][N];

void kernel(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) b[i][j] += a[j][i];
}
