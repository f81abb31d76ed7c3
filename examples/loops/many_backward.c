/* U X = B from the last row up, right-hand sides stored by rows. */
#ifndef N
#define N 64
#endif
#ifndef R
#define R 48
#endif

static double u[N][N], x[R][N];

void kernel(void) {
#pragma omp parallel for schedule(dynamic)
    for (int r = 0; r < R; r++)
        for (int i = N - 1; i >= 0; i--) {
            double sum = x[r][i];
            for (int j = i + 1; j < N; j++) sum -= u[i][j] * x[r][j];
            x[r][i] = sum / u[i][i];
        }
}
