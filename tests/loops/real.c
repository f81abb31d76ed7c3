/* Directives and calls of real programs: copies, sections, thread numbers, reductions over arrays. */
#include <omp.h>
#include <string.h>
#define N 32
double a[N][N], b[N][N], sums[N];
int keys[N];

void copies(int n) {
    for (int i = 0; i < N; i++) {
        memset(a[i], 0, sizeof a[i]);
        memcpy(&b[i][i], &a[i][i], (N - i) * sizeof(double));
        memmove(b[i] + 1, b[i], 4);
    }
}

void constructs(void) {
#pragma omp parallel
    {
#pragma omp sections nowait
        {
#pragma omp section
            for (int i = 0; i < N; i++) a[0][i] = 0;
#pragma omp section
            {
                for (int i = 0; i < N; i++) b[0][i] = a[1][i];
            }
        }
#pragma omp loop
        for (int i = 0; i < N; i++) sums[i] = 0;
    }
#pragma omp parallel sections num_threads(2)
    {
        sums[0] = 1;
#pragma omp section
        sums[1] = 1;
    }
#pragma omp parallel for ordered
    for (int i = 0; i < N; i++) {
        a[i][0] = 1;
#pragma omp ordered
        sums[0] += a[i][0];
    }
}

void by_number(void) {
#pragma omp parallel num_threads(4)
    {
        int t = omp_get_thread_num(), threads = omp_get_num_threads(), part = N / threads;
        for (int i = t * part; i < (t + 1) * part; i++) sums[i] = t * N / threads;
    }
}

void histogram(void) {
#pragma omp parallel for reduction(+ : sums[0 : N])
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sums[j] += a[i][j];
#pragma omp parallel
    {
#pragma omp for reduction(+ : sums[2 : 3])
        for (int i = 0; i < N; i++) sums[2] += b[i][0];
        b[1][1] = 0;
    }
}
