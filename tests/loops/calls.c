/* Functions whose body is here are part of the loop. */
#include <math.h>
#define N 8
double a[N][N], b[N];

static inline int imin(int x, int y) { return x < y ? x : y; }
static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += x[k] * y[k];
    return sum;
}
static void scale(double *x, int n, double by) {
    if (n < 2) return;
    for (int k = 0; k < n; k++) x[k] *= by;
}
static int wrap(int i) {
    if (i < 0) return i + N;
    if (i >= N) return i - N;
    return i;
}

void rows(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        scale(a[i], imin(i, 5), 0.5);
        b[i] = sqrt(dot(N, a[i], &a[0][0]));
    }
}

void wrapped(void) {
    for (int i = 0; i < N; i++) b[i] = a[0][wrap(i - 1)] + a[0][wrap(i + 1)];
}
