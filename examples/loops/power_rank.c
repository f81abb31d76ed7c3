/* Power iteration on a dense link matrix. */
#ifndef N
#define N 120
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif

static double link[N][N], rank[N], fresh[N];

void kernel(void) {
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for
        for (int i = 0; i < N; i++) {
            double sum = 0.15 / N;
            for (int j = 0; j < N; j++) sum += 0.85 * link[i][j] * rank[j];
            fresh[i] = sum;
        }
#pragma omp parallel for
        for (int i = 0; i < N; i++) rank[i] = fresh[i];
    }
}
