/* Datamining: deviations, standardised columns, and a triangle of correlations. */
#ifndef M
#define M 64
#endif
#ifndef N
#define N 20
#endif
#include <math.h>

float data[N][M], mean[M], deviation[M], corr[M][M];

void kernel(void) {
#pragma omp parallel for
    for (int j = 0; j < M; j++) {
        float sum = 0, squares = 0;
        for (int i = 0; i < N; i++) sum += data[i][j];
        mean[j] = sum / N;
        for (int i = 0; i < N; i++) squares += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        deviation[j] = sqrtf(squares / N);
    }
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < M - 1; i++) {
        corr[i][i] = 1;
        for (int j = i + 1; j < M; j++) {
            corr[i][j] = 0;
            for (int k = 0; k < N; k++) corr[i][j] += (data[k][i] - mean[i]) * (data[k][j] - mean[j]);
            corr[i][j] /= deviation[i] * deviation[j];
            corr[j][i] = corr[i][j];
        }
    }
}
