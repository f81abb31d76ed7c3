/* D = (A B) C in one parallel region: the second product waits for the first. */
#ifndef N
#define N 40
#endif

static double a[N][N], b[N][N], c[N][N], ab[N][N], d[N][N];

void kernel(void) {
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                ab[i][j] = 0;
                for (int k = 0; k < N; k++) ab[i][j] += a[i][k] * b[k][j];
            }
#pragma omp for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                d[i][j] *= 0.5;
                for (int k = 0; k < N; k++) d[i][j] += ab[i][k] * c[k][j];
            }
    }
}
