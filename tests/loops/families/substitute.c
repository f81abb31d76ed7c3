/* Solvers: forward substitution, the updates of each column shared. */
#ifndef N
#define N 80
#endif
double l[N][N], x[N], b[N];

void kernel(void) {
#pragma omp parallel
    for (int j = 0; j < N; j++) {
#pragma omp single
        x[j] = b[j] / l[j][j];
#pragma omp for
        for (int i = j + 1; i < N; i++) b[i] -= l[i][j] * x[j];
    }
}
