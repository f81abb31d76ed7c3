/* The lower half of C = C + A A', rows of growing length. */
#ifndef N
#define N 64
#endif

static double a[N][N], c[N][N];

void kernel(void) {
#pragma omp parallel for schedule(static, 4)
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) c[i][j] *= 0.25;
        for (int k = 0; k < N; k++)
            for (int j = 0; j <= i; j++) c[i][j] += a[i][k] * a[j][k];
    }
}
