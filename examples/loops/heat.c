/* Heat on a plate: five points, two grids, a barrier between the sweeps. */
#ifndef N
#define N 100
#endif
#ifndef STEPS
#define STEPS 4
#endif

static double now[N][N], next[N][N];

void kernel(void) {
#pragma omp parallel
    for (int t = 0; t < STEPS; t++) {
#pragma omp for
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                next[i][j] = 0.2 * (now[i][j] + now[i][j - 1] + now[i][j + 1] + now[i - 1][j] + now[i + 1][j]);
#pragma omp for
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) now[i][j] = next[i][j];
    }
}
