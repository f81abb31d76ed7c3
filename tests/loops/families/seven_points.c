/* Stencils: two grids of three dimensions in turn. */
#ifndef N
#define N 66
#endif
#ifndef STEPS
#define STEPS 1
#endif
#ifndef M
#define M 10
#endif
double a[N][M][M], b[N][M][M];

void kernel(void) {
#pragma omp parallel
    for (int t = 0; t < STEPS; t++) {
#pragma omp for
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++)
                for (int k = 1; k < M - 1; k++)
                    b[i][j][k] = a[i][j][k] + 0.1 * (a[i + 1][j][k] + a[i - 1][j][k] + a[i][j + 1][k] + a[i][j - 1][k] +
                                                     a[i][j][k + 1] + a[i][j][k - 1] - 6 * a[i][j][k]);
#pragma omp for
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++)
                for (int k = 1; k < M - 1; k++)
                    a[i][j][k] = b[i][j][k] + 0.1 * (b[i + 1][j][k] + b[i - 1][j][k] + b[i][j + 1][k] + b[i][j - 1][k] +
                                                     b[i][j][k + 1] + b[i][j][k - 1] - 6 * b[i][j][k]);
    }
}
