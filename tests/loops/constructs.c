/* OpenMP: every construct and clause that is known. */
#ifndef N
#define N 16
#endif
#define CHUNK (N / 4)
double a[N][N], b[N][N];

void parallel_for(void) {
#pragma omp parallel for schedule(dynamic, CHUNK) num_threads(2 * 4) default(shared)
    for (int i = 0; i < N; i++) a[i][0] = b[i][0];
}

void for_in_parallel(void) {
    double mine[4];
#pragma omp parallel firstprivate(mine)
    {
        mine[0] = b[0][0];
#pragma omp for nowait schedule(guided)
        for (int i = 0; i < N; i++) a[i][1] = mine[0];
#pragma omp barrier
#pragma omp for collapse(2)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) a[i][j] += 1;
#pragma omp single nowait
        a[0][0] = 0;
#pragma omp master
        a[0][1] = 0;
#pragma omp for simd schedule(static, 1) reduction(+ : b)
        for (int i = 0; i < N; i++) {
            double local[2];
            local[1] = a[i][i];
        }
    }
}

void ignored(double sum) {
#pragma omp simd
    for (int i = 0; i < N; i++) sum += a[i][0];
#pragma omp parallel
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        a[0][i] += 1;
#pragma omp critical(name)
        sum += b[i][i];
    }
}

void conditional(int n) {
#pragma omp parallel for if (n > 100)
    for (int i = 0; i < N; i++) a[i][0] = 0;
#pragma omp parallel for if (parallel : n > 5)
    for (int i = 0; i < N; i++) a[i][1] = 0;
}

void orphaned(void) {
#pragma omp for
    for (int i = 0; i < N; i++) a[i][2] = 0;
}
