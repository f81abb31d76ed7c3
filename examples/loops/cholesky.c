/* Cholesky factors in place, column by column. */
#include <math.h>

#ifndef N
#define N 40
#endif

static double a[N][N];

void kernel(void) {
    for (int k = 0; k < N; k++) {
        a[k][k] = sqrt(a[k][k]);
#pragma omp parallel for
        for (int i = k + 1; i < N; i++) a[i][k] /= a[k][k];
#pragma omp parallel for schedule(guided)
        for (int j = k + 1; j < N; j++)
            for (int i = j; i < N; i++) a[i][j] -= a[i][k] * a[j][k];
    }
}
