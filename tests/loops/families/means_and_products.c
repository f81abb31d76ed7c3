/* Datamining: column means, centred data, and the products of all pairs of columns. */
#ifndef M
#define M 64
#endif
#ifndef N
#define N 24
#endif
double data[N][M], mean[M], products[M][M];

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
#pragma omp for schedule(static, 1)
        for (int i = 0; i < M; i++)
            for (int j = i; j < M; j++) {
                double sum = 0;
                for (int k = 0; k < N; k++) sum += data[k][i] * data[k][j];
                products[i][j] = sum / (N - 1);
                products[j][i] = sum / (N - 1);
            }
    }
}
