/* A wave in a box: seven points of the present, one of the past. */
#ifndef N
#define N 30
#endif
#ifndef STEPS
#define STEPS 2
#endif

static double past[N][N][N], present[N][N][N];

void kernel(void) {
    for (int t = 0; t < STEPS; t++) {
#pragma omp parallel for
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                for (int k = 1; k < N - 1; k++)
                    past[i][j][k] = 2 * present[i][j][k] - past[i][j][k] +
                                    0.1 * (present[i - 1][j][k] + present[i + 1][j][k] + present[i][j - 1][k] +
                                           present[i][j + 1][k] + present[i][j][k - 1] + present[i][j][k + 1] -
                                           6 * present[i][j][k]);
#pragma omp parallel for
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                for (int k = 1; k < N - 1; k++) {
                    double swap = past[i][j][k];
                    past[i][j][k] = present[i][j][k];
                    present[i][j][k] = swap;
                }
    }
}
