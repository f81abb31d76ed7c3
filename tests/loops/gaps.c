/* What is not affine: each with its reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 10
double a[N][N], b[N];
int index_of[N];

void gaps(int n, int unknown, double *p, double **rows) {
    for (int i = 0; i < N; i++) b[index_of[i]] = 0;
    for (int i = 0; i < unknown; i++) b[i] = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i * i; j++) b[j] = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) b[i * j] = 0;
    for (int i = 0; i < N; i++)
        if (b[i] > 0) a[i][0] = 0;
    for (int i = 0; i < N; i++) printf("%g\n", b[i]);
    for (int i = 0; i < N; i++) {
        while (b[i] > 1) b[i] /= 2;
        if (b[i] > 3) break;
    }
    for (int i = 1; i < N; i *= 2) b[i] = 0;
    for (unsigned i = N - 1; i >= 0; i--) b[i] = 0;
    for (int i = 0; i < N; i--) b[i] = 0;
    for (int i = 0; i < N; i++) rows[i][0] = 0;
    int k = 0;
    for (int i = 0; i < N; i++) b[k++] = 0;
    for (double *q = p; q < p + N; q++) *q = 0;
    for (int i = 0; i < N; i++) {
        b[i] = 0;
        i++;
    }
    for (int i = 0; i < N; i++) switch (i) { case 1: b[i] = 0; }
    for (int i = 0, j = 0; i < N; i++, j++) b[j] = 0;
    for (unsigned char i = 0; i < 250 + N; i++) b[i % N] = 0;
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < N; i++) b[i] = 0;
#pragma omp parallel for schedule(static, n)
    for (int i = 0; i < N; i++) b[i] = 0;
#pragma omp parallel
    {
#pragma omp sections
        { b[0] = 1; }
#pragma omp task
        b[1] = 1;
    }
#pragma omp parallel for ordered
    for (int i = 0; i < N; i++) b[i] = 0;
    memset(b, 0, sizeof b);
    for (int i = 0; i < N; i++) {
        double start[3] = {[1] = 2};
        b[i] = start[0];
    }
    for (int i = 0; i < N; i++) b[i / unknown] = 0;
}
