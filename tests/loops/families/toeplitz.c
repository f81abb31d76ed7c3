/* Solvers: Levinson recursion for a Toeplitz system, vectors that grow by one element per step. */
#ifndef N
#define N 80
#endif
double r[N], x[N], next[N];

void kernel(void) {
    double reflection = 0;
#pragma omp parallel
    for (int k = 1; k < N; k++) {
#pragma omp for reduction(+ : reflection)
        for (int i = 0; i < k; i++) reflection += r[k - i - 1] * x[i];
#pragma omp for
        for (int i = 0; i < k; i++) next[i] = x[i] + 0.5 * x[k - i - 1];
#pragma omp for
        for (int i = 0; i < k; i++) x[i] = next[i];
#pragma omp single
        x[k] = 0.5;
    }
}
