/* Electric and magnetic fields in turn on a staggered grid. */
#ifndef N
#define N 80
#endif
#ifndef STEPS
#define STEPS 2
#endif

static double ex[N][N], ey[N][N], hz[N][N];

void kernel(void) {
    for (int t = 0; t < STEPS; t++) {
#pragma omp parallel
        {
#pragma omp for nowait
            for (int i = 1; i < N; i++)
                for (int j = 0; j < N; j++) ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
#pragma omp for
            for (int i = 0; i < N; i++)
                for (int j = 1; j < N; j++) ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
#pragma omp for
            for (int i = 0; i < N - 1; i++)
                for (int j = 0; j < N - 1; j++)
                    hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
        }
    }
}
