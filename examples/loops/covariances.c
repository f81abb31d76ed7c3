/* Means, centred data, and the upper half of the covariance matrix. */
#ifndef N
#define N 80
#endif
#ifndef M
#define M 64
#endif

static double data[N][M], mean[M], cov[M][M];

void kernel(void) {
#pragma omp parallel
    {
#pragma omp for
        for (int j = 0; j < M; j++) {
            mean[j] = 0;
            for (int i = 0; i < N; i++) mean[j] += data[i][j];
            mean[j] /= N;
        }
#pragma omp for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++) data[i][j] -= mean[j];
#pragma omp for schedule(dynamic, 4)
        for (int i = 0; i < M; i++)
            for (int j = i; j < M; j++) {
                double sum = 0;
                for (int k = 0; k < N; k++) sum += data[k][i] * data[k][j];
                cov[i][j] = sum / (N - 1);
                cov[j][i] = sum / (N - 1);
            }
    }
}
