/* Two collapsed loops, the bounds of one in the variable of the other: triangle.py simulates it. */
#define N 40
double a[N][N], b[N];
void f(void) {
#pragma omp parallel for collapse(2) schedule(static)
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) a[j][i] += b[i];
}
